"""Confine a process with Landlock, where the kernel has it.

Standard library only: the supervisor loads this file by its path.
"""

import ctypes
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

# System call numbers, the same on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PR_SET_NO_NEW_PRIVS = 38
_VERSION_ASKED = 1
_PATH_BENEATH, _NET_PORT = 1, 2

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_DIR, _MAKE_REG, _REFER, _TRUNCATE, _IOCTL_DEV = 1 << 7, 1 << 8, 1 << 13, 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READS = _READ_FILE | _READ_DIR
_WRITES = _READS | _WRITE_FILE | _MAKE_DIR | _MAKE_REG | _TRUNCATE
_ALL_OF_FIRST = (1 << 13) - 1
_BIND, _CONNECT = 1 << 0, 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1
# Always allowed: programs discard output there.
_NOTHING = "/dev/null"


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _Port(ctypes.Structure):
    _fields_ = (("allowed", ctypes.c_uint64), ("port", ctypes.c_uint64))


def version() -> int:
    """Return the Landlock ABI version of the kernel; 0 without Landlock."""
    return max(0, _call(_CREATE_RULESET, None, 0, _VERSION_ASKED))


def confine(given: Mapping[str, Any]) -> None:
    """Restrict this process and its descendants to the fields of a `Confinement`. Does nothing without Landlock.

    Paths that do not exist are skipped. Raises `OSError` when the kernel refuses.
    """
    known = version()
    if not known:
        return
    handled = _ALL_OF_FIRST
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        handled |= right if known >= since else 0
    scoped = _ABSTRACT_SOCKETS | (0 if given["signals"] else _SIGNALS)
    rules = _Ruleset(handled, _BIND | _CONNECT if known >= 4 else 0, scoped if known >= 6 else 0)
    size = 8 if known < 4 else 16 if known < 6 else 24
    ruleset = _checked(_call(_CREATE_RULESET, ctypes.byref(rules), size, 0))
    for paths, rights in (
        (given["reads"], _READS),
        (given["lists"], _READ_DIR),
        (given["writes"], _WRITES),
        (given["executes"], _READ_FILE | _READ_DIR | _EXECUTE),
        ((_NOTHING,), _READ_FILE | _WRITE_FILE),
    ):
        for path in paths:
            with suppress(OSError):
                _give(ruleset, path, rights & handled)
    for port in given["ports"] if known >= 4 else ():
        _checked(_call(_ADD_RULE, ruleset, _NET_PORT, ctypes.byref(_Port(_CONNECT, port)), 0))
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(_call(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _give(ruleset: int, path: str, rights: int) -> None:
    # Following a link would allow what the link's author chose; a rule for the link itself allows nothing.
    opened = os.open(path, getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            rights &= _OF_FILES
        _checked(_call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(_Beneath(rights, opened)), 0))
    finally:
        os.close(opened)


def _call(number: int, *arguments: Any) -> int:
    try:
        return ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *arguments)
    except (OSError, AttributeError):  # not Linux
        return -1


def _checked(answer: int) -> int:
    if answer < 0:
        raise OSError(ctypes.get_errno(), "cannot confine the process")
    return answer
