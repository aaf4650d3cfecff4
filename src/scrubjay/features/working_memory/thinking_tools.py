"""Thinking aloud: the tool `think` as Mimo's clients know it, and `plan`, its older name for plans."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from scrubjay.core.ids import new_id
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.working_memory.models import Desk
from scrubjay.features.working_memory.service import Put
from scrubjay.features.working_memory.thinking import STEPS, Step, Thinking
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_absent as _absent
from scrubjay.tooling.optional_fields import is_nothing

ThinkOperation = Literal["thought", "plan", "sequential"]
_NEEDED: dict[ThinkOperation, tuple[str, ...]] = {
    "thought": ("thought",),
    "plan": ("steps",),
    "sequential": ("thought", "thoughtNumber", "totalThoughts", "nextThoughtNeeded"),
}
MAX_THOUGHT, MAX_STEPS = 20_000, 200
PlanStep = Annotated[str, Field(min_length=1, max_length=2_000)]
SessionField = Field(
    default=None,
    description="Whose thoughts these are: what an earlier answer said, where the protocol cannot tell clients apart.",
)
StepsField = Field(min_length=1, max_length=MAX_STEPS, description="What to do, in order.")


class ThinkRequest(Request):
    model_config = examples(
        {"thought": "The token expires before it is refreshed."},
        {"operation": "plan", "steps": ["Reproduce it", "Write a test", "Mend it"]},
        {
            "operation": "sequential",
            "thought": "It fails only at night.",
            "thoughtNumber": 1,
            "totalThoughts": 3,
            "nextThoughtNeeded": True,
        },
    )

    operation: ThinkOperation = Field(
        default="thought", description="thought: keep one. plan: number steps. sequential: think step by step."
    )
    thought: str | None = Field(
        default=None, min_length=1, max_length=MAX_THOUGHT, description="For thought and sequential: what you think."
    )
    steps: Annotated[list[PlanStep], StepsField] | None = Field(default=None, description="For plan: what to do.")
    thoughtNumber: Annotated[int, Field(ge=1, le=10_000)] | None = Field(  # noqa: N815 - the documented name
        default=None, description="For sequential: which step this is, from 1 on."
    )
    totalThoughts: Annotated[int, Field(ge=1, le=10_000)] | None = Field(  # noqa: N815 - as above
        default=None, description="For sequential: how many you expect; it may change from step to step."
    )
    nextThoughtNeeded: bool | None = Field(  # noqa: N815 - as above
        default=None, description="For sequential: whether another step follows."
    )
    session_id: Label | None = SessionField

    @model_validator(mode="after")
    def _whole(self) -> Self:
        missing = [name for name in _NEEDED[self.operation] if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.operation} needs {' and '.join(missing)}")
        return self


class ThinkResult(Result):
    """What was kept; of the fields below, those that belong to the operation."""

    operation: ThinkOperation
    status: Literal["recorded", "continue", "complete"] = Field(
        description="recorded: it is kept. Of sequential: continue until no further step is needed."
    )
    thought: str | None = Field(default=None, exclude_if=_absent, description="As it was kept, secrets masked.")
    timestamp: datetime
    steps: list[str] | None = Field(default=None, exclude_if=_absent, description="Of plan.")
    formatted: str | None = Field(default=None, exclude_if=_absent, description="Of plan: the steps as a list.")
    session_id: str = Field(
        description="Give it with the next step if this protocol cannot tell clients apart; working_recent with it "
        "shows what was kept."
    )
    thought_number: int | None = Field(default=None, exclude_if=_absent)
    total_thoughts: int | None = Field(
        default=None, exclude_if=_absent, description="What was expected, and at least as many as there were."
    )
    progress_percent: float | None = Field(default=None, exclude_if=_absent)
    thoughts_recorded: int | None = Field(
        default=None, exclude_if=_absent, description="How many steps of this train of thought are known."
    )
    next_thought_needed: bool | None = Field(default=None, exclude_if=_absent)
    expires_at: datetime = Field(description="Until then it is kept in working memory; for longer use remember.")
    masked: list[str] = Field(
        default=[], exclude_if=is_nothing, description="The kinds of secrets that were found and masked."
    )

    def bare(self) -> Any:
        """What the operation is for, without its frame."""
        return {name: value for name, value in self.model_dump(mode="json").items() if name != "operation"}


class PlanRequest(Request):
    model_config = examples({"steps": ["Reproduce it", "Write a test", "Mend it"]})

    steps: Annotated[list[PlanStep], StepsField]
    session_id: Label | None = SessionField


@tool("thinking", core=False, fleeting=True)
async def think(
    request: ThinkRequest, thinking: Thinking, projects: ProjectService, context: CallContext
) -> ThinkResult:
    """Think aloud: keep a thought, number the steps of a plan, or think a problem through step by step.

    Kept for an hour in a working memory of its own, and never a memory by itself: for what should last use remember.
    """
    desk = await _desk(request.session_id, projects, context)
    thought = request.thought or ""
    match request.operation:
        case "thought":
            put = await thinking.note(desk, thought, context.client)
            return ThinkResult(**_kept("thought", put), status="recorded", thought=put.item.content)
        case "plan":
            return await _planned(request.steps or [], desk, thinking, context)
        case "sequential":
            goes_on = bool(request.nextThoughtNeeded)
            step = Step(thought, request.thoughtNumber or 1, request.totalThoughts or 1, goes_on)
            progress = await thinking.step(desk, step, context.client)
            return ThinkResult(
                **_kept("sequential", progress.put),
                status="continue" if goes_on else "complete",
                thought=progress.put.item.content,
                thought_number=step.number,
                total_thoughts=progress.total,
                progress_percent=progress.percent,
                thoughts_recorded=progress.recorded,
                next_thought_needed=goes_on,
            )


@tool("thinking", core=False, fleeting=True)
async def plan(request: PlanRequest, thinking: Thinking, projects: ProjectService, context: CallContext) -> ThinkResult:
    """Number the steps of a plan and keep it: think with the operation plan, under its older name."""
    return await _planned(request.steps, await _desk(request.session_id, projects, context), thinking, context)


async def _planned(steps: list[str], desk: Desk, thinking: Thinking, context: CallContext) -> ThinkResult:
    put = await thinking.plan(desk, steps, context.client)
    kept = put.item
    return ThinkResult(**_kept("plan", put), status="recorded", steps=kept.context[STEPS], formatted=kept.content)


async def _desk(session_id: str | None, projects: ProjectService, context: CallContext) -> Desk:
    """Apart from what the client has in mind otherwise, which thoughts must not push out."""
    own = f"{context.client}/thinking" if context.client is not None else new_id("thk")
    project = await projects.active(context.client)
    return Desk(project.id if project else None, session_id or own)


def _kept(operation: ThinkOperation, put: Put) -> dict[str, Any]:
    item = put.item
    return {
        "operation": operation,
        "timestamp": item.created_at,
        "session_id": item.desk.session_id,
        "expires_at": item.expires_at,
        "masked": list(put.masked),
    }
