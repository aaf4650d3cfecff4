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
MAX_BUCKETS = 10_000


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Requests allowed in each window; 0 means no limit."""

    window_seconds: float = 60
    per_address: int = 6_000
    per_loopback: int = 600_000
    per_key: int = 60_000


@dataclass(frozen=True, slots=True)
class RateLimitStatus:
    """The state of the tightest limit, sent in the `X-RateLimit-*` response headers."""

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

    def __init__(self, status: RateLimitStatus, window_seconds: float, retry_after: float) -> None:
        retry_after_seconds = max(1, math.ceil(retry_after))
        super().__init__(
            f"more than {status.limit} requests in {window_seconds:g} seconds",
            hint=f"try again in {retry_after_seconds} seconds",
            details={
                "limit": status.limit,
                "window_seconds": window_seconds,
                "retry_after_seconds": retry_after_seconds,
            },
        )
        self.status = status


class RateLimiter:
    """Counts the requests of callers, over all protocols."""

    def __init__(self, limits: RateLimits | None = None, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits or RateLimits()
        self._monotonic = monotonic
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, caller: Caller | None, address: str) -> RateLimitStatus | None:
        """Count one request of this caller; raise `TooManyRequests` when a bucket is empty.

        Returns the status of the tighter limit, or None without limits. When one bucket is empty, no token is taken
        from the other.
        """
        now = self._monotonic()
        statuses: list[RateLimitStatus] = []
        taken: list[tuple[str, float]] = []
        for name, limit in self._buckets_for(caller, address):
            tokens = self._tokens(name, limit, now)
            if tokens < 1:
                status = RateLimitStatus(limit, 0, self._seconds_for(limit - tokens, limit))
                raise TooManyRequests(
                    status, self._limits.window_seconds, self._seconds_per_token(limit) * (1 - tokens)
                )
            taken.append((name, tokens - 1))
            statuses.append(RateLimitStatus(limit, int(tokens - 1), self._seconds_for(limit - tokens + 1, limit)))
        for name, left in taken:
            self._store_tokens(name, left, now)
        return min(statuses, key=lambda status: status.remaining, default=None)

    def _buckets_for(self, caller: Caller | None, address: str) -> list[tuple[str, int]]:
        """Return name and limit of each bucket that a request takes a token from."""
        limits = self._limits
        per_address = limits.per_loopback if is_loopback(address) else limits.per_address
        buckets = [(f"address {host_of(address)}", per_address)]
        if caller is not None and caller.key_id is not None:
            buckets.append((f"key {caller.key_id}", limits.per_key))
        return [(name, limit) for name, limit in buckets if limit]

    def _tokens(self, name: str, limit: int, now: float) -> float:
        left, since = self._buckets.get(name, (float(limit), now))
        return min(float(limit), left + (now - since) / self._seconds_per_token(limit))

    def _store_tokens(self, name: str, left: float, now: float) -> None:
        self._buckets[name] = (left, now)
        self._buckets.move_to_end(name)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)

    def _seconds_per_token(self, limit: int) -> float:
        """Return the seconds between two tokens."""
        return self._limits.window_seconds / limit

    def _seconds_for(self, tokens: float, limit: int) -> int:
        """Return the seconds until this many tokens have been refilled."""
        return math.ceil(tokens * self._seconds_per_token(limit))
