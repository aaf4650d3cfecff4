"""sqlite-vec in the speed benchmark: exact search by cosine in SQLite, and a separate FTS5 table."""

import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus_files import Probe
from benchmarks.store_adapter import RESULT_LIMIT

_SCHEMA = """
PRAGMA journal_mode = wal;
PRAGMA synchronous = full;
CREATE TABLE IF NOT EXISTS memories (id INTEGER PRIMARY KEY, content TEXT, category TEXT, speaker TEXT);
CREATE VIRTUAL TABLE IF NOT EXISTS vectors USING vec0(
    id INTEGER PRIMARY KEY, embedding float[{dimensions}] distance_metric=cosine, category TEXT
);
CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(content, content = '', tokenize = 'porter unicode61');
"""
_NEAREST = "SELECT id FROM vectors WHERE embedding MATCH ? AND k = ?"
_BY_TEXT = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?"
_WHOLE = "SELECT id, content, category, speaker FROM memories WHERE id = ?"
DIMENSIONS = 256


class SqliteVec:
    """Implements `StoreAdapter`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def open(self) -> None:
        apsw = import_module("apsw")
        self._folder.mkdir(parents=True, exist_ok=True)
        self._connection: Any = apsw.Connection(str(self._folder / "memories.db"))
        self._connection.enable_load_extension(True)
        self._connection.load_extension(import_module("sqlite_vec").loadable_path())
        self._connection.execute(_SCHEMA.format(dimensions=DIMENSIONS)).fetchall()

    async def add(self, memories: Sequence[dict[str, Any]], vectors: NDArray[np.float16]) -> None:
        rows = [memory["metadata"]["row"] for memory in memories]
        contents = [memory["content"] for memory in memories]
        categories = [memory["category"] for memory in memories]
        speakers = [memory["speaker"] for memory in memories]
        embeddings = [vector.tobytes() for vector in vectors.astype("<f4")]
        with self._connection:
            self._connection.executemany(
                "INSERT INTO memories VALUES (?, ?, ?, ?)", zip(rows, contents, categories, speakers, strict=True)
            )
            self._connection.executemany(
                "INSERT INTO vectors (id, embedding, category) VALUES (?, ?, ?)",
                zip(rows, embeddings, categories, strict=True),
            )
            self._connection.executemany(
                "INSERT INTO texts (rowid, content) VALUES (?, ?)", zip(rows, contents, strict=True)
            )

    async def finish(self) -> None:
        """Do nothing: every vector is compared, without an index."""

    async def search(self, probe: Probe, category: str | None) -> list[int]:
        values: list[Any] = [probe.vector.astype("<f4").tobytes(), RESULT_LIMIT]
        query = _NEAREST
        if category:
            query += " AND category = ?"
            values.append(category)
        return self._whole(query, values)

    async def nearest(self, probe: Probe, category: str | None) -> list[int]:
        return await self.search(probe, category)

    async def search_text(self, probe: Probe) -> list[int] | None:
        """Search for any of the words, ranked by BM25."""
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", probe.text))
        return self._whole(_BY_TEXT, [match, RESULT_LIMIT])

    async def close(self) -> None:
        self._connection.close()

    def _whole(self, query: str, values: Sequence[Any]) -> list[int]:
        """Return the found rows after reading them completely, as a caller would."""
        found = self._connection.execute(query, values).fetchall()
        return [self._connection.execute(_WHOLE, row).fetchall()[0][0] for row in found]
