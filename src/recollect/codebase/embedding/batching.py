"""Giving texts to a service to be embedded when it has time, for less money, and fetching what came of them.

One batch is under way at a time. Each step is kept before the next, so that whoever comes after a crash goes on with
it: what was begun is not begun, and paid, a second time.
"""

import logging
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace

from recollect.codebase.embedding.pending import PendingTexts
from recollect.domain.errors import InvalidRequest, RecollectError, Unavailable
from recollect.domain.identifiers import new_id
from recollect.inference.batches import Batch, EmbeddingBatches
from recollect.inference.embedding import Embedder
from recollect.inference.examination import examine
from recollect.inference.failures import Reason, unavailable
from recollect.storage.code_vectors import CodeVectorStore, KeptBatch

logger = logging.getLogger("recollect.codebase")

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
        batch = await self._found(kept)
        if batch is None:
            await self._store.end_batch(self._model, {})
            return True
        if not batch.ended:
            return False
        await self._fetch(batch)
        return True

    async def _gathered(self) -> dict[str, str]:
        """As many pending texts as go into a batch."""
        from recollect.codebase.digest import VERSION

        texts: dict[str, str] = {}
        async with aclosing(self._pending.all()) as parts:
            async for part in parts:
                await self._store.note_done(self._model, VERSION, part.complete)
                texts |= part.texts
                if len(texts) >= LARGEST:
                    break
        return dict([*texts.items()][:LARGEST])

    async def _begin(self, texts: Mapping[str, str]) -> None:
        kept = KeptBatch(model=self._model, name=new_id("batch"), texts=len(texts))
        kept = replace(kept, file_id=await self._batches.upload(f"recollect-{kept.name}", texts))
        await self._store.put_batch(kept)
        batch = await self._batches.begin(kept.file_id)
        await self._store.put_batch(replace(kept, batch_id=batch.id))

    async def _found(self, kept: KeptBatch) -> Batch | None:
        """The batch as the service tells of it; None when it knows nothing of it any more."""
        try:
            if kept.batch_id:
                return await self._batches.look(kept.batch_id)
            # Nobody heard whether it was begun.
            batch = await self._batches.begun(kept.file_id) or await self._batches.begin(kept.file_id)
        except Unavailable as error:
            if error.details.get("reason") != Reason.NOT_FOUND:
                raise
            return None
        except InvalidRequest:
            return None
        await self._store.put_batch(replace(kept, batch_id=batch.id))
        return batch

    async def _fetch(self, batch: Batch) -> None:
        """Keep what came of a batch. What it did not come to is pending again."""
        answers = await self._batches.answers(batch)
        vectors = dict(answers.vectors)
        # Where nothing is taken at all, it is not the texts that are wrong.
        if vectors or (answers.refused and (await examine(self._embedder)).error is None):
            vectors |= dict.fromkeys(answers.refused, b"")
        await self._store.end_batch(self._model, vectors)
        for file_id in (batch.input_file_id, batch.output_file_id, batch.error_file_id):
            if file_id:
                await self._remove(file_id)
        if not vectors:
            why = f" ({batch.problem})" if batch.problem else ""
            raise unavailable(
                Reason.FAILING,
                f"the batch {batch.id} came to nothing: {batch.status}{why}",
                hint="what was in it is pending again",
            )

    async def _remove(self, file_id: str) -> None:
        try:
            await self._batches.remove(file_id)
        except RecollectError as error:  # it is there a little longer than it should
            logger.warning("a file stays at the service", extra={"file": file_id, "problem": error.message})
