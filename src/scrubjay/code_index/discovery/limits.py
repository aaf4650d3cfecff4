"""Limits of indexing: sizes, time and cancellation."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from scrubjay.core.errors import Cancelled, Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLimits:
    """Limits set by the operator of the server."""

    max_file_bytes: int = 1_000_000
    max_files: int = 200_000
    seconds: float = 120.0
    """Time limit for listing the files."""
    stage_seconds: float = 1_800.0
    """Time limit of each stage after that."""


def never() -> bool:
    """Return False; the default for `should_stop`."""
    return False


class Deadline:
    """A time limit, and a callback by which the caller can cancel."""

    def __init__(self, seconds: float, should_stop: Callable[[], bool] = never) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._should_stop = should_stop

    def check(self) -> None:
        """Raise `Unavailable` when the time is over, and `Cancelled` when the caller asked to stop."""
        if self._should_stop():
            raise Cancelled("reading the repository was cancelled", hint="call again to start over")
        if time.monotonic() > self._end:
            raise Unavailable(
                f"reading the repository took longer than {self._seconds:g} seconds",
                hint="exclude folders that are not needed, or allow more time",
            )
