"""What episodes teach: patterns that several of them share, and rules of thumb that follow from these."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from math import log, sqrt
from typing import Any, Final

from scrubjay.features.episodes.models import Episode, Failure, Learned, PartialSuccess, Success, TaskContext, TaskType

LEAST_CONFIDENCE: Final = 0.7
LEAST_SAMPLE: Final = 2
"""Of a rule of thumb: how sure it is, and from how many episodes it is known."""
MOST_EVIDENCE: Final = 50
"""How many episodes a pattern names; those that bore it out last."""
MOST_TAGS: Final = 20


class PatternType(StrEnum):
    """What sort of thing recurs."""

    TOOL_SEQUENCE = "tool_sequence"
    DECISION_POINT = "decision_point"
    ERROR_RECOVERY = "error_recovery"
    CONTEXT_PATTERN = "context_pattern"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSequence:
    """Tools that were used with success, one after the other."""

    tools: tuple[str, ...]
    avg_latency_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPoint:
    """Something was checked, and then something was done."""

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
    """Something failed, and then something helped."""

    error_type: str
    recovery_steps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPattern:
    """Where something is done in a certain way."""

    context_features: tuple[str, ...]
    recommended_approach: str


Form = ToolSequence | DecisionPoint | ErrorRecovery | ContextPattern


def type_of(form: Form) -> PatternType:
    """The name of such a form."""
    match form:
        case ToolSequence():
            return PatternType.TOOL_SEQUENCE
        case DecisionPoint():
            return PatternType.DECISION_POINT
        case ErrorRecovery():
            return PatternType.ERROR_RECOVERY
        case ContextPattern():
            return PatternType.CONTEXT_PATTERN


def key_of(form: Form) -> str:
    """What is the same for the same pattern, whatever was counted."""
    match form:
        case ToolSequence(tools=tools):
            parts = tools
        case DecisionPoint(condition=condition, action=action):
            parts = (condition, action)
        case ErrorRecovery(error_type=error_type, recovery_steps=steps):
            parts = (error_type, *steps)
        case ContextPattern(context_features=features, recommended_approach=approach):
            parts = (*features, approach)
    return "\n".join((type_of(form), *(part.casefold() for part in parts)))


def description_of(form: Form) -> str:
    """A pattern in one sentence."""
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
    """What became of a pattern since it is known."""

    times_retrieved: int = 0
    times_applied: int = 0
    success_when_applied: int = 0
    failure_when_applied: int = 0
    avg_reward_delta: float = 0.0
    """By how much the rewards of episodes that went by it are above the mean of their domain."""
    compared: int = 0
    """How many such episodes there are of which that is known."""
    last_used: datetime | None = None

    @property
    def score(self) -> float:
        """How much it helped: 0.5 as long as nobody tried it."""
        tried = self.success_when_applied + self.failure_when_applied
        rate = self.success_when_applied / tried if tried else 0.5
        uses = min(max(log(self.times_applied), 0.0), 3.0) if self.times_applied else 0.0
        return rate * (1 + uses / 3) * max(0.0, 1 + self.avg_reward_delta)

    def applied(self, goodness: float, reward_delta: float | None, at: datetime) -> "Effectiveness":
        """With one more episode that went by it."""
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
    """Something that recurs in episodes of one project, or of none."""

    id: str
    project_id: str | None = None
    task_type: TaskType
    context: TaskContext
    form: Form
    sample: int
    """How often it was seen: once in an episode."""
    successes: float
    """How well these episodes ended, together: 1 for each that was a success."""
    evidence: tuple[str, ...]
    """The ids of episodes that bear it out, the last ones."""
    about: tuple[str, ...] = ()
    """What the last of these were to do, found when it is read."""
    effectiveness: Effectiveness = field(default_factory=Effectiveness)
    created_at: datetime
    last_seen: datetime

    @property
    def type(self) -> PatternType:
        return type_of(self.form)

    @property
    def description(self) -> str:
        return description_of(self.form)

    @property
    def success_rate(self) -> float:
        return self.successes / self.sample

    @property
    def confidence(self) -> float:
        """Grows with how well it went and with how often it was seen; can be more than 1."""
        return self.success_rate * sqrt(self.sample)

    def with_another(self, found: "Pattern") -> "Pattern":
        """Once more seen; what was counted is weighted by how often. Its words stay as they were."""
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
        tags = tuple(dict.fromkeys((*self.context.tags, *found.context.tags)))[:MOST_TAGS]
        return replace(
            self,
            form=form,
            context=replace(self.context, tags=tags),
            sample=total,
            successes=self.successes + found.successes,
            evidence=tuple(dict.fromkeys((*self.evidence, *found.evidence)))[-MOST_EVIDENCE:],
            last_seen=max(self.last_seen, found.last_seen),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Heuristic:
    """A rule of thumb: what to do when."""

    id: str
    condition: str
    action: str
    confidence: float
    """How probably it goes well the next time, by the rule of succession: between 0 and 1."""
    evidence: tuple[str, ...]


def heuristic_of(pattern: Pattern) -> Heuristic | None:
    """The rule that follows from a pattern, once enough episodes bear it out and it went well often enough."""
    confidence = (pattern.successes + 1) / (pattern.sample + 2)
    if pattern.sample < LEAST_SAMPLE or len(pattern.evidence) < LEAST_SAMPLE or confidence < LEAST_CONFIDENCE:
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
    """A pattern as one episode shows it, and the known one that it is, if there is one."""

    pattern: Pattern
    """Of this episode alone."""
    known_id: str | None = None

    @property
    def id(self) -> str:
        return self.known_id or self.pattern.id

    @property
    def has_its_words(self) -> bool:
        """Whether the known one is in the very words of this episode."""
        return self.id == self.pattern.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons(Learned):
    """What was found out about an episode, as opposed to nothing having been looked for."""

    found: Sequence[FoundPattern] = ()


def goodness(episode: Episode) -> float:
    """How well an episode ended: 1 for a success, 0 for a failure, for part of it the share that was done."""
    match episode.outcome:
        case Success():
            return 1.0
        case PartialSuccess(completed=completed, failed=failed):
            return len(completed) / (len(completed) + len(failed)) if completed or failed else 0.5
        case Failure() | None:
            return 0.0


def named_patterns(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The patterns that whoever tells an episode says it went by, in its metadata under `applied_patterns`."""
    told = str(metadata.get("applied_patterns", ""))
    return tuple(dict.fromkeys(name for part in told.split(",") if (name := part.strip())))[:MOST_EVIDENCE]
