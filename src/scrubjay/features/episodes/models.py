"""Values of the episodes feature: episodes, steps, outcomes, and the results of completing an episode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from statistics import median
from typing import Any, Final, Literal, Protocol

from scrubjay.core.scopes import Visibility

MIN_SIMILAR_TASKS: Final = 3
"""Tasks from which a median says what is typical."""


class TaskType(StrEnum):
    """Kind of work."""

    CODE_GENERATION = "code_generation"
    DEBUGGING = "debugging"
    REFACTORING = "refactoring"
    TESTING = "testing"
    ANALYSIS = "analysis"
    DOCUMENTATION = "documentation"


class Complexity(StrEnum):
    """Difficulty of a task, as stated by the caller that created the episode."""

    SIMPLE = "simple"
    MODERATE = "moderate"
    COMPLEX = "complex"


class ResultType(StrEnum):
    """Result of a step."""

    SUCCESS = "success"
    ERROR = "error"
    TIMEOUT = "timeout"


class OutcomeType(StrEnum):
    """Kind of outcome."""

    SUCCESS = "success"
    PARTIAL_SUCCESS = "partial_success"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """Domain, language, framework, difficulty and tags of a task."""

    domain: str
    language: str | None = None
    framework: str | None = None
    complexity: Complexity = Complexity.MODERATE
    tags: tuple[str, ...] = ()
    """Trimmed, lowercase, without duplicates, in the given order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """Result of a step, with its output or error message."""

    type: ResultType
    output: str | None = None
    """Output of a successful step."""
    message: str | None = None
    """Message of an error or a timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDetails:
    """The values of a step that the caller sets."""

    step_number: int
    tool: str
    action: str
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: StepResult | None = None
    """None while the step is pending."""
    latency_ms: int = 0
    tokens_used: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeStep(StepDetails):
    """One action, performed with one tool."""

    timestamp: datetime
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def succeeded(self) -> bool:
        return self.result is not None and self.result.type is ResultType.SUCCESS

    @property
    def failed(self) -> bool:
        """True after an error or a timeout; False for a step without a result."""
        return self.result is not None and self.result.type is not ResultType.SUCCESS

    @property
    def result_type(self) -> Literal["success", "error", "timeout", "pending"]:
        return self.result.type.value if self.result is not None else "pending"

    def is_same_as(self, other: "EpisodeStep") -> bool:
        """Return True when both steps are equal except for their timestamps."""
        return replace(self, timestamp=other.timestamp) == other


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessOutcome:
    """Outcome of a task that was completed."""

    verdict: str
    artifacts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialSuccessOutcome:
    """Outcome of a task that was completed in part."""

    verdict: str
    completed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureOutcome:
    """Outcome of a task that failed."""

    reason: str
    error_details: str | None = None


Outcome = SuccessOutcome | PartialSuccessOutcome | FailureOutcome


def outcome_type(outcome: Outcome) -> OutcomeType:
    """Return the enum value for an outcome."""
    match outcome:
        case SuccessOutcome():
            return OutcomeType.SUCCESS
        case PartialSuccessOutcome():
            return OutcomeType.PARTIAL_SUCCESS
        case FailureOutcome():
            return OutcomeType.FAILURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Reward:
    """Reward of an episode, with its factors."""

    total: float
    """base * efficiency * complexity_bonus * quality_multiplier + learning_bonus; it can be more than 1."""
    base: float
    efficiency: float
    complexity_bonus: float
    quality_multiplier: float
    learning_bonus: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Value of an episode for learning, 0 to 1, with its components."""

    score: float
    complexity: float
    diversity: float
    error: float
    reflection: float
    novelty: float
    threshold: float = 0.7
    """Episodes below this score are stored and marked as low quality."""

    @property
    def low(self) -> bool:
        return self.score < self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """Findings about a completed episode, at most five of each kind."""

    successes: tuple[str, ...]
    improvements: tuple[str, ...]
    insights: tuple[str, ...]
    generated_at: datetime

    @property
    def items(self) -> int:
        return len(self.successes) + len(self.improvements) + len(self.insights)


@dataclass(frozen=True, slots=True, kw_only=True)
class SalientFeatures:
    """Notable decisions, tool runs, recoveries and insights of an episode."""

    critical_decisions: tuple[str, ...] = ()
    tool_combinations: tuple[tuple[str, ...], ...] = ()
    """Runs of at least two successful steps."""
    error_recovery_patterns: tuple[str, ...] = ()
    key_insights: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A point from which another agent can continue the work."""

    checkpoint_id: str
    created_at: datetime
    reason: str
    step_number: int
    """Number of the last step at that time; 0 without steps."""
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One task from start to end, in one project or in none."""

    episode_id: str
    """A random UUID."""
    project_id: str | None = None
    client: str | None = None
    """Client that created it, when the protocol identifies one."""
    task_type: TaskType
    task_description: str
    context: TaskContext
    start_time: datetime
    end_time: datetime | None = None
    steps: tuple[EpisodeStep, ...] = ()
    """In the order of their numbers."""
    outcome: Outcome | None = None
    reward: Reward | None = None
    quality: Quality | None = None
    reflection: Reflection | None = None
    salient_features: SalientFeatures | None = None
    patterns: tuple[str, ...] = ()
    """Ids of the patterns that it created or confirmed."""
    heuristics: tuple[str, ...] = ()
    applied_patterns: tuple[str, ...] = ()
    """Ids of the patterns that it applied."""
    checkpoints: tuple[Checkpoint, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    revision: int = 0
    """Increases with every change. A completion is only stored for the revision that it was computed from."""

    @property
    def is_complete(self) -> bool:
        """True after completion: outcome, reward, quality, reflection and salient features are then set."""
        return self.end_time is not None

    @property
    def duration_seconds(self) -> float | None:
        return None if self.end_time is None else (self.end_time - self.start_time).total_seconds()


@dataclass(frozen=True, slots=True)
class TaskEffort:
    """Steps and time that a task took."""

    steps: int
    latency_ms: int
    """Sum of the latencies of the steps, as their client measured them."""
    duration_seconds: float
    """From creation to completion of the episode."""

    @property
    def measured_seconds(self) -> float | None:
        """The time that the work took; None if the episode was recorded afterwards, without latencies.

        A step takes a second at least, so that more steps than seconds were not recorded while they happened.
        """
        if self.latency_ms:
            return max(self.duration_seconds, self.latency_ms / 1_000)
        return self.duration_seconds if self.duration_seconds >= self.steps else None


def effort_of(episode: Episode) -> TaskEffort:
    """Return the steps and the time of an episode; an open one has no duration yet."""
    latency = sum(step.latency_ms for step in episode.steps)
    return TaskEffort(len(episode.steps), latency, episode.duration_seconds or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypicalEffort:
    """Medians over similar tasks that did not fail."""

    episodes: int
    steps: float
    seconds: float | None
    """None if the time of too few of them was measured."""


def typical_effort(efforts: Sequence[TaskEffort]) -> TypicalEffort | None:
    """Return the medians of similar tasks; None for fewer than `MIN_SIMILAR_TASKS`."""
    if len(efforts) < MIN_SIMILAR_TASKS:
        return None
    times = [seconds for effort in efforts if (seconds := effort.measured_seconds) is not None]
    return TypicalEffort(
        episodes=len(efforts),
        steps=median(effort.steps for effort in efforts),
        seconds=median(times) if len(times) >= MIN_SIMILAR_TASKS else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeChange:
    """Requested changes of an episode; None keeps a value. Tags are set first, then added, then removed."""

    checkpoint: Checkpoint | None = None
    """Checkpoint to append."""
    description: str | None = None
    set_tags: tuple[str, ...] | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    """Merged into the existing metadata."""

    def apply_to(self, episode: Episode) -> Episode:
        """Return the changed episode."""
        tags = dict.fromkeys(episode.context.tags if self.set_tags is None else self.set_tags)
        tags |= dict.fromkeys(self.add_tags)
        kept = tuple(tag for tag in tags if tag not in self.remove_tags)
        return replace(
            episode,
            task_description=self.description or episode.task_description,
            context=replace(episode.context, tags=kept),
            metadata={**episode.metadata, **self.metadata},
            checkpoints=(*episode.checkpoints, self.checkpoint) if self.checkpoint else episode.checkpoints,
        )


def normal_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags as they are stored: trimmed, lowercase, without duplicates and empty ones."""
    return tuple(dict.fromkeys(trimmed for tag in tags if (trimmed := tag.strip().lower())))


class Lesson(Protocol):
    """The part of a pattern or a heuristic that an episode refers to."""

    @property
    def id(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """Patterns and heuristics found in an episode. They are stored in the transaction that completes the episode."""

    patterns: Sequence[Lesson] = ()
    """Updated values: new patterns, and known patterns that this episode confirms."""
    heuristics: Sequence[Lesson] = ()
    applied: Sequence[str] = ()
    """Ids of the known patterns that the episode applied."""


class Learner(Protocol):
    """Finds patterns in episodes, and patterns that fit a task."""

    async def learn(self, episode: Episode) -> Learned:
        """Return the patterns and heuristics found in an episode. Writes nothing.

        The episode must have its steps, outcome, end time, features, reflection and a preliminary reward, which does
        not include what is learned here. Its quality is not set yet.
        """
        ...

    async def relevant(
        self, visibility: Visibility, query: str, domain: str, task_type: TaskType | None, limit: int
    ) -> Sequence[Mapping[str, Any]]:
        """Return the best matching patterns in wire format, best first."""
        ...
