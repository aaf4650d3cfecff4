"""Routing and analysis of questions, compared with the documented scores (features 62 and 66)."""

import time
from collections.abc import Sequence

import pytest

from scrubjay.features.answers.routing import (
    QueryType,
    QuestionAnalysis,
    RoutingDecision,
    StoreName,
    Strategy,
    analyze,
    decide,
    topic_for_working,
)

EPISODIC, SEMANTIC, PROCEDURAL, WORKING = (
    StoreName.EPISODIC,
    StoreName.SEMANTIC,
    StoreName.PROCEDURAL,
    StoreName.WORKING,
)


def shares(decision: RoutingDecision) -> list[float]:
    """Return the scores of episodic, semantic and procedural memory."""
    return [decision.scores[store] for store in (EPISODIC, SEMANTIC, PROCEDURAL)]


def test_062_a_question_without_keywords_is_routed_to_episodic_memory() -> None:
    decision = decide("Which colour does Ada like?")
    assert decision == RoutingDecision(
        primary=EPISODIC,
        secondary=(),
        confidence=0.99,
        reasoning="Episodic store selected as default for general query",
        requires_synthesis=False,
        scores={EPISODIC: 1 / 1.01, PROCEDURAL: 0.0, SEMANTIC: 0.0},
        keywords={EPISODIC: (), PROCEDURAL: (), SEMANTIC: ()},
    )
    assert decision.is_sure


@pytest.mark.parametrize(
    ("query", "raw"),
    [
        # Each keyword counts 2, each pattern 1.5 however often it occurs; episodic memory starts with 1.
        ("Fix the null pointer bug in authenticate_user", (1, 0, 2 * 2 + 1.5 * 2)),
        ("Fix, fix, fix it!", (1, 0, 3 * 2 + 1.5)),
        ("What does run(x) do?", (1, 0, 1.5)),
        ("debug it at runtime", (1, 0, 1.5 * 2)),
        ("What depends on the graph structure?", (1, 3 * 2 + 1.5 * 2, 0)),
        ("A relates to B, and C uses D", (1, 1.5 * 2, 0)),
        ("When did we talk about it before?", (1 + 2 * 2 + 1.5, 0, 0)),
        ("What happened last time, and what was the mood?", (1 + 1.5 * 3, 0, 0)),
        ("the relationship between this class and that code", (1, 2 * 2 + 1.5, 2 * 2 + 1.5 * 2)),
        ("Whenever the coder fixes bugs", (1, 0, 0)),  # only whole words count
        ("FIX THE BUG", (1, 0, 2 * 2 + 1.5)),
    ],
)
def test_062_each_store_has_its_documented_score(query: str, raw: Sequence[float]) -> None:
    total = sum(raw) + 0.01
    assert shares(decide(query)) == pytest.approx([score / total for score in raw])


def test_062_a_store_with_more_than_a_fifth_of_the_score_is_secondary_and_requires_synthesis() -> None:
    decision = decide("When did we last decide on the relationship between A and B?")
    assert (decision.primary, decision.secondary, decision.confidence) == (SEMANTIC, (EPISODIC,), 0.55)
    assert decision.reasoning == "Semantic store selected; keywords detected: relationship, between"
    assert (decision.requires_synthesis, decision.is_sure) == (True, False)
    sure = decide("Fix the null pointer bug in authenticate_user")
    assert (sure.primary, sure.secondary, sure.confidence, sure.requires_synthesis) == (PROCEDURAL, (), 0.87, False)
    assert sure.reasoning == "Procedural store selected; keywords detected: fix, bug"


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("What did I say just now?", "just now"),
        ("What is in my working memory?", "working memory"),
        ("Fix the bug that I saw a moment ago", "a moment ago"),
        ("What do you have in mind?", "have in mind"),
    ],
)
def test_061_a_question_that_names_working_memory_is_routed_to_it_first(query: str, named: str) -> None:
    decision = decide(query)
    long_term = max(decision.scores, key=lambda store: decision.scores[store])
    assert (decision.primary, decision.secondary[0]) == (WORKING, long_term)
    assert decision.reasoning == f"Working store selected; the question names it: {named}"
    assert (decision.is_sure, decision.requires_synthesis) == (True, True)
    assert named not in topic_for_working(query)


@pytest.mark.parametrize("query", ["Is the build working?", "Is it just? Now what?", "the mindful memory of a worker"])
def test_061_similar_words_do_not_select_working_memory(query: str) -> None:
    assert decide(query).primary is EPISODIC


def test_066_a_question_is_analyzed_by_its_indicators() -> None:
    assert analyze("How do I configure the setup of a link?") == QuestionAnalysis(
        type=QueryType.PROCEDURAL,
        confidence=0.8,
        type_scores={
            QueryType.RELATIONAL: 0.4,
            QueryType.TEMPORAL: 0.0,
            QueryType.PROCEDURAL: 0.8,
            QueryType.FACTUAL: 0.0,
        },
        matched={
            QueryType.RELATIONAL: ("link",),
            QueryType.TEMPORAL: (),
            QueryType.PROCEDURAL: ("how", "configure", "setup"),
            QueryType.FACTUAL: (),
        },
        strategy=Strategy.PROCEDURES,
        recommended_stores=("procedural", "vector"),
    )


@pytest.mark.parametrize(
    ("query", "kind", "confidence", "strategy", "stores"),
    [
        ("define it", QueryType.FACTUAL, 0.4, Strategy.VECTOR_HEAVY, ("vector",)),
        ("what is this?", QueryType.FACTUAL, 0.6, Strategy.VECTOR_HEAVY, ("vector",)),
        ("what is the meaning?", QueryType.FACTUAL, 0.8, Strategy.VECTOR_HEAVY, ("vector",)),
        ("How is auth related to users?", QueryType.RELATIONAL, 0.4, Strategy.GRAPH_HEAVY, ("graph", "vector")),
        ("What happened yesterday?", QueryType.TEMPORAL, 0.4, Strategy.RECENCY_HEAVY, ("vector", "recency")),
        ("Ada's colours", QueryType.HYBRID, 0.5, Strategy.BALANCED, ("vector", "graph", "recency")),
        ("", QueryType.HYBRID, 0.5, Strategy.BALANCED, ("vector", "graph", "recency")),
    ],
)
def test_066_each_type_has_its_strategy(
    query: str, kind: QueryType, confidence: float, strategy: Strategy, stores: tuple[str, ...]
) -> None:
    analysis = analyze(query)
    assert (analysis.type, analysis.confidence, analysis.strategy, analysis.recommended_stores) == (
        kind,
        confidence,
        strategy,
        stores,
    )


@pytest.mark.parametrize("text", ["(", "( ", "a ", "_", "a moment ", "have in "])
def test_routing_a_hostile_question_takes_linear_time(text: str) -> None:
    query = text * (10_000 // len(text))
    started = time.thread_time()
    decide(query)
    analyze(query)
    topic_for_working(query)
    assert time.thread_time() - started < 1  # CPU time; a quadratic algorithm would take a minute
