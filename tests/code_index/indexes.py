"""Indexes in a home of their own, and the processes that read for them."""

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from scrubjay.code_index.facts.packing import unpacked_edges
from scrubjay.code_index.index.indexer import Built, Indexer, IndexOptions
from scrubjay.code_index.index.worker_pool import Workers
from scrubjay.code_index.models import FileEdges, FileFacts
from scrubjay.code_index.search.ranker import Toggles
from scrubjay.code_index.service import CodeService
from scrubjay.code_index.store import IndexedFile
from scrubjay.core.progress import Reporter, SilentReporter
from scrubjay.features.code.sqlite import SqliteCode

# Starting them takes longer than most tests.
WORKERS = Workers(2)
BOUND = 30.0


class Home(NamedTuple):
    """What asks and what builds."""

    code: CodeService
    indexer: Indexer
    store: SqliteCode

    async def build(self, root: Path, *, rev: str = "HEAD", reporter: Reporter | None = None, **options: Any) -> Built:
        with anyio.fail_after(BOUND):
            return await self.indexer.build(str(root), rev, IndexOptions(**options), reporter or SilentReporter())

    async def found(self, built: Built, query: str) -> list[str]:
        """The paths that answer."""
        hits = await self.code.search(built.record.id, query, limit=10, toggles=Toggles(), context_lines=0)
        return [hit.file.path for hit in hits]


@asynccontextmanager
async def opened(home: Path, workers: Workers = WORKERS, **settings: Any) -> AsyncGenerator[Home]:
    store = await SqliteCode.open(home)
    try:
        indexer = Indexer(store, home / "code", workers=workers, **settings)
        yield Home(CodeService(store, indexer), indexer, store)
    finally:
        await store.close()


class Whole(NamedTuple):
    """All that an index holds, whoever made it and however often."""

    files: Sequence[IndexedFile]
    facts: dict[str, FileFacts]
    edges: dict[str, FileEdges]
    answers: list[list[tuple[float, str, str, str]]]


async def whole(home: Home, built: Built, questions: Sequence[str]) -> Whole:
    files = await home.store.files(built.record.id)
    packed = await home.store.edges(built.record.id)
    answers = [
        sorted((hit.score, hit.file.path, hit.symbol, hit.extract.text) for hit in found)
        for question in questions
        for found in [await home.code.search(built.record.id, question, limit=100, toggles=Toggles(), context_lines=0)]
    ]
    return Whole(
        [file._replace(generation=0) for file in files],
        await home.indexer.facts(files),
        {path: unpacked_edges(edges) for path, edges in packed.items()},
        answers,
    )


def worker_pids(parent: int | None = None) -> set[int]:
    """The processes that read files for a process, this one by default."""
    return _pids(b"scrubjay.code_index.index.digest_worker", parent)


def linker_pids(parent: int | None = None) -> set[int]:
    """The processes that resolve uses for a process, this one by default."""
    return _pids(b"scrubjay.code_index.index.link_process", parent)


def _pids(program: bytes, parent: int | None) -> set[int]:
    found: set[int] = set()
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
            if program in command:
                state = (folder / "stat").read_text().rpartition(")")[2].split()
                if state[0] != "Z" and int(state[1]) == (parent or os.getpid()):
                    found.add(int(folder.name))
        except OSError:
            continue  # it ended meanwhile
    return found
