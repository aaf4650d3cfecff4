"""Load shedding: refuse requests while too many run or while they take too long."""

import time
from collections import deque
from collections.abc import Callable

from scrubjay.servers.http.refusals import Overloaded

# The latency samples that are kept, how many are needed for a percentile, and for how many seconds they count.
_SAMPLES, _FEWEST, _SAMPLE_SECONDS = 100, 10, 30.0


class Load:
    """Counts requests without a response yet. A stream counts until its first byte."""

    def __init__(
        self,
        most_at_once: int = 0,
        slowest_ms: float = 0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Refuse requests above `most_at_once`, or while the 99th percentile exceeds `slowest_ms`; 0 is no limit."""
        self._most = most_at_once
        self._slowest_ms = slowest_ms
        self._monotonic = monotonic
        self._under_way = 0
        self._latencies: deque[tuple[float, float]] = deque(maxlen=_SAMPLES)

    def begin(self) -> float:
        """Count one more and return the time of its start; raise `Overloaded` when a limit is exceeded."""
        if self._most and self._under_way >= self._most:
            raise Overloaded(
                f"the server works on {self._most} requests, which is as many as it may",
                hint="try again in a moment",
                details={"retry_after_seconds": 1},
            )
        now = self._monotonic()
        if self._slowest_ms and (slow := self._p99(now)) > self._slowest_ms:
            raise Overloaded(
                f"requests take {slow:.0f} ms, and {self._slowest_ms:g} ms is the most that is borne",
                hint="try again in a moment",
                details={
                    "p99_latency_ms": round(slow, 2),
                    "threshold_ms": self._slowest_ms,
                    "retry_after_seconds": 1,
                },
            )
        self._under_way += 1
        return now

    def end(self, began: float) -> None:
        self._under_way -= 1
        if self._slowest_ms:
            now = self._monotonic()
            self._latencies.append((now, (now - began) * 1000))

    def _p99(self, now: float) -> float:
        """Return the 99th percentile in milliseconds.

        Old samples expire: otherwise a server that refuses everything would never recover.
        """
        while self._latencies and self._latencies[0][0] < now - _SAMPLE_SECONDS:
            self._latencies.popleft()
        found = sorted(milliseconds for _, milliseconds in self._latencies)
        return found[min(len(found) - 1, len(found) * 99 // 100)] if len(found) >= _FEWEST else 0.0
