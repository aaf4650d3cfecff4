"""Inverted index of rows by word with counts, over mapped segments and rows in memory."""

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

# Separates two passages of one text; no word has this token.
PASSAGE_END = 0
# Up to this many tokens in memory are scanned; then postings are built for them.
MAX_UNSORTED_TOKENS = 8_192
# Longer passages count as this long, so that BM25 does not penalize them for unrelated content.
MAX_PASSAGE_LENGTH = 60
# Counts are stored in a byte; more occurrences add nothing to a score.
MAX_COUNT = 255
# Usual parameters of BM25.
K1 = 1.2
B = 0.75
# Added to the number of texts, so that frequencies in a small store do not lead to extreme weights.
SMOOTHING_TEXTS = 50


class TokenRun(NamedTuple):
    """The tokens of consecutive rows. `starts` has one entry more than there are rows."""

    tokens: Tokens
    starts: NDArray[np.int64]


class Postings(NamedTuple):
    """The rows of each token, ascending, and its counts."""

    tokens: Tokens
    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    counts: NDArray[np.uint8]


class WordRows(NamedTuple):
    """The rows that contain one word, ascending, and its counts."""

    rows: Rows
    counts: NDArray[np.float32]


class GatheredTokens(NamedTuple):
    """The tokens of some rows, concatenated, each with the index of its row among these."""

    tokens: Tokens
    owners: NDArray[np.int64]


@lru_cache(maxsize=262_144)
def token(term: str) -> int:
    """Return the 64-bit id of a word: equal in every process, and unique in practice."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def tokens_of(text: str) -> list[int]:
    """Return the tokens of a stored text: words are separated by spaces, passages by newlines."""
    first, *others = text.split("\n")
    found = [*map(token, filter(None, first.split(" ")))]
    for passage in others:
        found.append(PASSAGE_END)
        found += map(token, filter(None, passage.split(" ")))
    return found


class TokenSegments:
    """The words of every row, in insertion order. Append-only; callers mask rows that were removed."""

    def __init__(self) -> None:
        self._parts: list[TokenRun] = []
        self._postings: list[Postings] = []
        self._tokens: Tokens = np.empty(0, dtype=np.uint64)
        self._starts: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._rows = 0
        self._first = 0  # the first row that is in memory only
        self._lengths: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        self._table: NDArray[np.int64] | None = None
        """Addresses of the tokens of each run, for the native library; None if outdated."""

    @property
    def rows(self) -> int:
        return self._first + self._rows

    @property
    def lengths(self) -> NDArray[np.float32]:
        """Number of words in each row."""
        return self._lengths[: self.rows]

    # -- adding --------------------------------------------------------------------------------------

    def append(self, texts: Sequence[Sequence[int]]) -> None:
        """Add a row for each text, given as tokens."""
        if not texts:
            return
        self._table = None
        counts = np.fromiter(map(len, texts), np.int64, len(texts))
        used = int(self._starts[self._rows])
        first, end = self._rows + 1, self._rows + 1 + len(texts)
        self._starts = _reserve(self._starts, first, end)
        np.cumsum(counts, out=self._starts[first:end])
        self._starts[first:end] += used
        total = int(self._starts[end - 1])
        self._tokens = _reserve(self._tokens, used, total)
        self._tokens[used:total] = np.fromiter(chain.from_iterable(texts), np.uint64, total - used)
        self._lengths = _reserve(self._lengths, self.rows, self.rows + len(texts))
        words = np.concatenate([[0], np.cumsum(self._tokens[used:total] != PASSAGE_END)])
        self._lengths[self.rows : self.rows + len(texts)] = np.diff(words[self._starts[first - 1 : end] - used])
        self._rows += len(texts)
        if total > MAX_UNSORTED_TOKENS:
            self._seal()

    def _tail(self) -> TokenRun:
        starts = self._starts[: self._rows + 1]
        return TokenRun(self._tokens[: starts[-1]], starts)

    def _seal(self) -> None:
        """Build postings for the rows in memory; runs of similar size are merged."""
        part, postings = self._tail(), _build_postings(self._tail(), self._first)
        self._first, self._rows = self.rows, 0
        self._tokens, self._starts = np.empty(0, dtype=np.uint64), np.zeros(1, dtype=np.int64)
        while self._parts and len(self._parts[-1].tokens) < 2 * len(part.tokens):
            part, postings = _join_runs(self._parts.pop(), part), _merge_postings(self._postings.pop(), postings)
        self._parts.append(part)
        self._postings.append(postings)

    # -- queries -------------------------------------------------------------------------------------

    def rows_with(self, wanted_token: int) -> WordRows:
        """Return the rows that contain this word."""
        wanted = np.uint64(wanted_token)
        found: list[WordRows] = []
        for postings in self._postings:
            index = int(postings.tokens.searchsorted(wanted))
            if index < len(postings.tokens) and postings.tokens[index] == wanted:
                found_rows = slice(int(postings.starts[index]), int(postings.starts[index + 1]))
                rows, counts = postings.rows[found_rows], postings.counts[found_rows]
                found.append(WordRows(rows.astype(np.int64), counts.astype(np.float32)))
        if len(found) == 1 and not self._rows:
            return found[0]
        tail = self._tail()
        positions = (tail.tokens == wanted).nonzero()[0]
        if len(positions):
            owners: Rows = np.asarray(tail.starts.searchsorted(positions, side="right"), dtype=np.int64)
            again = owners[1:] == owners[:-1]
            if again.any():
                starts = run_starts(owners)
                counts = np.minimum(np.diff(starts, append=len(owners)), MAX_COUNT)
                found.append(WordRows(owners[starts] + (self._first - 1), counts.astype(np.float32)))
            else:
                found.append(WordRows(owners + (self._first - 1), np.ones(len(owners), dtype=np.float32)))
        if len(found) == 1:
            return found[0]
        if not found:
            return WordRows(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
        return WordRows(np.concatenate([one.rows for one in found]), np.concatenate([one.counts for one in found]))

    def gather(self, rows: Rows) -> GatheredTokens:
        """Return the tokens of these rows (ascending)."""
        if not self._parts:
            return _gather_run(self._tail(), rows)
        pieces: list[GatheredTokens] = []
        start = taken = 0
        for part in (*self._parts, self._tail()):
            end = start + len(part.starts) - 1
            until = int(rows.searchsorted(end))
            if until > taken:
                piece = _gather_run(part, rows[taken:until] - start)
                pieces.append(GatheredTokens(piece.tokens, piece.owners + taken) if taken else piece)
            start, taken = end, until
        if len(pieces) == 1:
            return pieces[0]
        return GatheredTokens(
            np.concatenate([np.empty(0, dtype=np.uint64), *(piece.tokens for piece in pieces)]),
            np.concatenate([np.empty(0, dtype=np.int64), *(piece.owners for piece in pieces)]),
        )

    def match_rows(
        self,
        rows: Rows,
        terms: Sequence[str],
        weights: NDArray[np.float32],
        average: float,
        positions: Rows,
        texts: int,
    ) -> "QueryMatches":
        """Match these rows (ascending), each stored at its position among `texts` texts; the others have no match."""
        found = QueryMatches(
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
            done = _native_match(compiled)(
                self._table.ctypes.data,
                len(self._table),
                rows.ctypes.data,
                positions.ctypes.data,
                len(rows),
                wanted.ctypes.data,
                len(terms),
                weights.ctypes.data,
                K1,
                1 - B,
                B / (average or 1.0),
                *(array.ctypes.data for array in found),
            )
            if done == 0:
                return found
        matched = match(self.gather(rows), len(rows), terms, weights, average)
        for whole, part in zip(found, matched, strict=True):
            whole[positions] = part
        return found

    # -- files ---------------------------------------------------------------------------------------

    def arrays_of(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """Return the arrays of a segment with these rows (ascending)."""
        gathered = self.gather(rows)
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(np.bincount(gathered.owners, minlength=len(rows)), out=starts[1:])
        part = TokenRun(gathered.tokens, starts)
        postings = _build_postings(part, 0)
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
        """Add the rows of a segment made by `arrays_of`, without copying them."""
        if self._rows:
            raise ValueError("segments cannot follow rows that are only in memory")
        self._table = None
        part = TokenRun(arrays["tokens"], arrays["token_starts"])
        rows = arrays["word_rows"] + np.uint32(self._first) if self._first else arrays["word_rows"]
        self._parts.append(part)
        self._postings.append(Postings(arrays["words"], arrays["word_starts"], rows, arrays["word_counts"]))
        self._lengths = _reserve(self._lengths, self._first, self._first + len(arrays["lengths"]))
        self._lengths[self._first : self._first + len(arrays["lengths"])] = arrays["lengths"]
        self._first += len(arrays["lengths"])


@cache
def _native_match(compiled: ctypes.CDLL) -> Any:
    address, number, real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float
    match_tokens = compiled.scrubjay_match_tokens
    match_tokens.restype = number
    match_tokens.argtypes = [
        *(address, number, address, address, number, address, number, address, real, real, real),
        *(address, address, address),
    ]
    return match_tokens


def idf_weights(texts: int, having: Sequence[int]) -> NDArray[np.float32]:
    """Return the weight of each word, by the number of texts that contain it."""
    counts = np.array(having, dtype=np.float32)
    return np.log1p((texts + SMOOTHING_TEXTS - counts + 0.5) / (counts + 0.5)).astype(np.float32)


def saturate(
    counts: NDArray[np.float32], lengths: NDArray[np.float32], average: float, b: float = B
) -> NDArray[np.float32]:
    """Return BM25's term frequency factor: it grows with the count, ever less, and shrinks with the passage's length.

    `b` is the influence of the length.
    """
    return saturate_with_norms(counts, length_norms(lengths, average, b))


def length_norms(lengths: NDArray[np.float32], average: float, b: float = B) -> NDArray[np.float32]:
    """Return the length normalization of passages, for callers that reuse it."""
    return np.float32(K1) * (np.float32(1 - b) + np.float32(b / (average or 1.0)) * lengths)


def saturate_with_norms(counts: NDArray[np.float32], norms: NDArray[np.float32]) -> NDArray[np.float32]:
    """Like `saturate`, for passages with these norms."""
    return np.asarray(counts * np.float32(K1 + 1) / (counts + norms), dtype=np.float32)


def _reserve(array: NDArray[Any], used: int, wanted: int) -> NDArray[Any]:
    if wanted <= len(array):
        return array
    larger = np.empty(max(wanted, 2 * len(array), 1024), dtype=array.dtype)
    larger[:used] = array[:used]
    return larger


def _gather_run(part: TokenRun, rows: Rows) -> GatheredTokens:
    starts = part.starts[rows]
    counts = part.starts[rows + 1] - starts
    ends = counts.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    positions = np.arange(total) + (starts - ends + counts).repeat(counts)
    return GatheredTokens(part.tokens[positions], np.arange(len(rows)).repeat(counts))


def _build_postings(part: TokenRun, first_row: int) -> Postings:
    owners = np.repeat(np.arange(len(part.starts) - 1), np.diff(part.starts))
    words = np.flatnonzero(part.tokens != PASSAGE_END)
    tokens, owners = part.tokens[words], owners[words]
    order = np.argsort(tokens, kind="stable")
    tokens, owners = tokens[order], owners[order]
    new = np.ones(len(tokens), dtype=np.bool_)
    new[1:] = (tokens[1:] != tokens[:-1]) | (owners[1:] != owners[:-1])
    firsts = np.flatnonzero(new)
    counts = np.minimum(np.diff(firsts, append=len(tokens)), MAX_COUNT).astype(np.uint8)
    return _by_word(tokens[firsts], (owners[firsts] + first_row).astype(np.uint32), counts)


def _by_word(tokens: Tokens, rows: NDArray[np.uint32], counts: NDArray[np.uint8]) -> Postings:
    starts = run_starts(tokens)
    return Postings(tokens[starts], np.append(starts, len(tokens)), rows, counts)


def _merge_postings(first: Postings, second: Postings) -> Postings:
    tokens = np.concatenate([np.repeat(one.tokens, np.diff(one.starts)) for one in (first, second)])
    order = np.argsort(tokens, kind="stable")
    rows = np.concatenate([first.rows, second.rows])
    counts = np.concatenate([first.counts, second.counts])
    return _by_word(tokens[order], rows[order], counts[order])


def _join_runs(first: TokenRun, second: TokenRun) -> TokenRun:
    return TokenRun(
        np.concatenate([first.tokens, second.tokens]),
        np.concatenate([first.starts, second.starts[1:] + first.starts[-1]]),
    )


class QueryMatches(NamedTuple):
    """Matches of rows with the words of a query; one entry per row."""

    occurrences: NDArray[np.float32]
    """Number of occurrences of each word in each row."""
    bm25: NDArray[np.float32]
    """Score of the best passage."""
    pairs: NDArray[np.float32]
    """Number of adjacent word pairs shared with the query."""


def match(
    gathered: GatheredTokens, rows: int, terms: Sequence[str], weights: NDArray[np.float32], average: float
) -> QueryMatches:
    """Return how these rows match."""
    tokens, owners = gathered.tokens, gathered.owners
    wanted = np.array([token(term) for term in terms], dtype=np.uint64)
    is_term = tokens == wanted[:, np.newaxis]
    which, where = _nonzero(is_term)
    counts = np.zeros((rows, len(terms)), dtype=np.float32)
    np.add.at(counts, (owners[where], which), np.float32(1))
    pairs = np.zeros(rows, dtype=np.float32)
    if len(terms) > 1 and len(tokens) > 1:
        is_pair = is_term[:-1, :-1] & is_term[1:, 1:] & (owners[1:] == owners[:-1])
        which, where = _nonzero(is_pair)
        if len(which):
            once = distinct(which * rows + owners[where]) % rows
            pairs = np.bincount(once, minlength=rows).astype(np.float32)
    if (tokens == PASSAGE_END).any():
        bm25 = _best_passages(tokens, owners, rows, is_term, weights, average)
    else:
        lengths = np.bincount(owners, minlength=rows).astype(np.float32)
        bm25 = saturate(counts, lengths[:, np.newaxis], average) @ weights
    return QueryMatches(counts, bm25, pairs)


def _nonzero(table: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Like `nonzero`, which is ten times slower for two dimensions."""
    return divmod(table.ravel().nonzero()[0], table.shape[1] or 1)


def _best_passages(
    tokens: Tokens,
    owners: NDArray[np.int64],
    rows: int,
    is_term: NDArray[np.bool_],
    weights: NDArray[np.float32],
    average: float,
) -> NDArray[np.float32]:
    is_start = tokens == PASSAGE_END
    is_start[0] = True
    is_start[1:] |= owners[1:] != owners[:-1]
    passages = np.cumsum(is_start) - 1
    count = int(passages[-1]) + 1
    lengths = np.bincount(passages[tokens != PASSAGE_END], minlength=count).astype(np.float32)
    which, where = _nonzero(is_term)
    counts = np.zeros((count, len(weights)), dtype=np.float32)
    np.add.at(counts, (passages[where], which), np.float32(1))
    best = np.zeros(rows, dtype=np.float32)
    np.maximum.at(best, owners[is_start], saturate(counts, lengths[:, np.newaxis], average) @ weights)
    return best
