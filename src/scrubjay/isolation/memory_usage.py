"""How much memory our own process takes, as the system tells it."""

import os
import sys
from pathlib import Path


def resident_bytes() -> int | None:
    """How much of it is in memory now; None where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def peak_bytes() -> int | None:
    """How much of it has ever been in memory at once; None where the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
