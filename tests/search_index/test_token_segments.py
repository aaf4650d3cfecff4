"""Which rows have which words: checked against lists of words, however rows are kept."""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from scrubjay.search_index import token_segments
from scrubjay.search_index.segment_file import SegmentFile
from scrubjay.search_index.token_segments import (
    K1,
    PASSAGE_END,
    B,
    Gathered,
    Matched,
    TokenSegments,
    match,
    rarity,
    saturated,
    token,
    tokens_of,
)
from tests.compiled import without_compiled

Text = list[list[str]]
"""The words of each passage."""

WORDS = ["a", "b", "c", "d", "e", "été", "日本", "\ud800"]
UNKNOWN = "unknown"
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=3)


class Step(NamedTuple):
    """Some texts are added; then everything is kept in a file and read again, in as many segments as there are cuts."""

    texts: list[Text]
    cuts: list[int] | None


STEPS = st.lists(
    st.builds(
        Step, st.lists(TEXTS, max_size=8), st.one_of(st.none(), st.none(), st.lists(st.integers(0, 20), max_size=2))
    ),
    max_size=8,
)


def written(text: Text) -> str:
    return "\n".join(" ".join(passage) for passage in text)


def kept(steps: Sequence[Step], unsorted: int) -> TokenSegments:
    """Rows kept by these steps, when so many tokens are too many to look through one by one."""
    segments = TokenSegments()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_segments, "UNSORTED_TOKENS", unsorted)
        for step in steps:
            segments.append([tokens_of(written(text)) for text in step.texts])
            if step.cuts is not None:
                segments = reread(segments, step.cuts)
    return segments


def reread(segments: TokenSegments, cuts: Sequence[int]) -> TokenSegments:
    again = TokenSegments()
    bounds = sorted({0, segments.rows, *(cut for cut in cuts if cut < segments.rows)})
    for first, last in pairwise(bounds):
        again.attach(segments.arrays_of(np.arange(first, last)))
    return again


def by_row(gathered: Gathered, rows: int) -> list[list[int]]:
    return [gathered.tokens[gathered.owners == row].tolist() for row in range(rows)]


def had(segments: TokenSegments, term: str) -> list[tuple[int, float]]:
    found = segments.having(token(term))
    return list(zip(found.rows.tolist(), found.counts.tolist(), strict=True))


# -- against the model -------------------------------------------------------------------------------


@given(steps=STEPS, unsorted=st.sampled_from([0, 5, 20, 1000]))
def test_a_word_is_had_by_the_rows_whose_text_has_it_as_often_as_it_does(steps: list[Step], unsorted: int) -> None:
    segments = kept(steps, unsorted)
    texts = [[*chain(*text)] for step in steps for text in step.texts]
    assert segments.rows == len(texts)
    for word in [*WORDS, UNKNOWN, ""]:
        assert had(segments, word) == [(row, text.count(word)) for row, text in enumerate(texts) if word in text]


@given(steps=STEPS, unsorted=st.sampled_from([0, 5, 20, 1000]), data=st.data())
def test_gathered_rows_have_their_tokens_in_order_whichever_rows_are_wanted(
    steps: list[Step], unsorted: int, data: st.DataObject
) -> None:
    segments = kept(steps, unsorted)
    texts = [written(text) for step in steps for text in step.texts]
    rows = sorted(data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=12))) if texts else []
    gathered = segments.gather(np.array(rows, dtype=np.int64))
    assert by_row(gathered, len(rows)) == [tokens_of(texts[row]) for row in rows]
    assert gathered.owners.tolist() == sorted(gathered.owners.tolist())
    lengths = [sum(one != PASSAGE_END for one in tokens_of(text)) for text in texts]
    assert segments.lengths.tolist() == lengths


@given(
    steps=STEPS,
    unsorted=st.sampled_from([5, 1000]),
    terms=st.lists(st.sampled_from([*WORDS, UNKNOWN]), max_size=4),
    average=st.sampled_from([0.0, 1.0, 3.7]),
    data=st.data(),
)
def test_rows_match_by_their_best_passage(
    steps: list[Step], unsorted: int, terms: list[str], average: float, data: st.DataObject
) -> None:
    segments = kept(steps, unsorted)
    texts = [text for step in steps for text in step.texts]
    rows = sorted(data.draw(st.sets(st.integers(0, len(texts) - 1)))) if texts else []
    worth = np.arange(1, len(terms) + 1, dtype=np.float32) * np.float32(0.5)
    gathered = segments.gather(np.array(rows, dtype=np.int64))
    matched = match(gathered, len(rows), terms, worth, average)
    wanted = [texts[row] for row in rows]
    occurrences = [[[*chain(*text)].count(term) for term in terms] for text in wanted]
    assert_array_equal(matched.occurrences, np.array(occurrences).reshape(len(rows), len(terms)))
    assert matched.pairs.tolist() == [
        sum(any(pair in pairwise(passage) for passage in text) for pair in pairwise(terms)) for text in wanted
    ]
    scores = [max(bm25(passage, terms, worth, average) for passage in text) for text in wanted]
    assert_allclose(matched.bm25, scores, rtol=1e-5)
    # The same at every other place of twice as many, compiled or not.
    places = np.arange(len(rows)) * 2 + 1

    def placed() -> Matched:
        return segments.matched(np.array(rows, dtype=np.int64), terms, worth, average, places, 2 * len(rows))

    compiled = placed()
    with without_compiled():
        for one, other, own in zip(compiled, placed(), matched, strict=True):
            assert_allclose(one, other, rtol=1e-5)
            assert_allclose(one[places], own, rtol=1e-5)
            assert not one[places - 1].any()


def bm25(passage: list[str], terms: list[str], worth: NDArray[np.float32], average: float) -> float:
    norm = K1 * (1 - B + B * len(passage) / (average or 1))
    counts = [passage.count(term) for term in terms]
    return sum(float(value) * count * (K1 + 1) / (count + norm) for value, count in zip(worth, counts, strict=True))


# -- single facts ------------------------------------------------------------------------------------


def test_a_word_has_the_same_token_for_ever_because_files_hold_it() -> None:
    assert token("word") == 0x958EC7D727CFA44A
    assert token("") != PASSAGE_END
    assert len({token(word) for word in WORDS}) == len(WORDS)


def test_passages_are_apart_and_empty_ones_stay() -> None:
    a, b = token("a"), token("b")
    assert tokens_of("a b  a") == [a, b, a]
    assert tokens_of("a\n\nb a") == [a, PASSAGE_END, PASSAGE_END, b, a]
    assert tokens_of("") == []


def test_no_word_is_the_end_of_a_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    class Nothing:
        def digest(self) -> bytes:
            return bytes(8)

    def hash_to_zero(content: bytes, *, digest_size: int) -> Nothing:
        return Nothing()

    monkeypatch.setattr(token_segments.hashlib, "blake2b", hash_to_zero)
    token.cache_clear()
    try:
        assert token("word") != PASSAGE_END
    finally:
        token.cache_clear()


def test_a_word_occurs_255_times_at_most_however_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    segments = TokenSegments()
    segments.append([tokens_of(" ".join(["a"] * 300)), tokens_of("b")])
    assert had(segments, "a") == [(0, 255)]
    monkeypatch.setattr(token_segments, "UNSORTED_TOKENS", 10)
    segments.append([tokens_of("a a")])
    assert had(segments, "a") == [(0, 255), (2, 2)]
    assert by_row(segments.gather(np.array([0])), 1) == [[token("a")] * 300]


def test_segments_come_from_a_real_file_and_rows_may_follow(tmp_path: Path) -> None:
    first = TokenSegments()
    first.append([tokens_of(text) for text in ("a b\nc a", "", "b")])
    arrays = first.arrays_of(np.array([0, 2]))
    assert arrays["words"].tolist() == sorted(map(token, "abc"))  # by word, where passages end does not matter
    SegmentFile.write(tmp_path / "words", "w", {}, [({}, arrays), ({}, first.arrays_of(np.array([1])))])
    again = TokenSegments()
    for segment in SegmentFile(tmp_path / "words", "w").segments:
        again.attach(segment.arrays)
    again.append([tokens_of("a c"), tokens_of("b")])
    assert again.rows == 5
    assert (had(again, "a"), had(again, "b")) == ([(0, 2), (3, 1)], [(0, 1), (1, 1), (4, 1)])
    expected = ["a b\nc a", "b", "", "a c", "b"]
    assert by_row(again.gather(np.arange(5)), 5) == [tokens_of(text) for text in expected]


def test_segments_come_before_rows_in_memory() -> None:
    segments = TokenSegments()
    segments.append([tokens_of("a")])
    with pytest.raises(ValueError, match="only in memory"):
        segments.attach(segments.arrays_of(np.arange(1)))


def test_nothing_can_be_added_kept_and_asked() -> None:
    segments = TokenSegments()
    segments.append([])
    nothing = np.empty(0, dtype=np.int64)
    segments.attach(segments.arrays_of(nothing))
    assert (segments.rows, had(segments, "a"), by_row(segments.gather(nothing), 0)) == (0, [], [])
    matched = match(segments.gather(nothing), 0, ["a", "b"], rarity(0, [0, 0]), 0.0)
    assert [column.shape for column in matched] == [(0, 2), (0,), (0,)]


# -- what words are worth ----------------------------------------------------------------------------


def growing(values: NDArray[np.float32]) -> Iterator[bool]:
    return (before < after for before, after in pairwise(values.tolist()))


@pytest.mark.parametrize("texts", [1, 10, 100_000])
def test_a_word_is_worth_more_the_fewer_texts_have_it_and_never_nothing(texts: int) -> None:
    worth = rarity(texts, sorted({texts, texts // 2, texts // 4, 1, 0}, reverse=True))
    assert worth.dtype == np.float32
    assert all(growing(worth))
    assert worth.min() > 0
    assert rarity(texts, []).tolist() == []


def test_in_a_young_store_a_word_that_every_text_has_still_tells() -> None:
    """Two texts say nothing about how common a word is."""
    everywhere, once = rarity(2, [2, 1]).tolist()
    assert everywhere > once * 0.8


def test_more_often_is_better_but_ever_less_so_and_less_in_a_long_passage() -> None:
    counts, length = np.arange(20, dtype=np.float32), np.full(20, 10, dtype=np.float32)
    shares = saturated(counts, length, 10.0)
    assert shares.dtype == np.float32
    assert shares[0] == 0
    assert shares[1] == pytest.approx(1)
    assert all(growing(shares))
    assert all(growing(-np.diff(shares)))
    assert shares.max() < K1 + 1
    assert all(growing(-saturated(np.ones(20, dtype=np.float32), counts, 10.0)))
    assert np.isfinite(saturated(counts, length, 0.0)).all()
