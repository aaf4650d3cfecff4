"""Count words and compute embeddings with numpy, for many texts at once; works for any text on any machine.

Imports numpy, which is slow to import: load this module late.
"""

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.tokenizer import find_identifiers, tokenize_identifier, tokenize_name
from scrubjay.code_index.term_counts.models import (
    MAX_IDENTIFIERS,
    NAME_WEIGHT,
    PUNCTUATION,
    TermCounts,
    concatenate,
    split_ascii,
)
from scrubjay.models.static_model import EmbeddingTable
from scrubjay.search_index.token_segments import MAX_COUNT, token

# Texts counted at a time; the embedding of a batch needs one table over all of its tokens.
_BATCH = 64
Ints = NDArray[np.int64]


class _NumberTable:
    """The numbers that each identifier expands to, as consecutive lists."""

    def __init__(self) -> None:
        self._numbers = array("i")
        self._starts = array("q", [0])

    def add(self, numbers: Sequence[int]) -> None:
        self._numbers.extend(numbers)
        self._starts.append(len(self._numbers))

    def of(self, which: Ints) -> tuple[Ints, NDArray[np.int32]]:
        """Return the lengths of these lists, and all their numbers."""
        # A view of an array keeps the array from growing, so no view leaves this function.
        starts, numbers = np.frombuffer(self._starts, np.int64), np.frombuffer(self._numbers, np.int32)
        firsts = starts[which]
        lengths = starts[which + 1] - firsts
        ends = np.cumsum(lengths)
        positions = np.arange(ends[-1] if len(ends) else 0) + np.repeat(firsts - ends + lengths, lengths)
        return lengths, numbers[positions]


class _Identifiers(dict[str, int]):
    """Numbers of the identifiers seen so far, with their words and their tokens in the embedding model."""

    def __init__(self, table: EmbeddingTable) -> None:
        super().__init__()
        self._table = table
        self._word_numbers: dict[str, int] = {}
        self.words = _NumberTable()
        self.pieces = _NumberTable()
        self._tokens = array("Q")

    def __missing__(self, identifier: str) -> int:
        numbers = self._word_numbers
        found: list[int] = []
        for word in tokenize_identifier(identifier):
            number = numbers.get(word)
            if number is None:
                number = numbers[word] = len(numbers)
                self._tokens.append(token(word))
            found.append(number)
        self.words.add(found)
        self.pieces.add(self._table.ids_of_word(identifier) if identifier.isascii() else ())
        number = self[identifier] = len(self)
        return number

    def tokens(self, words: Ints) -> NDArray[np.uint64]:
        return np.frombuffer(self._tokens, np.uint64)[words]


class NumpyCounter:
    """Counts the words of chunks, and caches what it learned about identifiers."""

    def __init__(self, table: EmbeddingTable) -> None:
        self._table = table
        self._identifiers = _Identifiers(self._table)
        self._signs = [self._table.ids_of_word(sign)[0] for sign in PUNCTUATION]
        self._codes = np.array([ord(sign) for sign in PUNCTUATION])

    def count(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> TermCounts:
        """Count the words of texts and compute their embeddings; `names` are those that each text defines."""
        return concatenate(
            [
                self._count_batch(texts[first : first + _BATCH], names[first : first + _BATCH])
                for first in range(0, len(texts), _BATCH)
            ]
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float16]:
        """Return the embedding of each text."""
        parts = [self._embed_batch(texts[first : first + _BATCH]) for first in range(0, len(texts), _BATCH)]
        return np.concatenate(parts) if parts else concatenate([]).vectors

    def whole_name_words(self, names: Sequence[str]) -> NDArray[np.uint64]:
        """Return the word id of each whole name."""
        return np.array([token(tokenize_name(name)[-1]) for name in names], dtype=np.uint64)

    def _embed_batch(self, texts: Sequence[str]) -> NDArray[np.float16]:
        known = self._fresh_identifiers()
        plain, other_words = _split_all(texts)
        return self._vectors(plain, other_words, *_tally(*_number(known, [find_identifiers(text) for text in plain])))

    def _count_batch(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> TermCounts:
        known = self._fresh_identifiers()
        plain, other_words = _split_all(texts)
        owners, used, counts = _tally(*_number(known, [find_identifiers(text) for text in plain]))
        words = _expand(known.words, owners, used, counts)
        for others, weight in ((other_words, 1), (names, NAME_WEIGHT)):
            if any(others):
                parts = [[part for text in own for part in find_identifiers(text)] for own in others]
                name_owners, numbers, name_counts = _tally(*_number(known, parts))
                more = _expand(known.words, name_owners, numbers, weight * name_counts)
                words = [np.concatenate(pair) for pair in zip(words, more, strict=True)]
        having, numbers, name_counts = _sum_counts(*words)
        starts = np.searchsorted(having, np.arange(len(texts) + 1)).astype(np.int32)
        tokens = known.tokens(numbers)
        # Numbers depend on earlier contents, and the result must not: sort by token.
        order = _sort_order(having, tokens, len(texts))
        name_counts = np.minimum(name_counts, MAX_COUNT).astype(np.uint8)
        return TermCounts(
            starts, tokens[order], name_counts[order], self._vectors(plain, other_words, owners, used, counts)
        )

    def _fresh_identifiers(self) -> _Identifiers:
        if len(self._identifiers) >= MAX_IDENTIFIERS:
            self._identifiers = _Identifiers(self._table)
        return self._identifiers

    def _vectors(
        self, plain: Sequence[str], other_words: Sequence[Sequence[str]], owners: Ints, used: Ints, counts: Ints
    ) -> NDArray[np.float16]:
        """Return the embeddings of texts: of identifiers and punctuation in the ASCII part, and of the other words."""
        pieces = _expand(self._identifiers.pieces, owners, used, counts)
        parts = [pieces, self._count_punctuation(plain), self._count_tokens(other_words)]
        return self._table.pooled(
            len(plain), *_sum_counts(*(np.concatenate(part) for part in zip(*parts, strict=True)))
        )

    def _count_punctuation(self, plain: Sequence[str]) -> tuple[Ints, Ints, Ints]:
        """Return how often each punctuation character occurs: owners, tokens and counts."""
        codes = np.frombuffer("".join(plain).encode("ascii"), np.uint8)
        rows = np.repeat(np.arange(len(plain)) * 128, [len(text) for text in plain])
        table = np.bincount(rows + codes, minlength=128 * len(plain)).reshape(-1, 128)[:, self._codes]
        owners, signs = np.nonzero(table)
        return owners, np.array(self._signs)[signs], table[owners, signs]

    def _count_tokens(self, other_words: Sequence[Sequence[str]]) -> tuple[Ints, Ints, Ints]:
        """Return the tokens of non-ASCII words: owners, tokens and counts."""
        ids = [[number for part in own for number in self._table.ids(part)] for own in other_words]
        every = np.fromiter(chain.from_iterable(ids), np.int64)
        return (
            np.repeat(np.arange(len(other_words)), [len(own) for own in ids]),
            every,
            np.ones(len(every), dtype=np.int64),
        )


def _split_all(texts: Sequence[str]) -> tuple[list[str], list[Sequence[str]]]:
    """Split each text into its ASCII part and its non-ASCII words."""
    both = [*map(split_ascii, texts)]
    return [plain for plain, _ in both], [other_words for _, other_words in both]


def _number(known: _Identifiers, parts: Sequence[Sequence[str]]) -> tuple[Ints, Ints]:
    """Return the owner and the number of each identifier."""
    lengths = [len(own) for own in parts]
    numbers = np.fromiter(map(known.__getitem__, chain.from_iterable(parts)), np.int64, sum(lengths))
    return np.repeat(np.arange(len(parts)), lengths), numbers


def _tally(owners: Ints, numbers: Ints) -> tuple[Ints, Ints, Ints]:
    """Count equal pairs: owners, numbers and counts."""
    keys = np.sort(owners << 32 | numbers)
    firsts = _firsts(keys)
    counts = np.empty_like(firsts)
    np.subtract(firsts[1:], firsts[:-1], out=counts[:-1])
    counts[-1:] = len(keys) - firsts[-1:]
    return keys[firsts] >> 32, keys[firsts] & 0xFFFFFFFF, counts


def _sum_counts(owners: Ints, numbers: Ints, counts: Ints) -> tuple[Ints, Ints, Ints]:
    """Sum the counts of equal pairs: owners, numbers and counts."""
    keys = owners << 32 | numbers
    order = np.argsort(keys)
    keys = keys[order]
    firsts = _firsts(keys)
    sums = np.add.reduceat(counts[order], firsts) if len(firsts) else counts
    return keys[firsts] >> 32, keys[firsts] & 0xFFFFFFFF, sums


def _firsts(keys: Ints) -> Ints:
    """Return the first index of each distinct key among sorted ones."""
    is_first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


def _sort_order(owners: Ints, tokens: NDArray[np.uint64], most: int) -> Ints:
    """Return the order by owner, then token."""
    bits = most.bit_length()
    return np.argsort(owners.astype(np.uint64) << np.uint64(64 - bits) | tokens >> np.uint64(bits))


def _expand(lists: _NumberTable, owners: Ints, which: Ints, counts: Ints) -> list[NDArray[Any]]:
    """Expand each entry to the numbers of its list: owners, numbers and counts."""
    lengths, numbers = lists.of(which)
    return [np.repeat(owners, lengths), numbers.astype(np.int64), np.repeat(counts, lengths)]
