"""Conversion between patterns and SQLite rows, and the writes of a completed episode."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from scrubjay.db.sqlite.columns import json_text, json_value, microseconds, moment, optional_moment
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.episodes.models import Complexity, Episode, Learned, TaskContext, TaskType
from scrubjay.features.episodes.patterns.models import (
    ContextPattern,
    DecisionPoint,
    Effectiveness,
    ErrorRecovery,
    Form,
    FoundPattern,
    Lessons,
    Pattern,
    PatternType,
    ToolSequence,
    success_score,
)
from scrubjay.features.episodes.rows import folded

_SQL = load_queries(__file__)


def pattern_from(row: Sequence[Any]) -> Pattern:
    """Read a pattern from a row of the query fragment `columns`."""
    (
        _,
        pattern_id,
        project_id,
        task_type,
        domain,
        context,
        kind,
        form,
        sample,
        successes,
        retrieved,
        applied,
        success,
        failure,
        delta,
        compared,
        last_used,
        created_at,
        last_seen,
        evidence,
        about,
    ) = row
    where = json_value(context)
    return Pattern(
        id=pattern_id,
        project_id=project_id,
        task_type=TaskType(task_type),
        context=TaskContext(
            domain=domain,
            language=where["language"],
            framework=where["framework"],
            complexity=Complexity(where["complexity"]),
            tags=tuple(where["tags"]),
        ),
        form=_form_from(PatternType(kind), json_value(form)),
        sample=sample,
        successes=successes,
        evidence=tuple(json_value(evidence)),
        about=tuple(json_value(about)),
        effectiveness=Effectiveness(
            times_retrieved=retrieved,
            times_applied=applied,
            success_when_applied=success,
            failure_when_applied=failure,
            avg_reward_delta=delta,
            compared=compared,
            last_used=optional_moment(last_used),
        ),
        created_at=moment(created_at),
        last_seen=moment(last_seen),
    )


def _form_from(kind: PatternType, values: Mapping[str, Any]) -> Form:
    match kind:
        case PatternType.TOOL_SEQUENCE:
            return ToolSequence(tools=tuple(values["tools"]), avg_latency_ms=values["avg_latency_ms"])
        case PatternType.DECISION_POINT:
            return DecisionPoint(**values)
        case PatternType.ERROR_RECOVERY:
            return ErrorRecovery(error_type=values["error_type"], recovery_steps=tuple(values["recovery_steps"]))
        case PatternType.CONTEXT_PATTERN:
            return ContextPattern(
                context_features=tuple(values["context_features"]), recommended_approach=values["recommended_approach"]
            )


def _values(pattern: Pattern) -> dict[str, Any]:
    context = pattern.context
    return {
        "id": pattern.id,
        "project_id": pattern.project_id,
        "type": pattern.type.value,
        "task_type": pattern.task_type.value,
        "domain": context.domain,
        "folded_domain": folded(context.domain),
        "context": json_text(
            {
                "language": context.language,
                "framework": context.framework,
                "complexity": context.complexity.value,
                "tags": context.tags,
            }
        ),
        "form": json_text(asdict(pattern.form)),
        "sample": pattern.sample,
        "successes": pattern.successes,
        "created_at": microseconds(pattern.created_at),
        "last_seen": microseconds(pattern.last_seen),
    }


def write_lessons(connection: Connection, episode: Episode, learned: Learned) -> None:
    """Write the lessons of an episode, in the transaction that completes it.

    A known pattern is read again here, so that concurrent additions are not lost. Without a learning result nothing is
    written; `PatternLearner.catch_up` learns from the episode later.
    """
    if not isinstance(learned, Lessons):
        return
    seq: int = connection.value(_SQL["episode_seq"], {"id": episode.episode_id})
    connection.execute(_SQL["set_learned"], {"seq": seq})
    for found in learned.found:
        _write_pattern(connection, found, seq)
    if learned.applied:
        credited = _credit(connection, episode, seq, learned.applied)
        connection.execute(_SQL["set_applied"], {"seq": seq, "applied": json_text(credited)})


def _write_pattern(connection: Connection, found: FoundPattern, episode_seq: int) -> None:
    rows = connection.execute(_SQL["same_scope"], {"id": found.id, "project": found.pattern.project_id})
    if rows:
        seq: int = rows[0][0]
        grown = pattern_from(rows[0]).merge(found.pattern)
        connection.execute(
            _SQL["update_pattern"], {name: _values(grown)[name] for name in _GROWING_COLUMNS} | {"seq": seq}
        )
        connection.execute(_SQL["delete_vector"], {"seq": seq})
        has_its_words = found.is_new_wording
    elif found.pattern.successes > 0:
        added = connection.value(_SQL["add_pattern"], _values(found.pattern))
        if added is None:  # the known pattern is damaged, which does not stop an episode from being completed
            return
        seq = added
        has_its_words = True
    else:  # an unsuccessful occurrence does not create a pattern
        return
    connection.execute(
        _SQL["add_evidence"], {"pattern_seq": seq, "episode_seq": episode_seq, "has_its_words": has_its_words}
    )


_GROWING_COLUMNS = ("context", "form", "sample", "successes", "last_seen")


def _credit(connection: Connection, episode: Episode, seq: int, pattern_ids: Sequence[str]) -> Sequence[str]:
    """Update the effectiveness of the patterns that an episode applied; return the ids of the existing ones."""
    credited: list[str] = []
    where = {"project": episode.project_id, "domain": folded(episode.context.domain), "seq": seq}
    usual = connection.value(_SQL["usual_reward"], where)
    delta = None if usual is None or episode.reward is None else episode.reward.total - usual
    at = episode.end_time or episode.start_time
    for pattern_id in pattern_ids:
        rows = connection.execute(_SQL["get"], {"id": pattern_id, "project": episode.project_id})
        if not rows:
            continue
        credited.append(pattern_id)
        now = pattern_from(rows[0]).effectiveness.after_application(success_score(episode), delta, at)
        connection.execute(
            _SQL["set_effectiveness"],
            {
                "seq": rows[0][0],
                "times_applied": now.times_applied,
                "success_when_applied": now.success_when_applied,
                "failure_when_applied": now.failure_when_applied,
                "avg_reward_delta": now.avg_reward_delta,
                "compared": now.compared,
                "last_used": microseconds(at),
            },
        )
    return credited
