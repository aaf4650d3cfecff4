"""Similarity of patterns. Numbers are rows of the feature table."""

from dataclasses import replace
from typing import Any

import pytest

from scrubjay.features.episodes.models import TaskContext
from scrubjay.features.episodes.patterns.models import ContextPattern, ErrorRecovery, Form, Pattern, ToolSequence
from scrubjay.features.episodes.patterns.similarity import SAME_PATTERN_SIMILARITY, context_similarity, similarity
from tests.features.episodes.patterns.test_models import DECISION, pattern

WEB = TaskContext(domain="web", language="python", tags=("a", "b"))


def of(form: Form, context: TaskContext = WEB) -> Pattern:
    return pattern(form, context=context)


def sequence(*tools: str) -> ToolSequence:
    return ToolSequence(tools=tools, avg_latency_ms=1.0)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (WEB, 1.0),
        (TaskContext(domain="WEB", language="Python", tags=("a",)), 0.4 + 0.3 + 0.15),
        (TaskContext(domain="cli", language="python", tags=("a", "b")), 0.6),
        (TaskContext(domain="web", tags=("c",)), 0.4),
    ],
)
def test_077_the_similarity_of_contexts_depends_on_domain_language_and_tags(
    other: TaskContext, expected: float
) -> None:
    assert context_similarity(WEB, other) == pytest.approx(expected)
    plain = TaskContext(domain="web")
    assert context_similarity(plain, plain) == pytest.approx(0.55), "no language on both sides counts half"


def test_077_the_similarity_of_sequences_is_their_edit_distance() -> None:
    assert similarity(of(sequence("a", "b", "c")), of(sequence("a", "b", "c"))) == pytest.approx(1)
    assert similarity(of(sequence("a", "b", "c")), of(sequence("a", "x", "c"))) == pytest.approx(0.7 * 2 / 3 + 0.3)
    assert similarity(of(sequence("a", "b")), of(sequence("a", "b", "c", "d"))) == pytest.approx(0.7 * 0.5 + 0.3)
    assert similarity(of(sequence("a", "b")), of(DECISION)) == 0


def test_077_each_pattern_type_has_its_own_weights() -> None:
    def decision(**fields: Any) -> Pattern:
        return of(replace(DECISION, condition="check the token", action="edit the file", **fields))

    other = of(replace(DECISION, condition="check the token", action="zzz"))
    assert similarity(decision(), other) == pytest.approx(0.4 + 0.2)
    one = of(ErrorRecovery(error_type="E1", recovery_steps=("pip: install",)))
    assert similarity(one, of(ErrorRecovery(error_type="E2", recovery_steps=("pip: install",)))) == pytest.approx(0.6)
    here = of(ContextPattern(context_features=("a", "b"), recommended_approach="work with x"))
    there = of(ContextPattern(context_features=("a", "c"), recommended_approach="work with x"))
    assert similarity(here, there) == pytest.approx(0.6 / 3 + 0.4)


def test_077_equal_wording_is_one_pattern_only_within_a_domain() -> None:
    here, there = TaskContext(domain="web"), TaskContext(domain="cli")
    assert similarity(of(sequence("a", "b"), here), of(sequence("a", "b"), here)) >= SAME_PATTERN_SIMILARITY
    assert similarity(of(sequence("a", "b"), here), of(sequence("a", "b"), there)) < SAME_PATTERN_SIMILARITY
