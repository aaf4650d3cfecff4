"""Words are found in rows that came together and in those that came one by one."""

from collections.abc import Sequence

import numpy as np

from scrubjay.code_index.search import word_index
from scrubjay.code_index.search.word_index import WordIndex


def add(index: WordIndex, rows: Sequence[Sequence[int]]) -> None:
    starts = np.cumsum([0, *map(len, rows)])
    words = np.array([word for row in rows for word in row], dtype=np.uint64)
    index.add(starts, words, np.full(len(words), 2, dtype=np.uint8))


def test_rows_that_come_one_by_one_are_found_and_leave_the_many_before_them_as_they_are() -> None:
    many = [[1, 2 + row % 5] for row in range(2_000)]
    few = [[1, 9], [2, 9], [1]] * 10
    index = WordIndex()
    add(index, many)
    first = index._parts[0]  # pyright: ignore[reportPrivateUsage]
    for row in few:
        add(index, [row])
    parts = index._parts  # pyright: ignore[reportPrivateUsage]
    assert parts[0] is first
    assert len(parts) <= word_index.MANY_PARTS
    every = [*many, *few]
    for word in (1, 2, 6, 9, 77):
        found = index.having(word)
        assert found.rows.tolist() == [row for row, own in enumerate(every) if word in own]
        assert found.counts.tolist() == [2.0] * len(found.rows)


def test_what_is_no_longer_little_is_put_together_with_the_rest() -> None:
    index = WordIndex()
    for row in range(60):
        add(index, [[1, row + 2]])
    assert len(index._parts) <= word_index.MANY_PARTS  # pyright: ignore[reportPrivateUsage]
    assert index.having(1).rows.tolist() == list(range(60))
    assert index.having(61).rows.tolist() == [59]


def test_words_that_differ_anywhere_are_sorted_as_a_stable_sort_does() -> None:
    numbers = np.random.default_rng(7)
    some = numbers.integers(0, 2**64 - 1, 40, dtype=np.uint64)
    alike = np.concatenate([some, some ^ np.uint64(1)])  # only their last bits tell these apart
    for known in (some, alike):
        words = known[numbers.integers(0, len(known), 3_000)]
        order = word_index._order(words)  # pyright: ignore[reportPrivateUsage]
        assert order.tolist() == words.argsort(kind="stable").tolist()
