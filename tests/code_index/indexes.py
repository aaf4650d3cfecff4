"""Separate stores with the services that build and search their indexes, and the process ids of their workers."""

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from scrubjay.code_index.facts.packing import unpack_edges
from scrubjay.code_index.index.indexer import BuildResult, Indexer
from scrubjay.code_index.index.options import IndexOptions
from scrubjay.code_index.index.worker_pool import WorkerPool
from scrubjay.code_index.models import FileEdges, FileFacts
from scrubjay.code_index.search.ranker import SignalToggles
from scrubjay.code_index.service import CodeService
from scrubjay.code_index.store import IndexedFile
from scrubjay.core.progress import Reporter, SilentReporter
from scrubjay.features.code.sqlite import SqliteCode

# Shared by all tests: starting the processes takes longer than most tests.
WORKERS = WorkerPool(2)
BOUND = 30.0


class Home(NamedTuple):
    """A store with the services that build and search its indexes."""

    code: CodeService
    indexer: Indexer
    store: SqliteCode

    async def build(
        self, root: Path, *, rev: str = "HEAD", reporter: Reporter | None = None, **options: Any
    ) -> BuildResult:
        with anyio.fail_after(BOUND):
            return await self.indexer.build(str(root), rev, IndexOptions(**options), reporter or SilentReporter())

    async def found(self, built: BuildResult, query: str) -> list[str]:
        """Return the paths of the search results."""
        hits = await self.code.search(built.record.id, query, limit=10, toggles=SignalToggles(), context_lines=0)
        return [hit.file.path for hit in hits]


@asynccontextmanager
async def opened(home: Path, workers: WorkerPool = WORKERS, **settings: Any) -> AsyncGenerator[Home]:
    store = await SqliteCode.open(home)
    try:
        indexer = Indexer(store, home / "code", workers=workers, **settings)
        yield Home(CodeService(store, indexer), indexer, store)
    finally:
        await store.close()


class IndexContents(NamedTuple):
    """Everything that an index holds, in a form that does not depend on how it was built."""

    files: Sequence[IndexedFile]
    facts: dict[str, FileFacts]
    edges: dict[str, FileEdges]
    answers: list[list[tuple[float, str, str, str]]]


async def index_contents(home: Home, built: BuildResult, questions: Sequence[str]) -> IndexContents:
    files = await home.store.files(built.record.id)
    packed = await home.store.edges(built.record.id)
    answers = [
        sorted((hit.score, hit.file.path, hit.symbol, hit.excerpt.text) for hit in hits)
        for question in questions
        for hits in [
            await home.code.search(built.record.id, question, limit=100, toggles=SignalToggles(), context_lines=0)
        ]
    ]
    return IndexContents(
        [file._replace(generation=0) for file in files],
        await home.indexer.facts(files),
        {path: unpack_edges(edges) for path, edges in packed.items()},
        answers,
    )


def worker_pids(parent: int | None = None) -> set[int]:
    """Return the processes that read files for a process, this one by default."""
    return _pids(b"scrubjay.code_index.index.digest_worker", parent)


def linker_pids(parent: int | None = None) -> set[int]:
    """Return the processes that resolve uses for a process, this one by default."""
    return _pids(b"scrubjay.code_index.index.link_process", parent)


def _pids(program: bytes, parent: int | None) -> set[int]:
    pids: set[int] = set()
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
            if program in command:
                state = (folder / "stat").read_text().rpartition(")")[2].split()
                if state[0] != "Z" and int(state[1]) == (parent or os.getpid()):
                    pids.add(int(folder.name))
        except OSError:
            continue  # the process has ended
    return pids
