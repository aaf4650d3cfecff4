"""Asking a service for the meanings of texts: never for one that is known, or that is being asked for."""

from collections.abc import Mapping, Sequence

import anyio

from recollect.domain.errors import InvalidRequest, RecollectError, error_from_record
from recollect.inference.embedding import Embedder
from recollect.inference.examination import examine
from recollect.storage.code_vectors import CodeVectorStore

# Texts in one request, if nothing else is set.
BATCH_SIZE = 32


class Asking:
    """Has texts embedded and keeps what comes back, request by request, so that little is lost when one fails."""

    def __init__(self, store: CodeVectorStore, embedder: Embedder, batch_size: int = BATCH_SIZE) -> None:
        self._store = store
        self._batch_size = batch_size
        self._under_way: dict[str, anyio.Event] = {}
        self.embedder = embedder
        # A service can have a model of the same name whose vectors are longer.
        self.model = f"{embedder.model}/{embedder.dimensions}"

    async def ensure(self, texts: Mapping[str, str]) -> None:
        """Have a vector kept of each of these, by their keys. What others ask for meanwhile is waited for."""
        others = [self._under_way[key] for key in texts if key in self._under_way]
        own = [key for key in texts if key not in self._under_way]
        ended = anyio.Event()
        self._under_way |= dict.fromkeys(own, ended)
        failures: list[RecollectError] = []

        async def fill(keys: Sequence[str]) -> None:
            try:
                vectors = await self._vectors([texts[key] for key in keys])
                await self._store.keep(self.model, dict(zip(keys, vectors, strict=True)))
            except RecollectError as error:  # raised below: the task group would wrap it in a group of errors
                failures.append(error)

        try:
            known = await self._store.vectors(self.model, own)
            missing = [key for key in own if key not in known]
            async with anyio.create_task_group() as tasks:
                for begin in range(0, len(missing), self._batch_size):
                    tasks.start_soon(fill, missing[begin : begin + self._batch_size])
        finally:
            for key in own:
                del self._under_way[key]
            ended.set()
        if failures:
            raise failures[0]
        for event in others:
            await event.wait()

    async def _vectors(self, texts: Sequence[str]) -> Sequence[bytes]:
        """A vector a text; a text that the service refuses for itself, while it takes others, has no meaning to it."""
        try:
            return await self.embedder.embed(texts)
        except InvalidRequest:
            if len(texts) > 1:
                half = len(texts) // 2
                return [*await self._vectors(texts[:half]), *await self._vectors(texts[half:])]
            if (problem := (await examine(self.embedder)).error) is not None:
                raise error_from_record(problem) from None
            return [b""]
