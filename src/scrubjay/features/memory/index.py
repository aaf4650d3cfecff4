"""Search over all memories: their words, vectors and circumstances, brought up to date from the store before each use.

This module imports numpy, which takes a while: import it where it is first needed.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.db.sqlite.change_log import Revision, in_log, latest_revision
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.fts_terms import token as token_text
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import json_value, microseconds
from scrubjay.features.embeddings.index_files import index_file_name, index_kind
from scrubjay.features.memory.models import CandidatePool, CandidateQuery, Kind, MemoryFilter
from scrubjay.features.memory.store import DerivedFile
from scrubjay.search_index.candidates import CandidateRows, Layout, Word
from scrubjay.search_index.neighbourhood import REACH
from scrubjay.search_index.row_columns import NONE, Entry, RowColumns
from scrubjay.search_index.score_baseline import Background
from scrubjay.search_index.segment_file import SegmentFile, UnusableFile
from scrubjay.search_index.token_segments import (
    LONGEST_PASSAGE,
    TokenSegments,
    length_norms,
    rarity,
    saturated_by,
    token,
    tokens_of,
)
from scrubjay.search_index.vector_segments import Exactly, VectorSegments

logger = logging.getLogger("scrubjay.db")

_SQL = load_queries(__file__, "index_queries")

# So many memories tell how similar any memory is to a question.
SAMPLE = 512
# A file that misses fewer changes than this, or than a small share of its rows, saves nearly all of the reading.
FEW_CHANGES = 1000
SMALL_SHARE = 128
# So many segments still cost a search little; then one takes the place of all, also when many rows are dead.
MANY_SEGMENTS = 24
MANY_ROWS = 50_000
COMPARED = ("audiences", "times", "recorded", "traits", "importance", "confidence", "kinds")
KIND_CODES = {kind.value: code for code, kind in enumerate(Kind)}
_BATCH = 2000
# A word that one row in so many has is common; of so many it is kept what each says of all rows, as long as these are
# not very many: questions ask with the same words again and again.
COMMON_SHARE = 32
MOST_COMMON = 64

# Before the names of arrays that are about labels.
_LABELS = "label_"
NO_FILTER = MemoryFilter()
_NO_ROWS: NDArray[np.int64] = np.empty(0, dtype=np.int64)

Rows = NDArray[np.int64]
VectorsOf = Callable[[list[int]], Sequence[bytes]]
"""The vectors of memories by their places in the store, in this order."""


def labels_of(category: str | None, tags: Iterable[str]) -> list[int]:
    """The tokens that stand for a category and tags."""
    categories = [] if category is None else [token(f"category {category}")]
    return categories + [token(f"tag {tag}") for tag in dict.fromkeys(tags)]


class _Typical(NamedTuple):
    """What is typical of many texts."""

    texts: int
    lasts: bool
    """Whether it stays true when a few are added or go."""
    average: float
    """The average length of a text."""
    background: Background | None


class _View(NamedTuple):
    """What an asker may see."""

    visible: NDArray[np.bool_]
    texts: int
    everything: bool
    """Whether that is all there is."""
    speakers: list[str]
    places_of_speakers: NDArray[np.int32]
    """Where each of all speakers is among these; NONE for one who is not, and at the end."""
    typical: _Typical
    norms: NDArray[np.float32]
    """What the length of each row comes to, as if it were one passage."""
    common: dict[int, Word]
    """Words that many rows have, by their tokens, as they were found before."""


class _Found(NamedTuple):
    """The words that were looked for, in how many texts each occurs, and what it is worth."""

    terms: tuple[str, ...]
    frequencies: list[int]
    worth: NDArray[np.float32]


class MemoryIndex:
    """All memories, with the vectors of one model, for one thread at a time.

    SQLite has the truth. What is here is a copy that knows the last change it contains, and catches up by the change
    log.
    """

    def __init__(self, folder: Path, model: str, vector_bytes: int) -> None:
        self._path = folder / index_file_name(model, vector_bytes)
        self._model = model
        self._bytes = vector_bytes
        self._candidates = CandidateRows()
        self._clear()

    def _clear(self) -> None:
        self._revision: Revision | None = None
        self._file: SegmentFile | None = None
        self._file_is_worthless = False
        self._file_has_erased = False
        self._columns = RowColumns()
        self._words = TokenSegments()
        self._labels = TokenSegments()
        self._vectors = VectorSegments(self._bytes // 2) if self._bytes else None
        self._views: dict[tuple[int, ...], _View] = {}
        self._typical_of: dict[tuple[int, ...], _Typical] = {}

    # -- keeping up ----------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        return self._columns.rows

    def missed(self, latest: Revision) -> int:
        """How many changes happened since the last refresh."""
        known = 0 if self._revision is None else self._revision.number
        return abs(latest.number - known)

    def refresh(self, connection: Connection, latest: Revision | None = None) -> None:
        """Contain all that the connection's snapshot has. Snapshots must not go back in time from call to call.

        Who knows already what its latest change is need not let it be read again.
        """
        latest = latest or latest_revision(connection)
        if latest == self._revision:
            return
        self._views.clear()
        if self._revision is None or not in_log(connection, self._revision):
            self._reload(connection)
        else:
            self._replace(self._changed_since(connection, self._revision))
        self._revision = latest

    def _reload(self, connection: Connection) -> None:
        self._clear()
        contained = self._read_file(connection)
        if contained is None:
            self._file_is_worthless = self._path.exists()
            self._read_everything(connection)
        else:
            self._replace(self._changed_since(connection, contained))

    def _read_everything(self, connection: Connection) -> None:
        everything = connection.stream(_SQL["everything"], {"model": self._model, "bytes": self._bytes})
        while batch := list(islice(everything, _BATCH)):
            self._add(batch)

    def _changed_since(self, connection: Connection, revision: Revision) -> Iterator[Any]:
        values = {"revision": revision.number, "model": self._model, "bytes": self._bytes}
        return connection.stream(_SQL["changed_since"], values)

    def _replace(self, changed: Iterator[Any]) -> None:
        while batch := list(islice(changed, _BATCH)):
            places = [self._columns.row_of(row[0]) for row in batch if row[1] is None]
            self._file_has_erased |= any(NONE < place < self._columns.kept_rows for place in places)
            self._columns.kill(row[0] for row in batch)
            self._add([row for row in batch if row[1] is not None])

    def _add(self, rows: Sequence[Any]) -> None:
        self._columns.add([Entry(*row[:9], kind=KIND_CODES[row[13]], since=row[14], until=row[15]) for row in rows])
        self._words.append([tokens_of(row[9] or "") for row in rows])
        self._labels.append([labels_of(row[11], () if row[12] == "[]" else json_value(row[12])) for row in rows])
        if self._vectors is not None:
            self._vectors.append([row[10] or b"" for row in rows])

    # -- the file ------------------------------------------------------------------------------------

    @property
    def is_scattered(self) -> bool:
        """Whether everything should be written anew: for faster searches, a smaller file, or because of what it has."""
        if self._revision is None:  # it was written anew, or will be read
            return False
        segments = 0 if self._file is None else len(self._file.segments)
        many_dead = self._columns.dead > max(FEW_CHANGES, self.rows // 4)
        return self._file_has_erased or segments > MANY_SEGMENTS or many_dead

    @property
    def misses_much(self) -> bool:
        """Whether the file lacks so much that it is worth writing."""
        return self._file_is_worthless or self._columns.changes > max(FEW_CHANGES, self.rows // SMALL_SHARE)

    def write_file(self) -> DerivedFile:
        """Write everything anew to the file, which appears whole or not at all, and go on from there."""
        if self._revision is None:
            raise ValueError("nothing was read yet")
        arrays = self._living()
        file = SegmentFile.write(self._path, self._kind, {}, [(self._contained(self._revision), arrays)])
        if self._columns.dead or self.rows > MANY_ROWS:  # mapped, they take no memory of this process's own
            revision = self._revision
            self._clear()
            self._revision = revision
            self._attach(file)
        self._file, self._file_is_worthless, self._file_has_erased = file, False, False
        self._columns.note_kept()
        return DerivedFile(self._path.name, len(arrays["seqs"]), file.size)

    def begin_anew(self) -> None:
        """Read the file again before the next search, because it was written anew."""
        self._revision = None

    def keep_up_file(self) -> None:
        """Add what the file misses to it, if that is much, and nobody else is doing so."""
        if self._revision is None or not (self.misses_much or self.is_scattered):
            return
        try:
            if self._file is None:
                self.write_file()
            elif not self._is_current(self._file):
                self.begin_anew()
            elif self.misses_much:
                self._append(self._file, self._revision)
        except UnusableFile:  # written anew just now
            self.begin_anew()
        except OSError as error:  # the answer is right without a file, only slower to come by
            logger.warning("a derived file could not be written", extra={"reason": str(error)})

    def _is_current(self, file: SegmentFile) -> bool:
        try:
            return not file.refresh()
        except UnusableFile:
            return False

    def _append(self, file: SegmentFile, revision: Revision) -> None:
        rows = np.arange(self._columns.kept_rows, self.rows)
        with file.locked() as is_ours:
            if not is_ours:
                return
            if not self._is_current(file):
                raise UnusableFile("others appended meanwhile")
            file.append(self._contained(revision), self._columns.arrays_since() | self._contents_of(rows))
        self._columns.note_kept()

    def _contained(self, revision: Revision) -> dict[str, int]:
        return {"revision": revision.number, "mark": revision.mark}

    def _contents_of(self, rows: Rows, *, anew: bool = False) -> dict[str, NDArray[Any]]:
        """The words, labels and vectors of these; `anew` when they are all there are."""
        arrays = self._words.arrays_of(rows)
        arrays |= {_LABELS + name: array for name, array in self._labels.arrays_of(rows).items()}
        return arrays | ({} if self._vectors is None else self._vectors.arrays_of(rows, recentred=anew))

    def _living(self) -> dict[str, NDArray[Any]]:
        """Everything in one segment."""
        rows = self._columns.living()
        return self._columns.arrays_of(rows) | self._contents_of(rows, anew=True)

    @property
    def _kind(self) -> str:
        return index_kind(self._model, self._bytes)

    def _read_file(self, connection: Connection) -> Revision | None:
        """Begin with what the file holds, and tell what it contains; None when it cannot be used."""
        if not self._path.exists():
            return None
        try:
            file = SegmentFile(self._path, self._kind, trusting=True)
            revision = _contained_by(file)
            if not in_log(connection, revision):
                return None
            self._attach(file)
            file.note_whole()
        except (UnusableFile, ValueError) as error:
            logger.warning("a derived file is made anew", extra={"file": self._path.name, "reason": str(error)})
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
                {name.removeprefix(_LABELS): a for name, a in arrays.items() if name.startswith(_LABELS)}
            )
            if self._vectors is not None:
                self._vectors.attach(arrays)

    def problems(self, connection: Connection) -> Iterator[str]:
        """How the file differs from the store, apart from changes that it is known not to contain yet."""
        if not self._path.exists():
            return
        try:
            file = SegmentFile(self._path, self._kind)
            revision = _contained_by(file)
            if not in_log(connection, revision):
                yield f"{self._path.name} is too old to be used, and will be made anew"
                return
            self._attach(file)
        except (UnusableFile, ValueError) as error:
            yield f"{self._path.name} {error}"
            return
        copied = self._entries()
        self._clear()
        self._read_everything(connection)
        changed = {row[0] for row in self._changed_since(connection, revision)}
        kept = {seq: entry for seq, entry in self._entries().items() if seq not in changed}
        copied = {seq: entry for seq, entry in copied.items() if seq not in changed}
        if differing := {seq for seq in kept.keys() | copied.keys() if kept.get(seq) != copied.get(seq)}:
            yield f"{self._path.name} has {len(differing)} entries that differ from the store"

    def _entries(self) -> dict[int, tuple[Any, ...]]:
        """All that is known of each memory."""
        rows = self._columns.living()
        columns = [self._columns.arrays_of(rows)[name].tolist() for name in COMPARED]
        words, labels = _by_row(self._words, rows), _by_row(self._labels, rows)
        vectors = [b""] * len(rows)
        if self._vectors is not None:
            vectors = [vector.tobytes() for vector in self._vectors.values(rows)]
        entries = zip(self._columns.seqs[rows].tolist(), *columns, words, labels, vectors, strict=True)
        return {seq: tuple(known) for seq, *known in entries}

    # -- searching -----------------------------------------------------------------------------------

    def candidates(
        self,
        query: CandidateQuery,
        audiences: Sequence[int],
        within: Sequence[int],
        passing: Sequence[int] | None = None,
        vectors_of: VectorsOf | None = None,
    ) -> CandidatePool:
        """Everything that may answer, of what these audiences may see and what passes the query's filter.

        `within` are those of the audiences whose memories may be candidates; `passing` tells what passes the part of
        the filter that only the store knows, if it has such a part; `vectors_of` gives exact vectors, where these are
        wanted.
        """
        now = None if query.filter.as_of else query.now
        ended = _NO_ROWS if now is None else self._columns.ended(microseconds(now))
        view = self._view(tuple(audiences), ended)
        allowed = self._allowed(query.filter, view, within, passing)
        terms = tuple(map(token_text, query.terms(view.speakers)))
        words = [self._word(token(term), view) for term in terms]
        frequencies = [word.texts for word in words]
        found = _Found(terms, frequencies, rarity(view.texts, frequencies))
        scored = self._candidates.scored(words, found.worth, self.rows, allowed, query.limit)
        others = self._others(query, scored.scores, allowed, self._exactly(vectors_of))
        return self._pool(query, self._candidates.laid_out(self._columns, scored, others, allowed), view, found)

    def _word(self, wanted: int, view: _View) -> Word:
        """What one word says of rows; of words that many rows have it is kept for the next question."""
        if (known := view.common.get(wanted)) is not None:
            return known
        rows, counts = self._words.having(wanted)
        texts = len(rows) if view.everything else int(np.count_nonzero(view.visible[rows]))
        shares = saturated_by(counts, view.norms[rows])
        if len(rows) * COMMON_SHARE < self.rows or self.rows > MANY_ROWS:
            return Word(texts, rows, shares)
        of_all = np.zeros(self.rows, dtype=np.float32)
        of_all[rows] = shares
        if len(view.common) >= MOST_COMMON:
            view.common.pop(next(iter(view.common)))
        word = view.common[wanted] = Word(texts, None, of_all)
        return word

    def speakers(self, audiences: tuple[int, ...]) -> list[str]:
        """Who speaks in what these audiences may see."""
        return self._view(audiences).speakers

    def _exactly(self, vectors_of: VectorsOf | None) -> Exactly | None:
        def exactly(rows: Rows) -> Sequence[bytes]:
            return vectors_of(self._columns.seqs[rows].tolist()) if vectors_of else ()

        return exactly if vectors_of else None

    def _allowed(
        self, wish: MemoryFilter, view: _View, within: Sequence[int], passing: Sequence[int] | None
    ) -> NDArray[np.bool_] | None:
        """What may be a candidate; None when everything may."""
        if passing is None and wish == NO_FILTER:
            return None if view.everything else view.visible
        columns = self._columns
        wanted = [self._labels.having(label).rows for label in labels_of(wish.category, wish.tags)]
        if passing is not None:
            rows = np.array([columns.row_of(seq) for seq in passing], dtype=np.int64)
            wanted.append(rows[rows != NONE])
        allowed = view.visible.copy()
        for rows in wanted:
            passed = np.zeros_like(allowed)
            passed[rows] = True
            allowed &= passed
        if wish.as_of is not None:
            allowed &= columns.true_at(microseconds(wish.as_of))
        if wish.kinds:
            allowed &= _is_any(columns.kinds, [KIND_CODES[kind] for kind in wish.kinds])
        if wish.speaker is not None:
            allowed &= columns.speakers == columns.speaker_code(wish.speaker)
        if wish.scope is not None:
            allowed &= _is_any(columns.audiences, within)
        if wish.from_session is not None:
            allowed &= _is_any(columns.chains, columns.chain_codes(wish.from_session, within))
        if wish.occurred_after is not None:
            allowed &= columns.times >= microseconds(wish.occurred_after)
        if wish.occurred_before is not None:
            allowed &= columns.times < microseconds(wish.occurred_before)
        return allowed

    def _view(self, audiences: tuple[int, ...], ended: Rows = _NO_ROWS) -> _View:
        """What these audiences may see, without what is not true any more; worked out once for each state of the store.

        As time goes on rows only end, so their number tells which they are.
        """
        which = (*audiences, -len(ended))
        if which not in self._views:
            columns = self._columns
            visible = _is_any(columns.audiences, audiences)
            visible[ended] = False
            texts = int(np.count_nonzero(visible))
            speakers = columns.speakers_among(audiences)
            place_of = {name: place for place, name in enumerate(speakers)}
            places = [*(place_of.get(name, NONE) for name in columns.speaker_names), NONE]
            typical = self._typical(audiences, texts, visible)
            self._views[which] = _View(
                visible,
                texts,
                texts == columns.rows,
                speakers,
                np.array(places, dtype=np.int32),
                typical,
                length_norms(np.minimum(self._words.lengths, np.float32(LONGEST_PASSAGE)), typical.average),
                {},
            )
        return self._views[which]

    def _typical(self, audiences: tuple[int, ...], texts: int, visible: NDArray[np.bool_]) -> _Typical:
        """What is typical of what these audiences may see; of very many texts, a few more do not change it."""
        known = self._typical_of.get(audiences)
        if known is None or abs(texts - known.texts) > (texts // 100 if texts > MANY_ROWS else 0) or not known.lasts:
            step = max(1, -(-texts // SAMPLE))
            if texts == self.rows:
                lengths, sample = self._words.lengths, np.arange(0, texts, step)
            else:
                rows = np.flatnonzero(visible)
                lengths, sample = self._words.lengths[rows], rows[::step]
            known = self._typical_of[audiences] = _Typical(
                texts,
                texts > MANY_ROWS,
                float(np.minimum(lengths, LONGEST_PASSAGE).mean()) if texts else 0.0,
                None if self._vectors is None else Background(self._vectors.values(sample)),
            )
        return known

    def _others(
        self,
        query: CandidateQuery,
        scores: NDArray[np.float32],
        allowed: NDArray[np.bool_] | None,
        exactly: Exactly | None,
    ) -> Rows:
        """The nearest in meaning, and what happened when the question says."""
        found: list[Rows] = []
        if self._vectors is not None and query.vector:
            found.append(self._vectors.nearest(query.vector, query.limit, allowed, exactly).rows)
        for start, end in query.moments:
            times = self._columns.times
            then = (times >= microseconds(start)) & (times < microseconds(end))
            if allowed is not None:
                then &= allowed
            found.append(self._most_fitting(query, scores, allowed, then.nonzero()[0]))
        return found[0] if len(found) == 1 else np.concatenate([_NO_ROWS, *found])

    def _most_fitting(
        self, query: CandidateQuery, scores: NDArray[np.float32], allowed: NDArray[np.bool_] | None, rows: Rows
    ) -> Rows:
        """The best of these by words and meaning together."""
        if len(rows) <= query.limit:
            return rows
        if allowed is not None:
            scores = np.where(allowed, scores, np.float32(0))
        fits = scores[rows] / (scores.max(initial=0) or 1)
        if self._vectors is not None and query.vector:
            fits = 3 * fits + 10 * np.nan_to_num(self._vectors.cosines(query.vector, rows))
        return rows[np.argsort(-fits, kind="stable")[: query.limit]]

    def _pool(self, query: CandidateQuery, layout: Layout, view: _View, found: _Found) -> CandidatePool:
        columns, chosen, rows = self._columns, layout.chosen, layout.texts
        # Most of those around a candidate have none of the words; their texts need not be looked at.
        matched = self._words.matched(
            layout.having_rows, found.terms, found.worth, view.typical.average, layout.having, len(rows)
        )
        if self._vectors is None or view.typical.background is None or not query.vector:
            cosines = standings = np.full(len(chosen), np.nan, dtype=np.float32)
            values = cosines[:, np.newaxis]
        else:
            question, values = self._vectors.values_of_query(query.vector), self._vectors.values(chosen)
            cosines, standings = view.typical.background.compared(question, values)
        return CandidatePool(
            handles=columns.seqs[chosen],
            around=layout.around,
            text_occurrences=matched.occurrences,
            text_bm25=matched.bm25,
            text_traits=columns.traits[rows],
            text_speakers=view.places_of_speakers[columns.speakers[rows]],
            pairs=matched.pairs[layout.around[:, REACH]],
            lengths=self._words.lengths[chosen],
            cosines=cosines,
            standings=standings,
            vectors=values,
            sessions=columns.chains[chosen],
            times=columns.times[chosen],
            recorded=columns.recorded[chosen],
            importance=columns.importance[chosen],
            confidence=columns.confidence[chosen],
            uses=np.zeros(len(chosen), dtype=np.int64),
            used=columns.recorded[chosen],
            speaker_names=view.speakers,
            terms=found.terms,
            texts=view.texts,
            frequencies=found.frequencies,
            worth=found.worth,
        )


def _is_any(values: NDArray[Any], wanted: Iterable[int]) -> NDArray[np.bool_]:
    found = np.zeros(len(values), dtype=np.bool_)
    for one in wanted:
        found |= values == one
    return found


def _contained_by(file: SegmentFile) -> Revision:
    if not file.segments:
        raise UnusableFile("is empty")
    meta = file.segments[-1].meta
    return Revision(meta["revision"], meta["mark"])


def _by_row(segments: TokenSegments, rows: Rows) -> list[bytes]:
    gathered = segments.gather(rows)
    bounds = np.searchsorted(gathered.owners, np.arange(1, len(rows)))
    return [tokens.tobytes() for tokens in np.split(gathered.tokens, bounds)][: len(rows)]
