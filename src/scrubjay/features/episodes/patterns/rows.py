"""Patterns as rows, and how a completion writes them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import json_text, json_value, microseconds, moment, optional_moment
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
    goodness,
    named_patterns,
)
from scrubjay.features.episodes.rows import folded

_SQL = load_queries(__file__)


def pattern_from(row: Sequence[Any]) -> Pattern:
    """The pattern in a row of the query fragment `columns` in `patterns.sql`."""
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


def keep_learned(connection: Connection, episode: Episode, learned: Learned) -> None:
    """Write what an episode teaches, in the transaction that completes it.

    A known pattern is read again here, so that what another completion has just added to it is not lost. Of an episode
    in which nobody could look, nothing is written: that is made up for later.
    """
    if not isinstance(learned, Lessons):
        return
    seq: int = connection.value(_SQL["episode_place"], {"id": episode.episode_id})
    connection.execute(_SQL["learned"], {"seq": seq})
    for found in learned.found:
        _keep(connection, found, seq)
    recommended = {pattern_id for (pattern_id,) in connection.execute(_SQL["recommended"], {"episode_seq": seq})}
    gone_by = recommended & {found.id for found in learned.found}
    gone_by |= {*episode.applied_patterns, *named_patterns(episode.metadata)}
    if gone_by:
        _credit(connection, episode, seq, sorted(gone_by))


def _keep(connection: Connection, found: FoundPattern, episode_seq: int) -> None:
    rows = connection.execute(_SQL["known"], {"id": found.id, "project": found.pattern.project_id})
    if rows:
        seq: int = rows[0][0]
        grown = pattern_from(rows[0]).with_another(found.pattern)
        connection.execute(_SQL["grow"], {name: _values(grown)[name] for name in _GROWING} | {"seq": seq})
        connection.execute(_SQL["forget_vector"], {"seq": seq})
        has_its_words = found.has_its_words
    elif found.pattern.successes > 0:
        seq = connection.value(_SQL["add"], _values(found.pattern))
        has_its_words = True
    else:  # what did not go well is no pattern of its own
        return
    connection.execute(
        _SQL["bear_out"], {"pattern_seq": seq, "episode_seq": episode_seq, "has_its_words": has_its_words}
    )


_GROWING = ("context", "form", "sample", "successes", "last_seen")


def _credit(connection: Connection, episode: Episode, seq: int, pattern_ids: Sequence[str]) -> None:
    """Patterns that an episode went by: how it ended is theirs as well."""
    where = {"project": episode.project_id, "domain": folded(episode.context.domain), "seq": seq}
    usual = connection.value(_SQL["usual_reward"], where)
    delta = None if usual is None or episode.reward is None else episode.reward.total - usual
    at = episode.end_time or episode.start_time
    for pattern_id in pattern_ids:
        rows = connection.execute(_SQL["get"], {"id": pattern_id, "project": episode.project_id})
        if not rows:
            continue
        now = pattern_from(rows[0]).effectiveness.applied(goodness(episode), delta, at)
        connection.execute(
            _SQL["apply"],
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
