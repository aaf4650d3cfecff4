"""Patterns that episodes share, and heuristics derived from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from math import log, sqrt
from typing import Any, Final

from scrubjay.features.episodes.models import (
    Episode,
    FailureOutcome,
    Learned,
    PartialSuccessOutcome,
    SuccessOutcome,
    TaskContext,
    TaskType,
)

MIN_HEURISTIC_CONFIDENCE: Final = 0.7
MIN_HEURISTIC_SAMPLE: Final = 2
"""Minimum confidence and number of episodes of a heuristic."""
MAX_EVIDENCE: Final = 50
"""Episode ids that a pattern lists: the most recent that showed it."""
MAX_TAGS: Final = 20
MIN_TRIED: Final = 2
"""Applications from which their outcomes decide on recommending a pattern."""


class PatternType(StrEnum):
    """Type of a pattern."""

    TOOL_SEQUENCE = "tool_sequence"
    DECISION_POINT = "decision_point"
    ERROR_RECOVERY = "error_recovery"
    CONTEXT_PATTERN = "context_pattern"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSequence:
    """Tools that were used successfully one after the other."""

    tools: tuple[str, ...]
    avg_latency_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPoint:
    """A check and the action that followed."""

    condition: str
    action: str
    success_count: int
    failure_count: int
    avg_duration_secs: float

    @property
    def total_count(self) -> int:
        return self.success_count + self.failure_count


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRecovery:
    """An error and the steps that resolved it."""

    error_type: str
    recovery_steps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPattern:
    """An approach that works in a context."""

    context_features: tuple[str, ...]
    recommended_approach: str


Form = ToolSequence | DecisionPoint | ErrorRecovery | ContextPattern


def form_type(form: Form) -> PatternType:
    """Return the pattern type of a form."""
    match form:
        case ToolSequence():
            return PatternType.TOOL_SEQUENCE
        case DecisionPoint():
            return PatternType.DECISION_POINT
        case ErrorRecovery():
            return PatternType.ERROR_RECOVERY
        case ContextPattern():
            return PatternType.CONTEXT_PATTERN


def form_key(form: Form) -> str:
    """Return the text that identifies a pattern, without its counts."""
    match form:
        case ToolSequence(tools=tools):
            parts = tools
        case DecisionPoint(condition=condition, action=action):
            parts = (condition, action)
        case ErrorRecovery(error_type=error_type, recovery_steps=steps):
            parts = (error_type, *steps)
        case ContextPattern(context_features=features, recommended_approach=approach):
            parts = (*features, approach)
    return "\n".join((form_type(form), *(part.casefold() for part in parts)))


def form_description(form: Form) -> str:
    """Return a pattern as one sentence."""
    match form:
        case ToolSequence(tools=tools):
            return f"Use {', then '.join(tools)}"
        case DecisionPoint(condition=condition, action=action):
            return f"{condition}; then {action}"
        case ErrorRecovery(error_type=error_type, recovery_steps=steps):
            return f"After {error_type}: {', then '.join(steps)}"
        case ContextPattern(context_features=features, recommended_approach=approach):
            return f"{approach} ({', '.join(features)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effectiveness:
    """Effect of a pattern when it was retrieved and applied."""

    times_retrieved: int = 0
    times_applied: int = 0
    success_when_applied: int = 0
    failure_when_applied: int = 0
    avg_reward_delta: float = 0.0
    """Mean difference of the rewards of episodes that applied it from the mean reward of their domain."""
    compared: int = 0
    """Number of episodes in that mean."""
    last_used: datetime | None = None

    @property
    def score(self) -> float:
        """Effectiveness, 0 or more; 0.5 when never applied."""
        tried = self.success_when_applied + self.failure_when_applied
        rate = self.success_when_applied / tried if tried else 0.5
        uses = min(max(log(self.times_applied), 0.0), 3.0) if self.times_applied else 0.0
        return rate * (1 + uses / 3) * max(0.0, 1 + self.avg_reward_delta)

    def after_application(self, goodness: float, reward_delta: float | None, at: datetime) -> "Effectiveness":
        """Return the effectiveness including one more episode that applied the pattern."""
        compared = self.compared + (reward_delta is not None)
        mean = self.avg_reward_delta
        if reward_delta is not None:
            mean += (reward_delta - mean) / compared
        return replace(
            self,
            times_applied=self.times_applied + 1,
            success_when_applied=self.success_when_applied + (goodness > 0.5),
            failure_when_applied=self.failure_when_applied + (goodness <= 0.5),
            avg_reward_delta=mean,
            compared=compared,
            last_used=at,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A pattern of episodes of one project, or of none."""

    id: str
    project_id: str | None = None
    task_type: TaskType
    context: TaskContext
    form: Form
    sample: int
    """Number of episodes that showed it."""
    successes: float
    """Sum of the success scores of these episodes, 0 to 1 each."""
    evidence: tuple[str, ...]
    """Ids of the most recent of these episodes."""
    about: tuple[str, ...] = ()
    """Task descriptions of the last of these, filled when the pattern is read."""
    effectiveness: Effectiveness = field(default_factory=Effectiveness)
    created_at: datetime
    last_seen: datetime

    @property
    def type(self) -> PatternType:
        return form_type(self.form)

    @property
    def description(self) -> str:
        return form_description(self.form)

    @property
    def success_rate(self) -> float:
        return self.successes / self.sample

    @property
    def confidence(self) -> float:
        """Success rate times the square root of the sample; can exceed 1."""
        return self.success_rate * sqrt(self.sample)

    @property
    def expected_success(self) -> float:
        """Probability that it works the next time, by the rule of succession: 2/3 after one success, .9 after eight."""
        return (self.successes + 1) / (self.sample + 2)

    @property
    def is_proven(self) -> bool:
        """True if it succeeded more often than it failed, and also where it was applied on purpose."""
        tried = self.effectiveness.success_when_applied + self.effectiveness.failure_when_applied
        helped = tried < MIN_TRIED or 2 * self.effectiveness.success_when_applied > tried
        return self.expected_success > 0.5 and helped

    def merge(self, found: "Pattern") -> "Pattern":
        """Return this pattern merged with another occurrence: averages are weighted, the wording stays."""
        total = self.sample + found.sample
        form = self.form
        match form, found.form:
            case ToolSequence(), ToolSequence():
                latency = (form.avg_latency_ms * self.sample + found.form.avg_latency_ms * found.sample) / total
                form = replace(form, avg_latency_ms=latency)
            case DecisionPoint(), DecisionPoint():
                mine, others = form.total_count, found.form.total_count
                seconds = form.avg_duration_secs * mine + found.form.avg_duration_secs * others
                form = replace(
                    form,
                    success_count=form.success_count + found.form.success_count,
                    failure_count=form.failure_count + found.form.failure_count,
                    avg_duration_secs=seconds / max(1, mine + others),
                )
            case _:
                pass
        tags = tuple(dict.fromkeys((*self.context.tags, *found.context.tags)))[:MAX_TAGS]
        return replace(
            self,
            form=form,
            context=replace(self.context, tags=tags),
            sample=total,
            successes=self.successes + found.successes,
            evidence=tuple(dict.fromkeys((*self.evidence, *found.evidence)))[-MAX_EVIDENCE:],
            last_seen=max(self.last_seen, found.last_seen),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Heuristic:
    """A rule of thumb: an action for a condition."""

    id: str
    condition: str
    action: str
    confidence: float
    """Probability that it works the next time, by the rule of succession."""
    evidence: tuple[str, ...]


def derive_heuristic(pattern: Pattern) -> Heuristic | None:
    """Derive the heuristic of a pattern; None for a tool sequence, or with too few or too unsuccessful episodes."""
    confidence = pattern.expected_success
    if (
        pattern.sample < MIN_HEURISTIC_SAMPLE
        or len(pattern.evidence) < MIN_HEURISTIC_SAMPLE
        or confidence < MIN_HEURISTIC_CONFIDENCE
    ):
        return None
    match pattern.form:
        case DecisionPoint(condition=condition, action=action):
            pass
        case ErrorRecovery(error_type=error_type, recovery_steps=steps):
            condition, action = f"after {error_type}", ", then ".join(steps)
        case ContextPattern(context_features=features, recommended_approach=action):
            condition = ", ".join(features)
        case ToolSequence():
            return None
    return Heuristic(
        id=pattern.id.replace("pattern", "heuristic", 1),
        condition=condition,
        action=action,
        confidence=confidence,
        evidence=pattern.evidence,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPattern:
    """A pattern of one episode, and the id of the known pattern that it matches."""

    pattern: Pattern
    """The pattern with the counts of this episode only."""
    known_id: str | None = None

    @property
    def id(self) -> str:
        return self.known_id or self.pattern.id

    @property
    def is_new_wording(self) -> bool:
        """True when the stored pattern has the wording of this episode."""
        return self.id == self.pattern.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons(Learned):
    """Result of learning from an episode. A plain `Learned` means that learning did not take place."""

    found: Sequence[FoundPattern] = ()


def success_score(episode: Episode) -> float:
    """Return 1 for a success, 0 for a failure, and for a partial success the share of completed subtasks."""
    match episode.outcome:
        case SuccessOutcome():
            return 1.0
        case PartialSuccessOutcome(completed=completed, failed=failed):
            return len(completed) / (len(completed) + len(failed)) if completed or failed else 0.5
        case FailureOutcome() | None:
            return 0.0


def applied_pattern_ids(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ids under `applied_patterns` of an episode's metadata, a comma-separated list set by the client."""
    listed = str(metadata.get("applied_patterns", ""))
    return tuple(dict.fromkeys(name for part in listed.split(",") if (name := part.strip())))[:MAX_EVIDENCE]
