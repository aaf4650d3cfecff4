"""One search's use of the model: its question is asked once and it waits so long in all, of however many indexes."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import anyio
import anyio.abc
import anyio.to_thread

from scrubjay.code_index.reranking.background_tasks import Begun
from scrubjay.code_index.reranking.chunk_vectors import Parts
from scrubjay.core.errors import InvalidRequest, Unavailable
from scrubjay.core.secrets import masked
from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.embedding import Embedder

if TYPE_CHECKING:
    from scrubjay.code_index.search.corpus import Corpus
    from scrubjay.code_index.search.ranker import Found

T = TypeVar("T")


class Heard(NamedTuple):
    """What a search found, after the model was heard."""

    found: "list[Found]"
    problem: str | None
    """Why the model was not heard of all of it; None when it was."""


class Hearing:
    """A search never fails because of the model. What it has begun goes on when it does not wait any longer."""

    def __init__(
        self,
        query: str,
        embedder: Embedder,
        parts: Parts,
        breaker: CircuitBreaker,
        tasks: anyio.abc.TaskGroup,
        *,
        candidates: int,
        seconds: float,
    ) -> None:
        """Of the first `candidates` what is pending is made; after `seconds` the model is not waited for."""
        self.candidates = candidates
        self._query = masked(query)
        self._embedder = embedder
        self._parts = parts
        self._breaker = breaker
        self._tasks = tasks
        self._seconds = seconds
        self._deadline: float | None = None
        self._question: bytes | None = None
        self._problem: str | None = None

    async def of(self, index_id: str, corpus: "Corpus", found: "Sequence[Found]") -> Heard:
        """What was found, in the order that the model's meanings say where they are known or can be had in time."""
        from scrubjay.code_index.reranking.ordering import cosines_of, reranked

        if (deadline := self._deadline) is None:
            deadline = self._deadline = anyio.current_time() + self._seconds
        lacking = [] if self._problem else await self._parts.lacking(corpus, found[: self.candidates])
        filling: Begun[None] | None = None
        if self._question is None and self._problem is None:
            try:
                with self._breaker.attempt():
                    asked = self._begun(lambda: self._embedder.embed([self._query]))
                    filling = self._begun(lambda: self._parts.fill(index_id, corpus, lacking)) if lacking else None
                    self._question = (await asked.by(deadline))[0]
            except (Unavailable, InvalidRequest) as error:
                self._problem = f"ranked by the bundled model alone: {error.message}"
        if (question := self._question) is None:
            return Heard([*found], self._problem)
        problem = None
        if lacking:
            try:
                filling = filling or self._begun(lambda: self._parts.fill(index_id, corpus, lacking))
                await filling.by(deadline)
            except (Unavailable, InvalidRequest) as error:
                problem = f"ranked partly by the bundled model: {error.message}"
        known = await self._parts.known(corpus, found)
        again = await anyio.to_thread.run_sync(lambda: reranked(found, cosines_of(question, known)))
        return Heard(again, problem)

    def _begun(self, work: Callable[[], Awaitable[T]]) -> Begun[T]:
        begun = Begun(self._embedder.model, self._seconds, work)
        self._tasks.start_soon(begun.run)
        return begun
