"""How much each caller may write, and keep."""

import time
from collections.abc import Callable

from scrubjay.core.errors import RateLimited
from scrubjay.core.policies import Allowance

SECONDS = 60.0
# Buckets of clients that have not written for so long are full again, and need not be remembered.
MOST_BUCKETS = 10_000


class Quota:
    """The limits of every client of this process. A limit of 0 is none.

    How many memories a client keeps is counted by the store, in the transaction of each write, because several
    processes write. How fast it writes is counted here: a client talks to one process at a time.
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

    def allowance(self, client: str | None) -> Allowance | None:
        """What the store may keep of this client; None for as much as it likes."""
        return Allowance(client or "", self._memories) if self._memories else None

    def admit(self, client: str | None) -> None:
        """Count one write of this client, however much it brings; `RateLimited` when there were too many of late.

        As many as fit into a minute may come at once. From then on they may come as fast as the minute allows.
        """
        if not self._writes:
            return
        now = self._now()
        left, since = self._buckets.pop(client or "", (float(self._writes), now))
        left = min(float(self._writes), left + (now - since) * self._writes / SECONDS)
        self._buckets[client or ""] = (left - 1 if left >= 1 else left, now)
        self._forget_idle(now)
        if left < 1:
            wait = (1 - left) * SECONDS / self._writes
            raise RateLimited(
                f"this client may write {self._writes} times a minute, and did",
                hint=f"try again in {wait:.3g} s, or write many at once with remember_many",
                details={"retry_after_seconds": round(wait, 3), "writes_per_minute": self._writes},
            )

    def _forget_idle(self, now: float) -> None:
        """Buckets are in the order of their last use; those at the front are full again."""
        while self._buckets:
            client, (_, since) = next(iter(self._buckets.items()))
            if now - since < SECONDS and len(self._buckets) <= MOST_BUCKETS:
                return
            del self._buckets[client]
