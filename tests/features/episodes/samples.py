"""Builders of episodes and steps."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    EpisodeStep,
    Outcome,
    Quality,
    Reflection,
    ResultType,
    Reward,
    SalientFeatures,
    StepResult,
    SuccessOutcome,
    TaskContext,
    TaskType,
)
from tests.contracts.samples import NOW

DONE = SuccessOutcome(verdict="It works")


def identifier(number: int) -> str:
    return str(UUID(int=number, version=4))


def step(
    number: int, outcome: str = "+", *, tool: str = "grep", action: str | None = None, **fields: Any
) -> EpisodeStep:
    """Return a step that succeeded (+), failed (-), timed out (t) or has no result (?)."""
    kinds = {"+": ResultType.SUCCESS, "-": ResultType.ERROR, "t": ResultType.TIMEOUT}
    kind = kinds.get(outcome)
    message = "no such file" if outcome == "-" else None
    defaults: dict[str, Any] = {
        "step_number": number,
        "timestamp": NOW + timedelta(seconds=number),
        "tool": tool,
        "action": action or f"action {number}",
        "result": None if kind is None else StepResult(type=kind, message=message),
    }
    return EpisodeStep(**(defaults | fields))


def steps(outcomes: str, tools: Sequence[str] = ("grep",)) -> tuple[EpisodeStep, ...]:
    """Return a step for each character; the tools alternate."""
    return tuple(
        step(number, outcome, tool=tools[(number - 1) % len(tools)]) for number, outcome in enumerate(outcomes, 1)
    )


def episode(
    number: int = 1,
    *,
    domain: str = "web-api",
    complexity: Complexity = Complexity.MODERATE,
    tags: tuple[str, ...] = (),
    **fields: Any,
) -> Episode:
    """Return an episode, open by default."""
    defaults: dict[str, Any] = {
        "episode_id": identifier(number),
        "task_type": TaskType.DEBUGGING,
        "task_description": "Fix the login",
        "context": TaskContext(domain=domain, complexity=complexity, tags=tags),
        "start_time": NOW,
    }
    return Episode(**(defaults | fields))


def ended(
    outcomes: str = "",
    *,
    seconds: float = 90,
    outcome: Outcome = DONE,
    tools: Sequence[str] = ("grep",),
    **fields: Any,
) -> Episode:
    """Return an ended episode without reward and quality."""
    defaults: dict[str, Any] = {
        "steps": steps(outcomes, tools),
        "outcome": outcome,
        "end_time": NOW + timedelta(seconds=seconds),
    }
    return episode(**(defaults | fields))


def completed(open_one: Episode, **fields: Any) -> Episode:
    """Return a complete episode."""
    defaults: dict[str, Any] = {
        "end_time": NOW + timedelta(seconds=90),
        "outcome": SuccessOutcome(verdict="It works", artifacts=("a.py", "b.py")),
        "reward": Reward(
            total=1.5, base=1.0, efficiency=1.1, complexity_bonus=1.1, quality_multiplier=1.0, learning_bonus=0.29
        ),
        "quality": Quality(score=0.6, complexity=0.5, diversity=0.8, error=0.6, reflection=0.8, novelty=0.2),
        "reflection": Reflection(successes=("good",), improvements=(), insights=("so",), generated_at=NOW),
        "salient_features": SalientFeatures(
            critical_decisions=("one",), tool_combinations=(("a", "b"), ("c", "d")), key_insights=("so",)
        ),
        "patterns": ("p1",),
        "heuristics": ("h1", "h2"),
    }
    return replace(open_one, **(defaults | fields))
