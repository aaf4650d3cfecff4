"""A circuit breaker: what keeps failing is left alone for a while, then tried with one call at a time."""

import math
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

import anyio

from scrubjay.core.errors import ScrubjayError, Unavailable
from scrubjay.models.failures import Reason, unavailable

Seconds = Callable[[], float]
"""A clock that only goes forward."""


class BreakerState(StrEnum):
    """Whether calls are let through."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class BreakerStanding:
    """How a breaker is at one moment."""

    state: BreakerState
    failures: int
    """In a row, up to now."""
    retry_after_seconds: float
    """When it is open: how long it will be."""
    problem: str | None
    """The last failure, unless a success came after it."""


class CircuitBreaker:
    """Closed, it lets every call through. After some failures in a row it opens and refuses all for a pause.

    Then it is half open: one call at a time may try. When enough of these have succeeded the breaker closes; as soon as
    one fails it is open for another pause.
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
        """`failures` in a row open it, and `successes` of trials in a row close it again."""
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
    def standing(self) -> BreakerStanding:
        """How it is now, for people who look after the server."""
        problem = None if self._last is None else self._last.message
        return BreakerStanding(self.state, self._failed, max(0.0, self._remaining()), problem)

    async def no_trial(self) -> None:
        """Wait while another call tries whether it works again: its end says more than a refusal."""
        while (trial := self._trial) is not None:
            await trial.wait()

    @contextmanager
    def attempt(self) -> Generator[None]:
        """Let one call through, and learn from how it ends: only `Unavailable` is a failure.

        Any other error is an answer, so the other side is there; so is a request for patience, which many calls at
        once may get together. A call that is cancelled teaches nothing.
        """
        trial = self._admit()
        try:
            yield
        except ScrubjayError as error:
            if isinstance(error, Unavailable) and error.details.get("reason") != Reason.RATE_LIMITED:
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
        """Whether the call is a trial; raises when it must not be made at all."""
        state = self.state
        if state is BreakerState.CLOSED:
            return False
        if state is BreakerState.OPEN or self._trial is not None:
            seconds = max(1, math.ceil(self._remaining()))
            raise unavailable(
                Reason.PAUSED,
                f"{self.name} is left alone for {seconds} s after {self._failed} "
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
        # A call that was under way when the breaker opened must not make the pause longer.
        if trial or (self._opened_at is None and self._failed >= self._failures):
            self._opened_at = self._clock()

    def _learn_success(self, trial: bool) -> None:
        """One of a call that was under way when the breaker opened is news of before, and closes nothing."""
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


def of_questions(name: str) -> CircuitBreaker:
    """A breaker for questions, whose askers wait: one that waited in vain is enough, and one success is."""
    return CircuitBreaker(name, failures=1, pause_seconds=30.0, successes=1)
