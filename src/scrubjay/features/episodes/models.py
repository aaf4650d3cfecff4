"""What an agent did for one task: its steps, how it ended, and what is learned from that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Protocol

from scrubjay.core.scopes import Visibility


class TaskType(StrEnum):
    """What sort of work it was."""

    CODE_GENERATION = "code_generation"
    DEBUGGING = "debugging"
    REFACTORING = "refactoring"
    TESTING = "testing"
    ANALYSIS = "analysis"
    DOCUMENTATION = "documentation"


class Complexity(StrEnum):
    """How hard the task is, as whoever began it says."""

    SIMPLE = "simple"
    MODERATE = "moderate"
    COMPLEX = "complex"


class ResultType(StrEnum):
    """What became of a step."""

    SUCCESS = "success"
    ERROR = "error"
    TIMEOUT = "timeout"


class OutcomeType(StrEnum):
    """How a task ended."""

    SUCCESS = "success"
    PARTIAL_SUCCESS = "partial_success"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """Where the task belongs."""

    domain: str
    language: str | None = None
    framework: str | None = None
    complexity: Complexity = Complexity.MODERATE
    tags: tuple[str, ...] = ()
    """Trimmed, in small letters, each once, in the order they were given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What a step brought."""

    type: ResultType
    output: str | None = None
    """What came out of a success."""
    message: str | None = None
    """What an error or a timeout says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that was done, with one tool."""

    step_number: int
    timestamp: datetime
    tool: str
    action: str
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: StepResult | None = None
    """None as long as nobody has told."""
    latency_ms: int = 0
    tokens_used: int | None = None
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def succeeded(self) -> bool:
        return self.result is not None and self.result.type is ResultType.SUCCESS

    @property
    def failed(self) -> bool:
        """Whether it ended in an error or a timeout; a step without a result did neither."""
        return self.result is not None and self.result.type is not ResultType.SUCCESS

    @property
    def result_type(self) -> Literal["success", "error", "timeout", "pending"]:
        return self.result.type.value if self.result is not None else "pending"

    def is_same_as(self, other: "Step") -> bool:
        """Whether it says the same, apart from when it was told."""
        return replace(self, timestamp=other.timestamp) == other


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """All was done."""

    verdict: str
    artifacts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialSuccess:
    """Some of it was done."""

    verdict: str
    completed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """It could not be done."""

    reason: str
    error_details: str | None = None


Outcome = Success | PartialSuccess | Failure


def outcome_type(outcome: Outcome) -> OutcomeType:
    """The name of such an outcome."""
    match outcome:
        case Success():
            return OutcomeType.SUCCESS
        case PartialSuccess():
            return OutcomeType.PARTIAL_SUCCESS
        case Failure():
            return OutcomeType.FAILURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Reward:
    """What an episode is worth, and what that is made of."""

    total: float
    """base * efficiency * complexity_bonus * quality_multiplier + learning_bonus; it can be more than 1."""
    base: float
    efficiency: float
    complexity_bonus: float
    quality_multiplier: float
    learning_bonus: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """How much can be learned from an episode, 0 to 1, and what that is made of."""

    score: float
    complexity: float
    diversity: float
    error: float
    reflection: float
    novelty: float
    threshold: float = 0.7
    """What is below is of low quality: it is kept, and said to be so."""

    @property
    def low(self) -> bool:
        return self.score < self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """What can be said of an episode by looking back, at most five of each."""

    successes: tuple[str, ...]
    improvements: tuple[str, ...]
    insights: tuple[str, ...]
    generated_at: datetime

    @property
    def items(self) -> int:
        return len(self.successes) + len(self.improvements) + len(self.insights)


@dataclass(frozen=True, slots=True, kw_only=True)
class SalientFeatures:
    """What stands out in an episode."""

    critical_decisions: tuple[str, ...] = ()
    tool_combinations: tuple[tuple[str, ...], ...] = ()
    """Runs of at least two successful steps."""
    error_recovery_patterns: tuple[str, ...] = ()
    key_insights: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A place in the work that somebody else can go on from."""

    checkpoint_id: str
    created_at: datetime
    reason: str
    step_number: int
    """The last step that was done by then; 0 when none was."""
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One task from its beginning to its end, of one project or of none."""

    episode_id: str
    """A random UUID."""
    project_id: str | None = None
    client: str | None = None
    """Who began it, where the protocol can tell."""
    task_type: TaskType
    task_description: str
    context: TaskContext
    start_time: datetime
    end_time: datetime | None = None
    steps: tuple[Step, ...] = ()
    """By their numbers."""
    outcome: Outcome | None = None
    reward: Reward | None = None
    quality: Quality | None = None
    reflection: Reflection | None = None
    salient_features: SalientFeatures | None = None
    patterns: tuple[str, ...] = ()
    """The ids of patterns that it gave or bore out."""
    heuristics: tuple[str, ...] = ()
    applied_patterns: tuple[str, ...] = ()
    """The ids of patterns that it went by."""
    checkpoints: tuple[Checkpoint, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    revision: int = 0
    """Rises with every change, so that a completion can tell whether it has seen all."""

    @property
    def is_complete(self) -> bool:
        """Whether it ended: from then on it has an outcome, a reward, a quality, a reflection and features."""
        return self.end_time is not None

    @property
    def duration_seconds(self) -> float | None:
        return None if self.end_time is None else (self.end_time - self.start_time).total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeChange:
    """What is to be another in an episode; None leaves it as it is. Tags are set first, then added, then removed."""

    checkpoint: Checkpoint | None = None
    """One more."""

    description: str | None = None
    set_tags: tuple[str, ...] | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    """Merged into what there is."""

    def of(self, episode: Episode) -> Episode:
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
    """Tags as they are kept: trimmed, in small letters, each once; empty ones are left out."""
    return tuple(dict.fromkeys(trimmed for tag in tags if (trimmed := tag.strip().lower())))


class Lesson(Protocol):
    """A pattern or a heuristic, as far as an episode must know it."""

    @property
    def id(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What an episode teaches. Nothing of it is kept yet: it is, in the transaction that completes the episode."""

    patterns: Sequence[Lesson] = ()
    """As they are to be afterwards: new ones, and known ones that this episode bears out."""
    heuristics: Sequence[Lesson] = ()


class Learner(Protocol):
    """Finds patterns in episodes, and those that fit a task."""

    async def learn(self, episode: Episode) -> Learned:
        """What this episode teaches. Reads only.

        It has its steps, outcome, end, features and reflection, and a reward that does not count what is learned now;
        no quality yet.
        """
        ...

    async def relevant(
        self, visibility: Visibility, query: str, domain: str, task_type: TaskType | None, limit: int
    ) -> Sequence[Mapping[str, Any]]:
        """The patterns that fit best, as they are shown to callers, best first."""
        ...
