"""The worker that has pending texts embedded beside everything else: one process of all at a time."""

import fcntl
import logging
from collections.abc import Generator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass

import anyio

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.reranking.batch_jobs import Batching
from scrubjay.code_index.reranking.embedding_requests import Asking
from scrubjay.code_index.reranking.pending import PendingTexts
from scrubjay.code_index.store import CodeStore
from scrubjay.code_index.vector_store import CodeVectorStore
from scrubjay.core.error_location import place_of
from scrubjay.core.errors import ScrubjayError

logger = logging.getLogger("scrubjay.code_index")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """How long the worker waits, in seconds."""

    idle: float = 10.0
    """Until it looks again whether there is something to do, and how far a batch is."""
    failed: float = 30.0
    """After a failure; twice as long after each further one, ..."""
    longest: float = 1_800.0
    """... up to this."""


USUAL = Rhythm()


class Worker:
    """Embeds what is pending; with `batching`, by batches."""

    def __init__(
        self,
        store: CodeStore,
        vectors: CodeVectorStore,
        asking: Asking,
        *,
        batching: Batching | None = None,
        rhythm: Rhythm = USUAL,
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._asking = asking
        self._batching = batching
        self._rhythm = rhythm
        self._lock = asking.locks.with_suffix(".lock")
        self._seen: Mapping[str, int] | None = None
        self.problem: str | None = None
        """Why it could not go on when it last tried; None when it could."""

    async def keep(self) -> None:
        """Embed whatever comes, for ever."""
        failures = 0
        while True:
            wait = self._rhythm.idle
            try:
                await self.work()
            except ScrubjayError as error:
                logger.warning("code was not embedded", extra={"problem": error.message})
                self.problem = error.message
            except Exception as error:  # a bug: one file must not end the server, now and at every start
                logger.error("embedding code broke", extra=place_of(error))
                self.problem = f"it failed unexpectedly ({type(error).__name__})"
            else:
                self.problem, failures = None, 0
            if self.problem is not None:
                wait = min(self._rhythm.longest, self._rhythm.failed * 2**failures)
                failures += 1
            await anyio.sleep(wait)

    async def work(self) -> None:
        """Do what can be done now, unless another process is at it."""
        # Where no index has changed since all was done, there is nothing to do.
        state = {record.id: record.generation for record in await self._store.indexes()}
        if state == self._seen:
            return
        with self._alone() as alone:
            if not alone:
                return
            if self._batching is None:
                await self._embed()
            else:
                while await self._batching.step():
                    pass
                if await self._vectors.batch(self._asking.model) is not None:
                    return
        self._seen = state

    async def _embed(self) -> None:

        model = self._asking.model
        async with aclosing(PendingTexts(self._store, self._vectors, model).all()) as parts:
            async for part in parts:
                await self._asking.ensure(part.texts)
                await self._vectors.note_done(model, VERSION, [*part.complete, *part.contents])

    @contextmanager
    def _alone(self) -> Generator[bool]:
        """While this is held no other process embeds by this model; whether it is held."""
        self._lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._lock.open("wb") as lock:
            try:
                fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
