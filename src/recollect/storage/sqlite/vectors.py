"""Search by meaning: the vectors of one model in memory, brought up to date from the store before each use.

This module imports numpy, which takes a while: import it where it is first needed.
"""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.storage.sqlite.connections import Connection
from recollect.storage.sqlite.vector_file import (
    Revision,
    UnusableFile,
    VectorFile,
    changed_since,
    file_name,
    in_log,
    latest_revision,
    read_vector_file,
    vectors_of,
    write_vector_file,
)

logger = logging.getLogger("recollect.storage")

# A file that misses fewer changes than this, or than an eighth of its rows, still saves most of the reading.
REWRITE_AFTER = 1000
# The audience of a row that was replaced or deleted, or points nowhere; nobody is in it.
_NOBODY = -1

Row = tuple[int, int | None, bytes | None]


class VectorIndex:
    """The vectors of one model, for one thread at a time.

    SQLite has the truth. What is here is a copy that knows the last change it contains, and catches up by the change
    log; a file saves reading everything at the start. Rows are only appended: a replaced or deleted one is marked.
    """

    def __init__(self, folder: Path, model: str, vector_bytes: int) -> None:
        self._folder = folder
        self._model = model
        self._bytes = vector_bytes
        self._file_is_behind = False
        self._clear()

    def refresh(self, connection: Connection) -> None:
        """Contain all that the connection's snapshot has. Snapshots must not go back in time from call to call."""
        latest = latest_revision(connection)
        if latest == self._revision:
            return
        if self._revision is None or not in_log(connection, self._revision):
            self._reload(connection)
        else:
            self._replace(changed_since(connection, self._revision, self._model, self._bytes))
        self._revision = latest

    def nearest(
        self, query: bytes, audiences: Iterable[int], allowed: Sequence[int] | None, limit: int
    ) -> dict[int, float]:
        """The places of the most similar memories with their cosine, best first, equal ones in the order kept."""
        count = self._count
        chosen = np.zeros(count, dtype=np.bool_)
        for audience in audiences:
            chosen |= self._audiences[:count] == audience
        if allowed is not None:
            chosen &= np.isin(self._seqs[:count], np.array(allowed, dtype=np.int64))
        rows = np.flatnonzero(chosen)
        direction = _directions(query, 1)[0]
        if not direction.any():
            return {}
        # One product a row: a product with the whole matrix sums a row differently where it stands differently, and
        # equal vectors would not stay equal.
        scores = np.vecdot(self._matrix[:count], direction).clip(-1, 1)[rows]
        if rows.size > limit:
            enough = scores >= np.partition(scores, rows.size - limit)[rows.size - limit]
            rows, scores = rows[enough], scores[enough]
        seqs = self._seqs[rows]
        best = np.lexsort((seqs, -scores))[:limit]
        return dict(zip(seqs[best].tolist(), scores[best].tolist(), strict=True))

    def save_if_behind(self, connection: Connection) -> None:
        """Write the file anew when reading it saved too little."""
        if not self._file_is_behind:
            return
        self._file_is_behind = False
        try:
            write_vector_file(connection, self._folder, self._model, self._bytes)
        except OSError as error:  # the answer is right without a file, only slower to come by
            logger.warning("a derived file could not be written", extra={"reason": str(error)})

    # -- keeping up ----------------------------------------------------------------------------------

    def _clear(self) -> None:
        self._revision: Revision | None = None
        self._count = 0
        self._dead = 0
        self._seqs: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._audiences: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._matrix: NDArray[np.float32] = np.empty((0, self._bytes // 2), dtype=np.float32)

    def _reload(self, connection: Connection) -> None:
        self._clear()
        path = self._folder / file_name(self._model, self._bytes)
        file: VectorFile | None = None
        if path.exists():
            try:
                file = read_vector_file(path, self._model, self._bytes)
            except UnusableFile as error:
                logger.warning("a derived file is made anew", extra={"file": path.name, "reason": str(error)})
        if file is not None and in_log(connection, file.revision):
            self._append(
                np.frombuffer(file.seqs, dtype="<i8"), np.frombuffer(file.audiences, dtype="<i8"), file.vectors
            )
            missed = changed_since(connection, file.revision, self._model, self._bytes)
            self._replace(missed)
            self._file_is_behind = len(missed) > max(REWRITE_AFTER, self._count // 8)
        else:
            self._append_rows(list(vectors_of(connection, self._model, self._bytes)))
            self._file_is_behind = path.exists() or self._count > REWRITE_AFTER

    def _replace(self, rows: Sequence[Row]) -> None:
        changed = np.array([seq for seq, _, _ in rows], dtype=np.int64)
        outdated = np.flatnonzero(np.isin(self._seqs[: self._count], changed))
        self._dead += int(np.count_nonzero(self._audiences[outdated] != _NOBODY))
        self._audiences[outdated] = _NOBODY
        self._append_rows(rows)
        if self._dead > max(REWRITE_AFTER, self._count // 2):
            self._compact()

    def _append_rows(self, rows: Sequence[Row]) -> None:
        present = [(seq, audience, vector) for seq, audience, vector in rows if vector is not None]
        self._append(
            np.array([seq for seq, _, _ in present], dtype=np.int64),
            np.array([audience for _, audience, _ in present], dtype=np.int64),
            b"".join(vector for _, _, vector in present),
        )

    def _append(self, seqs: NDArray[np.int64], audiences: NDArray[np.int64], vectors: bytes | memoryview) -> None:
        if len(seqs) == 0:
            return
        directions = _directions(vectors, len(seqs))
        total = self._count + len(seqs)
        if total > len(self._seqs):
            room = max(total, 2 * len(self._seqs), 64)
            self._seqs = _grown(self._seqs, self._count, room)
            self._audiences = _grown(self._audiences, self._count, room)
            self._matrix = _grown(self._matrix, self._count, room)
        self._seqs[self._count : total] = seqs
        self._audiences[self._count : total] = np.where(directions.any(axis=1), audiences, _NOBODY)
        self._matrix[self._count : total] = directions
        self._count = total

    def _compact(self) -> None:
        alive = np.flatnonzero(self._audiences[: self._count] != _NOBODY)
        self._seqs, self._audiences, self._matrix = self._seqs[alive], self._audiences[alive], self._matrix[alive]
        self._count, self._dead = len(alive), 0


def cosines(query: bytes, model: str, others: Sequence[tuple[str, bytes]]) -> list[float | None]:
    """The similarity of the query's vector to each of these; None where the two cannot be compared."""
    answer: list[float | None] = [None] * len(others)
    comparable = [
        place for place, (made_by, vector) in enumerate(others) if made_by == model and len(vector) == len(query) > 0
    ]
    direction = _directions(query, 1)[0]
    if not comparable or not direction.any():
        return answer
    rows = _directions(b"".join(others[place][1] for place in comparable), len(comparable))
    similar: list[float] = np.vecdot(rows, direction).clip(-1, 1).tolist()
    meaningful = np.flatnonzero(rows.any(axis=1))
    for place in meaningful.tolist():
        answer[comparable[place]] = similar[place]
    return answer


def _directions(vectors: bytes | memoryview, rows: int) -> NDArray[np.float32]:
    """The vectors with length 1; one that points nowhere (all zero, or not finite) becomes all zero."""
    values = np.frombuffer(vectors, dtype="<f2").reshape(rows, -1).astype(np.float32)
    lengths = np.sqrt(np.vecdot(values, values))
    somewhere = (lengths > 0) & (lengths < np.inf)
    if not somewhere.all():
        values[~somewhere], lengths[~somewhere] = 0, 1
    values /= lengths[:, np.newaxis]
    return values


def _grown(array: NDArray[Any], count: int, room: int) -> NDArray[Any]:
    larger = np.empty((room, *array.shape[1:]), dtype=array.dtype)
    larger[:count] = array[:count]
    return larger
