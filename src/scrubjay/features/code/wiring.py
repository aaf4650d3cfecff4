"""Assemble the code index service."""

from contextlib import suppress
from functools import partial
from pathlib import Path

from scrubjay.code_index import (
    OPENED_FOLDER,
    CodeEmbedding,
    CodeService,
    FolderPolicy,
    FullRelinkScheduler,
    Indexer,
    IndexLimits,
    WorkerPool,
)
from scrubjay.core.environment import all_variables
from scrubjay.core.errors import Misconfigured, ScrubjayError
from scrubjay.core.protected_paths import ProtectedPaths
from scrubjay.db.database import Database
from scrubjay.features.code.file_changes import FileChanges
from scrubjay.features.code.index_jobs import CodeJobGuard
from scrubjay.features.code.settings import CodeSettings
from scrubjay.features.code.sqlite import SqliteCode
from scrubjay.features.embeddings.settings import EmbeddingSettings
from scrubjay.features.projects.store import ProjectStore
from scrubjay.features.workspace.files.root import choose_root
from scrubjay.features.workspace.settings import FileSettings
from scrubjay.models.breakers import BreakerRegistry
from scrubjay.models.embedding_cache import VectorCache
from scrubjay.models.providers import batches_for, embedder_for, known_dimensions, name_of
from scrubjay.models.unavailable import UnusableEmbedder
from scrubjay.native.library import use_library
from scrubjay.tooling.feature_settings import FeatureSettings
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()

# Room for the vectors of a few thousand recent queries.
QUERY_CACHE_BYTES = 8 * 1024 * 1024


@WIRING.provides
async def code_service(services: Services) -> CodeService:
    chosen, runtime = services.ready(CodeSettings), services.ready(Runtime)
    use_library(services.ready(FeatureSettings).native_extension)
    await services.get(Database)  # first, so that `code.db` proves that a store was created in this home
    store = await SqliteCode.open(runtime.home)
    services.on_close(store.close)
    limits = IndexLimits(
        max_file_bytes=chosen.max_file_bytes,
        max_files=chosen.max_files,
        seconds=chosen.seconds,
        stage_seconds=chosen.stage_seconds,
    )
    workers = WorkerPool(chosen.workers, file_seconds=chosen.file_seconds, memory_bytes=chosen.worker_bytes)
    derived = runtime.home / "code"
    # The unpacked texts of opened bundles are no data of the store.
    protected = ProtectedPaths(runtime.home, (derived / OPENED_FOLDER,))
    indexer = Indexer(store, derived, limits, workers, runtime.clock, chosen.graph_bytes, protected=protected)
    runtime.tasks.start_soon(FullRelinkScheduler(indexer).run)
    if (embedding := _code_embedding(services, store)) is not None:
        services.on_close(embedding.close)
    folders = FolderPolicy(protected, chosen.roots, partial(_default_roots, services))
    service = CodeService(store, indexer, folders, embedding)
    service.on_change = services.ready(FileChanges).notify
    return service


@WIRING.provides
async def job_guard(services: Services) -> CodeJobGuard:
    return CodeJobGuard(await services.get(CodeService))


async def _default_roots(services: Services) -> list[str]:
    """Return the folders that callers with a key may index by default: the root of files and the owner's projects."""
    roots = [*await (await services.get(ProjectStore)).paths_of_owner()]
    files = services.ready(FileSettings)
    if files.enabled:
        with suppress(Misconfigured):  # a server that was started in / has no root of files
            roots.append(choose_root(None if files.root is None else str(files.root), str(Path.cwd())))
    return roots


def _code_embedding(services: Services, store: SqliteCode) -> CodeEmbedding | None:
    """Return the configured embedding model for code; None if only the bundled one is used."""
    chosen, runtime, breakers = services.ready(CodeSettings), services.ready(Runtime), services.ready(BreakerRegistry)
    if (choice := chosen.embedding_choice(services.ready(EmbeddingSettings).choice())) is None:
        return None
    batches = None
    try:
        embedder = embedder_for(
            choice,
            environment=all_variables(),
            cache=VectorCache(QUERY_CACHE_BYTES),  # separate, so that code vectors do not evict those of memories
            breakers=breakers,
            service="code_embedding",
        )
        if chosen.batch_api:
            batches = batches_for(choice, all_variables(), breakers)
    except ScrubjayError as problem:
        embedder = UnusableEmbedder(name_of(choice), known_dimensions(choice) or 0, problem)
    return CodeEmbedding(
        store,
        store.vectors,
        embedder,
        runtime.home / "code",
        runtime.tasks,
        seconds=chosen.embedding_seconds,
        batch_size=choice.pace.batch_size,
        batches=batches,
    )
