"""The environment variables of this process, and a way to keep the secret ones from every other process."""

import os
import sys
from collections import ChainMap
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    import ctypes
else:
    ctypes = lazy_module("ctypes")

_withdrawn: dict[str, str] = {}

# Fields of /proc/PID/stat after the name of the program: begin and end of the initial environment in memory.
_ENV_START, _ENV_END = 47, 48
_MAX_BYTES = 16 * 1024 * 1024


def all_variables() -> Mapping[str, str]:
    """Return the environment of this process with the variables that were withdrawn. Reads always see the present."""
    return ChainMap(os.environ, _withdrawn)


def withdraw_variables(names: Collection[str]) -> None:
    """Remove variables from the environment; `all_variables` still has them.

    Programs that this process starts do not inherit them. On Linux `/proc/PID/environ`, which shows the memory in which
    the kernel put the first environment, does not show them either. Call it before other threads run.
    """
    present = [name for name in names if name in os.environ]
    for name in present:
        _withdrawn[name] = os.environ.pop(name)
    if present and sys.platform == "linux":
        _overwrite({os.fsencode(name) for name in present})


def _overwrite(names: Collection[bytes]) -> None:
    """Overwrite the first values of variables that are removed: `unsetenv` leaves them in memory."""
    try:
        fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        start, end = int(fields[_ENV_START]), int(fields[_ENV_END])
    except (OSError, ValueError, IndexError):  # no /proc, where it would be shown
        return
    if not 0 < end - start < _MAX_BYTES:
        return
    position = start
    for entry in ctypes.string_at(start, end - start).split(b"\0"):
        if entry.partition(b"=")[0] in names:
            ctypes.memset(position, 0, len(entry))
        position += len(entry) + 1
