"""A token bucket."""

from collections.abc import Callable


class TokenBucket:
    """Allows `per_second` events a second on average, and bursts of the same size."""

    def __init__(self, per_second: float, now: Callable[[], float]) -> None:
        self._per_second = per_second
        self._now = now
        self._level = per_second
        self._filled_at = now()

    def take(self) -> bool:
        """Take a token; return False when there is none."""
        now = self._now()
        self._level = min(self._per_second, self._level + (now - self._filled_at) * self._per_second)
        self._filled_at = now
        if self._level < 1:
            return False
        self._level -= 1
        return True
