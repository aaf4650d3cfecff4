"""How much is read, how long it may take, and how it is stopped."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from scrubjay.core.errors import Cancelled, Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What whoever runs the server allows."""

    max_file_bytes: int = 1_000_000
    max_files: int = 200_000
    seconds: float = 120.0
    """For finding out which files there are."""
    stage_seconds: float = 1_800.0
    """For each of the stages after that."""


def never() -> bool:
    """Nobody asks to stop."""
    return False


class Bounds:
    """The time that is left, and whether someone asked to stop."""

    def __init__(self, seconds: float, should_stop: Callable[[], bool] = never) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._should_stop = should_stop

    def check(self) -> None:
        """Return while there is time and nobody asked to stop."""
        if self._should_stop():
            raise Cancelled("reading the repository was stopped", hint="ask again to begin anew")
        if time.monotonic() > self._end:
            raise Unavailable(
                f"reading the repository took longer than {self._seconds:g} seconds",
                hint="exclude folders that are not needed, or allow more time",
            )
