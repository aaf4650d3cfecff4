"""Tools to record thoughts and plans: `think`, with the fields of Mimo, and `plan`, an older name."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from scrubjay.core.ids import new_id
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.working_memory.models import WorkingScope
from scrubjay.features.working_memory.service import PutOutcome
from scrubjay.features.working_memory.thinking import STEPS, ThinkingService, ThoughtStep
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_absent, is_empty

ThinkOperation = Literal["thought", "plan", "sequential"]
_REQUIRED_FIELDS: dict[ThinkOperation, tuple[str, ...]] = {
    "thought": ("thought",),
    "plan": ("steps",),
    "sequential": ("thought", "thoughtNumber", "totalThoughts", "nextThoughtNeeded"),
}
MAX_THOUGHT, MAX_STEPS = 20_000, 200
PlanStep = Annotated[str, Field(min_length=1, max_length=2_000)]
SessionField = Field(
    default=None,
    description="Session id from an earlier result. Needed only if the protocol does not identify clients.",
)
StepsField = Field(min_length=1, max_length=MAX_STEPS, description="Steps of the plan, in order.")


class ThinkRequest(Request):
    model_config = examples(
        {"thought": "The token expires before it is refreshed."},
        {"operation": "plan", "steps": ["Reproduce it", "Write a test", "Fix it"]},
        {
            "operation": "sequential",
            "thought": "It fails only at night.",
            "thoughtNumber": 1,
            "totalThoughts": 3,
            "nextThoughtNeeded": True,
        },
    )

    operation: ThinkOperation = Field(
        default="thought",
        description="thought: store a single thought. plan: store a numbered plan. sequential: store one step of a "
        "train of thought.",
    )
    thought: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_THOUGHT,
        description="For thought and sequential: text of the thought.",
    )
    steps: Annotated[list[PlanStep], StepsField] | None = Field(
        default=None, description="For plan: its steps, in order."
    )
    thoughtNumber: Annotated[int, Field(ge=1, le=10_000)] | None = Field(  # noqa: N815 - the documented name
        default=None, description="For sequential: number of this step, starting at 1."
    )
    totalThoughts: Annotated[int, Field(ge=1, le=10_000)] | None = Field(  # noqa: N815 - as above
        default=None, description="For sequential: expected number of steps; it may change from step to step."
    )
    nextThoughtNeeded: bool | None = Field(  # noqa: N815 - as above
        default=None, description="For sequential: true if another step follows."
    )
    session_id: Label | None = SessionField

    @model_validator(mode="after")
    def _check_required(self) -> Self:
        missing = [name for name in _REQUIRED_FIELDS[self.operation] if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.operation} needs {' and '.join(missing)}")
        return self


class ThinkResult(Result):
    """The stored thought, with the fields of its operation."""

    operation: ThinkOperation
    status: Literal["recorded", "continue", "complete"] = Field(
        description="recorded: a thought or plan was stored. For sequential: continue if another step follows, else "
        "complete."
    )
    thought: str | None = Field(default=None, exclude_if=is_absent, description="Stored text, with secrets masked.")
    timestamp: datetime
    steps: list[str] | None = Field(default=None, exclude_if=is_absent, description="Of a plan.")
    formatted: str | None = Field(
        default=None, exclude_if=is_absent, description="Of a plan: the steps as a numbered list."
    )
    session_id: str = Field(
        description="Session of the thoughts. Pass it with the next step if the protocol does not identify clients, or "
        "to working_recent to list the thoughts."
    )
    thought_number: int | None = Field(default=None, exclude_if=is_absent)
    total_thoughts: int | None = Field(
        default=None, exclude_if=is_absent, description="Expected number of steps; at least the number of this step."
    )
    progress_percent: float | None = Field(default=None, exclude_if=is_absent)
    thoughts_recorded: int | None = Field(
        default=None, exclude_if=is_absent, description="Number of stored steps of this train of thought."
    )
    next_thought_needed: bool | None = Field(default=None, exclude_if=is_absent)
    expires_at: datetime = Field(description="When it is deleted. Use remember to store it permanently.")
    masked: list[str] = Field(default=[], exclude_if=is_empty, description="Kinds of secrets that were masked.")

    def bare(self) -> Any:
        """Return the fields without `operation`, for protocols that wrap the result themselves."""
        return {name: value for name, value in self.model_dump(mode="json").items() if name != "operation"}


class PlanRequest(Request):
    model_config = examples({"steps": ["Reproduce it", "Write a test", "Fix it"]})

    steps: Annotated[list[PlanStep], StepsField]
    session_id: Label | None = SessionField


@tool("thinking", core=False, log_payload=False)
async def think(
    request: ThinkRequest, thinking: ThinkingService, projects: ProjectService, context: CallContext
) -> ThinkResult:
    """Record a thought, a numbered plan, or one step of a train of thought.

    Thoughts are kept for one hour, separate from other working memory, and never become memories. Use remember for
    content that must be kept.
    """
    scope = await _scope(request.session_id, projects, context)
    thought = request.thought or ""
    match request.operation:
        case "thought":
            put = await thinking.add_thought(scope, thought, context.client)
            return ThinkResult(**_common_fields("thought", put), status="recorded", thought=put.item.content)
        case "plan":
            return await _plan_result(request.steps or [], scope, thinking, context)
        case "sequential":
            goes_on = bool(request.nextThoughtNeeded)
            step = ThoughtStep(thought, request.thoughtNumber or 1, request.totalThoughts or 1, goes_on)
            progress = await thinking.add_step(scope, step, context.client)
            return ThinkResult(
                **_common_fields("sequential", progress.put),
                status="continue" if goes_on else "complete",
                thought=progress.put.item.content,
                thought_number=step.number,
                total_thoughts=progress.total,
                progress_percent=progress.percent,
                thoughts_recorded=progress.recorded,
                next_thought_needed=goes_on,
            )


@tool("thinking", core=False, log_payload=False)
async def plan(
    request: PlanRequest, thinking: ThinkingService, projects: ProjectService, context: CallContext
) -> ThinkResult:
    """Store a numbered plan for one hour. Older name of think with operation plan."""
    return await _plan_result(request.steps, await _scope(request.session_id, projects, context), thinking, context)


async def _plan_result(
    steps: list[str], scope: WorkingScope, thinking: ThinkingService, context: CallContext
) -> ThinkResult:
    put = await thinking.add_plan(scope, steps, context.client)
    item = put.item
    return ThinkResult(
        **_common_fields("plan", put), status="recorded", steps=item.context[STEPS], formatted=item.content
    )


async def _scope(session_id: str | None, projects: ProjectService, context: CallContext) -> WorkingScope:
    """Return a scope of its own for thoughts, so that they do not evict other items of the client."""
    own = f"{context.client}/thinking" if context.client is not None else new_id("thk")
    project = await projects.active(context.client)
    return WorkingScope(project.id if project else None, session_id or own)


def _common_fields(operation: ThinkOperation, put: PutOutcome) -> dict[str, Any]:
    item = put.item
    return {
        "operation": operation,
        "timestamp": item.created_at,
        "session_id": item.scope.session_id,
        "expires_at": item.expires_at,
        "masked": list(put.masked),
    }
