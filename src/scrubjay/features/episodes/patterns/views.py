"""Wire format of patterns."""

from typing import Any

from scrubjay.features.episodes.patterns.models import (
    ContextPattern,
    DecisionPoint,
    ErrorRecovery,
    Pattern,
    ToolSequence,
    derive_heuristic,
)


def pattern_fields(pattern: Pattern) -> dict[str, Any]:
    """Return the common fields of a pattern and those of its type."""
    rule = derive_heuristic(pattern)
    return {
        "id": pattern.id,
        "type": pattern.type.value,
        "description": pattern.description,
        **_own_fields(pattern),
        "success_rate": pattern.success_rate,
        "occurrence_count": pattern.sample,
        "confidence": pattern.confidence,
        "task_type": pattern.task_type.value,
        "context": {
            "domain": pattern.context.domain,
            "language": pattern.context.language,
            "framework": pattern.context.framework,
            "complexity": pattern.context.complexity.value,
            "tags": list(pattern.context.tags),
        },
        "evidence": list(pattern.evidence),
        "effectiveness": {
            "times_retrieved": pattern.effectiveness.times_retrieved,
            "times_applied": pattern.effectiveness.times_applied,
            "success_when_applied": pattern.effectiveness.success_when_applied,
            "failure_when_applied": pattern.effectiveness.failure_when_applied,
            "avg_reward_delta": pattern.effectiveness.avg_reward_delta,
            "last_used": pattern.effectiveness.last_used,
            "created_at": pattern.created_at,
            "score": pattern.effectiveness.score,
        },
        "heuristic": None
        if rule is None
        else {"id": rule.id, "condition": rule.condition, "action": rule.action, "confidence": rule.confidence},
    }


def _own_fields(pattern: Pattern) -> dict[str, Any]:
    match pattern.form:
        case ToolSequence() as form:
            return {"tools": list(form.tools), "avg_latency": form.avg_latency_ms}
        case DecisionPoint() as form:
            return {
                "condition": form.condition,
                "action": form.action,
                "outcome_stats": {
                    "success_count": form.success_count,
                    "failure_count": form.failure_count,
                    "total_count": form.total_count,
                    "avg_duration_secs": form.avg_duration_secs,
                },
            }
        case ErrorRecovery() as form:
            return {"error_type": form.error_type, "recovery_steps": list(form.recovery_steps)}
        case ContextPattern() as form:
            return {
                "context_features": list(form.context_features),
                "recommended_approach": form.recommended_approach,
            }
