"""Access to the calls and turns that this process has not written yet."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PendingWrites:
    """Calls and turns that are not written yet."""

    flush: Callable[[], Awaitable[None]]
    """Write all of them, so that a following read is complete. A failed write is logged and stays pending."""
