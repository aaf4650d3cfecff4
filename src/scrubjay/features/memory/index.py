"""Search index of all memories: words, vectors and columns for filters, refreshed from the store before each search.

This module imports numpy, which is slow to load: import it with `lazy_module`.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.db.sqlite.change_log import Revision, is_in_log, latest_revision
from scrubjay.db.sqlite.checksums import DAMAGE, DamagedRow
from scrubjay.db.sqlite.columns import json_value, microseconds
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.damage import DamagedTable
from scrubjay.db.sqlite.fts_terms import index_token
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.embeddings.index_files import index_file_name, index_kind
from scrubjay.features.memory.candidates import CandidatePool, CandidateQuery
from scrubjay.features.memory.models import MemoryFilter, MemoryKind
from scrubjay.features.memory.store import DerivedFile
from scrubjay.search_index.candidates import CandidateFinder, CandidateLayout, WordMatches
from scrubjay.search_index.neighbourhood import REACH
from scrubjay.search_index.row_columns import NONE, RowColumns, RowEntry
from scrubjay.search_index.score_baseline import ScoreBaseline
from scrubjay.search_index.segment_file import SegmentFile, UnusableFile
from scrubjay.search_index.token_segments import (
    MAX_PASSAGE_LENGTH,
    TokenSegments,
    idf_weights,
    length_norms,
    saturate_with_norms,
    token,
    tokens_of,
)
from scrubjay.search_index.vector_segments import ReadVectors, VectorSegments

logger = logging.getLogger("scrubjay.db")

_SQL = load_queries(__file__, "index_queries")

# Memories sampled to find the mean and deviation of cosines.
BASELINE_SAMPLE = 512
# Changes are appended to the file when they exceed both this number and rows / WRITE_SHARE_DIVISOR: fewer changes are
# quickly read from SQLite.
MIN_CHANGES_TO_WRITE = 1000
WRITE_SHARE_DIVISOR = 128
# More segments than this slow down searches and are merged.
MAX_SEGMENTS = 24
# A larger index uses mapped arrays and caches no words.
LARGE_INDEX_ROWS = 50_000
COMPARED_COLUMNS = ("audiences", "times", "recorded", "traits", "importance", "confidence", "kinds")
KIND_CODES = {kind.value: code for code, kind in enumerate(MemoryKind)}
_BATCH = 2000
# A word in at least rows / COMMON_WORD_DIVISOR rows is common, and its scores are cached, because questions repeat such
# words. The cache holds MAX_CACHED_WORDS words.
COMMON_WORD_DIVISOR = 32
MAX_CACHED_WORDS = 64

# Prefix of the names of label arrays in the file.
_LABEL_PREFIX = "label_"
NO_FILTER = MemoryFilter()
_NO_ROWS: NDArray[np.int64] = np.empty(0, dtype=np.int64)

Rows = NDArray[np.int64]
VectorsOf = Callable[[list[int]], Sequence[bytes]]
"""Returns the exact vectors of memories, given their row numbers."""


def label_tokens(category: str | None, tags: Iterable[str]) -> list[int]:
    """Return the tokens of a category and tags."""
    categories = [] if category is None else [token(f"category {category}")]
    return categories + [token(f"tag {tag}") for tag in dict.fromkeys(tags)]


class _CorpusStatistics(NamedTuple):
    """Statistics of the visible texts."""

    texts: int
    is_stable: bool
    """True if there are enough texts for a few more not to change the statistics."""
    average_length: float
    baseline: ScoreBaseline | None
    """Distribution of cosines to a sample; None without vectors."""


class _VisibleRows(NamedTuple):
    """The rows that a caller may see."""

    visible: NDArray[np.bool_]
    texts: int
    is_everything: bool
    """True if all rows are visible."""
    speakers: list[str]
    speaker_indexes: NDArray[np.int32]
    """Maps the code of each speaker to its index in `speakers`, or NONE; the last entry is NONE."""
    statistics: _CorpusStatistics
    norms: NDArray[np.float32]
    """BM25 length norm of each row, as if it were one passage."""
    common_words: dict[int, WordMatches]
    """Cached common words by token."""


class _Entries(NamedTuple):
    """Rows as they are added to the index: columns, words and labels."""

    columns: list[RowEntry]
    words: list[list[int]]
    labels: list[list[int]]


class _QueryTerms(NamedTuple):
    """The search terms with their document frequencies and weights (IDF)."""

    terms: tuple[str, ...]
    frequencies: list[int]
    weights: NDArray[np.float32]


class MemoryIndex:
    """Search index of all memories with the vectors of one model. Not thread-safe.

    The index is a copy of the SQLite tables. It knows the last change that it contains and catches up with the change
    log.
    """

    def __init__(self, folder: Path, model: str, vector_bytes: int) -> None:
        self._path = folder / index_file_name(model, vector_bytes)
        self._model = model
        self._bytes = vector_bytes
        self._candidates = CandidateFinder()
        self._clear()

    def _clear(self) -> None:
        self._revision: Revision | None = None
        self.damaged = 0
        self._file: SegmentFile | None = None
        self._file_is_unusable = False
        self._file_has_erased_rows = False
        self._columns = RowColumns()
        self._words = TokenSegments()
        self._labels = TokenSegments()
        self._vectors = VectorSegments(self._bytes // 2) if self._bytes else None
        self._visible_cache: dict[tuple[int, ...], _VisibleRows] = {}
        self._statistics_cache: dict[tuple[int, ...], _CorpusStatistics] = {}

    # -- refresh -------------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        return self._columns.rows

    def count_missed(self, latest: Revision) -> int:
        """Return the number of changes since the last refresh."""
        known = 0 if self._revision is None else self._revision.number
        return abs(latest.number - known)

    def refresh(self, connection: Connection, latest: Revision | None = None) -> None:
        """Bring the index to the state of the connection's snapshot, which must not be older than the last one.

        `latest` is the last change in the snapshot, if the caller knows it.
        """
        latest = latest or latest_revision(connection)
        if latest == self._revision:
            return
        self._visible_cache.clear()
        try:
            if self._revision is None or not is_in_log(connection, self._revision):
                self._reload(connection)
            else:
                self._replace(self._changed_since(connection, self._revision))
        except DAMAGE as error:
            logger.warning("the store is damaged; reading it row by row", extra={"reason": str(error)})
            self._read_intact(connection)
        self._revision = latest

    def _reload(self, connection: Connection) -> None:
        self._clear()
        contained = self._read_file(connection)
        if contained is None:
            self._file_is_unusable = self._path.exists()
            self._read_everything(connection)
        else:
            self._replace(self._changed_since(connection, contained))

    def _read_everything(self, connection: Connection) -> None:
        everything = connection.stream(_SQL["everything"], {"model": self._model, "bytes": self._bytes})
        while batch := list(islice(everything, _BATCH)):
            self._add(batch)

    def _read_intact(self, connection: Connection) -> None:
        """Read every row that can be read, each alone, and count the others."""
        self._clear()
        rows: list[Any] = []
        for checked in DamagedTable(connection, "memory").rows():
            row = None if checked.problem else self._read_row(connection, checked.key[0])
            if row is None:
                self.damaged += 1
            else:
                rows.append(row)
        for start in range(0, len(rows), _BATCH):
            self._add(rows[start : start + _BATCH])

    def _read_row(self, connection: Connection, seq: int) -> Any | None:
        """Return the row of a memory, without its derived data if these are damaged; None if it cannot be read."""
        for query in (_SQL["row"], _SQL["row_alone"]):
            with suppress(*DAMAGE):
                [row] = connection.execute(query, {"seq": seq, "model": self._model, "bytes": self._bytes})
                self._entries_of([row])
                return row
        return None

    def _changed_since(self, connection: Connection, revision: Revision) -> Iterator[Any]:
        values = {"revision": revision.number, "model": self._model, "bytes": self._bytes}
        return connection.stream(_SQL["changed_since"], values)

    def _replace(self, changed: Iterator[Any]) -> None:
        while batch := list(islice(changed, _BATCH)):
            erased = [self._columns.row_of(row[0]) for row in batch if row[1] is None]
            self._file_has_erased_rows |= any(NONE < row < self._columns.saved_rows for row in erased)
            self._columns.remove(row[0] for row in batch)
            self._add([row for row in batch if row[1] is not None])

    def _add(self, rows: Sequence[Any]) -> None:
        entries, words, labels = self._entries_of(rows)
        self._columns.add(entries)
        self._words.append(words)
        self._labels.append(labels)
        if self._vectors is not None:
            self._vectors.append([row[10] or b"" for row in rows])

    def _entries_of(self, rows: Sequence[Any]) -> _Entries:
        return _Entries(
            [RowEntry(*row[:9], kind=KIND_CODES[row[13]], since=row[14], until=row[15]) for row in rows],
            [tokens_of(row[9] or "") for row in rows],
            [label_tokens(row[11], () if row[12] == "[]" else json_value(row[12])) for row in rows],
        )

    # -- the file ------------------------------------------------------------------------------------

    @property
    def needs_compaction(self) -> bool:
        """True if the file has too many segments or dead rows, or still contains erased memories."""
        if self._revision is None:  # just rewritten, or not read yet
            return False
        segments = 0 if self._file is None else len(self._file.segments)
        many_dead = self._columns.dead > max(MIN_CHANGES_TO_WRITE, self.rows // 4)
        return self._file_has_erased_rows or segments > MAX_SEGMENTS or many_dead

    @property
    def is_far_behind(self) -> bool:
        """True if the file lacks enough changes to be worth writing."""
        return self._file_is_unusable or self._columns.changes > max(
            MIN_CHANGES_TO_WRITE, self.rows // WRITE_SHARE_DIVISOR
        )

    def write_file(self) -> DerivedFile:
        """Rewrite the file atomically as one segment and continue with it."""
        if self._revision is None:
            raise ValueError("the index was never refreshed")
        if self.damaged:
            raise DamagedRow("memory")
        arrays = self._all_arrays()
        file = SegmentFile.write(self._path, self._kind, {}, [(self._file_metadata(self._revision), arrays)])
        if self._columns.dead or self.rows > LARGE_INDEX_ROWS:  # mapped arrays use no private memory
            revision = self._revision
            self._clear()
            self._revision = revision
            self._attach(file)
        self._file, self._file_is_unusable, self._file_has_erased_rows = file, False, False
        self._columns.mark_saved()
        return DerivedFile(self._path.name, len(arrays["seqs"]), file.size)

    def reset(self) -> None:
        """Read the file again before the next search, because it was rewritten."""
        self._revision = None

    def update_file(self) -> None:
        """Append missing changes to the file if there are many, unless another process is doing so."""
        if self._revision is None or self.damaged or not (self.is_far_behind or self.needs_compaction):
            return  # a file without the damaged rows would hide that they are missing
        try:
            if self._file is None:
                self.write_file()
            elif not self._is_current(self._file):
                self.reset()
            elif self.is_far_behind:
                self._append(self._file, self._revision)
        except UnusableFile:  # another process has just rewritten it
            self.reset()
        except OSError as error:  # searches work without the file, only the next start is slower
            logger.warning("a derived file could not be written", extra={"reason": str(error)})

    def _is_current(self, file: SegmentFile) -> bool:
        try:
            return not file.refresh()
        except UnusableFile:
            return False

    def _append(self, file: SegmentFile, revision: Revision) -> None:
        rows = np.arange(self._columns.saved_rows, self.rows)
        with file.lock() as is_locked:
            if not is_locked:
                return
            if not self._is_current(file):
                raise UnusableFile("another process has appended to it")
            file.append(self._file_metadata(revision), self._columns.arrays_since() | self._content_arrays(rows))
        self._columns.mark_saved()

    def _file_metadata(self, revision: Revision) -> dict[str, int]:
        return {"revision": revision.number, "mark": revision.mark}

    def _content_arrays(self, rows: Rows, *, complete: bool = False) -> dict[str, NDArray[Any]]:
        """Return the arrays of words, labels and vectors of these rows; `complete` if these are all rows."""
        arrays = self._words.arrays_of(rows)
        arrays |= {_LABEL_PREFIX + name: array for name, array in self._labels.arrays_of(rows).items()}
        return arrays | ({} if self._vectors is None else self._vectors.arrays_of(rows, recentred=complete))

    def _all_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of all living rows, as one segment."""
        rows = self._columns.live_rows()
        return self._columns.arrays_of(rows) | self._content_arrays(rows, complete=True)

    @property
    def _kind(self) -> str:
        return index_kind(self._model, self._bytes)

    def _read_file(self, connection: Connection) -> Revision | None:
        """Load the file and return the last change that it contains; None if it is missing or unusable."""
        if not self._path.exists():
            return None
        try:
            file = SegmentFile(self._path, self._kind, trusting=True)
            revision = _file_revision(file)
            if not is_in_log(connection, revision):
                return None
            self._attach(file)
            file.mark_verified()
        except (UnusableFile, ValueError) as error:
            logger.warning("rebuilding a derived file", extra={"file": self._path.name, "reason": str(error)})
            self._clear()
            return None
        self._file = file
        return revision

    def _attach(self, file: SegmentFile) -> None:
        for segment in file.segments:
            arrays = segment.arrays
            self._columns.attach(arrays)
            self._words.attach(arrays)
            self._labels.attach(
                {name.removeprefix(_LABEL_PREFIX): a for name, a in arrays.items() if name.startswith(_LABEL_PREFIX)}
            )
            if self._vectors is not None:
                self._vectors.attach(arrays)

    def problems(self, connection: Connection) -> Iterator[str]:
        """Yield the differences between the file and the store, except for changes that it does not contain yet."""
        if not self._path.exists():
            return
        try:
            file = SegmentFile(self._path, self._kind)
            revision = _file_revision(file)
            if not is_in_log(connection, revision):
                yield f"{self._path.name} is too old to be used and will be rebuilt"
                return
            self._attach(file)
        except (UnusableFile, ValueError) as error:
            yield f"{self._path.name} {error}"
            return
        in_file = self._entries()
        self._clear()
        self._read_everything(connection)
        changed = {row[0] for row in self._changed_since(connection, revision)}
        stored = {seq: entry for seq, entry in self._entries().items() if seq not in changed}
        in_file = {seq: entry for seq, entry in in_file.items() if seq not in changed}
        if differing := {seq for seq in stored.keys() | in_file.keys() if stored.get(seq) != in_file.get(seq)}:
            yield f"{self._path.name} has {len(differing)} entries that differ from the store"

    def _entries(self) -> dict[int, tuple[Any, ...]]:
        """Return all values of each memory, by row number in the store."""
        rows = self._columns.live_rows()
        columns = [self._columns.arrays_of(rows)[name].tolist() for name in COMPARED_COLUMNS]
        words, labels = _tokens_by_row(self._words, rows), _tokens_by_row(self._labels, rows)
        vectors = [b""] * len(rows)
        if self._vectors is not None:
            vectors = [vector.tobytes() for vector in self._vectors.values(rows)]
        entries = zip(self._columns.seqs[rows].tolist(), *columns, words, labels, vectors, strict=True)
        return {seq: tuple(known) for seq, *known in entries}

    # -- search --------------------------------------------------------------------------------------

    def candidates(
        self,
        query: CandidateQuery,
        audiences: Sequence[int],
        within: Sequence[int],
        matching: Sequence[int] | None = None,
        vectors_of: VectorsOf | None = None,
    ) -> CandidatePool:
        """Return the candidates among the memories that are visible to these audiences and match the query's filter.

        `within` are the audiences that may contain candidates; `matching` are the row numbers that match the conditions
        which only the store can check, or None without such conditions; `vectors_of` reads exact vectors, or None to
        use approximate ones.
        """
        now = None if query.filter.as_of else query.now
        ended = _NO_ROWS if now is None else self._columns.expired(microseconds(now))
        view = self._visible_rows(tuple(audiences), ended)
        allowed = self._allowed(query.filter, view, within, matching)
        terms = tuple(map(index_token, query.choose_terms(view.speakers)))
        words = [self._look_up_word(token(term), view) for term in terms]
        frequencies = [word.texts for word in words]
        found = _QueryTerms(terms, frequencies, idf_weights(view.texts, frequencies))
        scored = self._candidates.score(words, found.weights, self.rows, allowed, query.limit)
        others = self._more_candidates(query, scored.scores, allowed, self._exact_vectors(vectors_of))
        return self._pool(query, self._candidates.lay_out(self._columns, scored, others, allowed), view, found)

    def _look_up_word(self, wanted: int, view: _VisibleRows) -> WordMatches:
        """Return the rows and scores of a word; those of common words are cached."""
        if (known := view.common_words.get(wanted)) is not None:
            return known
        rows, counts = self._words.rows_with(wanted)
        texts = len(rows) if view.is_everything else int(np.count_nonzero(view.visible[rows]))
        shares = saturate_with_norms(counts, view.norms[rows])
        if len(rows) * COMMON_WORD_DIVISOR < self.rows or self.rows > LARGE_INDEX_ROWS:
            return WordMatches(texts, rows, shares)
        of_all = np.zeros(self.rows, dtype=np.float32)
        of_all[rows] = shares
        if len(view.common_words) >= MAX_CACHED_WORDS:
            view.common_words.pop(next(iter(view.common_words)))
        word = view.common_words[wanted] = WordMatches(texts, None, of_all)
        return word

    def speakers(self, audiences: tuple[int, ...]) -> list[str]:
        """Return the speakers of the memories visible to these audiences."""
        return self._visible_rows(audiences).speakers

    def _exact_vectors(self, vectors_of: VectorsOf | None) -> ReadVectors | None:
        def exactly(rows: Rows) -> Sequence[bytes]:
            return vectors_of(self._columns.seqs[rows].tolist()) if vectors_of else ()

        return exactly if vectors_of else None

    def _allowed(
        self, filter: MemoryFilter, view: _VisibleRows, within: Sequence[int], passing: Sequence[int] | None
    ) -> NDArray[np.bool_] | None:
        """Return a mask of the rows that may be candidates; None if all may."""
        if passing is None and filter == NO_FILTER:
            return None if view.is_everything else view.visible
        columns = self._columns
        wanted = [self._labels.rows_with(label).rows for label in label_tokens(filter.category, filter.tags)]
        if passing is not None:
            rows = np.array([columns.row_of(seq) for seq in passing], dtype=np.int64)
            wanted.append(rows[rows != NONE])
        allowed = view.visible.copy()
        for rows in wanted:
            passed = np.zeros_like(allowed)
            passed[rows] = True
            allowed &= passed
        if filter.as_of is not None:
            allowed &= columns.valid_at(microseconds(filter.as_of))
        if filter.kinds:
            allowed &= _is_any(columns.kinds, [KIND_CODES[kind] for kind in filter.kinds])
        if filter.speaker is not None:
            allowed &= columns.speakers == columns.speaker_code(filter.speaker)
        if filter.scope is not None:
            allowed &= _is_any(columns.audiences, within)
        if filter.from_session is not None:
            allowed &= _is_any(columns.chains, columns.chain_codes(filter.from_session, within))
        if filter.occurred_after is not None:
            allowed &= columns.times >= microseconds(filter.occurred_after)
        if filter.occurred_before is not None:
            allowed &= columns.times < microseconds(filter.occurred_before)
        return allowed

    def _visible_rows(self, audiences: tuple[int, ...], ended: Rows = _NO_ROWS) -> _VisibleRows:
        """Return the rows visible to these audiences without the `ended` ones, cached until the next change.

        With time, rows only end and never start again, so the number of ended rows identifies them in the cache key.
        """
        cache_key = (*audiences, -len(ended))
        if cache_key not in self._visible_cache:
            columns = self._columns
            visible = _is_any(columns.audiences, audiences)
            visible[ended] = False
            texts = int(np.count_nonzero(visible))
            speakers = columns.speakers_among(audiences)
            index_of = {name: index for index, name in enumerate(speakers)}
            indexes = [*(index_of.get(name, NONE) for name in columns.speaker_names), NONE]
            statistics = self._corpus_statistics(audiences, texts, visible)
            self._visible_cache[cache_key] = _VisibleRows(
                visible,
                texts,
                texts == columns.rows,
                speakers,
                np.array(indexes, dtype=np.int32),
                statistics,
                length_norms(
                    np.minimum(self._words.lengths, np.float32(MAX_PASSAGE_LENGTH)), statistics.average_length
                ),
                {},
            )
        return self._visible_cache[cache_key]

    def _corpus_statistics(
        self, audiences: tuple[int, ...], texts: int, visible: NDArray[np.bool_]
    ) -> _CorpusStatistics:
        """Return the cached statistics of the visible texts, recomputed for a large index when 1 % has changed."""
        known = self._statistics_cache.get(audiences)
        if (
            known is None
            or abs(texts - known.texts) > (texts // 100 if texts > LARGE_INDEX_ROWS else 0)
            or not known.is_stable
        ):
            step = max(1, -(-texts // BASELINE_SAMPLE))
            if texts == self.rows:
                lengths, sample = self._words.lengths, np.arange(0, texts, step)
            else:
                rows = np.flatnonzero(visible)
                lengths, sample = self._words.lengths[rows], rows[::step]
            known = self._statistics_cache[audiences] = _CorpusStatistics(
                texts,
                texts > LARGE_INDEX_ROWS,
                float(np.minimum(lengths, MAX_PASSAGE_LENGTH).mean()) if texts else 0.0,
                None if self._vectors is None else ScoreBaseline(self._vectors.values(sample)),
            )
        return known

    def _more_candidates(
        self,
        query: CandidateQuery,
        scores: NDArray[np.float32],
        allowed: NDArray[np.bool_] | None,
        exactly: ReadVectors | None,
    ) -> Rows:
        """Return the rows nearest to the query's vector, and the best ones in its time spans."""
        found: list[Rows] = []
        if self._vectors is not None and query.vector:
            found.append(self._vectors.nearest(query.vector, query.limit, allowed, exactly).rows)
        for start, end in query.time_spans:
            times = self._columns.times
            then = (times >= microseconds(start)) & (times < microseconds(end))
            if allowed is not None:
                then &= allowed
            found.append(self._best_rows(query, scores, allowed, then.nonzero()[0]))
        return found[0] if len(found) == 1 else np.concatenate([_NO_ROWS, *found])

    def _best_rows(
        self, query: CandidateQuery, scores: NDArray[np.float32], allowed: NDArray[np.bool_] | None, rows: Rows
    ) -> Rows:
        """Return the best `query.limit` of these rows by words and vectors together."""
        if len(rows) <= query.limit:
            return rows
        if allowed is not None:
            scores = np.where(allowed, scores, np.float32(0))
        fits = scores[rows] / (scores.max(initial=0) or 1)
        if self._vectors is not None and query.vector:
            fits = 3 * fits + 10 * np.nan_to_num(self._vectors.cosines(query.vector, rows))
        return rows[np.argsort(-fits, kind="stable")[: query.limit]]

    def _pool(
        self, query: CandidateQuery, layout: CandidateLayout, view: _VisibleRows, found: _QueryTerms
    ) -> CandidatePool:
        columns, chosen, rows = self._columns, layout.chosen, layout.texts
        # Most neighbours have none of the words, so only `having_rows` are examined.
        matched = self._words.match_rows(
            layout.having_rows, found.terms, found.weights, view.statistics.average_length, layout.having, len(rows)
        )
        if self._vectors is None or view.statistics.baseline is None or not query.vector:
            cosines = z_scores = np.full(len(chosen), np.nan, dtype=np.float32)
            values = cosines[:, np.newaxis]
        else:
            question, values = self._vectors.values_of_query(query.vector), self._vectors.values(chosen)
            cosines, z_scores = view.statistics.baseline.compare(question, values)
        return CandidatePool(
            handles=columns.seqs[chosen],
            neighbours=layout.around,
            text_occurrences=matched.occurrences,
            text_bm25=matched.bm25,
            text_traits=columns.traits[rows],
            text_speakers=view.speaker_indexes[columns.speakers[rows]],
            pairs=matched.pairs[layout.around[:, REACH]],
            lengths=self._words.lengths[chosen],
            cosines=cosines,
            z_scores=z_scores,
            vectors=values,
            sessions=columns.chains[chosen],
            times=columns.times[chosen],
            recorded_at=columns.recorded[chosen],
            importance=columns.importance[chosen],
            confidence=columns.confidence[chosen],
            uses=np.zeros(len(chosen), dtype=np.int64),
            last_used=columns.recorded[chosen],
            speaker_names=view.speakers,
            terms=found.terms,
            text_count=view.texts,
            frequencies=found.frequencies,
            term_weights=found.weights,
            damaged=self.damaged,
        )


def _is_any(values: NDArray[Any], wanted: Iterable[int]) -> NDArray[np.bool_]:
    found = np.zeros(len(values), dtype=np.bool_)
    for one in wanted:
        found |= values == one
    return found


def _file_revision(file: SegmentFile) -> Revision:
    if not file.segments:
        raise UnusableFile("is empty")
    meta = file.segments[-1].meta
    return Revision(meta["revision"], meta["mark"])


def _tokens_by_row(segments: TokenSegments, rows: Rows) -> list[bytes]:
    gathered = segments.gather(rows)
    bounds = np.searchsorted(gathered.owners, np.arange(1, len(rows)))
    return [tokens.tobytes() for tokens in np.split(gathered.tokens, bounds)][: len(rows)]
