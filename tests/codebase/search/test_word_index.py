"""Which rows have which words: compared with what a dictionary would say."""

from collections import Counter
from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.testing import assert_array_equal

from recollect.codebase.search.word_index import MANY_PARTS, WordIndex

Texts = Sequence[Counter[int]]


def added(index: WordIndex, texts: Texts) -> None:
    starts = np.cumsum([0, *(len(text) for text in texts)])
    words = np.array([word for text in texts for word in text], dtype=np.uint64)
    counts = np.array([count for text in texts for count in text.values()], dtype=np.uint8)
    index.add(starts, words, counts)


def agrees(index: WordIndex, texts: Texts) -> None:
    assert index.rows == len(texts)
    assert index.lengths.tolist() == [sum(text.values()) for text in texts]
    for word in range(1, 40):
        found = index.having(word)
        expected = [(row, text[word]) for row, text in enumerate(texts) if word in text]
        assert list(zip(found.rows.tolist(), found.counts.tolist(), strict=True)) == expected


def some_texts(random: Random, count: int) -> list[Counter[int]]:
    return [Counter(random.choices(range(1, 39), k=random.randrange(12))) for _ in range(count)]


def test_words_are_found_in_all_rows_that_have_them_however_they_came() -> None:
    random = Random(1)
    index, texts = WordIndex(), list[Counter[int]]()
    agrees(index, texts)
    for _ in range(3 * MANY_PARTS):
        some = some_texts(random, random.randrange(6))
        added(index, some)
        texts += some
        agrees(index, texts)


def test_what_is_kept_is_read_back_and_goes_on() -> None:
    random = Random(2)
    texts = some_texts(random, 30)
    index = WordIndex()
    added(index, texts[:20])
    added(index, texts[20:])
    again = WordIndex.of(index.arrays())
    agrees(again, texts)
    more = some_texts(random, 5)
    added(again, more)
    agrees(again, [*texts, *more])
    agrees(index, texts)


def test_some_rows_alone_are_as_if_only_they_had_come() -> None:
    random = Random(3)
    index, texts = WordIndex(), some_texts(random, 40)
    for start in range(0, 40, 10):
        added(index, texts[start : start + 10])
    for kept in (np.arange(40) % 3 == 0, np.ones(40, dtype=np.bool_), np.zeros(40, dtype=np.bool_)):
        alone = index.only(kept)
        agrees(alone, [texts[row] for row in np.flatnonzero(kept).tolist()])
        added(alone, texts[:2])
        agrees(alone, [*(texts[row] for row in np.flatnonzero(kept).tolist()), *texts[:2]])
    agrees(index, texts)
    agrees(WordIndex().only(np.ones(0, dtype=np.bool_)), [])


def test_rows_without_words_are_rows_too() -> None:
    index = WordIndex()
    added(index, [Counter(), Counter()])
    assert index.rows == 2
    assert_array_equal(index.having(7).rows, [])
    agrees(WordIndex.of(index.arrays()), [Counter(), Counter()])
