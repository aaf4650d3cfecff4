"""Rank the files of an index for a query by a weighted sum of signals, and pick the best chunk of each.

The weights start from measurements; see docs/decisions/0015-index-code-by-content-hash.md. This module imports numpy,
which is slow to load.
"""

import re
from collections.abc import Container, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.tokenizer import capitalized_words, query_words, tokenize
from scrubjay.code_index.models import FileTrait, SymbolKind
from scrubjay.code_index.search.callers_text import CallerWords
from scrubjay.code_index.search.commit_history import CommitHistory
from scrubjay.code_index.search.corpus import KINDS, Corpus, rotated_vector
from scrubjay.code_index.search.distinctive_similarity import DistinctiveSimilarity
from scrubjay.code_index.search.idf import idf
from scrubjay.code_index.search.related_words import related_words
from scrubjay.code_index.search.top_k import top_k
from scrubjay.code_index.search.word_index import Occurrences
from scrubjay.code_index.term_counts.counter import embed_texts
from scrubjay.search_index.token_segments import length_norms, saturate_with_norms, token
from scrubjay.search_index.unique_values import run_starts
from scrubjay.search_index.vector_codes import Codes

Column = NDArray[np.float32]

WEIGHTS: Final = {
    "text": 1.0,
    "path": 0.2,
    "coverage": 0.2,
    "name": 0.6,
    "folders": 0.5,
    "scope": 0.4,
    "defines": 0.35,
    "history": 0.5,
    "activity": 0.1,
    "callers": 0.2,
    "embedding": 0.6,
    "file_embedding": 0.375,
}
# Weight of "defines" when the query is a single name.
DEFINES_WEIGHT_FOR_NAME: Final = 1.0
# A query with an identifier means exactly that one, so similarity signals are scaled by this.
SIMILARITY_SHARE_FOR_NAMES: Final = 2 / 3
# Occurrences that a word of the path adds to each chunk of the file.
PATH_WORD_COUNT: Final = 2.0
CHUNK_WEIGHTS: Final = (1.0, 0.5, 0.25)
# Size limits of the cache of word matches: words, and chunk rows of all words together.
MAX_CACHED_WORDS: Final = 1_000
MAX_CACHED_ROWS: Final = 250_000
# Related words that may stand for one query word.
MAX_RELATED_WORDS: Final = 3
# Similarities below this share of the highest count as none.
MIN_RELATIVE_SIMILARITY: Final = 0.4
# Even unrelated texts have cosines up to this.
MIN_COSINE: Final = 0.2
# Weight of a definition, by kind, for a query that names it.
_KIND_WEIGHTS: Final = {
    SymbolKind.CLASS: 1.0,
    SymbolKind.STRUCT: 1.0,
    SymbolKind.TRAIT: 1.0,
    SymbolKind.INTERFACE: 1.0,
    SymbolKind.ENUM: 1.0,
    SymbolKind.FUNCTION: 0.9,
    SymbolKind.METHOD: 0.9,
    SymbolKind.CONSTRUCTOR: 0.9,
    SymbolKind.TYPE: 0.9,
    SymbolKind.MACRO: 0.9,
    SymbolKind.MODULE: 0.5,
    SymbolKind.IMPL: 0.5,
    SymbolKind.SIGNATURE: 0.3,
}
_KIND_WEIGHT_COLUMN: Final = np.array([_KIND_WEIGHTS.get(kind, 0.6) for kind in KINDS], dtype=np.float32)
MAX_BODY_LINES: Final = 100
# Penalty factors by file trait: factor, factor if the query has one of the words, and these words. Words such as "test"
# or "docs" often name the subject of the code, and a wanted test or page is found by its name, so part of the penalty
# stays for these.
_PENALTIES: Final = (
    (FileTrait.TEST, 0.3, 0.6, "test tests testing tested spec fixture mock conftest"),
    (FileTrait.EXAMPLE, 0.4, 1.0, "example examples demo benchmark benchmarks script scripts sample"),
    (FileTrait.DOCUMENTATION, 0.4, 0.7, "doc docs documentation documented readme guide tutorial changelog"),
    (FileTrait.VENDORED, 0.6, 1.0, "vendor vendored"),
    (FileTrait.GENERATED, 0.6, 1.0, "generated"),
    (FileTrait.MINIFIED, 0.3, 1.0, "minified"),
    (FileTrait.DECLARATION, 0.7, 1.0, "declaration declarations typing typings stub"),
    (
        FileTrait.CONFIGURATION,
        0.5,
        1.0,
        "config configuration configure setting settings dependency dependencies package packages build workflow ci "
        "manifest",
    ),
)
_LEGACY_PATH: Final = re.compile(r"(?:^|[/_.-])(?:legacy|compat|deprecated|old)(?=$|[/_.-])", re.IGNORECASE)
LEGACY_PENALTY: Final = 0.6
_LEGACY_WORDS: Final = "legacy compat compatibility deprecated old"
_TYPES_PATH: Final = re.compile(
    r"(?i:(?:^|/)(?:types?|typings|interfaces)(?:\.[a-z]+|/[^/]*)$)"
    r"|(?:[.](?:types?|typings|interfaces?)|-(?:types|interfaces)|[a-z](?:Types|Interfaces))\.[cm]?tsx?$"
)
TYPES_PENALTY: Final = 0.85
_TYPES_WORDS: Final = "type types typing interface interfaces"
_INDEX_PATH: Final = re.compile(r"(?:^|/)index\.[cm]?[jt]sx?$")
# An index.js without definitions only re-exports other modules.
REEXPORT_PENALTY: Final = 0.5
_INDEX_WORDS: Final = "index export exports exported entry"
_ASYNC_VARIANT_PATH: Final = re.compile(r"((?:.*/)?[^/.]+?)[_-]?(?:async|sync)(\.[^/]*)", re.IGNORECASE)
# The async (or sync) variant of a sibling file; a query that asks for neither means the sibling.
ASYNC_VARIANT_PENALTY: Final = 0.85
_ASYNC_WORDS: Final = "async asynchronous await promise sync synchronous"
# Few combinations of penalties occur in queries.
MAX_CACHED_PENALTIES: Final = 16
_VERSION_FOLDER: Final = re.compile(r"(?:^|/)v(\d{1,3})(?=/)")
SUPERSEDED_PENALTY: Final = 0.5
_SCOPE: Final = re.compile(r"\s*([\w./@-]{2,80})(?:\([\w ./@,-]{1,40}\))?!?:\s")


class RankedFile(NamedTuple):
    """A file that matches a query."""

    file: int
    score: float
    chunk: int
    """Row of the best chunk; -1 if the file has no chunks."""
    signals: Mapping[str, float]
    """Contribution of each signal to the score."""
    penalty: float = 1.0
    """Factor already included in the signals: below 1 for tests and the like."""


@dataclass(frozen=True, slots=True)
class SignalToggles:
    """Signal groups that a search uses."""

    vector: bool = True
    symbol: bool = True
    graph: bool = True


class Ranker:
    """Ranks the files of one corpus. Everything that does not depend on the query is computed once."""

    def __init__(self, corpus: Corpus, history: CommitHistory, users: CallerWords | None = None) -> None:
        self._corpus = corpus
        self.history = history
        self.callers = users or CallerWords()
        chunks = corpus.chunks
        self._alive = corpus.alive[chunks.files] if len(chunks.files) else np.empty(0, dtype=np.bool_)
        self._all_alive = bool(self._alive.all())
        self._first_chunks = np.flatnonzero(np.diff(chunks.files, prepend=-1))
        """First chunk of each file with chunks; the chunks of a file are adjacent rows."""
        self._files_with_chunks = chunks.files[self._first_chunks]
        """File of each of these chunks."""
        files = len(corpus.files)
        self._chunk_starts, self._chunk_ends = np.zeros((2, files), dtype=np.int64)
        self._chunk_starts[self._files_with_chunks] = self._first_chunks
        self._chunk_ends[self._files_with_chunks] = np.append(self._first_chunks, len(chunks.files))[1:]
        living = corpus.words.lengths[self._alive]
        average = float(living.mean()) if len(living) else 0.0
        self._norms = length_norms(corpus.words.lengths + np.float32(PATH_WORD_COUNT), average)
        """BM25 length norm of each chunk."""
        self._chunk_count = max(1, len(living))
        self._file_count = max(1, int(corpus.alive.sum()))
        paths = [file.path for file in corpus.files]
        self._traits = np.array([int(file.traits) for file in corpus.files], dtype=np.int64)
        traits = [_path_traits(path) for path in paths]
        self._is_legacy = np.array([own.is_old for own in traits], dtype=np.bool_)
        self._is_types = np.array([own.is_types for own in traits], dtype=np.bool_)
        defining = np.bincount(corpus.symbols.files, minlength=files) > 0
        self._is_reexport = np.array([own.is_index for own in traits], dtype=np.bool_) & ~defining
        self._is_async_variant = np.array([own.beside in corpus.row_of for own in traits], dtype=np.bool_)
        self._superseded = _superseded(traits, corpus.alive)
        self._activity = history.activity_of(corpus.row_of, files)
        self._match_cache: dict[str, _TermMatches] = {}
        """Cached matches of words: the corpus does not change, and successive queries share many words."""
        self._cached_rows = 0
        self._penalty_cache: dict[tuple[object, ...], Column] = {}
        self._caller_words = self.callers.for_files(corpus)
        self._distinct = DistinctiveSimilarity(corpus.file_vectors.codes, corpus.alive)
        self._chunk_vectors = corpus.chunk_vectors.searchable(self._alive)
        self._file_vectors = corpus.file_vectors.searchable(corpus.alive)

    def with_callers(self, users: CallerWords) -> "Ranker":
        """Return a copy with the callers' words, which are known last while an index is built."""
        made = copy(self)
        made.callers, made._caller_words = users, users.for_files(self._corpus)
        return made

    def rank(self, query: str, limit: int, toggles: SignalToggles = SignalToggles()) -> list[RankedFile]:  # noqa: B008 - frozen
        """Return the best matching files, best first."""
        corpus = self._corpus
        words = query_words(query)
        if not words or not len(corpus.files):
            return []
        plain = [(word, weight) for word, weight in words if not word.startswith("=")]
        by_text = self._text_scores(words, plain, by_meaning=toggles.vector)
        text, fittest = self._combine_chunks(by_text.chunks)
        signals: dict[str, Column] = {"text": _relative_to_max(text), "path": _relative_to_max(by_text.paths)}
        covered = by_text.covered[fittest] / np.float32(by_text.total or 1) if len(self._alive) else text
        signals["coverage"] = np.where(fittest >= 0, covered, np.float32(0))
        worths = [weight * by_text.rarities[word] for word, weight in plain]
        fit = corpus.path_index.fit([word for word, _ in plain], worths)
        signals["name"] = np.sqrt(fit.query_share * fit.name_share)
        signals["folders"] = fit.folder_share
        signals["scope"] = self._scope(query)
        weights = dict(WEIGHTS)
        identifiers = [word for word, weight in words if word.startswith("=") and weight == 1.0]
        if toggles.symbol:
            alone = len(query.split()) == 1
            named = [*identifiers, *capitalized_words(query)]
            signals["defines"] = self._defines(named or ([words[0][0]] if alone else []))
            weights["defines"] = DEFINES_WEIGHT_FOR_NAME if alone else WEIGHTS["defines"]
        if toggles.graph:
            signals["history"] = self.history.scores(words, self._activity)
            signals["callers"] = self._caller_words.fit(words)
        cosines = np.zeros(len(self._alive), dtype=np.float32)
        if toggles.vector:
            if identifiers:
                weights |= {
                    name: WEIGHTS[name] * SIMILARITY_SHARE_FOR_NAMES for name in ("embedding", "file_embedding")
                }
            meaning = corpus.chunk_vectors.to_codes(embed_texts([query]))
            cosines = self._chunk_vectors.cosines(meaning)
            signals["embedding"] = _similarity_signal(np.maximum(self._max_by_file(cosines), 0))
            signals["file_embedding"] = self._file_similarity(meaning)
        scores = sum((np.float32(weights[name]) * column for name, column in signals.items()), np.float32(0))
        if toggles.graph:  # activity alone is no reason to match
            signals["activity"] = np.where(np.asarray(scores) > 0, self._activity.activity, np.float32(0))
            scores = scores + np.float32(weights["activity"]) * signals["activity"]
        lowered = self._penalties({*tokenize(query), *(word for word, _ in words)})
        scores = np.where(corpus.alive, np.asarray(scores) * lowered, 0)
        rows = top_k(scores, limit)
        lowering = lowered[rows]
        contributions = [
            (np.float32(weights[name]) * column[rows] * lowering).tolist() for name, column in signals.items()
        ]
        return [
            RankedFile(
                row,
                score,
                chunk if chunk >= 0 or not toggles.vector else self._nearest_chunk(row, cosines),
                dict(zip(signals, own, strict=True)),
                by,
            )
            for row, score, chunk, by, *own in zip(
                rows.tolist(),
                scores[rows].tolist(),
                fittest[rows].tolist(),
                lowering.tolist(),
                *contributions,
                strict=True,
            )
        ]

    # -- text ----------------------------------------------------------------------------------------

    def _text_scores(
        self, words: Sequence[tuple[str, float]], plain: Sequence[tuple[str, float]], by_meaning: bool
    ) -> "_TextScores":
        """Score each chunk and each path by the query's words."""
        scores, covered = np.zeros((2, len(self._alive)), dtype=np.float32)
        path = np.zeros(len(self._corpus.files), dtype=np.float32)
        is_plain, total = {word for word, _ in plain}, 0.0
        rarities: dict[str, float] = {}
        for word, weight in words:
            had = self._matches_of(word)
            value = weight * had.rarity
            path[had.on_path] += np.float32(weight * idf(self._file_count, len(had.on_path)))
            scores[had.rows] += np.float32(value) * had.shares
            if word not in is_plain:
                continue
            rarities[word] = had.rarity_in_texts
            total += value
            covered[had.rows] += np.float32(value)
            if by_meaning and (near := self._related_matches(word, is_plain)):
                self._add_related(scores, covered, weight, had, near)
        if not self._all_alive:
            scores[~self._alive] = 0
        return _TextScores(scores, path, covered, total, rarities)

    def _matches_of(self, word: str) -> "_TermMatches":
        """Return the chunks that contain a word or whose file has it in its path, from the cache if possible."""
        known = self._match_cache.get(word)
        if known is None:
            known = self._match_cache[word] = self._find_matches(word)
            self._cached_rows += len(known.rows)
            if self._cached_rows > MAX_CACHED_ROWS or len(self._match_cache) > MAX_CACHED_WORDS:
                # Replaced, not cleared: a concurrent search keeps using the old cache.
                self._match_cache, self._cached_rows = {word: known}, len(known.rows)
        return known

    def _find_matches(self, word: str) -> "_TermMatches":
        number = token(word)
        had = self._alive_occurrences(self._corpus.words.occurrences_of(number))
        on_path = _alive_only(self._corpus.paths.occurrences_of(number), self._corpus.alive)
        rows, counts = had.rows, had.counts
        if len(on_path.rows):
            every = np.zeros(len(self._alive), dtype=np.float32)
            every[self._chunks_of(on_path.rows)] = PATH_WORD_COUNT
            every[had.rows] += had.counts
            rows = np.flatnonzero(every > 0)
            counts = every[rows]
        in_texts = min(len(had.rows), self._chunk_count)
        worth = worth_in_texts = idf(self._chunk_count, in_texts)
        if not in_texts:
            worth = idf(self._chunk_count, min(len(rows), self._chunk_count))
        return _TermMatches(rows, saturate_with_norms(counts, self._norms[rows]), worth, worth_in_texts, on_path.rows)

    def _alive_occurrences(self, found: Occurrences) -> Occurrences:
        return found if self._all_alive else _alive_only(found, self._alive)

    def _chunks_of(self, files: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the chunk rows of these files."""
        starts = self._chunk_starts[files]
        sizes: NDArray[np.int64] = self._chunk_ends[files] - starts
        ends: NDArray[np.int64] = np.cumsum(sizes)
        return np.arange(int(ends[-1]), dtype=np.int64) + np.repeat(starts - ends + sizes, sizes)

    def _related_matches(self, word: str, asked: Container[str]) -> "list[tuple[float, _TermMatches]]":
        """Return similarity and matches of the most related words that occur in some chunk and not in the query."""
        near = ((likeness, self._matches_of(other)) for other, likeness in related_words(word) if other not in asked)
        return list(islice(((likeness, had) for likeness, had in near if len(had.rows)), MAX_RELATED_WORDS))

    def _add_related(
        self,
        scores: Column,
        covered: Column,
        weight: float,
        had: "_TermMatches",
        near: "Sequence[tuple[float, _TermMatches]]",
    ) -> None:
        """Score chunks without a query word by its best related word, weighted by similarity.

        A related word never counts more than the word it stands for.
        """
        instead, values = np.zeros((2, len(scores)), dtype=np.float32)
        for likeness, other in near:
            value = np.float32(weight * likeness * min(had.rarity, other.rarity))
            instead[other.rows] = np.maximum(instead[other.rows], value * other.shares)
            values[other.rows] = np.maximum(values[other.rows], value)
        instead[had.rows] = values[had.rows] = 0
        scores += instead
        covered += values

    def _file_similarity(self, meaning: Codes) -> Column:
        """Return the similarity of each file's summary to the query, without what all files have in common."""
        cosines = self._file_vectors.cosines(meaning)
        distinct = self._distinct.cosines(rotated_vector(meaning), cosines)
        similar = cosines >= MIN_COSINE
        return _above_threshold(np.where(similar, np.maximum(distinct, 0), 0).astype(np.float32))

    def _combine_chunks(self, scores: Column) -> tuple[Column, NDArray[np.int64]]:
        """Return for each file the weighted sum of its best three chunks, and its best chunk (-1 for none)."""
        files = len(self._corpus.files)
        fittest = np.full(files, -1, dtype=np.int64)
        sums = np.zeros(files, dtype=np.float32)
        chunks = (scores > 0).nonzero()[0]
        left, owners = scores[chunks], self._corpus.chunks.files[chunks]
        starts = run_starts(owners)
        own, sizes = owners[starts], np.diff(starts, append=len(left))
        for turn, share in enumerate(CHUNK_WEIGHTS):
            if not len(left):
                break
            greatest = np.maximum.reduceat(left, starts)
            fitting = (left == np.repeat(greatest, sizes)).nonzero()[0]
            if len(fitting) > len(starts):  # of ties, the first
                fitting = fitting[fitting.searchsorted(starts)]
            sums[own] += np.float32(share) * greatest
            if turn == 0:
                fittest[own] = chunks[fitting]
            others = np.ones(len(left), dtype=np.bool_)
            others[fitting] = False
            left, more = left[others], sizes > 1
            own, sizes = own[more], sizes[more] - 1
            starts = np.cumsum(sizes) - sizes
        return sums, fittest

    def _max_by_file(self, values: Column) -> Column:
        """Return the maximum over the chunks of each file; 0 for a file without chunks."""
        found = np.zeros(len(self._corpus.files), dtype=np.float32)
        if len(self._first_chunks):
            found[self._files_with_chunks] = np.maximum.reduceat(values, self._first_chunks)
        return found

    def _nearest_chunk(self, file: int, cosines: NDArray[np.floating]) -> int:
        """Return the most similar chunk of a file that no word matches; -1 if the file has no chunks."""
        first, last = int(self._chunk_starts[file]), int(self._chunk_ends[file])
        return first + int(np.argmax(cosines[first:last])) if last > first else -1

    # -- names ---------------------------------------------------------------------------------------

    def _defines(self, words: Sequence[str]) -> Column:
        """Return how strongly each file defines one of these names."""
        corpus, symbols = self._corpus, self._corpus.symbols
        found = np.zeros(len(corpus.files), dtype=np.float32)
        for word in dict.fromkeys(words):
            rows = corpus.definitions_of(word)
            if not len(rows):
                continue
            spans = symbols.spans[rows]
            lines = np.minimum(spans[:, 3] - spans[:, 2], MAX_BODY_LINES).astype(np.float32)
            worth = _KIND_WEIGHT_COLUMN[symbols.kinds[rows]] * (1 + np.float32(0.1 / MAX_BODY_LINES) * lines)
            owners = symbols.files[rows]
            most = np.zeros(len(corpus.files), dtype=np.float32)
            np.maximum.at(most, owners, worth.astype(np.float32))
            found += most / np.float32(np.count_nonzero(most) ** 0.5)
        return np.minimum(found, 1)

    def _scope(self, query: str) -> Column:
        """Return the share of a scope prefix, as in `db/models: …`, that each path contains."""
        found = np.zeros(len(self._corpus.files), dtype=np.float32)
        if (named := _SCOPE.match(query)) is None:
            return found
        wanted = [part.lower() for part in re.split(r"[/.]", named[1]) if part]
        if wanted:
            for row, file in enumerate(self._corpus.files):
                parts = {part.lower() for part in file.path.split("/")}
                parts.add(file.path.rsplit("/", 1)[-1].split(".", 1)[0].lower())
                found[row] = sum(part in parts for part in wanted) / len(wanted)
        return found

    def _penalties(self, words: set[str]) -> Column:
        """Return the penalty factor of each file; few queries have words that change it."""
        asked = tuple(not words.isdisjoint(names) for names in _trigger_words())
        versions = tuple(version for version in self._superseded if version in words)
        known = self._penalty_cache.get((asked, versions))
        if known is None:
            if len(self._penalty_cache) >= MAX_CACHED_PENALTIES:
                self._penalty_cache.clear()
            known = self._penalty_cache[asked, versions] = self._compute_penalties(asked, versions)
        return known

    def _compute_penalties(self, asked: Sequence[bool], versions: Container[str]) -> Column:
        *traits, old, types, index, way = asked
        factors = np.ones(len(self._corpus.files), dtype=np.float32)
        for (trait, factor, asked_for, _), is_asked in zip(_PENALTIES, traits, strict=True):
            own = asked_for if is_asked else factor
            if own < 1:
                factors[(self._traits & int(trait)) != 0] *= np.float32(own)
        if not old:
            factors[self._is_legacy] *= np.float32(LEGACY_PENALTY)
        if not types:
            factors[self._is_types] *= np.float32(TYPES_PENALTY)
        if not index:
            factors[self._is_reexport] *= np.float32(REEXPORT_PENALTY)
        if not way:
            factors[self._is_async_variant] *= np.float32(ASYNC_VARIANT_PENALTY)
        for version, rows in self._superseded.items():
            if version not in versions:
                factors[rows] *= np.float32(SUPERSEDED_PENALTY)
        return factors


class _TextScores(NamedTuple):
    """Scores by words."""

    chunks: Column
    paths: Column
    """Path score by file."""
    covered: Column
    """Summed weight of the matched words, by chunk."""
    total: float
    """Summed weight of all words."""
    rarities: Mapping[str, float]
    """IDF of each word over chunk texts."""


class _TermMatches(NamedTuple):
    """The chunks that match a word."""

    rows: NDArray[np.int64]
    shares: Column
    """BM25 term weight in each chunk."""
    rarity: float
    """IDF of the word; over paths if no text contains it."""
    rarity_in_texts: float
    on_path: NDArray[np.int64]
    """Files with the word in their path."""


def _alive_only(found: Occurrences, alive: NDArray[np.bool_]) -> Occurrences:
    """Drop occurrences in dead rows."""
    kept = alive[found.rows]
    return found if kept.all() else Occurrences(found.rows[kept], found.counts[kept])


@cache
def _trigger_words() -> Sequence[frozenset[str]]:
    """Return the query words that lift each penalty: by trait, then for legacy, types, index and async files."""
    names = [names for *_, names in _PENALTIES]
    return [frozenset(tokenize(one)) for one in (*names, _LEGACY_WORDS, _TYPES_WORDS, _INDEX_WORDS, _ASYNC_WORDS)]


class _PathTraits(NamedTuple):
    """Properties of a file that its path reveals."""

    is_old: bool
    is_types: bool
    is_index: bool
    beside: str
    """Path without the `async` or `sync` suffix, if it has one; else empty."""
    versioned: tuple[str, int] | None
    """Parent of a folder `vN` that contains the file, and N."""


@lru_cache(maxsize=65_536)  # most paths stay the same between generations
def _path_traits(path: str) -> _PathTraits:
    version = _VERSION_FOLDER.search(path)
    versioned = (path[: version.start()], int(version[1])) if version else None
    another = _ASYNC_VARIANT_PATH.fullmatch(path) if "sync" in path.lower() else None
    beside = another[1] + another[2] if another else ""
    return _PathTraits(
        bool(_LEGACY_PATH.search(path)),
        bool(_TYPES_PATH.search(path)),
        bool(_INDEX_PATH.search(path)),
        beside,
        versioned,
    )


def _superseded(traits: Sequence[_PathTraits], alive: NDArray[np.bool_]) -> dict[str, NDArray[np.int64]]:
    """Return the files in folders `vN` that have a newer sibling version, by `vN`."""
    found = [(row, *own.versioned) for row, own in enumerate(traits) if own.versioned is not None and alive[row]]
    newest: dict[str, int] = {}
    for _, place, number in found:
        newest[place] = max(number, newest.get(place, 0))
    old: dict[str, list[int]] = {}
    for row, place, number in found:
        if number < newest[place]:
            old.setdefault(f"v{number}", []).append(row)
    return {version: np.array(rows, dtype=np.int64) for version, rows in old.items()}


def _relative_to_max(values: Column) -> Column:
    """Divide by the maximum."""
    return values / np.float32(values.max(initial=0) or 1)


def _similarity_signal(cosines: Column) -> Column:
    """Scale cosines relative to the highest, dropping those of unrelated texts."""
    return _above_threshold(np.where(cosines >= MIN_COSINE, cosines, np.float32(0)))


def _above_threshold(similar: Column) -> Column:
    """Scale so that the highest is 1 and those below the threshold are 0."""
    return np.maximum(
        (_relative_to_max(similar) - np.float32(MIN_RELATIVE_SIMILARITY)) / np.float32(1 - MIN_RELATIVE_SIMILARITY), 0
    )
