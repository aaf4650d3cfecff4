"""Search over all memories: their words, vectors and circumstances, brought up to date from the store before each use.

This module imports numpy, which takes a while: import it where it is first needed.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from recollect.domain.memories import REACH, CandidatePool, CandidateQuery
from recollect.storage.derived.background import Background
from recollect.storage.derived.row_columns import NONE, Entry, RowColumns
from recollect.storage.derived.segment_file import SegmentFile, UnusableFile
from recollect.storage.derived.token_segments import (
    TokenSegments,
    match,
    rarity,
    saturated,
)
from recollect.storage.derived.vector_segments import VectorSegments
from recollect.storage.memories import DerivedFile
from recollect.storage.sqlite.connections import Connection
from recollect.storage.sqlite.named_queries import load_queries
from recollect.storage.sqlite.revisions import Revision, in_log, latest_revision
from recollect.storage.sqlite.rows import microseconds
from recollect.storage.sqlite.terms import token

logger = logging.getLogger("recollect.storage")

_SQL = load_queries("memory_index")

# Those next to a match may be the answer to it, without having a word of it.
NEXT_TO_MATCHES = 2
# So many memories tell how similar any memory is to a question.
SAMPLE = 512
# From this many dead rows on, and as many as there are living ones, everything is read anew.
MANY_DEAD = 1000
# A file that misses fewer changes than this, or than an eighth of its rows, still saves most of the reading.
REWRITE_AFTER = 1000
FORMAT_VERSION = 1
COMPARED = ("audiences", "times", "recorded", "traits", "importance", "confidence")
_BATCH = 2000

Rows = NDArray[np.int64]


def file_name(model: str, vector_bytes: int) -> str:
    return f"memories-{quote(model, safe='')}-{vector_bytes // 2}-{FORMAT_VERSION}.bin"


class _View(NamedTuple):
    """What an asker may see."""

    visible: NDArray[np.bool_]
    texts: int
    everything: bool
    """Whether that is all there is."""
    average: float
    """The average length of a text."""
    speakers: list[str]
    places_of_speakers: NDArray[np.int32]
    """Where each of all speakers is among these; NONE for one who is not, and at the end."""
    background: Background | None


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
        self._path = folder / file_name(model, vector_bytes)
        self._model = model
        self._bytes = vector_bytes
        self._file_is_behind = False
        self._clear()

    def _clear(self) -> None:
        self._revision: Revision | None = None
        self._columns = RowColumns()
        self._words = TokenSegments()
        self._vectors = VectorSegments(self._bytes // 2) if self._bytes else None
        self._views: dict[tuple[int, ...], _View] = {}

    # -- keeping up ----------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        return self._columns.rows

    def missed(self, connection: Connection) -> int:
        """How many changes happened since the last refresh."""
        known = 0 if self._revision is None else self._revision.number
        return abs(latest_revision(connection).number - known)

    def refresh(self, connection: Connection) -> None:
        """Contain all that the connection's snapshot has. Snapshots must not go back in time from call to call."""
        latest = latest_revision(connection)
        if latest == self._revision:
            return
        self._views.clear()
        if self._revision is None or not in_log(connection, self._revision):
            self._reload(connection)
        else:
            self._replace(self._changed_since(connection, self._revision))
            if self._columns.dead > max(MANY_DEAD, self._columns.rows // 2):
                self._reload(connection)
        self._revision = latest

    def _reload(self, connection: Connection) -> None:
        self._clear()
        if (contained := self._read_file(connection)) is not None:
            missed = self._changed_since(connection, contained)
            self._replace(missed)
            self._file_is_behind = len(missed) > max(REWRITE_AFTER, self._columns.rows // 8)
            return
        self._read_everything(connection)
        self._file_is_behind = self._path.exists() or self._columns.rows > REWRITE_AFTER

    def _read_everything(self, connection: Connection) -> None:
        everything = connection.stream(_SQL["everything"], {"model": self._model, "bytes": self._bytes})
        while batch := list(islice(everything, _BATCH)):
            self._add(batch)

    def _changed_since(self, connection: Connection, revision: Revision) -> list[Any]:
        values = {"revision": revision.number, "model": self._model, "bytes": self._bytes}
        return connection.execute(_SQL["changed_since"], values)

    def _replace(self, changed: Sequence[Any]) -> None:
        self._columns.kill(row[0] for row in changed)
        self._add([row for row in changed if row[1] is not None])

    def _add(self, rows: Sequence[Any]) -> None:
        self._columns.add([Entry(*row[:9]) for row in rows])
        self._words.append(row[9] or "" for row in rows)
        if self._vectors is not None:
            self._vectors.append([row[10] or b"" for row in rows])

    # -- the file ------------------------------------------------------------------------------------

    def write_file(self) -> DerivedFile:
        """Write everything to the file. It appears whole or not at all."""
        if self._revision is None:
            raise ValueError("nothing was read yet")
        rows = self._columns.living()
        arrays = self._columns.arrays_of(rows) | self._words.arrays_of(rows)
        if self._vectors is not None:
            arrays |= self._vectors.arrays_of(rows)
        meta = {"revision": self._revision.number, "mark": self._revision.mark}
        self._file_is_behind = False
        file = SegmentFile.write(self._path, self._kind, {}, [(meta, arrays)])
        return DerivedFile(self._path.name, len(rows), file.size)

    def write_file_if_behind(self) -> None:
        """Write the file anew when reading it saved too little."""
        if self._file_is_behind:
            try:
                self.write_file()
            except OSError as error:  # the answer is right without a file, only slower to come by
                logger.warning("a derived file could not be written", extra={"reason": str(error)})

    @property
    def _kind(self) -> str:
        return f"memories of {self._model}, {self._bytes}, format {FORMAT_VERSION}"

    def _read_file(self, connection: Connection) -> Revision | None:
        """Begin with what the file holds, and tell what it contains; None when it cannot be used."""
        if not self._path.exists():
            return None
        try:
            (segment,) = SegmentFile(self._path, self._kind).segments
            revision = Revision(segment.meta["revision"], segment.meta["mark"])
            if not in_log(connection, revision):
                return None
            arrays = segment.arrays
            self._attach(arrays)
        except (UnusableFile, ValueError) as error:
            logger.warning("a derived file is made anew", extra={"file": self._path.name, "reason": str(error)})
            self._clear()
            return None
        return revision

    def _attach(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._columns.attach(arrays)
        self._words.attach(arrays)
        if self._vectors is not None:
            self._vectors.attach(arrays)

    def problems(self, connection: Connection) -> Iterator[str]:
        """How the file differs from the store, apart from changes that it is known not to contain yet."""
        if not self._path.exists():
            return
        try:
            (segment,) = SegmentFile(self._path, self._kind).segments
            revision = Revision(segment.meta["revision"], segment.meta["mark"])
            arrays = segment.arrays
        except (UnusableFile, ValueError) as error:
            yield f"{self._path.name} {error}"
            return
        if not in_log(connection, revision):
            yield f"{self._path.name} is too old to be used, and will be made anew"
            return
        self._attach(arrays)
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
        gathered = self._words.gather(rows)
        words = np.split(gathered.tokens, np.searchsorted(gathered.owners, np.arange(1, len(rows))))
        vectors = [b""] * len(rows)
        if self._vectors is not None:
            vectors = [vector.tobytes() for vector in self._vectors.values(rows)]
        entries = zip(self._columns.seqs[rows].tolist(), *columns, words, vectors, strict=True)
        return {seq: (*known, tokens.tobytes(), vector) for seq, *known, tokens, vector in entries}

    # -- searching -----------------------------------------------------------------------------------

    def candidates(
        self, query: CandidateQuery, audiences: Sequence[int], passing: Sequence[int] | None
    ) -> CandidatePool:
        """Everything that may answer, of what these audiences may see; only what passes the filter, if there is one."""
        view = self._view(tuple(audiences))
        allowed = None if view.everything else view.visible
        if passing is not None:
            allowed = np.zeros_like(view.visible)
            allowed[[row for seq in passing if (row := self._columns.row_of(seq)) != NONE]] = True
        terms = tuple(map(token, query.terms(view.speakers)))
        matches = [self._words.having(term) for term in terms]
        if view.everything:
            frequencies = [len(had.rows) for had in matches]
        else:
            frequencies = [int(np.count_nonzero(view.visible[had.rows])) for had in matches]
        found = _Found(terms, frequencies, rarity(view.texts, frequencies))
        scores = np.zeros(self._columns.rows, dtype=np.float32)
        for had, worth, occurring in zip(matches, found.worth, frequencies, strict=True):
            if occurring:
                scores[had.rows] += worth * saturated(had.counts, self._words.lengths[had.rows], view.average)
        if allowed is not None:
            scores[~allowed] = 0
        return self._pool(query, self._choose(query, scores, allowed), view, found)

    def _view(self, audiences: tuple[int, ...]) -> "_View":
        """What these audiences may see; worked out once for each state of the store."""
        if audiences not in self._views:
            columns = self._columns
            visible = np.zeros(columns.rows, dtype=np.bool_)
            for audience in audiences:
                visible |= columns.audiences == audience
            texts = int(np.count_nonzero(visible))
            rows = np.flatnonzero(visible)
            speakers = columns.speakers_among(audiences)
            place_of = {name: place for place, name in enumerate(speakers)}
            places = [*(place_of.get(name, NONE) for name in columns.speaker_names), NONE]
            self._views[audiences] = _View(
                visible,
                texts,
                texts == columns.rows,
                float(self._words.lengths[rows].mean()) if texts else 0.0,
                speakers,
                np.array(places, dtype=np.int32),
                None if self._vectors is None else Background(self._vectors.values(rows[:: max(1, texts // SAMPLE)])),
            )
        return self._views[audiences]

    def _choose(self, query: CandidateQuery, scores: NDArray[np.float32], allowed: NDArray[np.bool_] | None) -> Rows:
        """The best by words, those next to them, the nearest in meaning, and what happened when the question says."""
        chosen = np.zeros(self._columns.rows, dtype=np.bool_)
        around = self._columns.around(_highest(scores, query.limit), NEXT_TO_MATCHES)
        chosen[around[around != NONE]] = True
        if self._vectors is not None and query.vector:
            chosen[self._vectors.nearest(query.vector, query.limit, allowed).rows] = True
        for start, end in query.moments:
            times = self._columns.times
            then = (times >= microseconds(start)) & (times < microseconds(end))
            if allowed is not None:
                then &= allowed
            chosen[self._most_fitting(query, scores, then.nonzero()[0])] = True
        if allowed is not None:
            chosen &= allowed
        rows = chosen.nonzero()[0]
        return rows[np.argsort(self._columns.seqs[rows])]

    def _most_fitting(self, query: CandidateQuery, scores: NDArray[np.float32], rows: Rows) -> Rows:
        """The best of these by words and meaning together."""
        if len(rows) <= query.limit:
            return rows
        fits = scores[rows] / (scores.max(initial=0) or 1)
        if self._vectors is not None and query.vector:
            fits = 3 * fits + 10 * np.nan_to_num(self._vectors.cosines(query.vector, rows))
        return rows[np.argsort(-fits, kind="stable")[: query.limit]]

    def _pool(self, query: CandidateQuery, chosen: Rows, view: "_View", found: "_Found") -> CandidatePool:
        columns = self._columns
        around = columns.around(chosen, REACH)
        rows = np.union1d(chosen, around[around != NONE]) if columns.chained else np.sort(chosen)
        places = np.searchsorted(rows, around)
        places[around == NONE] = NONE
        own = places[:, REACH]
        matched = match(self._words.gather(rows), len(rows), found.terms, found.worth, view.average)
        if self._vectors is None or view.background is None or not query.vector:
            cosines = standings = np.full(len(chosen), np.nan, dtype=np.float32)
            values = cosines[:, np.newaxis]
        else:
            question, values = self._vectors.values_of_query(query.vector), self._vectors.values(chosen)
            cosines = np.minimum(values @ question, 1)
            standings = view.background.standings(question, values)
        return CandidatePool(
            handles=columns.seqs[chosen],
            around=places,
            text_occurrences=matched.occurrences,
            text_bm25=matched.bm25,
            text_traits=columns.traits[rows],
            text_speakers=view.places_of_speakers[columns.speakers[rows]],
            pairs=matched.pairs[own],
            lengths=matched.lengths[own],
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


def _highest(scores: NDArray[np.float32], limit: int) -> Rows:
    """The rows with the highest scores, best first, equal ones in the order kept; none without a score."""
    rows = scores.nonzero()[0]
    found = scores[rows]
    if len(rows) > limit:
        enough = found >= np.partition(found, len(rows) - limit)[len(rows) - limit]
        rows, found = rows[enough], found[enough]
    return rows[np.argsort(-found, kind="stable")[:limit]]
