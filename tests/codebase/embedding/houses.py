"""Indexes whose code is embedded by a service, in a home of their own."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
from pydantic import SecretStr

from recollect.codebase.digest_version import VERSION
from recollect.codebase.embedding.service import CodeEmbedding
from recollect.codebase.embedding.working import Rhythm
from recollect.codebase.indexing import Built, Indexer, IndexOptions
from recollect.codebase.search.ranking import Toggles
from recollect.codebase.service import CodeHit, CodeService, Hits
from recollect.domain.progress import SilentReporter
from recollect.inference.caching import VectorCache
from recollect.inference.choices import EmbeddingChoice, Pace
from recollect.inference.providers import batches_for, embedder_for
from recollect.storage.code_vectors import VectorCounts
from recollect.storage.sqlite.code import SqliteCode
from tests.codebase.indexes import WORKERS
from tests.inference.batch_service import KEY
from tests.inference.service import DIMENSIONS

BOUND = 30.0
SECONDS = 5.0


class House(NamedTuple):
    """What asks, what builds and what embeds."""

    code: CodeService
    indexer: Indexer
    store: SqliteCode
    embedding: CodeEmbedding

    async def build(self, root: Path, rev: str = "HEAD") -> Built:
        with anyio.fail_after(BOUND):
            return await self.indexer.build(str(root), rev, IndexOptions(), SilentReporter())

    async def search(self, built: Built, query: str, *, vector: bool = True) -> Hits[CodeHit]:
        return await self.search_index(built.record.id, query, vector=vector)

    async def search_index(self, index_id: str, query: str, *, vector: bool = True) -> Hits[CodeHit]:
        return await self.code.search(index_id, query, limit=10, toggles=Toggles(vector=vector), context_lines=0)

    async def counts(self, built: Built) -> VectorCounts:
        return (await self.store.vectors.counts(self.embedding.model, VERSION))[built.record.id]


def choice_of(url: str, model: str = "a-model") -> EmbeddingChoice:
    return EmbeddingChoice(
        provider="vllm",
        model=model,
        dimensions=DIMENSIONS,
        base_url=url,
        api_key=SecretStr(KEY),
        pace=Pace(batch_size=4, retries=0),
    )


@asynccontextmanager
async def opened(
    home: Path,
    url: str,
    *,
    model: str = "a-model",
    seconds: float = SECONDS,
    batches: bool = False,
    rhythm: Rhythm | None = None,
) -> AsyncGenerator[House]:
    store = await SqliteCode.open(home)
    choice = choice_of(url, model)
    failure: Exception | None = None
    embedding: CodeEmbedding | None = None
    async with anyio.create_task_group() as tasks:
        indexer = Indexer(store, home / "code", workers=WORKERS)
        embedding = CodeEmbedding(
            store,
            store.vectors,
            embedder_for(choice, folder=home, environment={}, cache=VectorCache(100_000)),
            home / "code",
            tasks,
            seconds=seconds,
            batch_size=choice.pace.batch_size,
            batches=batches_for(choice, {}) if batches else None,
            rhythm=rhythm or Rhythm(idle=0.01, failed=0.01, longest=0.02),
        )
        try:
            yield House(CodeService(store, indexer, embedding=embedding), indexer, store, embedding)
        except Exception as error:  # raised below: the task group would wrap it in a group of errors
            failure = error
        tasks.cancel_scope.cancel()
    with anyio.CancelScope(shield=True):
        if embedding is not None:
            await embedding.close()
        await store.close()
    if failure is not None:
        raise failure
