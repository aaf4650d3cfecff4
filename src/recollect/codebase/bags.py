"""Which words the parts of a file have and what each part means: counted for all parts at once.

This module imports numpy, which takes a while: import it where it is needed.
"""

import threading
from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.codebase.words import identifiers_of, words_in
from recollect.inference.static_model import DIMENSIONS, Table
from recollect.storage.derived.token_segments import MOST_COUNTED, token

# What a name that is defined in a part counts there, beside where it stands.
WORTH_OF_NAMES = 5
# A repository of random names must not fill the memory.
_MOST_KNOWN = 200_000
# So many parts are counted at a time: what each of them has of all that they mean is one table.
_AT_ONCE = 64
_SIGNS = [
    chr(code) for code in range(128) if chr(code).isprintable() and not chr(code).isalnum() and code not in b"_ ["
]
"""What means something by itself. Code is full of opening brackets, and they mean nothing beside the closing ones."""

Ints = NDArray[np.int64]


class Bag(NamedTuple):
    """The words of parts, one row a part, and what each means."""

    starts: NDArray[np.int32]
    """Where the words of each begin among all words; one entry more than there are parts."""
    words: NDArray[np.uint64]
    """The words of each part, each once."""
    counts: NDArray[np.uint8]
    """How often each occurs."""
    vectors: NDArray[np.float16]
    """The meaning of each; a row of zeros where there is none."""


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


class Bags:
    """Counts the words of parts, and remembers what it found out about identifiers."""

    def __init__(self) -> None:
        self._table = Table()
        self._lock = threading.Lock()
        """What one thread looks into, another must not let grow."""
        self._identifiers = _Identifiers(self._table)
        self._signs = [self._table.ids_of_word(sign)[0] for sign in _SIGNS]
        self._codes = np.array([ord(sign) for sign in _SIGNS])

    def counted(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> Bag:
        """The words of these parts, in each of which these names are defined, and what they mean."""
        with self._lock:
            parts = [
                self._counted(texts[first : first + _AT_ONCE], names[first : first + _AT_ONCE])
                for first in range(0, len(texts), _AT_ONCE)
            ]
        return _joined(parts) if len(parts) != 1 else parts[0]

    def meanings(self, texts: Sequence[str]) -> NDArray[np.float16]:
        """What each of these means."""
        with self._lock:
            parts = [self._meanings(texts[first : first + _AT_ONCE]) for first in range(0, len(texts), _AT_ONCE)]
        return np.concatenate(parts) if parts else _nothing().vectors

    def _meanings(self, texts: Sequence[str]) -> NDArray[np.float16]:
        known = self._fresh_identifiers()
        return self._vectors(texts, *_tallied(*_numbered(known, [identifiers_of(text) for text in texts])))

    def _counted(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> Bag:
        known = self._fresh_identifiers()
        written = [identifiers_of(text) for text in texts]
        defined = [[part for name in own for part in identifiers_of(name)] for own in names]
        owners, used, counts = _tallied(*_numbered(known, written))
        words = _expanded(known.words, owners, used, counts)
        if any(defined):
            of_names = _tallied(*_numbered(known, defined))
            more = _expanded(known.words, of_names[0], of_names[1], WORTH_OF_NAMES * of_names[2])
            words = [np.concatenate(pair) for pair in zip(words, more, strict=True)]
        having, which, often = _summed(*words)
        starts = np.searchsorted(having, np.arange(len(texts) + 1)).astype(np.int32)
        tokens = known.tokens(which)
        # Words are numbered as they come: what a content comes to must not depend on those before it.
        order = _in_order(having, tokens, len(texts))
        often = np.minimum(often, MOST_COUNTED).astype(np.uint8)
        return Bag(starts, tokens[order], often[order], self._vectors(texts, owners, used, counts))

    def _fresh_identifiers(self) -> _Identifiers:
        if len(self._identifiers) >= _MOST_KNOWN:
            self._identifiers = _Identifiers(self._table)
        return self._identifiers

    def _vectors(self, texts: Sequence[str], owners: Ints, used: Ints, counts: Ints) -> NDArray[np.float16]:
        """What texts mean that have these identifiers so often."""
        rows, ids, often = _expanded(self._identifiers.pieces, owners, used, counts)
        kept = np.array([text.isascii() for text in texts], dtype=np.bool_)[rows]
        parts = [(rows[kept], ids[kept], often[kept]), self._signs_in(texts), self._pieces_of_others(texts)]
        return self._table.pooled(len(texts), *_summed(*(np.concatenate(part) for part in zip(*parts, strict=True))))

    def _signs_in(self, texts: Sequence[str]) -> tuple[Ints, Ints, Ints]:
        """How often each sign occurs in those texts that are plain: whose, which and how often."""
        plain = [text.encode() if text.isascii() else b"" for text in texts]
        codes = np.frombuffer(b"".join(plain), np.uint8)
        rows = np.repeat(np.arange(len(texts)) * 128, [len(text) for text in plain])
        table = np.bincount(rows + codes, minlength=128 * len(texts)).reshape(-1, 128)[:, self._codes]
        owners, signs = np.nonzero(table)
        return owners, np.array(self._signs)[signs], table[owners, signs]

    def _pieces_of_others(self, texts: Sequence[str]) -> tuple[Ints, Ints, Ints]:
        """The same of all that is in texts that are not plain."""
        others = [() if text.isascii() else self._table.ids(text.replace("[", " ")) for text in texts]
        ids = np.fromiter(chain.from_iterable(others), np.int64)
        return np.repeat(np.arange(len(texts)), [len(own) for own in others]), ids, np.ones(len(ids), dtype=np.int64)


def _nothing() -> Bag:
    return Bag(
        np.zeros(1, dtype=np.int32),
        np.empty(0, dtype=np.uint64),
        np.empty(0, dtype=np.uint8),
        np.empty((0, DIMENSIONS), dtype="<f2"),
    )


def _joined(bags: Sequence[Bag]) -> Bag:
    """The parts of all of them."""
    if not bags:
        return _nothing()
    sizes = np.concatenate([np.diff(bag.starts) for bag in bags])
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return Bag(
        starts,
        np.concatenate([bag.words for bag in bags]),
        np.concatenate([bag.counts for bag in bags]),
        np.concatenate([bag.vectors for bag in bags]),
    )


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


@lru_cache(maxsize=1)
def bags() -> Bags:
    """The one of this process."""
    return Bags()


def vectors_of(texts: Sequence[str]) -> NDArray[np.float16]:
    """The meaning of each text; zeros for one that has none."""
    return bags().meanings(texts)
