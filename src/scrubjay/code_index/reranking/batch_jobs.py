"""Giving texts to a service to be embedded when it has time, for less money, and fetching what came of them.

One batch is under way at a time. Each step is kept before the next, so that whoever comes after a crash goes on with
it: what was begun is not begun, and paid, a second time, and no file is left at the service.
"""

import logging
from collections.abc import Awaitable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.reranking.pending import PendingTexts
from scrubjay.code_index.vector_store import CodeVectorStore, KeptBatch
from scrubjay.core.errors import InvalidRequest, ScrubjayError
from scrubjay.core.ids import new_id
from scrubjay.models.batches import Batch, EmbeddingBatches
from scrubjay.models.embedding import Embedder
from scrubjay.models.failures import Reason, unavailable
from scrubjay.models.probe import examine

logger = logging.getLogger("scrubjay.code_index")

T = TypeVar("T")

# So many texts are in a batch at most; they come to some 10 MB.
LARGEST = 5_000


class Batching:
    """The way of one batch after the other."""

    def __init__(
        self, store: CodeVectorStore, batches: EmbeddingBatches, pending: PendingTexts, embedder: Embedder, model: str
    ) -> None:
        self._store = store
        self._batches = batches
        self._pending = pending
        self._embedder = embedder
        self._model = model

    async def step(self) -> bool:
        """Do what is to be done now; whether there may be more at once. Else the service is at it, or all is done."""
        kept = await self._store.batch(self._model)
        if kept is None:
            if texts := await self._gathered():
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

    async def _gathered(self) -> dict[str, str]:
        """As many pending texts as go into a batch."""

        texts: dict[str, str] = {}
        async with aclosing(self._pending.all()) as parts:
            async for part in parts:
                await self._store.note_done(self._model, VERSION, part.complete)
                texts |= part.texts
                if len(texts) >= LARGEST:
                    break
        return dict([*texts.items()][:LARGEST])

    async def _begin(self, texts: Mapping[str, str]) -> None:
        kept = KeptBatch(model=self._model, name=new_id("scrubjay"), texts=len(texts))
        await self._store.put_batch(kept)
        kept = replace(kept, file_id=await self._batches.upload(kept.name, texts))
        await self._store.put_batch(kept)
        try:
            batch = await self._batches.begin(kept.file_id)
        except ScrubjayError as error:
            if _is_refused(error):
                await self._end(kept.file_id)
            raise
        await self._store.put_batch(replace(kept, batch_id=batch.id))

    async def _uploaded(self, kept: KeptBatch) -> KeptBatch:
        """With the file that was uploaded for it, also when nobody heard that it was."""
        if kept.file_id:
            return kept
        kept = replace(kept, file_id=await _known(self._batches.uploaded(kept.name)) or "")
        await self._store.put_batch(kept)
        return kept

    async def _found(self, kept: KeptBatch) -> Batch | None:
        """The batch as the service tells of it; None when it knows nothing of it, or will not do it."""
        if kept.batch_id:
            return await _known(self._batches.look(kept.batch_id))
        if not kept.file_id:
            return None
        # Nobody heard whether it was begun.
        batch = await _known(self._batches.begun(kept.file_id)) or await _known(self._batches.begin(kept.file_id))
        if batch is not None:
            await self._store.put_batch(replace(kept, batch_id=batch.id))
        return batch

    async def _fetch(self, batch: Batch) -> None:
        """Keep what came of a batch. What it did not come to is pending again."""
        answers = await _known(self._batches.answers(batch))
        vectors = dict(answers.vectors) if answers else {}
        # Where nothing is taken at all, it is not the texts that are wrong.
        if answers and answers.refused and (vectors or (await examine(self._embedder)).error is None):
            vectors |= dict.fromkeys(answers.refused, b"")
        await self._store.keep(self._model, vectors)
        await self._end(batch.output_file_id, batch.error_file_id, batch.input_file_id)
        if answers is None:  # removed by somebody who was killed before it was noted, or too old
            logger.warning("the answers of a batch are gone", extra={"batch": batch.id})
        elif not vectors:
            why = f" ({batch.problem})" if batch.problem else ""
            raise unavailable(
                Reason.FAILING,
                f"the batch {batch.id} came to nothing: {batch.status}{why}",
                hint="what was in it is pending again",
            )

    async def _end(self, *file_ids: str) -> None:
        """Have the service forget these files, and then forget the batch: whoever is killed between goes on with it."""
        for file_id in filter(None, file_ids):
            try:
                await _known(self._batches.remove(file_id))
            except ScrubjayError as error:  # it is there longer than it should
                logger.warning("a file stays at the service", extra={"file": file_id, "problem": error.message})
        await self._store.end_batch(self._model)


async def _known(answer: Awaitable[T]) -> T | None:
    """What the service answers; None when it says that there is no such thing, or that it will not."""
    try:
        return await answer
    except ScrubjayError as error:
        if _is_refused(error):
            return None
        raise


def _is_refused(error: ScrubjayError) -> bool:
    return isinstance(error, InvalidRequest) or error.details.get("reason") == Reason.NOT_FOUND
