"""Signals become one score."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.domain.memories import Candidate, CandidatePool, Memory
from recollect.domain.scopes import Scope
from recollect.retrieval.fusion import MEANING_WEIGHT, Signal, fuse

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def candidate(name: str, *, bm25: float = 0.0, cosine: float | None = None, age: int = 0) -> Candidate:
    moment = NOON - timedelta(hours=age)
    memory = Memory(
        id=name,
        scope=Scope.GLOBAL,
        project_id=None,
        session_id=None,
        content=name,
        recorded_at=moment,
        updated_at=moment,
    )
    return Candidate(memory, bm25, cosine)


def pool(*candidates: Candidate, frequencies: dict[str, int] | None = None) -> CandidatePool:
    return CandidatePool(candidates=candidates, texts=1000, frequencies=frequencies or {"database": 10})


def order(found: CandidatePool) -> list[str]:
    return [hit.candidate.memory.id for hit in fuse(found, ["database"])]


def test_words_and_meaning_add_up() -> None:
    found = pool(
        candidate("words", bm25=3.0), candidate("both", bm25=3.0, cosine=0.6), candidate("meaning", cosine=0.6)
    )
    assert order(found) == ["both", "words", "meaning"]


def test_the_better_witness_is_not_dragged_down_by_rank() -> None:
    """Equal-weight rank fusion would put a lexical near-miss beside a perfect match; calibrated scores do not."""
    found = pool(candidate("exact", bm25=4.5, cosine=0.1), candidate("vague", bm25=0.4, cosine=0.3))
    exact, vague = fuse(found, ["database"])
    assert exact.candidate.memory.id == "exact"
    assert exact.score > 2 * vague.score


def test_a_question_whose_words_nobody_used_scores_low_on_words() -> None:
    known = fuse(pool(candidate("a", bm25=2.0)), ["database"])[0]
    foreign = fuse(
        pool(candidate("a", bm25=2.0), frequencies={"database": 10, "xylophone": 0}), ["database", "xylophone"]
    )[0]
    assert foreign.score < known.score / 2


def test_a_score_is_between_nothing_and_one_and_says_where_it_comes_from() -> None:
    (hit,) = fuse(pool(candidate("a", bm25=100.0, cosine=1.0)), ["database"])
    assert hit.score == pytest.approx(1.0)
    assert hit.signals == (
        Signal("words", 100.0, 1.0, 1 - MEANING_WEIGHT),
        Signal("meaning", 1.0, 1.0, MEANING_WEIGHT),
    )
    assert hit.score == pytest.approx(sum(signal.contribution for signal in hit.signals))


def test_what_cannot_be_compared_by_meaning_is_judged_by_its_words() -> None:
    (hit,) = fuse(pool(candidate("a", bm25=1.0, cosine=None)), ["database"])
    assert 0 < hit.score < 1
    assert hit.signals[1] == Signal("meaning", None, 0.0, MEANING_WEIGHT)


def test_of_equals_the_later_memory_comes_first() -> None:
    assert order(pool(candidate("old", bm25=1.0, age=5), candidate("new", bm25=1.0))) == ["new", "old"]


def test_a_store_of_one_text_still_gives_a_usable_score() -> None:
    """SQLite's BM25 of a term that every text has is a millionth; its share of the attainable is not."""
    lonely = CandidatePool(candidates=(candidate("a", bm25=1e-6),), texts=1, frequencies={"database": 1})
    assert fuse(lonely, ["database"])[0].score == pytest.approx(1 - MEANING_WEIGHT)


def test_no_terms_and_no_candidates_are_no_problem() -> None:
    assert fuse(pool(), []) == []
    assert fuse(pool(candidate("a", cosine=0.9)), [])[0].score > 0
