"""Memory usage of this process."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    import resource
else:
    resource = lazy_module("resource")  # Windows does not have it


def resident_bytes() -> int | None:
    """Return the resident memory; None where the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def peak_bytes() -> int | None:
    """Return the peak of the resident memory; None where the system does not report it."""
    try:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    except ImportError:
        return None
    return peak if sys.platform == "darwin" else peak * 1024
