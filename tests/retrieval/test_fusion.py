"""Signals become one score."""

import pytest

from recollect.domain.memories import Candidate, CandidatePool
from recollect.retrieval.fusion import MEANING_WEIGHT, Signal, fuse

WORDS, BOTH, MEANING, EXACT, VAGUE, OLD, NEW = range(1, 8)


def candidate(handle: int, *, bm25: float = 0.0, cosine: float | None = None) -> Candidate:
    return Candidate(handle, bm25, cosine)


def pool(*candidates: Candidate, frequencies: dict[str, int] | None = None) -> CandidatePool:
    return CandidatePool(candidates=candidates, texts=1000, frequencies=frequencies or {"database": 10})


def order(found: CandidatePool) -> list[int]:
    return [hit.candidate.handle for hit in fuse(found, ["database"])]


def test_words_and_meaning_add_up() -> None:
    found = pool(candidate(WORDS, bm25=3.0), candidate(BOTH, bm25=3.0, cosine=0.6), candidate(MEANING, cosine=0.6))
    assert order(found) == [BOTH, WORDS, MEANING]


def test_the_better_witness_is_not_dragged_down_by_rank() -> None:
    """Equal-weight rank fusion would put a lexical near-miss beside a perfect match; calibrated scores do not."""
    found = pool(candidate(EXACT, bm25=4.5, cosine=0.1), candidate(VAGUE, bm25=0.4, cosine=0.3))
    exact, vague = fuse(found, ["database"])
    assert exact.candidate.handle == EXACT
    assert exact.score > 2 * vague.score


def test_a_question_whose_words_nobody_used_scores_low_on_words() -> None:
    known = fuse(pool(candidate(1, bm25=2.0)), ["database"])[0]
    foreign = fuse(
        pool(candidate(1, bm25=2.0), frequencies={"database": 10, "xylophone": 0}), ["database", "xylophone"]
    )[0]
    assert foreign.score < known.score / 2


def test_a_score_is_between_nothing_and_one_and_says_where_it_comes_from() -> None:
    (hit,) = fuse(pool(candidate(1, bm25=100.0, cosine=1.0)), ["database"])
    assert hit.score == pytest.approx(1.0)
    assert hit.signals == (
        Signal("words", 100.0, 1.0, 1 - MEANING_WEIGHT),
        Signal("meaning", 1.0, 1.0, MEANING_WEIGHT),
    )
    assert hit.score == pytest.approx(sum(signal.contribution for signal in hit.signals))


def test_what_cannot_be_compared_by_meaning_is_judged_by_its_words() -> None:
    (hit,) = fuse(pool(candidate(1, bm25=1.0, cosine=None)), ["database"])
    assert 0 < hit.score < 1
    assert hit.signals[1] == Signal("meaning", None, 0.0, MEANING_WEIGHT)


def test_of_equals_the_later_memory_comes_first() -> None:
    assert order(pool(candidate(OLD, bm25=1.0), candidate(NEW, bm25=1.0))) == [NEW, OLD]


def test_a_store_of_one_text_still_gives_a_usable_score() -> None:
    """SQLite's BM25 of a term that every text has is a millionth; its share of the attainable is not."""
    lonely = CandidatePool(candidates=(candidate(1, bm25=1e-6),), texts=1, frequencies={"database": 1})
    assert fuse(lonely, ["database"])[0].score == pytest.approx(1 - MEANING_WEIGHT)


def test_no_terms_and_no_candidates_are_no_problem() -> None:
    assert fuse(pool(), []) == []
    assert fuse(pool(candidate(1, cosine=0.9)), [])[0].score > 0
