"""Tools that create, extend, complete, read, change and delete episodes."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    EpisodeChange,
    FailureOutcome,
    Outcome,
    OutcomeType,
    PartialSuccessOutcome,
    ResultType,
    StepDetails,
    StepResult,
    SuccessOutcome,
    TaskType,
)
from scrubjay.features.episodes.service import EpisodeService, NewEpisode
from scrubjay.features.episodes.views import (
    EPISODE_FIELDS,
    EpisodeId,
    EpisodeRequest,
    FieldPaths,
    KindOfTask,
    episode_fields,
    episode_id_of,
    outcome_fields,
    projected,
    refuse_unknown,
)
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

EXAMPLE_ID: Final = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
MAX_TAGS, MAX_PARTS, MAX_IDS = 100, 1_000, 100
Tag = Annotated[str, Field(min_length=1, max_length=200)]
Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS)]
Parts = Annotated[list[str], Field(max_length=MAX_PARTS)]
Masked = Annotated[
    list[str] | None,
    Field(exclude_if=lambda value: not value, description="Kinds of secrets that were masked."),
]

# Required fields of each outcome.
_REQUIRED: Final[dict[OutcomeType, tuple[str, ...]]] = {
    OutcomeType.SUCCESS: ("verdict",),
    OutcomeType.PARTIAL_SUCCESS: ("verdict", "completed", "failed"),
    OutcomeType.FAILURE: ("reason",),
}


def _known_complexity(given: Any) -> Any:
    """Treat an unknown complexity as moderate, as the do_memory contract does."""
    return given if given in list(Complexity) else Complexity.MODERATE


def _known_outcome(given: Any) -> Any:
    if given not in list(OutcomeType):
        raise InvalidRequest(f"Invalid outcome_type: {str(given)[:80]}", hint=f"one of {', '.join(OutcomeType)}")
    return given


class CreateEpisodeRequest(EpisodeRequest):
    model_config = examples(
        {
            "task_description": "Fix the login that fails after a password reset",
            "domain": "web-api",
            "task_type": "debugging",
            "language": "python",
            "tags": ["auth"],
            "complexity": "moderate",
        }
    )

    task_description: Annotated[str, Field(min_length=1)] = Field(
        description="Description of the task, in plain words; at most 10,000 bytes."
    )
    domain: Label = Field(description="Domain of the task, such as web-api; queries are limited to a domain.")
    task_type: KindOfTask = Field(description="Kind of task.")
    language: Label | None = Field(default=None, description="Programming language.")
    framework: Label | None = Field(default=None, description="Framework.")
    tags: Tags = Field(default_factory=list[str], description="Tags; trimmed and converted to lowercase.")
    complexity: Annotated[Complexity, BeforeValidator(_known_complexity)] = Field(
        default=Complexity.MODERATE, description="Difficulty of the task; an unknown value counts as moderate."
    )
    project: ProjectReference = None


class CreateEpisodeResult(Result):
    success: Literal[True] = True
    episode_id: str
    task_description: str
    domain: str
    task_type: TaskType
    message: str
    masked: Masked = None


class StepResultRequest(Request):
    """Result of a step."""

    type: ResultType = Field(description="Kind of result.")
    output: str | None = Field(default=None, description="Output of the step; at most 10,000 bytes.")
    message: str | None = Field(default=None, description="Message of an error or timeout; at most 10,000 bytes.")


class AddEpisodeStepRequest(EpisodeRequest):
    model_config = examples(
        {
            "episode_id": EXAMPLE_ID,
            "step_number": 1,
            "tool": "grep",
            "action": "Search for where the reset token is stored",
            "parameters": {"pattern": "reset_token"},
            "result": {"type": "success", "output": "auth/reset.py:41"},
            "latency_ms": 120,
        }
    )

    episode_id: EpisodeId
    step_number: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        description="Number of the step, unique within the episode. Sending an equal step again changes nothing."
    )
    tool: Label = Field(description="Tool that was used.")
    action: Annotated[str, Field(min_length=1)] = Field(
        description="Action of the step, in plain words; at most 10,000 bytes."
    )
    parameters: dict[str, Any] = Field(
        default_factory=dict[str, Any], description="Parameters of the tool; at most 1,000,000 bytes of JSON."
    )
    result: StepResultRequest | None = Field(default=None, description="Result; a step without one is pending.")
    latency_ms: Annotated[int, Field(ge=0, le=10**12)] = Field(default=0, description="Duration in milliseconds.")
    tokens_used: Annotated[int, Field(ge=0, le=10**12)] | None = Field(
        default=None, description="Number of tokens used, if known."
    )
    project: ProjectReference = None


class AddEpisodeStepResult(Result):
    success: Literal[True] = True
    episode_id: str
    step_number: int
    message: str
    masked: Masked = None


class CompleteEpisodeRequest(EpisodeRequest):
    model_config = examples(
        {
            "episode_id": EXAMPLE_ID,
            "outcome_type": "success",
            "verdict": "The token is now stored until it is used; all tests pass",
            "artifacts": ["auth/reset.py", "tests/test_reset.py"],
        },
        {"episode_id": EXAMPLE_ID, "outcome_type": "failure", "reason": "The mail service cannot be reached"},
    )

    episode_id: EpisodeId
    outcome_type: Annotated[OutcomeType, BeforeValidator(_known_outcome)] = Field(description="Outcome of the task.")
    verdict: str | None = Field(default=None, description="Result in words; required for success and partial success.")
    artifacts: Parts = Field(default_factory=list[str], description="Artifacts of a success, such as files.")
    completed: Parts | None = Field(default=None, description="For a partial success: completed subtasks.")
    failed: Parts | None = Field(default=None, description="For a partial success: failed subtasks.")
    reason: str | None = Field(default=None, description="Reason of a failure; required for it.")
    error_details: str | None = Field(default=None, description="Details of a failure.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _check_required(self) -> Self:
        for name in _REQUIRED[self.outcome_type]:
            value: str | list[str] | None = getattr(self, name)
            if value is None or value == "":
                raise InvalidRequest(
                    f"Missing required field for {self.outcome_type.value}: {name}",
                    hint=f"required: {', '.join(_REQUIRED[self.outcome_type])}",
                )
        return self


class CompleteEpisodeResult(Result):
    success: Literal[True] = True
    episode_id: str
    outcome_type: OutcomeType
    message: str
    reward: float = Field(description="Reward of the episode; get_episode returns its components.")
    quality_score: float = Field(description="Quality of the episode as a source for learning, 0 to 1.")
    low_quality: bool = Field(description="True if the quality is below 0.7; the episode is stored anyway.")
    patterns: int = Field(description="Number of patterns that it created or confirmed.")
    masked: Masked = None


class GetEpisodeRequest(EpisodeRequest):
    model_config = examples(
        {"episode_id": EXAMPLE_ID}, {"episode_id": EXAMPLE_ID, "fields": ["task_description", "outcome", "steps.tool"]}
    )

    episode_id: EpisodeId
    fields: FieldPaths = Field(
        default=None,
        description="Return only these fields, with dots for nested ones: context.domain, steps.tool, reward.total.",
    )
    project: ProjectReference = None


class GetEpisodeResult(Result):
    success: Literal[True] = True
    episode: dict[str, Any] = Field(description="The episode, or its requested fields.")


class TimelineRequest(EpisodeRequest):
    model_config = examples({"episode_id": EXAMPLE_ID})

    episode_id: EpisodeId
    project: ProjectReference = None


class TimelineStep(Result):
    step_number: int
    timestamp: datetime
    tool: str
    action: str
    result_type: Literal["success", "error", "timeout", "pending"]
    latency_ms: int


class TimelineResult(Result):
    success: Literal[True] = True
    episode_id: str
    task_description: str
    start_time: datetime
    end_time: datetime | None
    duration_seconds: float | None
    step_count: int
    timeline: list[TimelineStep] = Field(description="Steps in the order of their numbers.")
    outcome: dict[str, Any] | None


class DeleteEpisodeRequest(EpisodeRequest):
    model_config = examples({"episode_id": EXAMPLE_ID, "confirm": True})

    episode_id: EpisodeId
    confirm: bool = Field(description="Must be true.")
    project: ProjectReference = None


class UpdateEpisodeRequest(EpisodeRequest):
    model_config = examples({"episode_id": EXAMPLE_ID, "add_tags": ["security"], "metadata": {"test_coverage": "85"}})

    episode_id: EpisodeId
    description: Annotated[str, Field(min_length=1)] | None = Field(default=None, description="New task_description.")
    add_tags: Tags | None = Field(default=None, description="Tags to add.")
    remove_tags: Tags | None = Field(default=None, description="Tags to remove.")
    set_tags: Tags | None = Field(default=None, description="Tags that replace all existing ones.")
    metadata: Annotated[dict[Tag, Annotated[str, Field(max_length=10_000)]], Field(max_length=MAX_TAGS)] | None = Field(
        default=None, description="Texts by name, merged into the existing metadata."
    )
    project: ProjectReference = None


class EpisodeMessage(Result):
    success: Literal[True] = True
    episode_id: str
    message: str


class UpdateEpisodeResult(EpisodeMessage):
    updated_fields: list[str] = Field(description="Names of the fields in the request.")
    masked: Masked = None


class BulkEpisodesRequest(EpisodeRequest):
    model_config = examples({"episode_ids": [EXAMPLE_ID]}, {"episode_ids": f"{EXAMPLE_ID}, {EXAMPLE_ID}"})

    episode_ids: Annotated[list[str], Field(max_length=MAX_IDS)] | Annotated[str, Field(max_length=50 * MAX_IDS)] = (
        Field(description="Episode ids, as a list or as a comma-separated string; at most 100.")
    )
    project: ProjectReference = None


class BulkEpisodesResult(Result):
    requested_count: int
    found_count: int
    missing_count: int
    episodes: list[dict[str, Any]] = Field(description="The existing episodes, in the order of the ids.")


@tool("episodes", core=False, log_payload=False)
async def create_episode(
    request: CreateEpisodeRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> CreateEpisodeResult:
    """Create an episode that records the work on a task, and return its episode_id.

    Call add_episode_step after each step and complete_episode at the end. Then query_memory finds the episode.
    """
    project_id = await project_id_of(request.project, projects, context, make=True)
    new = NewEpisode(
        task_description=request.task_description,
        domain=request.domain,
        task_type=request.task_type,
        language=request.language,
        framework=request.framework,
        tags=request.tags,
        complexity=request.complexity,
    )
    written = await episodes.create(new, project_id, context.client)
    return CreateEpisodeResult(
        episode_id=written.episode.episode_id,
        task_description=written.episode.task_description,
        domain=written.episode.context.domain,
        task_type=written.episode.task_type,
        message="Episode created",
        masked=list(written.masked),
    )


@tool("episodes", core=False, idempotent=True, log_payload=False)
async def add_episode_step(
    request: AddEpisodeStepRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> AddEpisodeStepResult:
    """Add a step to an open episode; it is durable when the call returns.

    Fails if the episode is unknown, complete or has 1000 steps, or has a different step with this number.
    """
    given = request.result
    step = StepDetails(
        step_number=request.step_number,
        tool=request.tool,
        action=request.action,
        parameters=request.parameters,
        result=given and StepResult(type=given.type, output=given.output, message=given.message),
        latency_ms=request.latency_ms,
        tokens_used=request.tokens_used,
    )
    visibility = Visibility(await project_id_of(request.project, projects, context))
    written = await episodes.add_step(visibility, request.episode_id, step, context.client)
    return AddEpisodeStepResult(
        episode_id=request.episode_id,
        step_number=request.step_number,
        message="Step added" if written.is_new else "An equal step already exists",
        masked=list(written.masked),
    )


@tool("episodes", core=False, log_payload=False)
async def complete_episode(
    request: CompleteEpisodeRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> CompleteEpisodeResult:
    """Complete an episode with its outcome: computes reflection, reward, quality and patterns. Possible only once.

    From then on query_memory finds the episode.
    """
    visibility = Visibility(await project_id_of(request.project, projects, context))
    written = await episodes.complete(visibility, request.episode_id, _outcome(request), context.client)
    return CompleteEpisodeResult(
        episode_id=request.episode_id,
        outcome_type=request.outcome_type,
        message="Episode completed" + (", with low quality" if written.quality.low else ""),
        reward=written.reward.total,
        quality_score=written.quality.score,
        low_quality=written.quality.low,
        patterns=len(written.episode.patterns),
        masked=list(written.masked),
    )


@tool("episodes", core=False, read_only=True, log_payload=False)
async def get_episode(
    request: GetEpisodeRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> GetEpisodeResult:
    """Return an episode with its steps, outcome, reward, quality and reflection."""
    paths = [path.removeprefix("episode.") for path in request.fields or ()]
    refuse_unknown(paths, EPISODE_FIELDS)
    visibility = Visibility(await project_id_of(request.project, projects, context))
    whole = episode_fields(await _found(episodes, visibility, request.episode_id))
    return GetEpisodeResult(episode=projected(whole, paths) if paths else whole)


@tool("episodes", core=False, read_only=True, log_payload=False)
async def get_episode_timeline(
    request: TimelineRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> TimelineResult:
    """Return the steps of an episode in order, and its outcome."""
    visibility = Visibility(await project_id_of(request.project, projects, context))
    episode = await _found(episodes, visibility, request.episode_id)
    return TimelineResult(
        episode_id=episode.episode_id,
        task_description=episode.task_description,
        start_time=episode.start_time,
        end_time=episode.end_time,
        duration_seconds=episode.duration_seconds,
        step_count=len(episode.steps),
        timeline=[TimelineStep.model_validate(step, from_attributes=True) for step in episode.steps],
        outcome=outcome_fields(episode.outcome),
    )


@tool("episodes", core=False, destructive=True, log_payload=False)
async def delete_episode(
    request: DeleteEpisodeRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> EpisodeMessage:
    """Delete an episode permanently, with its steps and index entries; confirm must be true."""
    if not request.confirm:
        raise InvalidRequest("Deletion requires explicit confirmation. Set 'confirm' to true.")
    visibility = Visibility(await project_id_of(request.project, projects, context))
    await episodes.delete(visibility, request.episode_id)
    return EpisodeMessage(episode_id=request.episode_id, message="Episode deleted")


@tool("episodes", core=False, idempotent=True, log_payload=False)
async def update_episode(
    request: UpdateEpisodeRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> UpdateEpisodeResult:
    """Change an episode's description, tags or metadata; tags are set first, then added, then removed."""
    updated = [name for name in _CHANGEABLE if getattr(request, name) is not None]
    if not updated:
        raise InvalidRequest("the request changes nothing", hint=f"pass one of {', '.join(_CHANGEABLE)}")
    visibility = Visibility(await project_id_of(request.project, projects, context))
    change = EpisodeChange(
        description=request.description,
        set_tags=None if request.set_tags is None else tuple(request.set_tags),
        add_tags=tuple(request.add_tags or ()),
        remove_tags=tuple(request.remove_tags or ()),
        metadata=request.metadata or {},
    )
    written = await episodes.change(visibility, request.episode_id, change, context.client)
    return UpdateEpisodeResult(
        episode_id=request.episode_id,
        message="Episode updated",
        updated_fields=updated,
        masked=list(written.masked),
    )


@tool("episodes", core=False, read_only=True, log_payload=False)
async def bulk_episodes(
    request: BulkEpisodesRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> BulkEpisodesResult:
    """Return several episodes by their ids."""
    given = request.episode_ids
    parts = [part for part in given.split(",") if part.strip()] if isinstance(given, str) else given
    if not 1 <= len(parts) <= MAX_IDS:
        raise InvalidRequest(f"the request has {len(parts)} ids", hint=f"pass 1 to {MAX_IDS} ids")
    ids = list(dict.fromkeys(map(episode_id_of, parts)))
    visibility = Visibility(await project_id_of(request.project, projects, context))
    found = await episodes.get_many(visibility, ids)
    return BulkEpisodesResult(
        requested_count=len(ids),
        found_count=len(found),
        missing_count=len(ids) - len(found),
        episodes=[episode_fields(episode) for episode in found],
    )


_CHANGEABLE: Final = ("description", "add_tags", "remove_tags", "set_tags", "metadata")


async def _found(episodes: EpisodeService, visibility: Visibility, episode_id: str) -> Episode:
    try:
        return await episodes.get(visibility, episode_id)
    except NotFound as error:
        raise NotFound(f"Failed to get episode: {error.message}", hint=error.hint) from error


def _outcome(request: CompleteEpisodeRequest) -> Outcome:
    verdict = request.verdict or ""
    match request.outcome_type:
        case OutcomeType.SUCCESS:
            return SuccessOutcome(verdict=verdict, artifacts=tuple(request.artifacts))
        case OutcomeType.PARTIAL_SUCCESS:
            completed, failed = tuple(request.completed or ()), tuple(request.failed or ())
            return PartialSuccessOutcome(verdict=verdict, completed=completed, failed=failed)
        case OutcomeType.FAILURE:
            return FailureOutcome(reason=request.reason or "", error_details=request.error_details)
