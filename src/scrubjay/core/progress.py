"""Progress reports and steps of long-running work."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a piece of work."""

    done: float = 0.0
    total: float | None = None
    message: str = ""


class Reporter(Protocol):
    """Receives progress and signals cancellation."""

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        """Publish progress. Raises `Cancelled` when cancellation was requested."""
        ...


class StepKind(StrEnum):
    """Kind of a step in answering a question."""

    PROCESSING = "processing"
    ROUTING = "routing"
    MEMORY_RECALL = "memory_recall"
    TOOL_INVOCATION = "tool_invocation"
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True)
class AnswerStep:
    """A step in answering a question, reported as it happens."""

    kind: StepKind
    content: str
    confidence: float | None = None


StepListener = Callable[[AnswerStep], None]
"""Called for each step; must neither block nor raise."""


def ignore_step(step: AnswerStep) -> None:
    """Do nothing with the step."""


class SilentReporter:
    """Discards progress and never cancels."""

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        return None
