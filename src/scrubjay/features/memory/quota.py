"""Quota of each client: stored memories and writes per minute."""

import time
from collections.abc import Callable

from scrubjay.core.errors import RateLimited
from scrubjay.core.policies import StorageQuota

WINDOW_SECONDS = 60.0
# A bucket that was not used for WINDOW_SECONDS is full again and can be dropped; this bounds the others.
MAX_BUCKETS = 10_000


class Quota:
    """Limits of each client of this process. A limit of 0 means unlimited.

    The store counts the memories of a client in the transaction of each write, because several processes write. The
    rate of writes is counted here, by a token bucket: a client uses one process at a time.
    """

    def __init__(
        self,
        *,
        memories_per_client: int = 0,
        writes_per_minute: int = 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._memories = memories_per_client
        self._writes = writes_per_minute
        self._now = now
        self._buckets: dict[str, tuple[float, float]] = {}

    def allowance(self, client: str | None) -> StorageQuota | None:
        """Return the number of memories that the store may hold of this client; None if unlimited."""
        return StorageQuota(client or "", self._memories) if self._memories else None

    def admit(self, client: str | None) -> None:
        """Count one write of this client, of any size. Raises `RateLimited` above the rate.

        A burst of one minute's writes is allowed.
        """
        if not self._writes:
            return
        now = self._now()
        left, since = self._buckets.pop(client or "", (float(self._writes), now))
        left = min(float(self._writes), left + (now - since) * self._writes / WINDOW_SECONDS)
        self._buckets[client or ""] = (left - 1 if left >= 1 else left, now)
        self._forget_idle(now)
        if left < 1:
            wait = (1 - left) * WINDOW_SECONDS / self._writes
            raise RateLimited(
                f"this client has reached its limit of {self._writes} writes per minute",
                hint=f"try again in {wait:.3g} s, or write many memories at once with remember_many",
                details={"retry_after_seconds": round(wait, 3), "writes_per_minute": self._writes},
            )

    def _forget_idle(self, now: float) -> None:
        """Drop buckets that are full again. They are in the order of their last use."""
        while self._buckets:
            client, (_, since) = next(iter(self._buckets.items()))
            if now - since < WINDOW_SECONDS and len(self._buckets) <= MAX_BUCKETS:
                return
            del self._buckets[client]
