"""Asking a service for the meanings of texts: never for one that is known, or that is being asked for."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from scrubjay.code_index.reranking.claims import Claims
from scrubjay.code_index.vector_store import CodeVectorStore
from scrubjay.core.errors import InvalidRequest, ScrubjayError, error_from_record
from scrubjay.models.embedding import Embedder
from scrubjay.models.probe import examine

# Texts in one request, if nothing else is set.
BATCH_SIZE = 32
# So many requests are made of what is claimed together; what is not claimed yet, somebody in a hurry can ask for.
REQUESTS_AT_ONCE = 8
# How often it is looked whether what somebody else asks for has come.
LOOK_SECONDS = 0.05


class Asking:
    """Has texts embedded and keeps what comes back, request by request, so that little is lost when one fails."""

    def __init__(self, store: CodeVectorStore, embedder: Embedder, folder: Path, batch_size: int = BATCH_SIZE) -> None:
        """`folder` is where the locks are by which processes take turns."""
        self._store = store
        self._batch_size = batch_size
        self.embedder = embedder
        # A service can have a model of the same name whose vectors are longer.
        self.model = f"{embedder.model}/{embedder.dimensions}"
        self.locks = folder / f"embedding-{hashlib.sha256(self.model.encode()).hexdigest()[:16]}"
        """Those of this model have this name, each with a suffix of its own."""
        self._claims = Claims(self.locks.with_suffix(".claims"))

    async def ensure(self, texts: Mapping[str, str]) -> None:
        """Have a vector kept of each of these, by their keys.

        What others ask for meanwhile, here or in another process, is waited for, and asked for when they fail.
        """
        at_once = self._batch_size * REQUESTS_AT_ONCE
        waiting = [*texts]
        while waiting:
            missing = await self._some(texts, waiting[:at_once])
            waiting = [*waiting[at_once:], *missing]
            if missing:
                await anyio.sleep(LOOK_SECONDS)

    async def close(self) -> None:
        self._claims.close()
        await self.embedder.close()

    async def _some(self, texts: Mapping[str, str], keys: Sequence[str]) -> list[str]:
        """Ask for those of these that nobody asks for; which are left to others."""
        own = self._claims.take(keys)
        try:
            # Looked up after they were claimed: whoever had claimed one before has kept what came of it.
            known = await self._store.vectors(self.model, keys)
            await self._ask({key: texts[key] for key in own if key not in known})
        finally:
            self._claims.release(own)
        claimed = {*own}
        return [key for key in keys if key not in claimed and key not in known]

    async def _ask(self, texts: Mapping[str, str]) -> None:
        failures: list[ScrubjayError] = []

        async def fill(keys: Sequence[str]) -> None:
            try:
                vectors = await self._vectors([texts[key] for key in keys])
                await self._store.keep(self.model, dict(zip(keys, vectors, strict=True)))
            except ScrubjayError as error:  # raised below: the task group would wrap it in a group of errors
                failures.append(error)

        keys = [*texts]
        async with anyio.create_task_group() as tasks:
            for begin in range(0, len(keys), self._batch_size):
                tasks.start_soon(fill, keys[begin : begin + self._batch_size])
        if failures:
            raise failures[0]

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
