"""The audit log: who called what with which outcome, in files shared by several processes.

Entries are written within a second, security events at once. Arguments and results are never recorded. Files are
rotated by size; old entries are lost then.
"""
