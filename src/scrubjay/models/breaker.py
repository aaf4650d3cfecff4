"""A circuit breaker: after repeated failures, calls fail at once until a probe succeeds."""

import math
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

import anyio

from scrubjay.core.errors import ScrubjayError, Unavailable
from scrubjay.models.failures import FailureReason, unavailable

Seconds = Callable[[], float]
"""A monotonic clock, in seconds."""


class BreakerState(StrEnum):
    """The state of a circuit breaker."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class BreakerSnapshot:
    """A circuit breaker at one moment."""

    state: BreakerState
    failures: int
    """Consecutive failures."""
    retry_after_seconds: float
    """Seconds until the next probe; 0 unless open."""
    problem: str | None
    """Message of the last failure; None after a success."""


class CircuitBreaker:
    """Passes calls while closed; consecutive failures open it, and calls then fail at once for a pause.

    After the pause it is half open: one call at a time is passed as a probe. Enough successful probes close the
    breaker; a failed probe opens it again.
    """

    def __init__(
        self,
        name: str,
        *,
        failures: int = 5,
        pause_seconds: float = 60.0,
        successes: int = 3,
        clock: Seconds = time.monotonic,
    ) -> None:
        """`failures` consecutive failures open it, and `successes` consecutive successful probes close it."""
        self.name = name
        self._failures = failures
        self._pause_seconds = pause_seconds
        self._successes = successes
        self._clock = clock
        self._failed = 0
        self._succeeded = 0
        self._last: Unavailable | None = None
        self._opened_at: float | None = None
        self._trial: anyio.Event | None = None

    @property
    def state(self) -> BreakerState:
        if self._opened_at is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._remaining() > 0 else BreakerState.HALF_OPEN

    @property
    def standing(self) -> BreakerSnapshot:
        """The current state, for monitoring."""
        problem = None if self._last is None else self._last.message
        return BreakerSnapshot(self.state, self._failed, max(0.0, self._remaining()), problem)

    async def wait_for_trial(self) -> None:
        """Wait while another call is the probe: its result is more useful than an immediate failure."""
        while (trial := self._trial) is not None:
            await trial.wait()

    @contextmanager
    def attempt(self) -> Generator[None]:
        """Run one call and record its outcome. Only `Unavailable` counts as a failure.

        Any other error is a response, so the service works; so is rate limiting, which many concurrent calls can
        receive at once. A cancelled call is not recorded.
        """
        trial = self._admit()
        try:
            yield
        except ScrubjayError as error:
            if isinstance(error, Unavailable) and error.details.get("reason") != FailureReason.RATE_LIMITED:
                self._count(error, trial)
            else:
                self._learn_success(trial)
            raise
        else:
            self._learn_success(trial)
        finally:
            if trial and self._trial is not None:
                self._trial.set()
                self._trial = None

    def _admit(self) -> bool:
        """Return whether the call is a probe; raise `Unavailable` if the breaker rejects it."""
        state = self.state
        if state is BreakerState.CLOSED:
            return False
        if state is BreakerState.OPEN or self._trial is not None:
            seconds = max(1, math.ceil(self._remaining()))
            raise unavailable(
                FailureReason.PAUSED,
                f"{self.name} is paused for {seconds} s after {self._failed} "
                f"failure{'' if self._failed == 1 else 's'}; the last: {self._last}",
                hint=(self._last.hint if self._last else None) or "try again later",
                retry_after_seconds=seconds,
            ) from self._last
        self._trial = anyio.Event()
        return True

    def _count(self, error: Unavailable, trial: bool) -> None:
        self._failed += 1
        self._succeeded = 0
        self._last = error
        # A call that started before the breaker opened must not extend the pause.
        if trial or (self._opened_at is None and self._failed >= self._failures):
            self._opened_at = self._clock()

    def _learn_success(self, trial: bool) -> None:
        """Record a success; that of a call which started before the breaker opened does not close it."""
        if self._opened_at is None:
            self._close()
        elif trial:
            self._succeeded += 1
            if self._succeeded >= self._successes:
                self._close()

    def _close(self) -> None:
        self._failed = self._succeeded = 0
        self._last = None
        self._opened_at = None

    def _remaining(self) -> float:
        return self._opened_at + self._pause_seconds - self._clock() if self._opened_at is not None else 0.0


def query_breaker(name: str) -> CircuitBreaker:
    """Return a breaker for interactive queries: it opens after one failure and closes after one success."""
    return CircuitBreaker(name, failures=1, pause_seconds=30.0, successes=1)
