"""Chroma in the speed benchmark: persistent client, HNSW index with cosine distance, metadata filters.

It has no ranked text search: `where_document` only filters.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus_files import Probe
from benchmarks.store_adapter import RESULT_LIMIT

# Rows per call; Chroma's limit is about 5,400.
BATCH = 5_000


class Chroma:
    """Implements `StoreAdapter`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def open(self) -> None:
        chromadb = import_module("chromadb")
        client = chromadb.PersistentClient(
            str(self._folder), settings=chromadb.config.Settings(anonymized_telemetry=False)
        )
        self._collection: Any = client.get_or_create_collection(
            "memories", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )

    async def add(self, memories: Sequence[dict[str, Any]], vectors: NDArray[np.float16]) -> None:
        for first in range(0, len(memories), BATCH):
            batch = memories[first : first + BATCH]
            self._collection.add(
                ids=[str(memory["metadata"]["row"]) for memory in batch],
                embeddings=vectors[first : first + BATCH].astype(np.float32),
                documents=[memory["content"] for memory in batch],
                metadatas=[{"category": memory["category"], "speaker": memory["speaker"]} for memory in batch],
            )

    async def finish(self) -> None:
        """Do nothing: the index is built as rows are added."""

    async def search(self, probe: Probe, category: str | None) -> list[int]:
        found = self._collection.query(
            query_embeddings=[probe.vector],
            n_results=RESULT_LIMIT,
            where={"category": category} if category else None,
            include=["documents", "metadatas", "distances"],
        )
        return [int(row) for row in found["ids"][0]]

    async def nearest(self, probe: Probe, category: str | None) -> list[int]:
        return await self.search(probe, category)

    async def search_text(self, probe: Probe) -> list[int] | None:
        return None

    async def close(self) -> None:
        pass
