"""Delegate tasks and questions to a coding agent on the server's machine, such as `claude`.

One agent per project and caller works on a pseudo-terminal; a one-shot agent answers a single question. The owner's
settings choose the program and who may start it. All agents end with the server.
"""
