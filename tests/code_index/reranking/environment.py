"""A separate store whose indexed code is embedded by a fake service."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
from pydantic import SecretStr

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.index.indexer import BuildResult, Indexer
from scrubjay.code_index.index.options import IndexOptions
from scrubjay.code_index.reranking.embed_worker import EmbedIntervals
from scrubjay.code_index.reranking.service import CodeEmbedding
from scrubjay.code_index.search.ranker import SignalToggles
from scrubjay.code_index.service import CodeHit, CodeService, SearchHits
from scrubjay.code_index.vector_store import VectorCounts
from scrubjay.core.progress import SilentReporter
from scrubjay.features.code.sqlite import SqliteCode
from scrubjay.models.choices import EmbeddingChoice, Pace
from scrubjay.models.embedding_cache import VectorCache
from scrubjay.models.providers import batches_for, embedder_for
from tests.code_index.indexes import WORKERS
from tests.models.batch_service import KEY
from tests.models.service import DIMENSIONS

BOUND = 30.0
SECONDS = 5.0


class Environment(NamedTuple):
    """A store with the services that build, search and embed its indexes."""

    code: CodeService
    indexer: Indexer
    store: SqliteCode
    embedding: CodeEmbedding

    async def build(self, root: Path, rev: str = "HEAD") -> BuildResult:
        with anyio.fail_after(BOUND):
            return await self.indexer.build(str(root), rev, IndexOptions(), SilentReporter())

    async def search(self, built: BuildResult, query: str, *, vector: bool = True) -> SearchHits[CodeHit]:
        return await self.search_index(built.record.id, query, vector=vector)

    async def search_index(self, index_id: str, query: str, *, vector: bool = True) -> SearchHits[CodeHit]:
        return await self.code.search(index_id, query, limit=10, toggles=SignalToggles(vector=vector), context_lines=0)

    async def counts(self, built: BuildResult) -> VectorCounts:
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
async def open_environment(
    home: Path,
    url: str,
    *,
    model: str = "a-model",
    seconds: float = SECONDS,
    batches: bool = False,
    intervals: EmbedIntervals | None = None,
) -> AsyncGenerator[Environment]:
    store = await SqliteCode.open(home)
    choice = choice_of(url, model)
    failure: Exception | None = None
    embedding: CodeEmbedding | None = None
    async with anyio.create_task_group() as tasks:
        indexer = Indexer(store, home / "code", workers=WORKERS)
        embedding = CodeEmbedding(
            store,
            store.vectors,
            embedder_for(choice, environment={}, cache=VectorCache(100_000)),
            home / "code",
            tasks,
            seconds=seconds,
            batch_size=choice.pace.batch_size,
            batches=batches_for(choice, {}) if batches else None,
            intervals=intervals or EmbedIntervals(idle=0.01, failed=0.01, longest=0.02),
        )
        try:
            yield Environment(CodeService(store, indexer, embedding=embedding), indexer, store, embedding)
        except Exception as error:  # raised below: the task group would wrap it in a group of errors
            failure = error
        tasks.cancel_scope.cancel()
    with anyio.CancelScope(shield=True):
        if embedding is not None:
            await embedding.close()
        await store.close()
    if failure is not None:
        raise failure
