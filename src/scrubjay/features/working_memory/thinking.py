"""Thinking aloud: what an agent tells itself, alone or step by step, kept in a working memory of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from scrubjay.features.working_memory.models import Desk, WorkingItem
from scrubjay.features.working_memory.service import NewItem, Put, WorkingMemory

SOURCE: Final = "think"
STEPS: Final = "steps"
"""In the context of a plan: its steps, one by one."""
# Between two steps an agent may read a book; what nobody goes on with for an hour is over.
KEPT_SECONDS: Final = 3_600.0
_NUMBER, _TOTAL, _RECORDED, _GOES_ON = "thought_number", "total_thoughts", "thoughts_recorded", "next_thought_needed"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a train of thought."""

    thought: str
    number: int
    total: int
    """How many there will be, as the agent sees it now."""
    goes_on: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a train of thought has come."""

    put: Put
    total: int
    """At least as many as there have been."""
    recorded: int
    """How many steps of it were kept."""

    @property
    def percent(self) -> float:
        return round(100 * self.put.item.context[_NUMBER] / self.total, 1)


class Thinking:
    """Keeps thoughts. They never become memories by themselves: what is worth that is remembered."""

    def __init__(self, working: WorkingMemory) -> None:
        self._working = working

    async def note(self, desk: Desk, thought: str, client: str | None) -> Put:
        """Keep a thought by itself."""
        return await self._keep(desk, thought, client, {})

    async def plan(self, desk: Desk, steps: Sequence[str], client: str | None) -> Put:
        """Keep a plan, its steps numbered."""
        return await self._keep(desk, numbered(steps), client, {STEPS: [*steps]})

    async def step(self, desk: Desk, step: Step, client: str | None) -> Progress:
        """Keep a step of the train of thought that this session is at; the first one begins another.

        So does a later one when nothing is known of those before it: it is then the only one that was kept.
        """
        before = await self._last(desk) if step.number > 1 else None
        recorded = 1 if before is None else before.context[_RECORDED] + 1
        total = max(step.total, step.number)
        context = {_NUMBER: step.number, _TOTAL: total, _RECORDED: recorded, _GOES_ON: step.goes_on}
        return Progress(await self._keep(desk, step.thought, client, context), total, recorded)

    async def _last(self, desk: Desk) -> WorkingItem | None:
        """The step before, if the train of thought was to go on."""
        for item in await self._working.recent(desk, self._working.capacity):
            if item.source == SOURCE and _RECORDED in item.context:
                return item if item.context[_GOES_ON] else None
        return None

    async def _keep(self, desk: Desk, content: str, client: str | None, context: dict[str, Any]) -> Put:
        new = NewItem(
            content=content,
            context=context,
            source=SOURCE,
            tool_name=SOURCE,
            client=client,
            ttl_seconds=KEPT_SECONDS,
            candidate=False,
        )
        return await self._working.put(desk, new)


def numbered(steps: Sequence[str]) -> str:
    """The steps as a list that people read."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
