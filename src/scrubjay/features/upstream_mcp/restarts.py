"""Limit of restarts: after too many failures a skill is paused."""

import time
from collections import deque
from collections.abc import Callable

MAX_RESTARTS, WINDOW_SECONDS = 3, 5.0


class RestartLimit:
    """Pauses a skill after more than `MAX_RESTARTS` failures within `WINDOW_SECONDS`."""

    def __init__(self, pause_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._pause_seconds = pause_seconds
        self._clock = clock
        self._failures: deque[float] = deque(maxlen=MAX_RESTARTS + 1)
        self._paused_until = 0.0

    def record_failure(self) -> None:
        """Record a failed start or an unexpected end; pause the skill above the limit."""
        now = self._clock()
        self._failures.append(now)
        if len(self._failures) > MAX_RESTARTS and now - self._failures[0] <= WINDOW_SECONDS:
            self._paused_until = now + self._pause_seconds
            self._failures.clear()

    @property
    def paused_seconds(self) -> float:
        """Remaining seconds of the pause; 0 if the skill may be started."""
        return max(0.0, self._paused_until - self._clock())
