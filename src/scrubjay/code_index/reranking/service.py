"""Meanings of code by the model that the owner chose: heard by a search, and made beside it."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import anyio.abc

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.reranking.batch_jobs import Batching
from scrubjay.code_index.reranking.chunk_vectors import Parts
from scrubjay.code_index.reranking.embed_worker import USUAL, Rhythm, Worker
from scrubjay.code_index.reranking.embedding_requests import BATCH_SIZE, Asking
from scrubjay.code_index.reranking.pending import PendingTexts
from scrubjay.code_index.reranking.reranker import Hearing
from scrubjay.code_index.store import CodeStore
from scrubjay.code_index.vector_store import CodeVectorStore, VectorCounts
from scrubjay.models.batches import EmbeddingBatches
from scrubjay.models.breaker import of_questions
from scrubjay.models.embedding import Embedder

CANDIDATES = 50
"""So many of what ranks highest before the service is heard are embedded at once if they are pending."""
SECONDS = 2.0


class EmbeddingState(NamedTuple):
    """How far the indexes are."""

    model: str
    counts: Mapping[str, VectorCounts]
    """By index."""
    in_batch: int
    """How many texts a batch is at."""
    problem: str | None


class CodeEmbedding:
    """One process's use of the model."""

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
        rhythm: Rhythm = USUAL,
    ) -> None:
        """What a search has begun goes on in `tasks` when the search does not wait for it any longer.

        `seconds` is how long one waits for the service in all; in `folder` are the locks by which processes take turns.
        """
        self.candidates = CANDIDATES
        self._vectors = vectors
        self._tasks = tasks
        self._seconds = seconds
        self._batches = batches
        self._asking = Asking(vectors, embedder, folder, batch_size)
        self._pending = PendingTexts(store, vectors, self.model)
        self._parts = Parts(vectors, self._pending, self._asking)
        batching = None
        if batches is not None:
            batching = Batching(vectors, batches, self._pending, embedder, self.model)
        self.worker = Worker(store, vectors, self._asking, batching=batching, rhythm=rhythm)
        self._questions = of_questions("the embedding model for code")

    @property
    def model(self) -> str:
        """By which its vectors are kept."""
        return self._asking.model

    def hearing(self, query: str) -> Hearing:
        """For one search, which begins now."""
        return Hearing(
            query,
            self._asking.embedder,
            self._parts,
            self._questions,
            self._tasks,
            candidates=self.candidates,
            seconds=self._seconds,
        )

    async def state(self) -> EmbeddingState:
        """What is embedded and what is pending."""

        batch = await self._vectors.batch(self.model)
        counts = await self._vectors.counts(self.model, VERSION)
        return EmbeddingState(
            self._asking.embedder.model, counts, batch.texts if batch and batch.batch_id else 0, self.worker.problem
        )

    async def read_all(self) -> None:
        """Have it known which texts indexes have, so that the vectors of others can be removed."""
        await self._pending.read_all()

    async def close(self) -> None:
        await self._asking.close()
        if self._batches is not None:
            await self._batches.close()
