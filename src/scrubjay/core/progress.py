"""How long work tells the world where it is."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
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


class StepKind(StrEnum):
    """What sort of thing is done for a question."""

    PROCESSING = "processing"
    ROUTING = "routing"
    MEMORY_RECALL = "memory_recall"
    TOOL_INVOCATION = "tool_invocation"
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is done for a question, told while it happens."""

    kind: StepKind
    content: str
    confidence: float | None = None


Witness = Callable[[Step], None]
"""Hears of each step at once; must neither wait nor fail."""


def unwitnessed(step: Step) -> None:
    """Tells nobody."""


class SilentReporter:
    """Reports to nobody; never asks the work to stop."""

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        return None
