"""Words and meanings are counted in arrays, for all parts at once: of any text, by any machine.

This module imports numpy, which takes a while: import it where it is needed.
"""

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.words import identifiers_of, name_words, words_in
from scrubjay.code_index.term_counts.models import MOST_KNOWN, SIGNS, WORTH_OF_NAMES, Bag, joined, parted
from scrubjay.models.static_model import Table
from scrubjay.search_index.token_segments import MOST_COUNTED, token

# So many parts are counted at a time: what each of them has of all that they mean is one table.
_AT_ONCE = 64
Ints = NDArray[np.int64]


class _Expansions:
    """What each identifier comes to: lists of numbers, one after the other."""

    def __init__(self) -> None:
        self._numbers = array("i")
        self._starts = array("q", [0])

    def add(self, numbers: Sequence[int]) -> None:
        self._numbers.extend(numbers)
        self._starts.append(len(self._numbers))

    def of(self, which: Ints) -> tuple[Ints, NDArray[np.int32]]:
        """How long each of these lists is, and all their numbers."""
        # What looks into an array keeps it from growing: nothing of this is given away.
        starts, numbers = np.frombuffer(self._starts, np.int64), np.frombuffer(self._numbers, np.int32)
        firsts = starts[which]
        lengths = starts[which + 1] - firsts
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(firsts - ends + lengths, lengths)
        return lengths, numbers[places]


class _Identifiers(dict[str, int]):
    """The identifiers seen so far by their numbers, and of each its words and what the model reads in it."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._table = table
        self._word_numbers: dict[str, int] = {}
        self.words = _Expansions()
        self.pieces = _Expansions()
        self._tokens = array("Q")

    def __missing__(self, identifier: str) -> int:
        numbers = self._word_numbers
        found: list[int] = []
        for word in words_in(identifier):
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


class InArrays:
    """Counts the words of parts, and remembers what it found out about identifiers."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._identifiers = _Identifiers(self._table)
        self._signs = [self._table.ids_of_word(sign)[0] for sign in SIGNS]
        self._codes = np.array([ord(sign) for sign in SIGNS])

    def counted(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> Bag:
        """The words of these parts, in each of which these names are defined, and what they mean."""
        return joined(
            [
                self._counted(texts[first : first + _AT_ONCE], names[first : first + _AT_ONCE])
                for first in range(0, len(texts), _AT_ONCE)
            ]
        )

    def meanings(self, texts: Sequence[str]) -> NDArray[np.float16]:
        """What each of these means."""
        parts = [self._meanings(texts[first : first + _AT_ONCE]) for first in range(0, len(texts), _AT_ONCE)]
        return np.concatenate(parts) if parts else joined([]).vectors

    def wholes(self, names: Sequence[str]) -> NDArray[np.uint64]:
        """Of each name the one word that it is as a whole."""
        return np.array([token(name_words(name)[-1]) for name in names], dtype=np.uint64)

    def _meanings(self, texts: Sequence[str]) -> NDArray[np.float16]:
        known = self._fresh_identifiers()
        plain, odd = _parted(texts)
        return self._vectors(plain, odd, *_tallied(*_numbered(known, [identifiers_of(text) for text in plain])))

    def _counted(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> Bag:
        known = self._fresh_identifiers()
        plain, odd = _parted(texts)
        owners, used, counts = _tallied(*_numbered(known, [identifiers_of(text) for text in plain]))
        words = _expanded(known.words, owners, used, counts)
        for others, worth in ((odd, 1), (names, WORTH_OF_NAMES)):
            if any(others):
                parts = [[part for text in own for part in identifiers_of(text)] for own in others]
                whose, which, often = _tallied(*_numbered(known, parts))
                more = _expanded(known.words, whose, which, worth * often)
                words = [np.concatenate(pair) for pair in zip(words, more, strict=True)]
        having, which, often = _summed(*words)
        starts = np.searchsorted(having, np.arange(len(texts) + 1)).astype(np.int32)
        tokens = known.tokens(which)
        # Words are numbered as they come: what a content comes to must not depend on those before it.
        order = _in_order(having, tokens, len(texts))
        often = np.minimum(often, MOST_COUNTED).astype(np.uint8)
        return Bag(starts, tokens[order], often[order], self._vectors(plain, odd, owners, used, counts))

    def _fresh_identifiers(self) -> _Identifiers:
        if len(self._identifiers) >= MOST_KNOWN:
            self._identifiers = _Identifiers(self._table)
        return self._identifiers

    def _vectors(
        self, plain: Sequence[str], odd: Sequence[Sequence[str]], owners: Ints, used: Ints, counts: Ints
    ) -> NDArray[np.float16]:
        """What texts mean that have these identifiers so often in what is plain, and this beside it."""
        pieces = _expanded(self._identifiers.pieces, owners, used, counts)
        parts = [pieces, self._signs_in(plain), self._pieces_of(odd)]
        return self._table.pooled(len(plain), *_summed(*(np.concatenate(part) for part in zip(*parts, strict=True))))

    def _signs_in(self, plain: Sequence[str]) -> tuple[Ints, Ints, Ints]:
        """How often each sign occurs in those texts: whose, which and how often."""
        codes = np.frombuffer("".join(plain).encode("ascii"), np.uint8)
        rows = np.repeat(np.arange(len(plain)) * 128, [len(text) for text in plain])
        table = np.bincount(rows + codes, minlength=128 * len(plain)).reshape(-1, 128)[:, self._codes]
        owners, signs = np.nonzero(table)
        return owners, np.array(self._signs)[signs], table[owners, signs]

    def _pieces_of(self, odd: Sequence[Sequence[str]]) -> tuple[Ints, Ints, Ints]:
        """The same of what the model reads in what is not plain."""
        ids = [[number for part in own for number in self._table.ids(part)] for own in odd]
        every = np.fromiter(chain.from_iterable(ids), np.int64)
        return np.repeat(np.arange(len(odd)), [len(own) for own in ids]), every, np.ones(len(every), dtype=np.int64)


def _parted(texts: Sequence[str]) -> tuple[list[str], list[Sequence[str]]]:
    """What is plain in each, and what is not."""
    both = [*map(parted, texts)]
    return [plain for plain, _ in both], [odd for _, odd in both]


def _numbered(known: _Identifiers, parts: Sequence[Sequence[str]]) -> tuple[Ints, Ints]:
    """Whose each identifier is, and its number."""
    lengths = [len(own) for own in parts]
    numbers = np.fromiter(map(known.__getitem__, chain.from_iterable(parts)), np.int64, sum(lengths))
    return np.repeat(np.arange(len(parts)), lengths), numbers


def _tallied(owners: Ints, numbers: Ints) -> tuple[Ints, Ints, Ints]:
    """Whose, which number, and how often."""
    keys = np.sort(owners << 32 | numbers)
    firsts = _firsts(keys)
    counts = np.empty_like(firsts)
    np.subtract(firsts[1:], firsts[:-1], out=counts[:-1])
    counts[-1:] = len(keys) - firsts[-1:]
    return keys[firsts] >> 32, keys[firsts] & 0xFFFFFFFF, counts


def _summed(owners: Ints, numbers: Ints, counts: Ints) -> tuple[Ints, Ints, Ints]:
    """The same where some counts are of the same."""
    keys = owners << 32 | numbers
    order = np.argsort(keys)
    keys = keys[order]
    firsts = _firsts(keys)
    sums = np.add.reduceat(counts[order], firsts) if len(firsts) else counts
    return keys[firsts] >> 32, keys[firsts] & 0xFFFFFFFF, sums


def _firsts(keys: Ints) -> Ints:
    """The first place of each among sorted ones."""
    is_first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


def _in_order(owners: Ints, tokens: NDArray[np.uint64], most: int) -> Ints:
    """The order by owner and token."""
    bits = most.bit_length()
    return np.argsort(owners.astype(np.uint64) << np.uint64(64 - bits) | tokens >> np.uint64(bits))


def _expanded(lists: _Expansions, owners: Ints, which: Ints, counts: Ints) -> list[NDArray[Any]]:
    """What is in these lists: whose, which number, and how often."""
    lengths, numbers = lists.of(which)
    return [np.repeat(owners, lengths), numbers.astype(np.int64), np.repeat(counts, lengths)]
