"""Embed texts through a service's batch API, which is slower and cheaper.

One batch runs at a time. Each step is stored before the next, so that work resumes after a crash: no batch is started
and paid twice, and no file is left at the service.
"""

import logging
from collections.abc import Awaitable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.reranking.pending import PendingTexts
from scrubjay.code_index.vector_store import CodeVectorStore, StoredBatch
from scrubjay.core.errors import InvalidRequest, ScrubjayError
from scrubjay.core.ids import new_id
from scrubjay.models.batches import EmbeddingBatches, ProviderBatch
from scrubjay.models.embedding import Embedder
from scrubjay.models.failures import FailureReason, unavailable
from scrubjay.models.probe import probe

logger = logging.getLogger("scrubjay.code_index")

T = TypeVar("T")

# Maximum texts in a batch, about 10 MB.
MAX_TEXTS = 5_000


class BatchEmbedder:
    """Runs one batch after the other."""

    def __init__(
        self, store: CodeVectorStore, batches: EmbeddingBatches, pending: PendingTexts, embedder: Embedder, model: str
    ) -> None:
        self._store = store
        self._batches = batches
        self._pending = pending
        self._embedder = embedder
        self._model = model

    async def step(self) -> bool:
        """Do the next step; return whether another can follow now. False while the service works or all is done."""
        kept = await self._store.batch(self._model)
        if kept is None:
            if texts := await self._collect():
                await self._begin(texts)
            return False
        kept = await self._uploaded(kept)
        batch = await self._found(kept)
        if batch is None:
            await self._end(kept.file_id)
            return True
        if not batch.ended:
            return False
        await self._fetch(batch)
        return True

    async def _collect(self) -> dict[str, str]:
        """Return pending texts for one batch."""

        texts: dict[str, str] = {}
        async with aclosing(self._pending.all()) as chunks:
            async for part in chunks:
                await self._store.mark_complete(self._model, VERSION, part.complete)
                texts |= part.texts
                if len(texts) >= MAX_TEXTS:
                    break
        return dict([*texts.items()][:MAX_TEXTS])

    async def _begin(self, texts: Mapping[str, str]) -> None:
        kept = StoredBatch(model=self._model, name=new_id("scrubjay"), texts=len(texts))
        await self._store.put_batch(kept)
        kept = replace(kept, file_id=await self._batches.upload(kept.name, texts))
        await self._store.put_batch(kept)
        try:
            batch = await self._batches.start(kept.file_id)
        except ScrubjayError as error:
            if _is_refused(error):
                await self._end(kept.file_id)
            raise
        await self._store.put_batch(replace(kept, batch_id=batch.id))

    async def _uploaded(self, kept: StoredBatch) -> StoredBatch:
        """Return the batch with its uploaded file, also when a crash hid that the upload succeeded."""
        if kept.file_id:
            return kept
        kept = replace(kept, file_id=await _known(self._batches.find_file(kept.name)) or "")
        await self._store.put_batch(kept)
        return kept

    async def _found(self, kept: StoredBatch) -> ProviderBatch | None:
        """Return the service's batch; None when it does not exist or was refused."""
        if kept.batch_id:
            return await _known(self._batches.get(kept.batch_id))
        if not kept.file_id:
            return None
        # A crash may have hidden that it was started.
        batch = await _known(self._batches.find_batch(kept.file_id)) or await _known(self._batches.start(kept.file_id))
        if batch is not None:
            await self._store.put_batch(replace(kept, batch_id=batch.id))
        return batch

    async def _fetch(self, batch: ProviderBatch) -> None:
        """Store the vectors of a finished batch; texts without one are pending again."""
        answers = await _known(self._batches.answers(batch))
        vectors = dict(answers.vectors) if answers else {}
        # When the service refuses everything, the texts are not the cause.
        if answers and answers.refused and (vectors or (await probe(self._embedder)).error is None):
            vectors |= dict.fromkeys(answers.refused, b"")
        await self._store.put_vectors(self._model, vectors)
        await self._end(batch.output_file_id, batch.error_file_id, batch.input_file_id)
        if answers is None:  # removed by a process that was killed before it recorded that, or expired
            logger.warning("the answers of a batch no longer exist", extra={"batch": batch.id})
        elif not vectors:
            why = f" ({batch.problem})" if batch.problem else ""
            raise unavailable(
                FailureReason.FAILING,
                f"the batch {batch.id} produced no vectors: {batch.status}{why}",
                hint="its texts are pending again",
            )

    async def _end(self, *file_ids: str) -> None:
        """Delete these files at the service, then the batch record; in this order, so that a crash can be resumed."""
        for file_id in filter(None, file_ids):
            try:
                await _known(self._batches.remove(file_id))
            except ScrubjayError as error:  # it stays until the service expires it
                logger.warning(
                    "deleting a file at the service failed", extra={"file": file_id, "problem": error.message}
                )
        await self._store.end_batch(self._model)


async def _known(answer: Awaitable[T]) -> T | None:
    """Return the service's answer; None for not found or refused."""
    try:
        return await answer
    except ScrubjayError as error:
        if _is_refused(error):
            return None
        raise


def _is_refused(error: ScrubjayError) -> bool:
    return isinstance(error, InvalidRequest) or error.details.get("reason") == FailureReason.NOT_FOUND
