"""How fast somebody may go on: so many a second."""

from collections.abc import Callable


class Bucket:
    """Allows so many a second on average, and as many at once."""

    def __init__(self, per_second: float, now: Callable[[], float]) -> None:
        self._per_second = per_second
        self._now = now
        self._level = per_second
        self._filled_at = now()

    def take(self) -> bool:
        """Whether one more is allowed."""
        now = self._now()
        self._level = min(self._per_second, self._level + (now - self._filled_at) * self._per_second)
        self._filled_at = now
        if self._level < 1:
            return False
        self._level -= 1
        return True
