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

    def compare(self, query: bytes) -> "Similarities":
        """How similar every memory is to the query's vector."""
        count = self._count
        direction = _directions(query, 1)[0]
        if not direction.any():
            count = 0
        # One product a row: a product with the whole matrix sums a row differently where it stands differently, and
        # equal vectors would not stay equal.
        cosines = np.vecdot(self._matrix[:count], direction).clip(-1, 1)
        return Similarities(self._seqs[:count].copy(), self._audiences[:count].copy(), cosines)

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


class Similarities:
    """The cosine of every memory to one query, as it was when asked for."""

    def __init__(self, seqs: NDArray[np.int64], audiences: NDArray[np.int64], cosines: NDArray[np.float32]) -> None:
        self._seqs = seqs
        self._audiences = audiences
        self._cosines = cosines

    def nearest(self, audiences: Iterable[int], allowed: Sequence[int] | None, limit: int) -> dict[int, float]:
        """The places of the most similar memories with their cosine, best first, equal ones in the order kept."""
        chosen = np.zeros(len(self._seqs), dtype=np.bool_)
        for audience in audiences:
            chosen |= self._audiences == audience
        if allowed is not None:
            chosen &= np.isin(self._seqs, np.array(allowed, dtype=np.int64))
        rows = np.flatnonzero(chosen)
        cosines = self._cosines[rows]
        if rows.size > limit:
            enough = cosines >= np.partition(cosines, rows.size - limit)[rows.size - limit]
            rows, cosines = rows[enough], cosines[enough]
        seqs = self._seqs[rows]
        best = np.lexsort((seqs, -cosines))[:limit]
        return dict(zip(seqs[best].tolist(), cosines[best].tolist(), strict=True))

    def of(self, seqs: Sequence[int]) -> dict[int, float]:
        """The cosines of these; those that cannot be compared are missing."""
        wanted = np.isin(self._seqs, np.array(seqs, dtype=np.int64)) & (self._audiences != _NOBODY)
        rows = np.flatnonzero(wanted)
        return dict(zip(self._seqs[rows].tolist(), self._cosines[rows].tolist(), strict=True))


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
