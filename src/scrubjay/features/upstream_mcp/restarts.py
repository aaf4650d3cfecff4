"""How often a skill that dies is started again, before it is left alone for a while."""

import time
from collections import deque
from collections.abc import Callable

MOST_RESTARTS, WINDOW_SECONDS = 3, 5.0


class RestartLimit:
    """Lets so many failures pass in a short time; one more, and the skill is left alone for a pause."""

    def __init__(self, pause_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._pause_seconds = pause_seconds
        self._clock = clock
        self._failures: deque[float] = deque(maxlen=MOST_RESTARTS + 1)
        self._paused_until = 0.0

    def failed(self) -> None:
        now = self._clock()
        self._failures.append(now)
        if len(self._failures) > MOST_RESTARTS and now - self._failures[0] <= WINDOW_SECONDS:
            self._paused_until = now + self._pause_seconds
            self._failures.clear()

    @property
    def paused_seconds(self) -> float:
        """How long it is still left alone; zero when it may be started."""
        return max(0.0, self._paused_until - self._clock())
