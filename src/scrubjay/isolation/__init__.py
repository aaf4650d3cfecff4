"""Run child processes with limits, confine them (Landlock, seccomp), and end them when this process ends.

`Worker` (`worker.py`) is for Python code of our own that answers requests; `start_supervised` (`process.py`) and
`ProgramOnTerminal` (`pty.py`) are for programs that users choose. Landlock and seccomp exist on Linux only; elsewhere
the limits of the operating system remain.
"""
