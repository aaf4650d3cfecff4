"""The configured embedding model for code: reranks searches, and embeds chunks in the background."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import anyio.abc

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.reranking.batch_jobs import BatchEmbedder
from scrubjay.code_index.reranking.chunk_vectors import ChunkVectors
from scrubjay.code_index.reranking.embed_worker import DEFAULT_INTERVALS, EmbedIntervals, EmbedWorker
from scrubjay.code_index.reranking.embedding_requests import BATCH_SIZE, EmbeddingRequests
from scrubjay.code_index.reranking.pending import PendingTexts
from scrubjay.code_index.reranking.reranker import Reranker
from scrubjay.code_index.store import CodeStore
from scrubjay.code_index.vector_store import CodeVectorStore, VectorCounts
from scrubjay.models.batches import EmbeddingBatches
from scrubjay.models.breaker import query_breaker
from scrubjay.models.embedding import Embedder

CANDIDATES = 50
"""Number of top results whose missing vectors are requested during a search."""
SECONDS = 2.0


class EmbeddingState(NamedTuple):
    """Progress of embedding."""

    model: str
    counts: Mapping[str, VectorCounts]
    """By index."""
    in_batch: int
    """Number of texts in the running batch; 0 when none runs."""
    problem: str | None


class CodeEmbedding:
    """The embedding model for code, as used by one process."""

    def __init__(
        self,
        store: CodeStore,
        vectors: CodeVectorStore,
        embedder: Embedder,
        folder: Path,
        tasks: anyio.abc.TaskGroup,
        *,
        seconds: float = SECONDS,
        batch_size: int = BATCH_SIZE,
        batches: EmbeddingBatches | None = None,
        intervals: EmbedIntervals = DEFAULT_INTERVALS,
    ) -> None:
        """Requests continue in `tasks` after a search stops waiting for them.

        `seconds` is the time budget of a search for the service; `folder` holds the lock files shared by processes.
        """
        self.candidates = CANDIDATES
        self._vectors = vectors
        self._tasks = tasks
        self._seconds = seconds
        self._batches = batches
        self._requests = EmbeddingRequests(vectors, embedder, folder, batch_size)
        self._pending = PendingTexts(store, vectors, self.model)
        self._chunks = ChunkVectors(vectors, self._pending, self._requests)
        batch_embedder = None
        if batches is not None:
            batch_embedder = BatchEmbedder(vectors, batches, self._pending, embedder, self.model)
        self.worker = EmbedWorker(store, vectors, self._requests, batch_embedder=batch_embedder, intervals=intervals)
        self._questions = query_breaker("the embedding model for code")

    @property
    def model(self) -> str:
        """Key of its vectors in the store: the model name and the vector length."""
        return self._requests.model

    def reranker(self, query: str) -> Reranker:
        """Return the reranker of one search."""
        return Reranker(
            query,
            self._requests.embedder,
            self._chunks,
            self._questions,
            self._tasks,
            candidates=self.candidates,
            seconds=self._seconds,
        )

    async def state(self) -> EmbeddingState:
        """Return what is embedded and what is pending."""

        batch = await self._vectors.batch(self.model)
        counts = await self._vectors.counts(self.model, VERSION)
        return EmbeddingState(
            self._requests.embedder.model, counts, batch.texts if batch and batch.batch_id else 0, self.worker.problem
        )

    async def read_all(self) -> None:
        """Store the text keys of all indexes, so that unused vectors can be removed."""
        await self._pending.read_all()

    async def close(self) -> None:
        await self._requests.close()
        if self._batches is not None:
            await self._batches.close()
