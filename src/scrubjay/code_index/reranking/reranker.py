"""Rerank one search with the configured embedding model, within a time budget."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import anyio
import anyio.abc
import anyio.to_thread

from scrubjay.code_index.reranking.background_tasks import BackgroundTask
from scrubjay.code_index.reranking.chunk_vectors import ChunkVectors
from scrubjay.core.errors import InvalidRequest, Unavailable
from scrubjay.core.lazy import lazy_module
from scrubjay.core.secrets import masked
from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.embedding import Embedder

if TYPE_CHECKING:
    from scrubjay.code_index.reranking import ordering
    from scrubjay.code_index.search.corpus import Corpus
    from scrubjay.code_index.search.ranker import RankedFile
else:
    ordering = lazy_module("scrubjay.code_index.reranking.ordering")

T = TypeVar("T")


class RerankResult(NamedTuple):
    """Search results after reranking."""

    found: "list[RankedFile]"
    problem: str | None
    """Why the model did not rank all results; None when it did."""


class Reranker:
    """Reranks the results of one search, also over several indexes; the query is embedded once.

    Never fails because of the model: on an error or timeout, results keep the bundled model's order. Requests go on in
    the background after the time budget is used up, so that their vectors are there for the next search.
    """

    def __init__(
        self,
        query: str,
        embedder: Embedder,
        chunks: ChunkVectors,
        breaker: CircuitBreaker,
        tasks: anyio.abc.TaskGroup,
        *,
        candidates: int,
        seconds: float,
    ) -> None:
        """Missing vectors of the first `candidates` are requested; `seconds` is the time budget of the whole search."""
        self.candidates = candidates
        self._query = masked(query)
        self._embedder = embedder
        self._chunks = chunks
        self._breaker = breaker
        self._tasks = tasks
        self._seconds = seconds
        self._deadline: float | None = None
        self._question: bytes | None = None
        self._problem: str | None = None

    async def rerank(self, index_id: str, corpus: "Corpus", found: "Sequence[RankedFile]") -> RerankResult:
        """Return the results reordered by the model's vectors, as far as these are stored or arrive in time."""
        if (deadline := self._deadline) is None:
            deadline = self._deadline = anyio.current_time() + self._seconds
        missing = [] if self._problem else await self._chunks.missing(corpus, found[: self.candidates])
        filling: BackgroundTask[None] | None = None
        if self._question is None and self._problem is None:
            try:
                with self._breaker.attempt():
                    embedding = self._start(lambda: self._embedder.embed([self._query]))
                    filling = self._start(lambda: self._chunks.fill(index_id, corpus, missing)) if missing else None
                    self._question = (await embedding.result_by(deadline))[0]
            except (Unavailable, InvalidRequest) as error:
                self._problem = f"ranked by the bundled model alone: {error.message}"
        if (question := self._question) is None:
            return RerankResult([*found], self._problem)
        problem = None
        if missing:
            try:
                filling = filling or self._start(lambda: self._chunks.fill(index_id, corpus, missing))
                await filling.result_by(deadline)
            except (Unavailable, InvalidRequest) as error:
                problem = f"ranked partly by the bundled model: {error.message}"
        known = await self._chunks.known(corpus, found)
        reordered = await anyio.to_thread.run_sync(
            lambda: ordering.reranked(found, ordering.cosines_of(question, known))
        )
        return RerankResult(reordered, problem)

    def _start(self, work: Callable[[], Awaitable[T]]) -> BackgroundTask[T]:
        task = BackgroundTask(self._embedder.model, self._seconds, work)
        self._tasks.start_soon(task.run)
        return task
