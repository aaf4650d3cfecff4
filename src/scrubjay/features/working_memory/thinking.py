"""Thoughts and plans of an agent, single or in steps, stored as separate working-memory items."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from scrubjay.features.working_memory.models import WorkingItem, WorkingScope
from scrubjay.features.working_memory.service import NewItem, PutOutcome, WorkingMemory

SOURCE: Final = "think"
STEPS: Final = "steps"
"""Key of a plan's steps in the item's context."""
# A train of thought without a new step for an hour is over.
TTL_SECONDS: Final = 3_600.0
_NUMBER, _TOTAL, _RECORDED, _CONTINUES = "thought_number", "total_thoughts", "thoughts_recorded", "next_thought_needed"


@dataclass(frozen=True, slots=True)
class ThoughtStep:
    """A step of a train of thought."""

    thought: str
    number: int
    total: int
    """Expected number of steps, as currently estimated by the agent."""
    continues: bool


@dataclass(frozen=True, slots=True)
class ThoughtProgress:
    """Progress of a train of thought."""

    put: PutOutcome
    total: int
    """Expected number of steps; at least the number of this step."""
    recorded: int
    """Number of stored steps."""

    @property
    def percent(self) -> float:
        return round(100 * self.put.item.context[_NUMBER] / self.total, 1)


class ThinkingService:
    """Stores thoughts. They never become memories automatically; use remember for that."""

    def __init__(self, working: WorkingMemory) -> None:
        self._working = working

    async def add_thought(self, scope: WorkingScope, thought: str, client: str | None) -> PutOutcome:
        """Store a single thought."""
        return await self._put(scope, thought, client, {})

    async def add_plan(self, scope: WorkingScope, steps: Sequence[str], client: str | None) -> PutOutcome:
        """Store a plan with numbered steps."""
        return await self._put(scope, number_steps(steps), client, {STEPS: [*steps]})

    async def add_step(self, scope: WorkingScope, step: ThoughtStep, client: str | None) -> ThoughtProgress:
        """Store a step of the session's train of thought; step 1 begins a new one.

        A later step also begins a new one if no earlier step is stored.
        """
        before = await self._previous_step(scope) if step.number > 1 else None
        recorded = 1 if before is None else before.context[_RECORDED] + 1
        total = max(step.total, step.number)
        context = {_NUMBER: step.number, _TOTAL: total, _RECORDED: recorded, _CONTINUES: step.continues}
        return ThoughtProgress(await self._put(scope, step.thought, client, context), total, recorded)

    async def _previous_step(self, scope: WorkingScope) -> WorkingItem | None:
        """Return the previous step if the train of thought continues."""
        for item in await self._working.recent(scope, self._working.capacity):
            if item.source == SOURCE and _RECORDED in item.context:
                return item if item.context[_CONTINUES] else None
        return None

    async def _put(self, scope: WorkingScope, content: str, client: str | None, context: dict[str, Any]) -> PutOutcome:
        new = NewItem(
            content=content,
            context=context,
            source=SOURCE,
            tool_name=SOURCE,
            client=client,
            ttl_seconds=TTL_SECONDS,
            candidate=False,
        )
        return await self._working.put(scope, new)


def number_steps(steps: Sequence[str]) -> str:
    """Return the steps as a numbered list."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
