"""Which rows have which words, and how often: over rows in mapped segments and rows in memory, as one."""

import ctypes
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.native.library import library
from scrubjay.search_index.unique_values import distinct, run_starts

Tokens = NDArray[np.uint64]
Rows = NDArray[np.int64]

# Stands between two passages of one text; no word has this token.
PASSAGE_END = 0
# Up to so many tokens are looked through one by one; from there on they are kept by word as well.
UNSORTED_TOKENS = 8_192
# Counting a longer text as long as it is would punish it for what it says elsewhere.
LONGEST_PASSAGE = 60
# More occurrences of one word in one text say nothing more.
MOST_COUNTED = 255
# BM25 as most engines have it.
K1 = 1.2
B = 0.75
TEXTS_NOBODY_WROTE = 50


class Part(NamedTuple):
    """The tokens of neighbouring rows. `starts` has one entry more than there are rows."""

    tokens: Tokens
    starts: NDArray[np.int64]


class Postings(NamedTuple):
    """For each token the rows that have it, ascending, and how often."""

    tokens: Tokens
    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    counts: NDArray[np.uint8]


class Had(NamedTuple):
    """The rows that have one word, ascending, and how often."""

    rows: Rows
    counts: NDArray[np.float32]


class Gathered(NamedTuple):
    """The tokens of some rows one after the other, in their order, each with the position of its row among these."""

    tokens: Tokens
    owners: NDArray[np.int64]


@lru_cache(maxsize=262_144)
def token(term: str) -> int:
    """The number that stands for a word: the same in every process, and never that of another word in practice."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def tokens_of(text: str) -> list[int]:
    """The tokens of a text as the store keeps it: words between spaces, passages between line ends."""
    first, *others = text.split("\n")
    found = [*map(token, filter(None, first.split(" ")))]
    for passage in others:
        found.append(PASSAGE_END)
        found += map(token, filter(None, passage.split(" ")))
    return found


class TokenSegments:
    """The words of every row, numbered in the order they came. Rows are only added; which ones count, a mask tells."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._postings: list[Postings] = []
        self._tokens: Tokens = np.empty(0, dtype=np.uint64)
        self._starts: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._rows = 0
        self._first = 0  # the first row that is only in memory
        self._lengths: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        self._table: NDArray[np.int64] | None = None
        """Where the tokens of each part are, as the compiled part wants it told."""

    @property
    def rows(self) -> int:
        return self._first + self._rows

    @property
    def lengths(self) -> NDArray[np.float32]:
        """How many words each row has."""
        return self._lengths[: self.rows]

    # -- adding --------------------------------------------------------------------------------------

    def append(self, texts: Sequence[Sequence[int]]) -> None:
        """Add a row for each text, given as its tokens."""
        if not texts:
            return
        self._table = None
        counts = np.fromiter(map(len, texts), np.int64, len(texts))
        used = int(self._starts[self._rows])
        first, end = self._rows + 1, self._rows + 1 + len(texts)
        self._starts = _with_room(self._starts, first, end)
        np.cumsum(counts, out=self._starts[first:end])
        self._starts[first:end] += used
        total = int(self._starts[end - 1])
        self._tokens = _with_room(self._tokens, used, total)
        self._tokens[used:total] = np.fromiter(chain.from_iterable(texts), np.uint64, total - used)
        self._lengths = _with_room(self._lengths, self.rows, self.rows + len(texts))
        words = np.concatenate([[0], np.cumsum(self._tokens[used:total] != PASSAGE_END)])
        self._lengths[self.rows : self.rows + len(texts)] = np.diff(words[self._starts[first - 1 : end] - used])
        self._rows += len(texts)
        if total > UNSORTED_TOKENS:
            self._seal()

    def _tail(self) -> Part:
        starts = self._starts[: self._rows + 1]
        return Part(self._tokens[: starts[-1]], starts)

    def _seal(self) -> None:
        """Keep what is in memory by word as well; segments of about the same size become one."""
        part, postings = self._tail(), _sorted(self._tail(), self._first)
        self._first, self._rows = self.rows, 0
        self._tokens, self._starts = np.empty(0, dtype=np.uint64), np.zeros(1, dtype=np.int64)
        while self._parts and len(self._parts[-1].tokens) < 2 * len(part.tokens):
            part, postings = _joined_parts(self._parts.pop(), part), _merged(self._postings.pop(), postings)
        self._parts.append(part)
        self._postings.append(postings)

    # -- asking --------------------------------------------------------------------------------------

    def having(self, wanted_token: int) -> Had:
        """The rows that have this word."""
        wanted = np.uint64(wanted_token)
        found: list[Had] = []
        for postings in self._postings:
            place = int(postings.tokens.searchsorted(wanted))
            if place < len(postings.tokens) and postings.tokens[place] == wanted:
                here = slice(int(postings.starts[place]), int(postings.starts[place + 1]))
                found.append(Had(postings.rows[here].astype(np.int64), postings.counts[here].astype(np.float32)))
        if len(found) == 1 and not self._rows:
            return found[0]
        tail = self._tail()
        places = (tail.tokens == wanted).nonzero()[0]
        if len(places):
            owners: Rows = np.asarray(tail.starts.searchsorted(places, side="right"), dtype=np.int64)
            again = owners[1:] == owners[:-1]
            if again.any():
                starts = run_starts(owners)
                counts = np.minimum(np.diff(starts, append=len(owners)), MOST_COUNTED)
                found.append(Had(owners[starts] + (self._first - 1), counts.astype(np.float32)))
            else:
                found.append(Had(owners + (self._first - 1), np.ones(len(owners), dtype=np.float32)))
        if len(found) == 1:
            return found[0]
        if not found:
            return Had(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
        return Had(np.concatenate([one.rows for one in found]), np.concatenate([one.counts for one in found]))

    def gather(self, rows: Rows) -> Gathered:
        """The tokens of these rows (ascending)."""
        if not self._parts:
            return _gathered(self._tail(), rows)
        pieces: list[Gathered] = []
        start = taken = 0
        for part in (*self._parts, self._tail()):
            end = start + len(part.starts) - 1
            until = int(rows.searchsorted(end))
            if until > taken:
                piece = _gathered(part, rows[taken:until] - start)
                pieces.append(Gathered(piece.tokens, piece.owners + taken) if taken else piece)
            start, taken = end, until
        if len(pieces) == 1:
            return pieces[0]
        return Gathered(
            np.concatenate([np.empty(0, dtype=np.uint64), *(piece.tokens for piece in pieces)]),
            np.concatenate([np.empty(0, dtype=np.int64), *(piece.owners for piece in pieces)]),
        )

    def matched(
        self,
        rows: Rows,
        terms: Sequence[str],
        worth: NDArray[np.float32],
        average: float,
        places: Rows,
        texts: int,
    ) -> "Matched":
        """How these rows (ascending) match, each at its place among so many texts; the other texts have no match."""
        found = Matched(
            np.zeros((texts, len(terms)), dtype=np.float32),
            np.zeros(texts, dtype=np.float32),
            np.zeros(texts, dtype=np.float32),
        )
        if (compiled := library()) is not None:
            if self._table is None:
                parts = (*self._parts, self._tail())
                addresses = [(part.tokens.ctypes.data, part.starts.ctypes.data, len(part.starts) - 1) for part in parts]
                self._table = np.array(addresses, dtype=np.int64)
            wanted = np.array([token(term) for term in terms], dtype=np.uint64)
            done = _matching(compiled)(
                self._table.ctypes.data,
                len(self._table),
                rows.ctypes.data,
                places.ctypes.data,
                len(rows),
                wanted.ctypes.data,
                len(terms),
                worth.ctypes.data,
                K1,
                1 - B,
                B / (average or 1.0),
                *(array.ctypes.data for array in found),
            )
            if done == 0:
                return found
        matched = match(self.gather(rows), len(rows), terms, worth, average)
        for whole, part in zip(found, matched, strict=True):
            whole[places] = part
        return found

    # -- files ---------------------------------------------------------------------------------------

    def arrays_of(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """What a segment with these rows (ascending) consists of."""
        gathered = self.gather(rows)
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(np.bincount(gathered.owners, minlength=len(rows)), out=starts[1:])
        part = Part(gathered.tokens, starts)
        postings = _sorted(part, 0)
        return {
            "lengths": self._lengths[rows],
            "tokens": part.tokens,
            "token_starts": part.starts,
            "words": postings.tokens,
            "word_starts": postings.starts,
            "word_rows": postings.rows,
            "word_counts": postings.counts,
        }

    def attach(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Add the rows that `arrays_of` gave, without copying them."""
        if self._rows:
            raise ValueError("segments cannot follow rows that are only in memory")
        self._table = None
        part = Part(arrays["tokens"], arrays["token_starts"])
        rows = arrays["word_rows"] + np.uint32(self._first) if self._first else arrays["word_rows"]
        self._parts.append(part)
        self._postings.append(Postings(arrays["words"], arrays["word_starts"], rows, arrays["word_counts"]))
        self._lengths = _with_room(self._lengths, self._first, self._first + len(arrays["lengths"]))
        self._lengths[self._first : self._first + len(arrays["lengths"])] = arrays["lengths"]
        self._first += len(arrays["lengths"])


@cache
def _matching(compiled: ctypes.CDLL) -> Any:
    address, number, share = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float
    door = compiled.scrubjay_match_tokens
    door.restype = number
    door.argtypes = [
        *(address, number, address, address, number, address, number, address, share, share, share),
        *(address, address, address),
    ]
    return door


def rarity(texts: int, having: Sequence[int]) -> NDArray[np.float32]:
    """What each word is worth, from how many texts have it; some that nobody wrote keep a young store from extremes."""
    counts = np.array(having, dtype=np.float32)
    return np.log1p((texts + TEXTS_NOBODY_WROTE - counts + 0.5) / (counts + 0.5)).astype(np.float32)


def saturated(
    counts: NDArray[np.float32], lengths: NDArray[np.float32], average: float, b: float = B
) -> NDArray[np.float32]:
    """BM25's share of one word: more often is better, but ever less so, and less in a long passage.

    `b` is how much the length counts.
    """
    return saturated_by(counts, length_norms(lengths, average, b))


def length_norms(lengths: NDArray[np.float32], average: float, b: float = B) -> NDArray[np.float32]:
    """What the lengths of passages take from a word's share, for whoever asks for the same passages again."""
    return np.float32(K1) * (np.float32(1 - b) + np.float32(b / (average or 1.0)) * lengths)


def saturated_by(counts: NDArray[np.float32], norms: NDArray[np.float32]) -> NDArray[np.float32]:
    """As `saturated`, of passages with these norms."""
    return np.asarray(counts * np.float32(K1 + 1) / (counts + norms), dtype=np.float32)


def _with_room(array: NDArray[Any], used: int, wanted: int) -> NDArray[Any]:
    if wanted <= len(array):
        return array
    larger = np.empty(max(wanted, 2 * len(array), 1024), dtype=array.dtype)
    larger[:used] = array[:used]
    return larger


def _gathered(part: Part, rows: Rows) -> Gathered:
    starts = part.starts[rows]
    counts = part.starts[rows + 1] - starts
    ends = counts.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    places = np.arange(total) + (starts - ends + counts).repeat(counts)
    return Gathered(part.tokens[places], np.arange(len(rows)).repeat(counts))


def _sorted(part: Part, first_row: int) -> Postings:
    owners = np.repeat(np.arange(len(part.starts) - 1), np.diff(part.starts))
    words = np.flatnonzero(part.tokens != PASSAGE_END)
    tokens, owners = part.tokens[words], owners[words]
    order = np.argsort(tokens, kind="stable")
    tokens, owners = tokens[order], owners[order]
    new = np.ones(len(tokens), dtype=np.bool_)
    new[1:] = (tokens[1:] != tokens[:-1]) | (owners[1:] != owners[:-1])
    firsts = np.flatnonzero(new)
    counts = np.minimum(np.diff(firsts, append=len(tokens)), MOST_COUNTED).astype(np.uint8)
    return _by_word(tokens[firsts], (owners[firsts] + first_row).astype(np.uint32), counts)


def _by_word(tokens: Tokens, rows: NDArray[np.uint32], counts: NDArray[np.uint8]) -> Postings:
    starts = run_starts(tokens)
    return Postings(tokens[starts], np.append(starts, len(tokens)), rows, counts)


def _merged(first: Postings, second: Postings) -> Postings:
    tokens = np.concatenate([np.repeat(one.tokens, np.diff(one.starts)) for one in (first, second)])
    order = np.argsort(tokens, kind="stable")
    rows = np.concatenate([first.rows, second.rows])
    counts = np.concatenate([first.counts, second.counts])
    return _by_word(tokens[order], rows[order], counts[order])


def _joined_parts(first: Part, second: Part) -> Part:
    return Part(
        np.concatenate([first.tokens, second.tokens]),
        np.concatenate([first.starts, second.starts[1:] + first.starts[-1]]),
    )


class Matched(NamedTuple):
    """How some rows match the words of a question; one entry a row."""

    occurrences: NDArray[np.float32]
    """How often each has each word."""
    bm25: NDArray[np.float32]
    """The score of its best passage."""
    pairs: NDArray[np.float32]
    """How many pairs of neighbouring words it has in common with the question."""


def match(gathered: Gathered, rows: int, terms: Sequence[str], worth: NDArray[np.float32], average: float) -> Matched:
    """How these rows match."""
    tokens, owners = gathered.tokens, gathered.owners
    wanted = np.array([token(term) for term in terms], dtype=np.uint64)
    is_term = tokens == wanted[:, np.newaxis]
    which, where = _places(is_term)
    counts = np.zeros((rows, len(terms)), dtype=np.float32)
    np.add.at(counts, (owners[where], which), np.float32(1))
    pairs = np.zeros(rows, dtype=np.float32)
    if len(terms) > 1 and len(tokens) > 1:
        side_by_side = is_term[:-1, :-1] & is_term[1:, 1:] & (owners[1:] == owners[:-1])
        which, where = _places(side_by_side)
        if len(which):
            once = distinct(which * rows + owners[where]) % rows
            pairs = np.bincount(once, minlength=rows).astype(np.float32)
    if (tokens == PASSAGE_END).any():
        bm25 = _best_passages(tokens, owners, rows, is_term, worth, average)
    else:
        lengths = np.bincount(owners, minlength=rows).astype(np.float32)
        bm25 = saturated(counts, lengths[:, np.newaxis], average) @ worth
    return Matched(counts, bm25, pairs)


def _places(table: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same as `nonzero`, which takes ten times as long where there are two dimensions."""
    return divmod(table.ravel().nonzero()[0], table.shape[1] or 1)


def _best_passages(
    tokens: Tokens,
    owners: NDArray[np.int64],
    rows: int,
    is_term: NDArray[np.bool_],
    worth: NDArray[np.float32],
    average: float,
) -> NDArray[np.float32]:
    begins = tokens == PASSAGE_END
    begins[0] = True
    begins[1:] |= owners[1:] != owners[:-1]
    passages = np.cumsum(begins) - 1
    count = int(passages[-1]) + 1
    lengths = np.bincount(passages[tokens != PASSAGE_END], minlength=count).astype(np.float32)
    which, where = _places(is_term)
    counts = np.zeros((count, len(worth)), dtype=np.float32)
    np.add.at(counts, (passages[where], which), np.float32(1))
    best = np.zeros(rows, dtype=np.float32)
    np.maximum.at(best, owners[begins], saturated(counts, lengths[:, np.newaxis], average) @ worth)
    return best
