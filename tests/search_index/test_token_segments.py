"""The rows of words are checked against lists of words, however rows are stored."""

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
    GatheredTokens,
    QueryMatches,
    TokenSegments,
    idf_weights,
    match,
    saturate,
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
    """Add texts; then, with `cuts`, save everything as segments cut there, and load it again."""

    texts: list[Text]
    cuts: list[int] | None


STEPS = st.lists(
    st.builds(
        Step, st.lists(TEXTS, max_size=8), st.one_of(st.none(), st.none(), st.lists(st.integers(0, 20), max_size=2))
    ),
    max_size=8,
)


def as_text(text: Text) -> str:
    return "\n".join(" ".join(passage) for passage in text)


def build_segments(steps: Sequence[Step], unsorted: int) -> TokenSegments:
    """Return the rows after these steps, with this limit for unsorted tokens."""
    segments = TokenSegments()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_segments, "MAX_UNSORTED_TOKENS", unsorted)
        for step in steps:
            segments.append([tokens_of(as_text(text)) for text in step.texts])
            if step.cuts is not None:
                segments = save_and_load(segments, step.cuts)
    return segments


def save_and_load(segments: TokenSegments, cuts: Sequence[int]) -> TokenSegments:
    again = TokenSegments()
    bounds = sorted({0, segments.rows, *(cut for cut in cuts if cut < segments.rows)})
    for first, last in pairwise(bounds):
        again.attach(segments.arrays_of(np.arange(first, last)))
    return again


def by_row(gathered: GatheredTokens, rows: int) -> list[list[int]]:
    return [gathered.tokens[gathered.owners == row].tolist() for row in range(rows)]


def rows_having(segments: TokenSegments, term: str) -> list[tuple[int, float]]:
    found = segments.rows_with(token(term))
    return list(zip(found.rows.tolist(), found.counts.tolist(), strict=True))


# -- against the model -------------------------------------------------------------------------------


@given(steps=STEPS, unsorted=st.sampled_from([0, 5, 20, 1000]))
def test_a_word_has_the_rows_whose_text_contains_it_with_counts(steps: list[Step], unsorted: int) -> None:
    segments = build_segments(steps, unsorted)
    texts = [[*chain(*text)] for step in steps for text in step.texts]
    assert segments.rows == len(texts)
    for word in [*WORDS, UNKNOWN, ""]:
        assert rows_having(segments, word) == [
            (row, text.count(word)) for row, text in enumerate(texts) if word in text
        ]


@given(steps=STEPS, unsorted=st.sampled_from([0, 5, 20, 1000]), data=st.data())
def test_gathered_rows_have_their_tokens_in_order(steps: list[Step], unsorted: int, data: st.DataObject) -> None:
    segments = build_segments(steps, unsorted)
    texts = [as_text(text) for step in steps for text in step.texts]
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
    segments = build_segments(steps, unsorted)
    texts = [text for step in steps for text in step.texts]
    rows = sorted(data.draw(st.sets(st.integers(0, len(texts) - 1)))) if texts else []
    weights = np.arange(1, len(terms) + 1, dtype=np.float32) * np.float32(0.5)
    gathered = segments.gather(np.array(rows, dtype=np.int64))
    matched = match(gathered, len(rows), terms, weights, average)
    selected = [texts[row] for row in rows]
    occurrences = [[[*chain(*text)].count(term) for term in terms] for text in selected]
    assert_array_equal(matched.occurrences, np.array(occurrences).reshape(len(rows), len(terms)))
    assert matched.pairs.tolist() == [
        sum(any(pair in pairwise(passage) for passage in text) for pair in pairwise(terms)) for text in selected
    ]
    scores = [max(bm25(passage, terms, weights, average) for passage in text) for text in selected]
    assert_allclose(matched.bm25, scores, rtol=1e-5)
    # The same at every second position of twice as many texts, with the native library and with numpy.
    positions = np.arange(len(rows)) * 2 + 1

    def match_at_positions() -> QueryMatches:
        return segments.match_rows(np.array(rows, dtype=np.int64), terms, weights, average, positions, 2 * len(rows))

    native = match_at_positions()
    with without_compiled():
        for one, other, own in zip(native, match_at_positions(), matched, strict=True):
            assert_allclose(one, other, rtol=1e-5)
            assert_allclose(one[positions], own, rtol=1e-5)
            assert not one[positions - 1].any()


def bm25(passage: list[str], terms: list[str], weights: NDArray[np.float32], average: float) -> float:
    norm = K1 * (1 - B + B * len(passage) / (average or 1))
    counts = [passage.count(term) for term in terms]
    return sum(float(value) * count * (K1 + 1) / (count + norm) for value, count in zip(weights, counts, strict=True))


# -- single cases ------------------------------------------------------------------------------------


def test_tokens_never_change_because_they_are_stored() -> None:
    assert token("word") == 0x958EC7D727CFA44A
    assert token("") != PASSAGE_END
    assert len({token(word) for word in WORDS}) == len(WORDS)


def test_passages_are_separated_and_empty_ones_are_kept() -> None:
    a, b = token("a"), token("b")
    assert tokens_of("a b  a") == [a, b, a]
    assert tokens_of("a\n\nb a") == [a, PASSAGE_END, PASSAGE_END, b, a]
    assert tokens_of("") == []


def test_no_word_has_the_token_of_a_passage_end(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_counts_are_limited_to_255_however_rows_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    segments = TokenSegments()
    segments.append([tokens_of(" ".join(["a"] * 300)), tokens_of("b")])
    assert rows_having(segments, "a") == [(0, 255)]
    monkeypatch.setattr(token_segments, "MAX_UNSORTED_TOKENS", 10)
    segments.append([tokens_of("a a")])
    assert rows_having(segments, "a") == [(0, 255), (2, 2)]
    assert by_row(segments.gather(np.array([0])), 1) == [[token("a")] * 300]


def test_segments_are_loaded_from_a_file_and_rows_may_follow(tmp_path: Path) -> None:
    first = TokenSegments()
    first.append([tokens_of(text) for text in ("a b\nc a", "", "b")])
    arrays = first.arrays_of(np.array([0, 2]))
    assert arrays["words"].tolist() == sorted(map(token, "abc"))  # the index ignores passage ends
    SegmentFile.write(tmp_path / "words", "w", {}, [({}, arrays), ({}, first.arrays_of(np.array([1])))])
    again = TokenSegments()
    for segment in SegmentFile(tmp_path / "words", "w").segments:
        again.attach(segment.arrays)
    again.append([tokens_of("a c"), tokens_of("b")])
    assert again.rows == 5
    assert (rows_having(again, "a"), rows_having(again, "b")) == ([(0, 2), (3, 1)], [(0, 1), (1, 1), (4, 1)])
    expected = ["a b\nc a", "b", "", "a c", "b"]
    assert by_row(again.gather(np.arange(5)), 5) == [tokens_of(text) for text in expected]


def test_a_segment_cannot_follow_rows_in_memory() -> None:
    segments = TokenSegments()
    segments.append([tokens_of("a")])
    with pytest.raises(ValueError, match="only in memory"):
        segments.attach(segments.arrays_of(np.arange(1)))


def test_nothing_can_be_added_saved_and_searched() -> None:
    segments = TokenSegments()
    segments.append([])
    nothing = np.empty(0, dtype=np.int64)
    segments.attach(segments.arrays_of(nothing))
    assert (segments.rows, rows_having(segments, "a"), by_row(segments.gather(nothing), 0)) == (0, [], [])
    matched = match(segments.gather(nothing), 0, ["a", "b"], idf_weights(0, [0, 0]), 0.0)
    assert [column.shape for column in matched] == [(0, 2), (0,), (0,)]


# -- weights of words --------------------------------------------------------------------------------


def growing(values: NDArray[np.float32]) -> Iterator[bool]:
    return (before < after for before, after in pairwise(values.tolist()))


@pytest.mark.parametrize("texts", [1, 10, 100_000])
def test_rarer_words_weigh_more_and_none_weighs_nothing(texts: int) -> None:
    weights = idf_weights(texts, sorted({texts, texts // 2, texts // 4, 1, 0}, reverse=True))
    assert weights.dtype == np.float32
    assert all(growing(weights))
    assert weights.min() > 0
    assert idf_weights(texts, []).tolist() == []


def test_in_a_small_store_a_word_in_every_text_still_counts() -> None:
    """Two texts say little about how common a word is."""
    everywhere, once = idf_weights(2, [2, 1]).tolist()
    assert everywhere > once * 0.8


def test_the_term_factor_grows_ever_less_with_the_count_and_shrinks_with_the_length() -> None:
    counts, length = np.arange(20, dtype=np.float32), np.full(20, 10, dtype=np.float32)
    shares = saturate(counts, length, 10.0)
    assert shares.dtype == np.float32
    assert shares[0] == 0
    assert shares[1] == pytest.approx(1)
    assert all(growing(shares))
    assert all(growing(-np.diff(shares)))
    assert shares.max() < K1 + 1
    assert all(growing(-saturate(np.ones(20, dtype=np.float32), counts, 10.0)))
    assert np.isfinite(saturate(counts, length, 0.0)).all()
