"""Rate limits: a token bucket for each key and for each address."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from scrubjay.core.callers import Caller
from scrubjay.core.errors import RateLimited
from scrubjay.servers.http.client_address import host_of, is_loopback

# The largest number of buckets in memory; the least recently used is evicted.
MOST_BUCKETS = 10_000


@dataclass(frozen=True, slots=True)
class Rates:
    """Requests allowed in each window; 0 means no limit."""

    window_seconds: float = 60
    per_address: int = 6_000
    per_loopback: int = 600_000
    per_key: int = 60_000


@dataclass(frozen=True, slots=True)
class Standing:
    """What is left of a limit, as shown in the response headers."""

    limit: int
    remaining: int
    reset_seconds: int
    """Seconds until the bucket is full again."""

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        return [
            (b"x-ratelimit-limit", b"%d" % self.limit),
            (b"x-ratelimit-remaining", b"%d" % self.remaining),
            (b"x-ratelimit-reset", b"%d" % self.reset_seconds),
        ]


class TooManyRequests(RateLimited):
    """A bucket is empty; the details have its limit and the seconds until the next token."""

    def __init__(self, standing: Standing, window_seconds: float, retry_after: float) -> None:
        retry_after_seconds = max(1, math.ceil(retry_after))
        super().__init__(
            f"more than {standing.limit} requests in {window_seconds:g} seconds",
            hint=f"try again in {retry_after_seconds} seconds",
            details={
                "limit": standing.limit,
                "window_seconds": window_seconds,
                "retry_after_seconds": retry_after_seconds,
            },
        )
        self.standing = standing


class Limits:
    """Counts the requests of callers, over all protocols."""

    def __init__(self, rates: Rates | None = None, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._rates = rates or Rates()
        self._monotonic = monotonic
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, caller: Caller | None, address: str) -> Standing | None:
        """Count one request of this caller; `TooManyRequests` when there were too many.

        What is left of the tighter limit; None where there is none. Nothing is taken from one bucket when another one
        is empty.
        """
        now = self._monotonic()
        wanted = self._wanted(caller, address)
        standings: list[Standing] = []
        taken: list[tuple[str, float]] = []
        for name, limit in wanted:
            tokens = self._tokens(name, limit, now)
            if tokens < 1:
                standing = Standing(limit, 0, self._seconds(limit - tokens, limit))
                raise TooManyRequests(standing, self._rates.window_seconds, self._pace(limit) * (1 - tokens))
            taken.append((name, tokens - 1))
            standings.append(Standing(limit, int(tokens - 1), self._seconds(limit - tokens + 1, limit)))
        for name, left in taken:
            self._keep(name, left, now)
        return min(standings, key=lambda standing: standing.remaining, default=None)

    def _wanted(self, caller: Caller | None, address: str) -> list[tuple[str, int]]:
        rates = self._rates
        of_address = rates.per_loopback if is_loopback(address) else rates.per_address
        wanted = [(f"address {host_of(address)}", of_address)]
        if caller is not None and caller.key_id is not None:
            wanted.append((f"key {caller.key_id}", rates.per_key))
        return [(name, limit) for name, limit in wanted if limit]

    def _tokens(self, name: str, limit: int, now: float) -> float:
        left, since = self._buckets.get(name, (float(limit), now))
        return min(float(limit), left + (now - since) / self._pace(limit))

    def _keep(self, name: str, left: float, now: float) -> None:
        self._buckets[name] = (left, now)
        self._buckets.move_to_end(name)
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)

    def _pace(self, limit: int) -> float:
        """Return the seconds between two tokens."""
        return self._rates.window_seconds / limit

    def _seconds(self, missing: float, limit: int) -> int:
        return math.ceil(missing * self._pace(limit))
