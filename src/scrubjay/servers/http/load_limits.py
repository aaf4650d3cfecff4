"""Load shedding: refuse requests while too many run or while they take too long."""

import time
from collections import deque
from collections.abc import Callable, Sequence

from scrubjay.servers.http.places import Place, Places
from scrubjay.servers.http.refusals import Overloaded

# Latency samples in memory, samples needed for a percentile, and seconds after which a sample expires.
_MAX_SAMPLES, _MIN_SAMPLES, _SAMPLE_SECONDS = 100, 10, 30.0


class RunningRequest:
    """A request that occupies a place, from its head until its response has been read."""

    def __init__(self, place: Place, record_latency: Callable[[float], None], monotonic: Callable[[], float]) -> None:
        self._place = place
        self._record_latency = record_latency
        self._monotonic = monotonic
        self._began: float | None = None

    def begin_work(self) -> None:
        """Start the latency: not before the body has arrived, or a slow client would make the server look slow."""
        self._began = self._monotonic()

    def respond(self) -> None:
        """End the latency, when the response starts; later calls do nothing."""
        began, self._began = self._began, None
        if began is not None:
            self._record_latency(began)

    def end(self) -> None:
        """Free the place; later calls do nothing."""
        self.respond()
        self._place.release()


class LoadShedder:
    """Refuses requests above `max_concurrent`, or while the 99th percentile exceeds `max_latency_ms`; 0 is off."""

    def __init__(
        self,
        max_concurrent: int = 0,
        max_latency_ms: float = 0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._places = Places(max_concurrent, "concurrent requests")
        self._max_latency_ms = max_latency_ms
        self._monotonic = monotonic
        self._latencies: deque[tuple[float, float]] = deque(maxlen=_MAX_SAMPLES)

    def begin(self, senders: Sequence[str] = ()) -> RunningRequest:
        """Count a request of these senders; raise `Overloaded` or `ShareExceeded` beyond a limit."""
        if self._max_latency_ms and (slow := self._p99(self._monotonic())) > self._max_latency_ms:
            raise Overloaded(
                f"requests take {slow:.0f} ms; the limit is {self._max_latency_ms:g} ms",
                hint="try again in a moment",
                details={
                    "p99_latency_ms": round(slow, 2),
                    "threshold_ms": self._max_latency_ms,
                    "retry_after_seconds": 1,
                },
            )
        return RunningRequest(self._places.take(senders), self._record_latency, self._monotonic)

    def _record_latency(self, began: float) -> None:
        if self._max_latency_ms:
            now = self._monotonic()
            self._latencies.append((now, (now - began) * 1000))

    def _p99(self, now: float) -> float:
        """Return the 99th percentile in milliseconds.

        Old samples expire: otherwise a server that refuses everything would never recover.
        """
        while self._latencies and self._latencies[0][0] < now - _SAMPLE_SECONDS:
            self._latencies.popleft()
        samples = sorted(milliseconds for _, milliseconds in self._latencies)
        return samples[min(len(samples) - 1, len(samples) * 99 // 100)] if len(samples) >= _MIN_SAMPLES else 0.0
