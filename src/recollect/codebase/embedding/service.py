"""Meanings of code by the model that the owner chose: heard by a search, and made beside it."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import anyio
import anyio.abc
import anyio.to_thread

from recollect.codebase.embedding.asking import BATCH_SIZE, Asking
from recollect.codebase.embedding.batching import Batching
from recollect.codebase.embedding.pending import PendingTexts
from recollect.codebase.embedding.working import USUAL, Rhythm, Worker
from recollect.domain.breakage import place_of
from recollect.domain.errors import InvalidRequest, RecollectError, Unavailable
from recollect.domain.secrets import masked
from recollect.inference.batches import EmbeddingBatches
from recollect.inference.breaker import CircuitBreaker
from recollect.inference.embedding import Embedder
from recollect.inference.failures import Reason, unavailable
from recollect.storage.code import CodeStore
from recollect.storage.code_vectors import CodeVectorStore, VectorCounts

if TYPE_CHECKING:
    from recollect.codebase.search.corpus import Corpus
    from recollect.codebase.search.ranking import Found

logger = logging.getLogger("recollect.codebase")

T = TypeVar("T")

CANDIDATES = 50
"""So many of what ranks highest before the service is heard are embedded at once if they are pending."""
SECONDS = 2.0


class Heard(NamedTuple):
    """What a search found, after the service was heard."""

    found: "list[Found]"
    problem: str | None
    """Why the service was not heard of all of it; None when it was."""


class EmbeddingState(NamedTuple):
    """How far the indexes are."""

    model: str
    counts: Mapping[str, VectorCounts]
    """By index."""
    in_batch: int
    """How many texts a batch is at."""
    problem: str | None


class CodeEmbedding:
    """One process's use of the model. Searches never fail because of it."""

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
        batching = None
        if batches is not None:
            batching = Batching(vectors, batches, self._pending, embedder, self.model)
        self.worker = Worker(store, vectors, self._asking, batching=batching, rhythm=rhythm)
        self._questions = CircuitBreaker("the embedding model for code", failures=1)

    @property
    def model(self) -> str:
        """By which its vectors are kept."""
        return self._asking.model

    async def heard(self, index_id: str, corpus: "Corpus", query: str, found: "Sequence[Found]") -> Heard:
        """What was found, in the order that the model's meanings say where they are known or can be had in time."""
        from recollect.codebase.embedding.reranking import cosines_of, reranked

        deadline = anyio.current_time() + self._seconds
        try:
            with self._questions.attempt():
                asked = self._begun(lambda: self._asking.embedder.embed([masked(query)]))
                filling = self._begun(lambda: self._filled(index_id, corpus, found))
                question = (await asked.by(deadline))[0]
        except (Unavailable, InvalidRequest) as error:
            return Heard([*found], f"ranked by the bundled model alone: {error.message}")
        problem = None
        try:
            await filling.by(deadline)
        except (Unavailable, InvalidRequest) as error:
            problem = f"ranked partly by the bundled model: {error.message}"
        known = await self._known(corpus, found)
        again = await anyio.to_thread.run_sync(lambda: reranked(found, cosines_of(question, known)))
        return Heard(again, problem)

    async def state(self) -> EmbeddingState:
        """What is embedded and what is pending."""
        from recollect.codebase.digest import VERSION

        batch = await self._vectors.batch(self.model)
        counts = await self._vectors.counts(self.model, VERSION)
        return EmbeddingState(
            self._asking.embedder.model, counts, batch.texts if batch and batch.batch_id else 0, self.worker.problem
        )

    async def clean_up(self) -> int:
        """Remove the vectors of what no index has any more; how many."""
        from recollect.codebase.digest import VERSION

        await self._pending.read_all()
        return await self._vectors.sweep(VERSION)

    async def close(self) -> None:
        await self._asking.close()
        if self._batches is not None:
            await self._batches.close()

    # -- what a search needs first -----------------------------------------------------------------

    async def _filled(self, index_id: str, corpus: "Corpus", found: "Sequence[Found]") -> None:
        """Embed what is pending of the highest ranked parts."""
        wanted = {one.chunk: corpus.files[one.file] for one in found[: self.candidates] if one.chunk >= 0}
        known = await self._known(corpus, found[: self.candidates])
        pending = {chunk: file for chunk, file in wanted.items() if chunk not in known}
        if not pending:
            return
        read = await self._pending.read([(index_id, file) for file in dict.fromkeys(pending.values())])
        texts: dict[str, str] = {}
        for chunk, file in pending.items():
            place, own = _place_in_file(corpus, chunk), read.get(file.content, ())
            if place < len(own):
                key, text = own[place]
                texts[key] = text
        await self._asking.ensure(texts)

    async def _known(self, corpus: "Corpus", found: "Sequence[Found]") -> dict[int, bytes]:
        """By chunk the vectors that there are."""
        from recollect.codebase.digest import VERSION

        files = {one.chunk: corpus.files[one.file] for one in found if one.chunk >= 0}
        texts = await self._vectors.texts(VERSION, [*{file.content for file in files.values()}])
        keys: dict[int, str] = {}
        for chunk, file in files.items():
            place, own = _place_in_file(corpus, chunk), texts.get(file.content, ())
            if place < len(own):
                keys[chunk] = own[place]
        vectors = await self._vectors.vectors(self.model, [*{*keys.values()}])
        return {chunk: vectors[key] for chunk, key in keys.items() if key in vectors}

    def _begun(self, work: Callable[[], Awaitable[T]]) -> "_Begun[T]":
        begun = _Begun(work, self._asking.embedder.model, self._seconds)
        self._tasks.start_soon(begun.run)
        return begun


class _Begun(Generic[T]):
    """Work that goes on when nobody waits for it any longer: what was asked for, and paid, is kept."""

    def __init__(self, work: Callable[[], Awaitable[T]], model: str, seconds: float) -> None:
        self._work = work
        self._model = model
        self._seconds = seconds
        self._ended = anyio.Event()
        self._outcome: list[T] = []
        self._failure: RecollectError | None = None

    async def run(self) -> None:
        try:
            self._outcome.append(await self._work())
        except RecollectError as error:
            self._failure = error
        except Exception as error:  # a bug: it must not end the server
            logger.error("hearing the embedding model broke", extra=place_of(error))
            self._failure = unavailable(
                Reason.FAILING,
                f"hearing {self._model} failed ({type(error).__name__})",
                hint="this is a bug; see the log",
            )
        finally:
            self._ended.set()

    async def by(self, deadline: float) -> T:
        """What it came to, if it does so in time; `Unavailable` when not."""
        with anyio.CancelScope(deadline=deadline):
            await self._ended.wait()
        if self._failure is not None:
            raise self._failure
        if not self._outcome:
            raise unavailable(
                Reason.TIMEOUT,
                f"{self._model} did not answer within {self._seconds:g} s",
                hint="see whether the service is up, or raise RECOLLECT_CODE_EMBEDDING_SECONDS",
            )
        return self._outcome[0]


def _place_in_file(corpus: "Corpus", chunk: int) -> int:
    import numpy as np

    files = corpus.chunks.files
    (first,) = np.searchsorted(files, [int(files[chunk])]).tolist()
    return chunk - first
