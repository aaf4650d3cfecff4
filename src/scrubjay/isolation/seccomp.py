"""Refuse a process all system calls except those for computing, with seccomp on Linux.

Standard library only: a filtered process must start fast and stay small.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from typing import Final

_PR_SET_NO_NEW_PRIVS = 38
_SET_MODE_FILTER, _ALL_THREADS = 1, 1
_LOAD_WORD, _JUMP_IF_EQUAL, _JUMP_IF_SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000 | errno.EPERM
_PROT_EXEC: Final = 4
# Offsets in `struct seccomp_data`: call number, architecture, low half of the third argument.
_NUMBER, _PROCESSOR, _THIRD = 0, 4, 32

# Call numbers on x86_64 and aarch64: use of open descriptors, waiting, memory, exit.
_NEEDED: Final[dict[str, tuple[int | None, int | None]]] = {
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "close": (3, 57),
    "fstat": (5, 80),
    "lseek": (8, 62),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "munmap": (11, 215),
    "brk": (12, 214),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "membarrier": (324, 283),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "getrandom": (318, 278),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
# Allowed without PROT_EXEC.
_WITHOUT_EXECUTION: Final[dict[str, tuple[int, int]]] = {"mmap": (9, 222), "mprotect": (10, 226)}
# For each architecture: the column above, the kernel's name for it, and the call number of seccomp.
_PROCESSORS: Final = {"x86_64": (0, 0xC000003E, 317), "aarch64": (1, 0xC00000B7, 277)}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def compute_only() -> bool:
    """Restrict all threads of this process to computing and to its open descriptors; return whether that worked.

    Afterwards it cannot open files or sockets, start processes, send signals or map executable memory.
    """
    known = _PROCESSORS.get(platform.machine()) if sys.platform == "linux" else None
    if known is None:
        return False
    column, processor, number = known
    code = b"".join(_instructions(column, processor))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    answer = libc.syscall(ctypes.c_long(number), _SET_MODE_FILTER, _ALL_THREADS, ctypes.byref(program))
    if answer > 0:
        raise OSError(errno.ESRCH, f"thread {answer} of {os.getpid()} cannot be confined")
    return bool(answer == 0)


def _instructions(column: int, processor: int) -> list[bytes]:
    allowed = [own for numbers in _NEEDED.values() if (own := numbers[column]) is not None]
    guarded = [numbers[column] for numbers in _WITHOUT_EXECUTION.values()]
    code = [
        _instruction(_LOAD_WORD, _PROCESSOR),
        _instruction(_JUMP_IF_EQUAL, processor, 1, 0),
        _instruction(_RETURN, _REFUSE),
        _instruction(_LOAD_WORD, _NUMBER),
    ]
    for own in allowed:
        code += [_instruction(_JUMP_IF_EQUAL, own, 0, 1), _instruction(_RETURN, _ALLOW)]
    for own in guarded:
        code += [
            _instruction(_JUMP_IF_EQUAL, own, 0, 4),
            _instruction(_LOAD_WORD, _THIRD),
            _instruction(_JUMP_IF_SET, _PROT_EXEC, 1, 0),
            _instruction(_RETURN, _ALLOW),
            _instruction(_RETURN, _REFUSE),
        ]
    return [*code, _instruction(_RETURN, _REFUSE)]


def _instruction(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_so, if_not, value)
