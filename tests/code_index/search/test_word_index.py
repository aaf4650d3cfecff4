"""Words are found in rows that were added together and one by one."""

from collections.abc import Sequence

import numpy as np

from scrubjay.code_index.search import word_index
from scrubjay.code_index.search.word_index import WordIndex


def add(index: WordIndex, rows: Sequence[Sequence[int]]) -> None:
    starts = np.cumsum([0, *map(len, rows)])
    words = np.array([word for row in rows for word in row], dtype=np.uint64)
    index.add(starts, words, np.full(len(words), 2, dtype=np.uint8))


def test_rows_added_one_by_one_are_found_and_do_not_rewrite_a_large_part() -> None:
    many = [[1, 2 + row % 5] for row in range(2_000)]
    few = [[1, 9], [2, 9], [1]] * 10
    index = WordIndex()
    add(index, many)
    first = index._parts[0]  # pyright: ignore[reportPrivateUsage]
    for row in few:
        add(index, [row])
    parts = index._parts  # pyright: ignore[reportPrivateUsage]
    assert parts[0] is first
    assert len(parts) <= word_index.MAX_PARTS
    rows = [*many, *few]
    for word in (1, 2, 6, 9, 77):
        occurrences = index.occurrences_of(word)
        assert occurrences.rows.tolist() == [row for row, own in enumerate(rows) if word in own]
        assert occurrences.counts.tolist() == [2.0] * len(occurrences.rows)


def test_many_small_parts_are_merged() -> None:
    index = WordIndex()
    for row in range(60):
        add(index, [[1, row + 2]])
    assert len(index._parts) <= word_index.MAX_PARTS  # pyright: ignore[reportPrivateUsage]
    assert index.occurrences_of(1).rows.tolist() == list(range(60))
    assert index.occurrences_of(61).rows.tolist() == [59]


def test_sorting_words_is_stable_whichever_bits_differ() -> None:
    random = np.random.default_rng(7)
    unrelated = random.integers(0, 2**64 - 1, 40, dtype=np.uint64)
    alike = np.concatenate([unrelated, unrelated ^ np.uint64(1)])  # pairs that differ only in the last bit
    for known in (unrelated, alike):
        words = known[random.integers(0, len(known), 3_000)]
        order = word_index._stable_order(words)  # pyright: ignore[reportPrivateUsage]
        assert order.tolist() == words.argsort(kind="stable").tolist()
