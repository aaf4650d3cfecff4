"""The age of this process. Imports little, as hooks use it."""

import os
import time
from pathlib import Path


def process_age() -> float:
    """Return the seconds since this process was started; 0 where the system has no `/proc`."""
    try:
        started = int(Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, LookupError, AttributeError):
        return 0.0
