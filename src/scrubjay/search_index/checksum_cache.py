"""Which files were found whole since this machine was started, so that not every process reads all of one again."""

import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

_SUFFIX = ".whole"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
# Within so short a time a file can be changed twice under one time of change.
_SETTLED_SECONDS = 2.0


def state_of(descriptor: int) -> str | None:
    """What differs after every change of an open file, and after every start of the machine; None if unknown.

    A file that has just been changed has no state yet: another change at once would leave the same traces.
    """
    started = _machine_start()
    status = os.fstat(descriptor)
    if started is None or not 0 <= status.st_ctime + _SETTLED_SECONDS <= time.time():
        return None
    parts = (started, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return " ".join(map(str, parts))


def was_found_whole(path: Path, state: str | None) -> bool:
    """Whether somebody has read all of the file in this very state, and found it as it was written."""
    if state is None:
        return False
    try:
        return path.with_name(path.name + _SUFFIX).read_text("ascii") == state
    except (OSError, ValueError):
        return False


def note_found_whole(path: Path, state: str | None) -> None:
    """Let others know."""
    if state is not None:
        with suppress(OSError):  # they will look for themselves
            path.with_name(path.name + _SUFFIX).write_text(state, "ascii")


@cache
def _machine_start() -> str | None:
    try:
        return _BOOT.read_text("ascii").strip() or None
    except OSError:
        return None
