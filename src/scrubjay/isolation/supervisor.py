"""Run one program and end it, with everything it started, when the server ends, however that happens.

A script that uses only the standard library: it must start fast and stay small. The program uses the pipes; this
process only waits until the program ends or the server closes its end of the lifeline.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import socket
import sys
import termios
import time
from importlib import import_module
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
# Seconds a terminated program may take before it is killed, and seconds its descendants may take to disappear.
TERM_SECONDS, KILL_SECONDS = 1.0, 2.0


def main(descriptor: str, bounds: str, command: str, *args: str) -> int:
    lifeline = socket.socket(fileno=int(descriptor))
    lifeline.set_inheritable(False)
    waking, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.signal(signal.SIGTERM, lambda number, frame: lifeline.shutdown(socket.SHUT_RDWR))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal: the server decides when programs end
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    ours = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(command, args, json.loads(bounds), ours)
    nothing = os.open(os.devnull, os.O_RDWR)
    for inherited in (0, 1, 2):  # otherwise readers would not notice that the program closed them
        os.dup2(nothing, inherited)
    with contextlib.suppress(OSError):
        lifeline.sendall(f"{pid}\n".encode())
    status = _wait(pid, lifeline, waking)
    if status is None and not _is_kill_requested(lifeline):
        _signal_group(pid, signal.SIGTERM)
        deadline = time.monotonic() + TERM_SECONDS
        while (status := _reap(pid)) is None and time.monotonic() < deadline:
            select.select([waking], [], [], 0.05)
    _signal_group(pid, signal.SIGKILL)
    _kill_descendants(time.monotonic() + KILL_SECONDS)
    if status is None:
        return 128 + signal.SIGKILL
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code  # shells report a signal as 128 plus its number


def _become(command: str, args: tuple[str, ...], bounds: dict[str, Any], parent: int) -> None:
    """Replace this process by the program: in a new session, with its limits, and killed when its parent dies."""
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
        for limit, maximum in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, bounds["open_files"])):
            _limit(limit, maximum)
        # Not the address space: JavaScript engines reserve hundreds of gigabytes of it.
        _limit(resource.RLIMIT_DATA, bounds["memory_bytes"])
        if bounds["file_bytes"] is not None:
            _limit(resource.RLIMIT_FSIZE, bounds["file_bytes"])
        if bounds["confinement"] is not None:
            _confine(bounds["confinement"])
        os.execvp(command, [command, *args])  # noqa: S606  # deliberately without a shell
    except OSError as error:
        os.write(2, f"{command} cannot be started: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _take_terminal() -> None:
    """Make the terminal the controlling one, so that Ctrl-C and a hang-up reach the program."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _confine(given: dict[str, Any]) -> None:
    # landlock.py is next to this file, which is not on the module path (option -I).
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib takes long to load
    sys.path.append(folder)
    confine = import_module("landlock").confine
    confine(given)


def _limit(kind: int, maximum: int) -> None:
    _, hard_limit = resource.getrlimit(kind)
    value = maximum if hard_limit == resource.RLIM_INFINITY else min(maximum, hard_limit)
    resource.setrlimit(kind, (value, value))


def _wait(pid: int, lifeline: socket.socket, waking: int) -> int | None:
    """Wait for the program; return its status, or None if the server went away first."""
    while True:
        if (status := _reap(pid)) is not None:
            return status
        ready, _, _ = select.select([lifeline, waking], [], [])
        if waking in ready:
            os.read(waking, 512)
        if lifeline in ready:
            return None


def _is_kill_requested(lifeline: socket.socket) -> bool:
    """Return whether the server asked to kill at once, by a byte before closing the lifeline."""
    try:
        return lifeline.recv(1, socket.MSG_DONTWAIT) == b"K"
    except OSError:
        return False


def _reap(pid: int) -> int | None:
    """Return the status of the program if it has exited; reap orphans on the way."""
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
    """Kill processes that left the group: when their parents die, they become children of this process (on Linux)."""
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
