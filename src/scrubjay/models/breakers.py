"""Registry of the circuit breakers of this process, for monitoring."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from scrubjay.models.breaker import BreakerSnapshot, CircuitBreaker, Seconds

# A local model that hangs should be detected sooner than a cloud service with occasional failures.
FAILURES_BY_PROVIDER = {"ollama": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerLimits:
    """Limits of a circuit breaker."""

    failures: int | None = None
    """Consecutive failures that open it; None means 5, and 3 for a local model."""
    pause_seconds: float = 60.0
    successes: int = 3
    """Consecutive successful probes that close it."""

    def of_provider(self, provider: str) -> "BreakerLimits":
        return replace(self, failures=self.failures or FAILURES_BY_PROVIDER.get(provider, 5))


@dataclass(frozen=True, slots=True)
class BreakerReport:
    """A service and the current state of its breaker."""

    service: str
    """Purpose of the service: `embedding`, `code_embedding`, `llm`."""
    endpoint: str
    """Label of the endpoint: provider and host."""
    standing: BreakerSnapshot


class BreakerRegistry:
    """Creates circuit breakers, one for each service and host."""

    def __init__(self, limits: BreakerLimits | None = None, *, clock: Seconds = time.monotonic) -> None:
        self._limits = limits or BreakerLimits()
        self._clock = clock
        self._breakers: dict[tuple[str, str], CircuitBreaker] = {}

    def of(self, service: str, provider: str, endpoint: str) -> CircuitBreaker:
        """Return the breaker of this service at this host."""
        if (service, endpoint) not in self._breakers:
            limits = self._limits.of_provider(provider)
            self._breakers[service, endpoint] = CircuitBreaker(
                endpoint,
                failures=limits.failures or 5,
                pause_seconds=limits.pause_seconds,
                successes=limits.successes,
                clock=self._clock,
            )
        return self._breakers[service, endpoint]

    def __iter__(self) -> Iterator[BreakerReport]:
        """Yield the current state of all breakers, in order of creation."""
        return (
            BreakerReport(service, endpoint, breaker.standing)
            for (service, endpoint), breaker in self._breakers.items()
        )
