"""Observe a running server: metrics, audit log, traces, health and status.

Subscribes to events of calls and requests; no call waits for it, and it never influences a decision. Arguments and
results of calls are never recorded. Metrics count one process; the audit log covers all processes of a store.
"""
