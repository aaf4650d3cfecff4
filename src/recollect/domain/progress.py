"""How long work tells the world where it is."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Progress:
    """How far some work has come."""

    done: float = 0.0
    total: float | None = None
    message: str = ""


class Reporter(Protocol):
    """Where work reports its steps, and learns that it should stop."""

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        """Publish progress. Raises `Cancelled` when the work has been asked to stop."""
        ...


class SilentReporter:
    """Reports to nobody; never asks the work to stop."""

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        return None
