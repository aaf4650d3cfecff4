"""The life of an episode: what an agent does for a task, told step by step, and how it ended."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    EpisodeChange,
    Failure,
    Outcome,
    OutcomeType,
    PartialSuccess,
    ResultType,
    StepResult,
    Success,
    TaskType,
)
from scrubjay.features.episodes.service import EpisodeService, NewEpisode, NewStep
from scrubjay.features.episodes.views import (
    EPISODE_FIELDS,
    EpisodeId,
    EpisodeRequest,
    FieldPaths,
    KindOfTask,
    episode_id_of,
    projected,
    refuse_unknown,
    told,
    told_outcome,
)
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

SOME_ID: Final = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
MOST_TAGS, MOST_PARTS, MOST_IDS = 100, 1_000, 100
Tag = Annotated[str, Field(min_length=1, max_length=200)]
Tags = Annotated[list[Tag], Field(max_length=MOST_TAGS)]
Parts = Annotated[list[str], Field(max_length=MOST_PARTS)]
Masked = Annotated[
    list[str] | None,
    Field(exclude_if=lambda value: not value, description="The kinds of secrets that were found and masked."),
]

# What an outcome cannot do without.
_NEEDS: Final[dict[OutcomeType, tuple[str, ...]]] = {
    OutcomeType.SUCCESS: ("verdict",),
    OutcomeType.PARTIAL_SUCCESS: ("verdict", "completed", "failed"),
    OutcomeType.FAILURE: ("reason",),
}


def _known_complexity(given: Any) -> Any:
    """One that nobody knows counts as moderate."""
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
        description="What is to be done, in plain words; at most 10 000 bytes."
    )
    domain: Label = Field(description="The field that the task belongs to, such as web-api; queries ask for it.")
    task_type: KindOfTask = Field(description="What sort of work it is.")
    language: Label | None = Field(default=None, description="The programming language.")
    framework: Label | None = Field(default=None, description="The framework.")
    tags: Tags = Field(default_factory=list[str], description="Labels; trimmed and written in small letters.")
    complexity: Annotated[Complexity, BeforeValidator(_known_complexity)] = Field(
        default=Complexity.MODERATE, description="How hard it is; anything else counts as moderate."
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


class GivenResult(Request):
    """What a step brought."""

    type: ResultType = Field(description="Whether it succeeded.")
    output: str | None = Field(default=None, description="What came out of it; at most 10 000 bytes.")
    message: str | None = Field(default=None, description="What the error or the timeout says; as long.")


class AddEpisodeStepRequest(EpisodeRequest):
    model_config = examples(
        {
            "episode_id": SOME_ID,
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
        description="Its number: each is used once. The very same step told again is kept once."
    )
    tool: Label = Field(description="What it was done with.")
    action: Annotated[str, Field(min_length=1)] = Field(
        description="What was done, in plain words; at most 10 000 bytes."
    )
    parameters: dict[str, Any] = Field(
        default_factory=dict[str, Any], description="What the tool was given; at most 1 000 000 bytes of JSON."
    )
    result: GivenResult | None = Field(default=None, description="What it brought; without it the step is pending.")
    latency_ms: Annotated[int, Field(ge=0, le=10**12)] = Field(default=0, description="How long it took.")
    tokens_used: Annotated[int, Field(ge=0, le=10**12)] | None = Field(
        default=None, description="How many tokens it took, where that is known."
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
            "episode_id": SOME_ID,
            "outcome_type": "success",
            "verdict": "The token is now kept until it is used; all tests pass",
            "artifacts": ["auth/reset.py", "tests/test_reset.py"],
        },
        {"episode_id": SOME_ID, "outcome_type": "failure", "reason": "The mail service cannot be reached"},
    )

    episode_id: EpisodeId
    outcome_type: Annotated[OutcomeType, BeforeValidator(_known_outcome)] = Field(description="How it ended.")
    verdict: str | None = Field(default=None, description="What came of it; a success or partial success needs it.")
    artifacts: Parts = Field(default_factory=list[str], description="What a success brought forth, such as files.")
    completed: Parts | None = Field(default=None, description="The parts of a partial success that were done.")
    failed: Parts | None = Field(default=None, description="The parts of it that were not.")
    reason: str | None = Field(default=None, description="Why it failed; a failure needs it.")
    error_details: str | None = Field(default=None, description="More about the failure.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for name in _NEEDS[self.outcome_type]:
            value: str | list[str] | None = getattr(self, name)
            if value is None or value == "":
                raise InvalidRequest(
                    f"Missing required field for {self.outcome_type.value}: {name}",
                    hint=f"needed: {', '.join(_NEEDS[self.outcome_type])}",
                )
        return self


class CompleteEpisodeResult(Result):
    success: Literal[True] = True
    episode_id: str
    outcome_type: OutcomeType
    message: str
    reward: float = Field(description="What it is worth; get_episode shows what that is made of.")
    quality_score: float = Field(description="How much can be learned from it, 0 to 1.")
    low_quality: bool = Field(description="Whether that is below 0.7; the episode is kept all the same.")
    patterns: int = Field(description="How many patterns it gave or bore out.")
    masked: Masked = None


class GetEpisodeRequest(EpisodeRequest):
    model_config = examples(
        {"episode_id": SOME_ID}, {"episode_id": SOME_ID, "fields": ["task_description", "outcome", "steps.tool"]}
    )

    episode_id: EpisodeId
    fields: FieldPaths = Field(
        default=None,
        description="Only these fields, with dots for what is inside: context.domain, steps.tool, reward.total.",
    )
    project: ProjectReference = None


class GetEpisodeResult(Result):
    success: Literal[True] = True
    episode: dict[str, Any] = Field(description="The episode, or what was asked for of it.")


class TimelineRequest(EpisodeRequest):
    model_config = examples({"episode_id": SOME_ID})

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
    timeline: list[TimelineStep] = Field(description="The steps by their numbers.")
    outcome: dict[str, Any] | None


class DeleteEpisodeRequest(EpisodeRequest):
    model_config = examples({"episode_id": SOME_ID, "confirm": True})

    episode_id: EpisodeId
    confirm: bool = Field(description="Must be true.")
    project: ProjectReference = None


class UpdateEpisodeRequest(EpisodeRequest):
    model_config = examples({"episode_id": SOME_ID, "add_tags": ["security"], "metadata": {"test_coverage": "85"}})

    episode_id: EpisodeId
    description: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="Another task_description."
    )
    add_tags: Tags | None = Field(default=None, description="Labels to add.")
    remove_tags: Tags | None = Field(default=None, description="Labels to remove.")
    set_tags: Tags | None = Field(default=None, description="Labels to have instead of those there are.")
    metadata: Annotated[dict[Tag, Annotated[str, Field(max_length=10_000)]], Field(max_length=MOST_TAGS)] | None = (
        Field(default=None, description="Texts by name, merged into those there are.")
    )
    project: ProjectReference = None


class EpisodeMessage(Result):
    success: Literal[True] = True
    episode_id: str
    message: str


class UpdateEpisodeResult(EpisodeMessage):
    updated_fields: list[str] = Field(description="What was given.")
    masked: Masked = None


class BulkEpisodesRequest(EpisodeRequest):
    model_config = examples({"episode_ids": [SOME_ID]}, {"episode_ids": f"{SOME_ID}, {SOME_ID}"})

    episode_ids: Annotated[list[str], Field(max_length=MOST_IDS)] | Annotated[str, Field(max_length=50 * MOST_IDS)] = (
        Field(description="Their ids, as a list or in one text with commas; at most 100.")
    )
    project: ProjectReference = None


class BulkEpisodesResult(Result):
    requested_count: int
    found_count: int
    missing_count: int
    episodes: list[dict[str, Any]] = Field(description="Those that there are, in the order of the ids.")


@tool("episodes", core=False, fleeting=True)
async def create_episode(
    request: CreateEpisodeRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> CreateEpisodeResult:
    """Begin to record what is done for a task; returns the episode_id that the steps and the end need.

    Then call add_episode_step for each step and complete_episode at the end: later query_memory finds it.
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


@tool("episodes", core=False, idempotent=True, fleeting=True)
async def add_episode_step(
    request: AddEpisodeStepRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> AddEpisodeStepResult:
    """Record one step of an open episode; it is on disk when this answers.

    An episode that is unknown, complete or has 1000 steps already gives an error, and so does another step of the same
    number.
    """
    given = request.result
    step = NewStep(
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
        message="Step added" if written.is_new else "This very step was there already",
        masked=list(written.masked),
    )


@tool("episodes", core=False, fleeting=True)
async def complete_episode(
    request: CompleteEpisodeRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> CompleteEpisodeResult:
    """End an episode: it is looked back at, judged, and from then on found by query_memory. It can be done once."""
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


@tool("episodes", core=False, read_only=True, fleeting=True)
async def get_episode(
    request: GetEpisodeRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> GetEpisodeResult:
    """An episode with its steps, its outcome, what it is worth and what can be said of it."""
    paths = [path.removeprefix("episode.") for path in request.fields or ()]
    refuse_unknown(paths, EPISODE_FIELDS)
    visibility = Visibility(await project_id_of(request.project, projects, context))
    whole = told(await _found(episodes, visibility, request.episode_id))
    return GetEpisodeResult(episode=projected(whole, paths) if paths else whole)


@tool("episodes", core=False, read_only=True, fleeting=True)
async def get_episode_timeline(
    request: TimelineRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> TimelineResult:
    """What was done in an episode, one step after the other, and how it ended."""
    visibility = Visibility(await project_id_of(request.project, projects, context))
    episode = await _found(episodes, visibility, request.episode_id)
    return TimelineResult(
        episode_id=episode.episode_id,
        task_description=episode.task_description,
        start_time=episode.start_time,
        end_time=episode.end_time,
        duration_seconds=episode.duration_seconds,
        step_count=len(episode.steps),
        timeline=[
            TimelineStep(
                step_number=step.step_number,
                timestamp=step.timestamp,
                tool=step.tool,
                action=step.action,
                result_type=step.result_type,
                latency_ms=step.latency_ms,
            )
            for step in episode.steps
        ],
        outcome=told_outcome(episode.outcome),
    )


@tool("episodes", core=False, destructive=True, fleeting=True)
async def delete_episode(
    request: DeleteEpisodeRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> EpisodeMessage:
    """Erase an episode for good, with its steps and all by which it is found; confirm must be true."""
    if not request.confirm:
        raise InvalidRequest("Deletion requires explicit confirmation. Set 'confirm' to true.")
    visibility = Visibility(await project_id_of(request.project, projects, context))
    await episodes.delete(visibility, request.episode_id)
    return EpisodeMessage(episode_id=request.episode_id, message="Episode deleted")


@tool("episodes", core=False, idempotent=True, fleeting=True)
async def update_episode(
    request: UpdateEpisodeRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> UpdateEpisodeResult:
    """Change an episode's description, tags or metadata; tags are set first, then added, then removed."""
    given = [name for name in _CHANGEABLE if getattr(request, name) is not None]
    if not given:
        raise InvalidRequest("there is nothing to change", hint=f"give one of {', '.join(_CHANGEABLE)}")
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
        updated_fields=given,
        masked=list(written.masked),
    )


@tool("episodes", core=False, read_only=True, fleeting=True)
async def bulk_episodes(
    request: BulkEpisodesRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> BulkEpisodesResult:
    """Several episodes at once, by their ids."""
    given = request.episode_ids
    parts = [part for part in given.split(",") if part.strip()] if isinstance(given, str) else given
    if not 1 <= len(parts) <= MOST_IDS:
        raise InvalidRequest(f"there are {len(parts)} ids", hint=f"give 1 to {MOST_IDS} of them")
    ids = list(dict.fromkeys(map(episode_id_of, parts)))
    visibility = Visibility(await project_id_of(request.project, projects, context))
    found = await episodes.get_many(visibility, ids)
    return BulkEpisodesResult(
        requested_count=len(ids),
        found_count=len(found),
        missing_count=len(ids) - len(found),
        episodes=[told(episode) for episode in found],
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
            return Success(verdict=verdict, artifacts=tuple(request.artifacts))
        case OutcomeType.PARTIAL_SUCCESS:
            completed, failed = tuple(request.completed or ()), tuple(request.failed or ())
            return PartialSuccess(verdict=verdict, completed=completed, failed=failed)
        case OutcomeType.FAILURE:
            return Failure(reason=request.reason or "", error_details=request.error_details)
