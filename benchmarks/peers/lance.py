"""LanceDB in the speed benchmark: IVF_PQ with refinement from 100,000 rows, exact search below, its own text index."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus_files import Probe
from benchmarks.store_adapter import RESULT_LIMIT

TABLE = "memories"
# Its documentation recommends a vector index from this size.
MANY_ROWS = 100_000
# Ten times the result limit is compared by full vectors; without this the recall of IVF_PQ is too low.
REFINE = 10
_COLUMNS = ["row", "content", "category", "speaker"]


class Lance:
    """Implements `StoreAdapter`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._table: Any = None

    async def open(self) -> None:
        self._database: Any = import_module("lancedb").connect(str(self._folder))
        if (self._folder / f"{TABLE}.lance").exists():
            self._table = self._database.open_table(TABLE)

    async def add(self, memories: Sequence[dict[str, Any]], vectors: NDArray[np.float16]) -> None:
        arrow = import_module("pyarrow")
        flat = arrow.array(vectors.astype(np.float32).ravel())
        batch = arrow.table(
            {
                "row": [memory["metadata"]["row"] for memory in memories],
                "content": [memory["content"] for memory in memories],
                "category": [memory["category"] for memory in memories],
                "speaker": [memory["speaker"] for memory in memories],
                "vector": arrow.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
            }
        )
        if self._table is None:
            self._table = self._database.create_table(TABLE, batch)
        else:
            self._table.add(batch)

    async def finish(self) -> None:
        self._table.optimize()
        self._table.create_fts_index("content")
        self._table.create_scalar_index("category", index_type="BITMAP")
        if self._table.count_rows() >= MANY_ROWS:
            self._table.create_index(metric="cosine")

    async def search(self, probe: Probe, category: str | None) -> list[int]:
        query = self._table.search(probe.vector, query_type="vector").distance_type("cosine").refine_factor(REFINE)
        if category:
            query = query.where(f"category = '{category}'", prefilter=True)
        return query.select([*_COLUMNS, "_distance"]).limit(RESULT_LIMIT).to_arrow()["row"].to_pylist()

    async def nearest(self, probe: Probe, category: str | None) -> list[int]:
        return await self.search(probe, category)

    async def search_text(self, probe: Probe) -> list[int] | None:
        query = self._table.search(probe.text, query_type="fts").select([*_COLUMNS, "_score"])
        return query.limit(RESULT_LIMIT).to_arrow()["row"].to_pylist()

    async def close(self) -> None:
        pass
