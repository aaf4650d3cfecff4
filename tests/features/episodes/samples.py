"""Episodes for tests, made in one line."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    Outcome,
    Quality,
    Reflection,
    ResultType,
    Reward,
    SalientFeatures,
    Step,
    StepResult,
    Success,
    TaskContext,
    TaskType,
)
from tests.contracts.samples import NOW

DONE = Success(verdict="It works")


def identifier(number: int) -> str:
    return str(UUID(int=number, version=4))


def step(number: int, outcome: str = "+", *, tool: str = "grep", action: str | None = None, **fields: Any) -> Step:
    """A step that succeeded (+), failed (-), took too long (t) or has no result (?)."""
    kinds = {"+": ResultType.SUCCESS, "-": ResultType.ERROR, "t": ResultType.TIMEOUT}
    kind = kinds.get(outcome)
    message = "no such file" if outcome == "-" else None
    plain: dict[str, Any] = {
        "step_number": number,
        "timestamp": NOW + timedelta(seconds=number),
        "tool": tool,
        "action": action or f"action {number}",
        "result": None if kind is None else StepResult(type=kind, message=message),
    }
    return Step(**(plain | fields))


def steps(outcomes: str, tools: Sequence[str] = ("grep",)) -> tuple[Step, ...]:
    """A step for each sign; the tools take turns."""
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
    """An open one, unless the fields say otherwise."""
    plain: dict[str, Any] = {
        "episode_id": identifier(number),
        "task_type": TaskType.DEBUGGING,
        "task_description": "Fix the login",
        "context": TaskContext(domain=domain, complexity=complexity, tags=tags),
        "start_time": NOW,
    }
    return Episode(**(plain | fields))


def ended(
    outcomes: str = "",
    *,
    seconds: float = 90,
    outcome: Outcome = DONE,
    tools: Sequence[str] = ("grep",),
    **fields: Any,
) -> Episode:
    """One with an end, not yet judged."""
    whole: dict[str, Any] = {
        "steps": steps(outcomes, tools),
        "outcome": outcome,
        "end_time": NOW + timedelta(seconds=seconds),
    }
    return episode(**(whole | fields))


def completed(open_one: Episode, **fields: Any) -> Episode:
    """One that has all that a complete one has."""
    plain: dict[str, Any] = {
        "end_time": NOW + timedelta(seconds=90),
        "outcome": Success(verdict="It works", artifacts=("a.py", "b.py")),
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
    return replace(open_one, **(plain | fields))
