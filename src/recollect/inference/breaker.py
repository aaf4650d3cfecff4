"""A circuit breaker: what keeps failing is left alone for a while, then tried once."""

import math
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import StrEnum

from recollect.domain.errors import RecollectError, Unavailable
from recollect.inference.failures import Reason, unavailable

Seconds = Callable[[], float]
"""A clock that only goes forward."""


class BreakerState(StrEnum):
    """Whether calls are let through."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker:
    """Closed, it lets every call through. After some failures in a row it opens and refuses all for a pause.

    Then it is half open: one call may try. If that succeeds the breaker closes, else it is open for another pause.
    """

    def __init__(
        self, name: str, *, failures: int = 5, pause_seconds: float = 30.0, clock: Seconds = time.monotonic
    ) -> None:
        self._name = name
        self._failures = failures
        self._pause_seconds = pause_seconds
        self._clock = clock
        self._failed = 0
        self._last: Unavailable | None = None
        self._opened_at: float | None = None
        self._trying = False

    @property
    def state(self) -> BreakerState:
        if self._opened_at is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._remaining() > 0 else BreakerState.HALF_OPEN

    @contextmanager
    def attempt(self) -> Generator[None]:
        """Let one call through, and learn from how it ends: only `Unavailable` is a failure.

        Any other error is an answer, so the other side is there; so is a request for patience, which many calls at
        once may get together. A call that is cancelled teaches nothing.
        """
        trial = self._admit()
        try:
            yield
        except RecollectError as error:
            if isinstance(error, Unavailable) and error.details.get("reason") != Reason.RATE_LIMITED:
                self._count(error, trial)
            else:
                self._close()
            raise
        else:
            self._close()
        finally:
            if trial:
                self._trying = False

    def _admit(self) -> bool:
        """Whether the call is a trial; raises when it must not be made at all."""
        state = self.state
        if state is BreakerState.CLOSED:
            return False
        if state is BreakerState.OPEN or self._trying:
            seconds = max(1, math.ceil(self._remaining()))
            raise unavailable(
                Reason.PAUSED,
                f"{self._name} is left alone for {seconds} s after {self._failed} "
                f"failure{'' if self._failed == 1 else 's'}; the last: {self._last}",
                hint=(self._last.hint if self._last else None) or "try again later",
                retry_after_seconds=seconds,
            ) from self._last
        self._trying = True
        return True

    def _count(self, error: Unavailable, trial: bool) -> None:
        self._failed += 1
        self._last = error
        # A call that was under way when the breaker opened must not make the pause longer.
        if trial or (self._opened_at is None and self._failed >= self._failures):
            self._opened_at = self._clock()

    def _close(self) -> None:
        self._failed = 0
        self._last = None
        self._opened_at = None

    def _remaining(self) -> float:
        return self._opened_at + self._pause_seconds - self._clock() if self._opened_at is not None else 0.0
