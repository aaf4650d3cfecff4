"""Projects: the scope of memories, sessions and tasks of one repository or folder.

A project is identified by the resolved path of its folder; each client has one active project. The feature stores
neither files nor settings of a project, and it does not index code.
"""
