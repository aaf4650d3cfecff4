"""The present moment, as something that can be handed in."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The present moment in UTC."""
    return datetime.now(UTC)
