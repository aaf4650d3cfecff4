"""Background worker that embeds pending texts; a lock allows one process at a time."""

import fcntl
import logging
from collections.abc import Generator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass

import anyio

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.reranking.batch_jobs import BatchEmbedder
from scrubjay.code_index.reranking.embedding_requests import EmbeddingRequests
from scrubjay.code_index.reranking.pending import PendingTexts
from scrubjay.code_index.store import CodeStore
from scrubjay.code_index.vector_store import CodeVectorStore
from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import ScrubjayError

logger = logging.getLogger("scrubjay.code_index")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedIntervals:
    """Waiting times of the worker, in seconds."""

    idle: float = 10.0
    """Between checks for new work and for batch progress."""
    failed: float = 30.0
    """After a failure; doubles with each further one, ..."""
    longest: float = 1_800.0
    """... up to this."""


DEFAULT_INTERVALS = EmbedIntervals()


class EmbedWorker:
    """Embeds pending texts; through the batch API if `batch_embedder` is given."""

    def __init__(
        self,
        store: CodeStore,
        vectors: CodeVectorStore,
        requests: EmbeddingRequests,
        *,
        batch_embedder: BatchEmbedder | None = None,
        intervals: EmbedIntervals = DEFAULT_INTERVALS,
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._requests = requests
        self._batch_embedder = batch_embedder
        self._intervals = intervals
        self._lock = requests.locks.with_suffix(".lock")
        self._seen: Mapping[str, int] | None = None
        self.problem: str | None = None
        """Why the last attempt failed; None when it succeeded."""

    async def keep(self) -> None:
        """Embed pending texts as they appear; never returns."""
        failures = 0
        while True:
            wait = self._intervals.idle
            try:
                await self.work()
            except ScrubjayError as error:
                logger.warning("embedding code failed", extra={"problem": error.message})
                self.problem = error.message
            except Exception as error:  # a bug: one file must not end the server, now and at every start
                logger.error("embedding code failed unexpectedly", extra=error_fields(error))
                self.problem = f"it failed unexpectedly ({type(error).__name__})"
            else:
                self.problem, failures = None, 0
            if self.problem is not None:
                wait = min(self._intervals.longest, self._intervals.failed * 2**failures)
                failures += 1
            await anyio.sleep(wait)

    async def work(self) -> None:
        """Embed what is pending now, unless another process holds the lock."""
        # No index has changed since everything was embedded.
        state = {record.id: record.generation for record in await self._store.indexes()}
        if state == self._seen:
            return
        with self._alone() as alone:
            if not alone:
                return
            if self._batch_embedder is None:
                await self._embed()
            else:
                while await self._batch_embedder.step():
                    pass
                if await self._vectors.batch(self._requests.model) is not None:
                    return
        self._seen = state

    async def _embed(self) -> None:

        model = self._requests.model
        async with aclosing(PendingTexts(self._store, self._vectors, model).all()) as parts:
            async for part in parts:
                await self._requests.ensure(part.texts)
                await self._vectors.mark_complete(model, VERSION, [*part.complete, *part.contents])

    @contextmanager
    def _alone(self) -> Generator[bool]:
        """Try to take the lock of this model; yields whether it was acquired."""
        self._lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._lock.open("wb") as lock:
            try:
                fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
