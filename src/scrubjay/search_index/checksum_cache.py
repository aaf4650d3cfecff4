"""Remember which files were verified since the machine started, so that not every process reads a whole file again."""

import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

_SUFFIX = ".whole"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
# A file can be changed twice within the resolution of its timestamps.
_RACY_SECONDS = 2.0


def file_state(descriptor: int) -> str | None:
    """Return a string that differs after every change of an open file and every restart; None if unknown.

    A file that was changed very recently has no state yet, because another change might leave the same timestamps.
    """
    started = _machine_start()
    status = os.fstat(descriptor)
    if started is None or not 0 <= status.st_ctime + _RACY_SECONDS <= time.time():
        return None
    parts = (started, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return " ".join(map(str, parts))


def is_verified(path: Path, state: str | None) -> bool:
    """Return whether a process verified the whole file in this state."""
    if state is None:
        return False
    try:
        return path.with_name(path.name + _SUFFIX).read_text("ascii") == state
    except (OSError, ValueError):
        return False


def mark_verified(path: Path, state: str | None) -> None:
    """Record that the whole file was verified in this state."""
    if state is not None:
        with suppress(OSError):  # other processes then verify it themselves
            path.with_name(path.name + _SUFFIX).write_text(state, "ascii")


@cache
def _machine_start() -> str | None:
    try:
        return _BOOT.read_text("ascii").strip() or None
    except OSError:
        return None
