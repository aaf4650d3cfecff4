"""Request vectors from an embedding service, never twice for the same text."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from scrubjay.code_index.reranking.claims import Claims
from scrubjay.code_index.vector_store import CodeVectorStore
from scrubjay.core.errors import InvalidRequest, ScrubjayError, error_from_record
from scrubjay.models.embedding import Embedder
from scrubjay.models.probe import probe

# Texts in one request, if nothing else is set.
BATCH_SIZE = 32
# Requests per claim; unclaimed texts stay available to a search that needs them first.
REQUESTS_AT_ONCE = 8
# Seconds between checks for vectors that another process is requesting.
POLL_SECONDS = 0.05


class EmbeddingRequests:
    """Embeds texts and stores each response at once, so that a failure loses little."""

    def __init__(self, store: CodeVectorStore, embedder: Embedder, folder: Path, batch_size: int = BATCH_SIZE) -> None:
        """`folder` holds the lock files shared by processes."""
        self._store = store
        self._batch_size = batch_size
        self.embedder = embedder
        # A service can offer one model name with several vector lengths.
        self.model = f"{embedder.model}/{embedder.dimensions}"
        self.locks = folder / f"embedding-{hashlib.sha256(self.model.encode()).hexdigest()[:16]}"
        """Path of this model's lock files, without suffix."""
        self._claims = Claims(self.locks.with_suffix(".claims"))

    async def ensure(self, texts: Mapping[str, str]) -> None:
        """Embed and store each of these texts, given by key.

        Texts that another task or process is requesting are waited for, and requested here if that fails.
        """
        at_once = self._batch_size * REQUESTS_AT_ONCE
        waiting = [*texts]
        while waiting:
            missing = await self._some(texts, waiting[:at_once])
            waiting = [*waiting[at_once:], *missing]
            if missing:
                await anyio.sleep(POLL_SECONDS)

    async def close(self) -> None:
        self._claims.close()
        await self.embedder.close()

    async def _some(self, texts: Mapping[str, str], keys: Sequence[str]) -> list[str]:
        """Request the unclaimed texts, and return the keys that are claimed elsewhere."""
        own = self._claims.take(keys)
        try:
            # Read after claiming: a previous claimant has stored its vectors by now.
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
                await self._store.put_vectors(self.model, dict(zip(keys, vectors, strict=True)))
            except ScrubjayError as error:  # raised below: the task group would wrap it in a group of errors
                failures.append(error)

        keys = [*texts]
        async with anyio.create_task_group() as tasks:
            for begin in range(0, len(keys), self._batch_size):
                tasks.start_soon(fill, keys[begin : begin + self._batch_size])
        if failures:
            raise failures[0]

    async def _vectors(self, texts: Sequence[str]) -> Sequence[bytes]:
        """Return one vector per text; empty bytes for a text that the service refuses while it accepts others."""
        try:
            return await self.embedder.embed(texts)
        except InvalidRequest:
            if len(texts) > 1:
                half = len(texts) // 2
                return [*await self._vectors(texts[:half]), *await self._vectors(texts[half:])]
            if (problem := (await probe(self.embedder)).error) is not None:
                raise error_from_record(problem) from None
            return [b""]
