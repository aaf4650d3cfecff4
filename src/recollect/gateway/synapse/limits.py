"""How much one connection, and all of them, may ask of the server."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the operator allows."""

    connections: int = 1000
    workers: int = 8
    """How many questions and calls are worked on at once, over all connections."""
    waiting: int = 256
    """How many wait for that, over all connections."""
    open_per_connection: int = 32
    """How many of one connection wait or are worked on."""
    topics_per_connection: int = 32
    messages_per_second: float = 50
    outbox_bytes: int = 1024 * 1024
    """How much may wait for a reader."""
    outbox_messages: int = 512
    slow_seconds: float = 10
    """How long a reader may not read at all while something waits for it."""
    idle_seconds: float = 45
    """How long a client may say nothing, and how long it may take to join."""
    malformed: int = 20
    """How many frames of one connection may be beyond understanding."""
    wrong_keys: int = 5


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
