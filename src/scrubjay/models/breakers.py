"""The breakers of all services that this process asks, so that one can look at them in one place."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from scrubjay.models.breaker import BreakerStanding, CircuitBreaker, Seconds

# A model of this machine that hangs should be noticed sooner than one in the cloud that stumbles.
FAILURES_BY_PROVIDER = {"ollama": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerLimits:
    """When a breaker opens, for how long, and when it closes again."""

    failures: int | None = None
    """So many in a row open it; None is five, and three for a model of this machine."""
    pause_seconds: float = 60.0
    successes: int = 3
    """So many trials in a row close it."""

    def of_provider(self, provider: str) -> "BreakerLimits":
        return replace(self, failures=self.failures or FAILURES_BY_PROVIDER.get(provider, 5))


@dataclass(frozen=True, slots=True)
class Guarded:
    """One service, and how its breaker is at this moment."""

    service: str
    """What it is asked for: `embedding`, `code_embedding`, `llm`."""
    place: str
    """Its name and host."""
    standing: BreakerStanding


class Breakers:
    """Makes breakers and knows them. Who asks the same place for the same thing shares one."""

    def __init__(self, limits: BreakerLimits | None = None, *, clock: Seconds = time.monotonic) -> None:
        self._limits = limits or BreakerLimits()
        self._clock = clock
        self._made: dict[tuple[str, str], CircuitBreaker] = {}

    def of(self, service: str, provider: str, place: str) -> CircuitBreaker:
        """The breaker of what this place is asked for."""
        if (service, place) not in self._made:
            limits = self._limits.of_provider(provider)
            self._made[service, place] = CircuitBreaker(
                place,
                failures=limits.failures or 5,
                pause_seconds=limits.pause_seconds,
                successes=limits.successes,
                clock=self._clock,
            )
        return self._made[service, place]

    def __iter__(self) -> Iterator[Guarded]:
        """All of them as they are now, in the order in which they were first needed."""
        return (Guarded(service, place, breaker.standing) for (service, place), breaker in self._made.items())
