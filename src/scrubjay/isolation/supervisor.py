"""Runs one program and sees to it that nothing of it outlives our server, however that ends.

A program of its own, with nothing but Python's standard library: it must start fast and stay small. What it runs has
the pipes for itself; this only waits, for that to end or for our server to close its end of the lifeline.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
# What a program that is told to end may still take before it is killed, and what it may take to be gone then.
TERM_SECONDS, KILL_SECONDS = 1.0, 2.0


def main(descriptor: str, bounds: str, command: str, *args: str) -> int:
    lifeline = socket.socket(fileno=int(descriptor))
    lifeline.set_inheritable(False)
    waking, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.signal(signal.SIGTERM, lambda number, frame: lifeline.shutdown(socket.SHUT_RDWR))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: our server decides when programs end
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    ours = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(command, args, json.loads(bounds), ours)
    nothing = os.open(os.devnull, os.O_RDWR)
    for inherited in (0, 1, 2):  # else nobody would notice that the program has closed them
        os.dup2(nothing, inherited)
    with contextlib.suppress(OSError):
        lifeline.sendall(f"{pid}\n".encode())
    status = _wait(pid, lifeline, waking)
    if status is None and not _is_in_a_hurry(lifeline):
        _signal_group(pid, signal.SIGTERM)
        deadline = time.monotonic() + TERM_SECONDS
        while (status := _ended(pid)) is None and time.monotonic() < deadline:
            select.select([waking], [], [], 0.05)
    _signal_group(pid, signal.SIGKILL)
    _kill_descendants(time.monotonic() + KILL_SECONDS)
    if status is None:
        return 128 + signal.SIGKILL
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code  # as shells tell a signal


def _become(command: str, args: tuple[str, ...], bounds: dict[str, Any], parent: int) -> None:
    """Turn into the program: in a session of its own, within its bounds, and never without its parent."""
    try:
        os.setsid()
        if bounds["terminal"]:
            _take_terminal()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        for name in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(name, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        for limit, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, bounds["open_files"])):
            _limit(limit, most)
        # Not the address space, of which JavaScript engines reserve hundreds of gigabytes.
        _limit(resource.RLIMIT_DATA, bounds["memory_bytes"])
        if bounds["file_bytes"] is not None:
            _limit(resource.RLIMIT_FSIZE, bounds["file_bytes"])
        if bounds["confinement"] is not None:
            _confine(bounds["confinement"])
        os.execvp(command, [command, *args])  # noqa: S606  # no shell, which is the point
    except OSError as error:
        os.write(2, f"{command} cannot be started: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _take_terminal() -> None:
    """So that the program is told of what is typed to stop it, and of the terminal's end."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _confine(given: dict[str, Any]) -> None:
    # Beside us, and not on the path of modules: there is none.
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib takes long to load
    sys.path.append(folder)
    from landlock import confine  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

    confine(given)


def _limit(kind: int, most: int) -> None:
    _, ceiling = resource.getrlimit(kind)
    value = most if ceiling == resource.RLIM_INFINITY else min(most, ceiling)
    resource.setrlimit(kind, (value, value))


def _wait(pid: int, lifeline: socket.socket, waking: int) -> int | None:
    """How the program ended; None when our server went first."""
    while True:
        if (status := _ended(pid)) is not None:
            return status
        ready, _, _ = select.select([lifeline, waking], [], [])
        if waking in ready:
            os.read(waking, 512)
        if lifeline in ready:
            return None


def _is_in_a_hurry(lifeline: socket.socket) -> bool:
    """Whether it is to be killed at once: then a letter came before the end."""
    try:
        return lifeline.recv(1, socket.MSG_DONTWAIT) == b"K"
    except OSError:
        return False


def _ended(pid: int) -> int | None:
    """How it ended, if it has; orphans that came to us are put away on the way."""
    while True:
        try:
            found, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if found == 0:
            return None
        if found == pid:
            return status


def _kill_descendants(deadline: float) -> None:
    """Whoever left the group: with its parents gone, each becomes a child of ours (on Linux)."""
    while time.monotonic() < deadline:
        for child in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            found, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if found == 0:
            time.sleep(0.005)


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:  # noqa: PTH123  # small
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
