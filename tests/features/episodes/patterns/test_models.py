"""Effectiveness, merging and heuristics of patterns. Numbers are rows of the feature table."""

from dataclasses import replace
from datetime import timedelta
from math import log, sqrt
from typing import Any

import pytest

from scrubjay.features.episodes.models import FailureOutcome, PartialSuccessOutcome, TaskContext, TaskType
from scrubjay.features.episodes.patterns.models import (
    ContextPattern,
    DecisionPoint,
    Effectiveness,
    ErrorRecovery,
    Form,
    Pattern,
    ToolSequence,
    applied_pattern_ids,
    derive_heuristic,
    success_score,
)
from tests.contracts.samples import NOW
from tests.features.episodes.samples import DONE, ended

DECISION = DecisionPoint(condition="check it", action="fix it", success_count=1, failure_count=0, avg_duration_secs=2.0)


def nearly(value: float) -> Any:
    """Return `pytest.approx(value)` as a field value that pyright accepts."""
    return pytest.approx(value)


def pattern(form: Form = DECISION, *, sample: int = 1, successes: float = 1.0, **fields: object) -> Pattern:
    plain = Pattern(
        id="pattern_1",
        task_type=TaskType.DEBUGGING,
        context=TaskContext(domain="web", tags=("a",)),
        form=form,
        sample=sample,
        successes=successes,
        evidence=tuple(f"e{number}" for number in range(sample)),
        created_at=NOW,
        last_seen=NOW,
    )
    return replace(plain, **fields)  # pyright: ignore[reportArgumentType]


def test_077_effectiveness_follows_the_formula() -> None:
    assert Effectiveness().score == 0.5
    tried = Effectiveness(times_applied=4, success_when_applied=3, failure_when_applied=1, avg_reward_delta=0.2)
    assert tried.score == pytest.approx(0.75 * (1 + log(4) / 3) * 1.2)
    often = Effectiveness(times_applied=1000, success_when_applied=1000, avg_reward_delta=-2.0)
    assert often.score == 0
    assert replace(often, avg_reward_delta=0.0).score == 2.0


def test_077_each_use_is_counted_and_the_mean_covers_comparable_uses() -> None:
    once = Effectiveness().after_application(1.0, None, NOW)
    twice = once.after_application(0.0, 0.4, NOW).after_application(0.6, -0.2, NOW + timedelta(days=1))
    assert twice == Effectiveness(
        times_applied=3,
        success_when_applied=2,
        failure_when_applied=1,
        avg_reward_delta=nearly(0.1),
        compared=2,
        last_used=NOW + timedelta(days=1),
    )


def test_077_confidence_is_the_success_rate_times_the_root_of_the_sample() -> None:
    assert pattern(sample=9, successes=6).confidence == pytest.approx(6 / 9 * sqrt(9))


def test_077_merged_patterns_are_weighted_by_their_samples() -> None:
    slow = pattern(ToolSequence(tools=("a", "b"), avg_latency_ms=100.0), sample=3, successes=3.0)
    fast = pattern(ToolSequence(tools=("a", "b"), avg_latency_ms=500.0), successes=0.0, last_seen=NOW + timedelta(1))
    merged = slow.merge(replace(fast, evidence=("new",), context=TaskContext(domain="web", tags=("b",))))
    assert merged == replace(
        slow,
        form=ToolSequence(tools=("a", "b"), avg_latency_ms=200.0),
        context=TaskContext(domain="web", tags=("a", "b")),
        sample=4,
        successes=3.0,
        evidence=("e0", "e1", "e2", "new"),
        last_seen=NOW + timedelta(1),
    )
    failed = replace(DECISION, success_count=0, failure_count=1, avg_duration_secs=4.0)
    assert pattern().merge(pattern(failed, successes=0.0)).form == DecisionPoint(
        condition="check it", action="fix it", success_count=1, failure_count=1, avg_duration_secs=3.0
    )


@pytest.mark.parametrize(
    ("sample", "successes", "confidence"),
    [(1, 1.0, None), (2, 2.0, 0.75), (2, 1.0, None), (3, 2.0, None), (6, 5.0, 0.75), (10, 10.0, 11 / 12)],
)
def test_077_a_heuristic_needs_two_episodes_and_a_confidence_of_0_7(
    sample: int, successes: float, confidence: float | None
) -> None:
    rule = derive_heuristic(pattern(sample=sample, successes=successes))
    assert (rule and rule.confidence) == (confidence and pytest.approx(confidence))


def test_077_a_heuristic_has_a_condition_and_an_action() -> None:
    well = {"sample": 2, "successes": 2.0}
    rules = [
        derive_heuristic(pattern(**well)),  # pyright: ignore[reportArgumentType]
        derive_heuristic(pattern(ErrorRecovery(error_type="E1", recovery_steps=("a", "b")), **well)),  # pyright: ignore
        derive_heuristic(
            pattern(ContextPattern(context_features=("domain: web",), recommended_approach="Work"), **well)  # pyright: ignore
        ),
    ]
    assert [(rule.id, rule.condition, rule.action) for rule in rules if rule] == [
        ("heuristic_1", "check it", "fix it"),
        ("heuristic_1", "after E1", "a, then b"),
        ("heuristic_1", "domain: web", "Work"),
    ]
    assert derive_heuristic(pattern(ToolSequence(tools=("a", "b"), avg_latency_ms=1.0), **well)) is None  # pyright: ignore


def test_077_the_success_score_follows_the_outcome() -> None:
    assert success_score(ended("+", outcome=DONE)) == 1
    assert success_score(ended("+", outcome=FailureOutcome(reason="no"))) == 0
    assert (
        success_score(ended("+", outcome=PartialSuccessOutcome(verdict="so", completed=("a", "b", "c"), failed=("d",))))
        == 0.75
    )
    assert success_score(ended("+", outcome=PartialSuccessOutcome(verdict="so"))) == 0.5


def test_079_applied_patterns_are_read_from_metadata() -> None:
    assert applied_pattern_ids({"applied_patterns": " p1, p2,,p1 "}) == ("p1", "p2")
    assert applied_pattern_ids({}) == ()
