"""Bringing the index of a repository up to date: only what changed is read, and it changes from whole to whole."""

import hashlib
import json
import logging
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from recollect.codebase.bundling.journal import Journal
from recollect.codebase.discovery.limits import Limits
from recollect.domain.clock import Clock, system_clock
from recollect.domain.code import FileEdges, FileFacts, Snapshot, SourceFile
from recollect.domain.errors import NotFound
from recollect.domain.progress import Reporter
from recollect.storage.code import CodeStore, Content, IndexedFile, IndexRecord

logger = logging.getLogger("recollect.codebase")

# What each stage takes of the whole, in hundredths.
STAGES: Mapping[str, tuple[int, int]] = {
    "acquire": (0, 5),
    "read": (5, 70),
    "graph": (70, 92),
    "write": (92, 97),
    "bundle": (97, 100),
}
LOOK_SECONDS = 0.1
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """What an index is asked to hold."""

    excludes: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    """Only these; all by default."""

    def as_data(self) -> dict[str, Any]:
        return {"excludes": list(self.excludes), "languages": list(self.languages)}


@dataclass(frozen=True, slots=True)
class Built:
    """An index that is up to date, and what was done for it."""

    record: IndexRecord
    snapshot: Snapshot
    changed: Sequence[str] = ()
    removed: Sequence[str] = ()


@dataclass
class Indexer:
    """Builds indexes. One process at a time builds one of them; others wait and find it done."""

    store: CodeStore
    folder: Path
    """Where locks and other files of indexes are."""
    limits: Limits = field(default_factory=Limits)
    workers: int = 2
    clock: Clock = system_clock

    async def build(self, root: str, rev: str, options: IndexOptions, reporter: Reporter) -> Built:
        """Bring the index of this folder at this revision up to date."""
        await _report(reporter, "acquire", 0, f"looking at {root}")
        snapshot = await self.snapshot(root, rev, options)
        index_id = index_id_of(snapshot.root, rev, options)
        async with self.alone(index_id, reporter):
            before = await self.store.index(index_id)
            known = {file.path: file for file in await self.store.files(index_id)} if before else {}
            changed, removed = differences(snapshot, known)
            if before is not None and not changed and not removed and before.commit == snapshot.commit:
                return Built(before, snapshot)
            record = self._record(index_id, rev, options, snapshot, before)
            with Journal(self.folder / index_id, record, reporter, self.clock) as journal:
                journal.begin(snapshot)
                await self._read(snapshot, [file for file in snapshot.files if file.path in changed], journal)
                edges, details = await self._edges(record, snapshot, changed, removed, journal)
                await _report(journal, "write", 0, "writing")
                files = [_indexed(file, record.generation) for file in snapshot.files if file.path in changed]
                record = replace(record, details={**record.details, **details})
                await self.store.write(record, changed=files, removed=removed, edges=edges)
                await _report(journal, "write", 1, "written")
                journal.complete(record)
            return Built(record, snapshot, sorted(changed), removed)

    async def snapshot(self, root: str, rev: str, options: IndexOptions) -> Snapshot:
        """What there is now."""

        from recollect.codebase.discovery.snapshot import take_snapshot

        found = await anyio.to_thread.run_sync(
            lambda: take_snapshot(root, rev=rev, limits=self.limits, excludes=options.excludes), abandon_on_cancel=True
        )
        if not options.languages:
            return found
        return replace(found, files=[file for file in found.files if file.language in options.languages])

    @asynccontextmanager
    async def alone(self, index_id: str, reporter: Reporter) -> AsyncGenerator[None]:
        """While this is held, no other process builds the same index."""
        import fcntl

        await anyio.to_thread.run_sync(lambda: self.folder.mkdir(mode=0o700, parents=True, exist_ok=True))
        with (self.folder / f"{index_id}.lock").open("wb") as lock:
            while True:
                try:
                    fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    await _report(reporter, "acquire", 0, "another process builds this index; waiting for it")
                    await anyio.sleep(LOOK_SECONDS)
            yield

    async def _read(self, snapshot: Snapshot, files: Sequence[SourceFile], reporter: Reporter) -> None:
        """Digest the contents of these that nobody digested before."""
        from recollect.codebase.digest import VERSION
        from recollect.codebase.workers import digested

        wanted = {Content(file.blob, file.language): file for file in files}
        known = await self.store.known(VERSION, [*wanted])
        missing = [file for content, file in wanted.items() if content not in known]
        total, done = sum(file.size for file in missing) or 1, 0
        await _report(reporter, "read", 0, f"reading {len(missing)} of {len(snapshot.files)} files")
        sizes = {Content(file.blob, file.language): file.size for file in missing}
        contents = _contents(snapshot, missing)
        async for batch in digested(contents, workers=self.workers):
            await self.store.keep(VERSION, batch)
            done += sum(sizes[content] for content, _ in batch)
            await _report(reporter, "read", min(1.0, done / total), f"read {done // 1000} of {total // 1000} kB")

    async def _edges(
        self,
        record: IndexRecord,
        snapshot: Snapshot,
        changed: set[str],
        removed: Sequence[str],
        reporter: Reporter,
    ) -> tuple[dict[str, bytes], dict[str, Any]]:
        """What the uses in changed files, and in those that may mean something else now, lead to."""
        from recollect.codebase.graph.resolving import resolve
        from recollect.codebase.packing import packed_edges

        await _report(reporter, "graph", 0, "loading what the files say")
        facts = await self.facts(_indexed(file, record.generation) for file in snapshot.files)
        await _report(reporter, "graph", 0.3, "finding what each use means")
        found: Mapping[str, FileEdges] = await anyio.to_thread.run_sync(
            lambda: resolve([*facts], facts), abandon_on_cancel=True
        )
        await _report(reporter, "graph", 1, "found what each use means")
        return {path: packed_edges(edges) for path, edges in found.items()}, _counted(facts, found)

    async def facts(self, files: Iterable[IndexedFile]) -> dict[str, FileFacts]:
        """What each of these files says."""
        from recollect.codebase.digest import VERSION, unpacked_facts

        wanted = {file.path: file.content for file in files}
        known: dict[Content, FileFacts] = {}
        for part in _parts(list(dict.fromkeys(wanted.values())), 500):
            packed = await self.store.digests(VERSION, part)
            known |= {content: unpacked_facts(digest) for content, digest in packed.items()}
        return {path: known[content] for path, content in wanted.items() if content in known}

    def _record(
        self, index_id: str, rev: str, options: IndexOptions, snapshot: Snapshot, before: IndexRecord | None
    ) -> IndexRecord:
        now = self.clock()
        return IndexRecord(
            id=index_id,
            root=snapshot.root,
            rev=rev,
            options=options.as_data(),
            generation=before.generation + 1 if before else 1,
            commit=snapshot.commit,
            created_at=before.created_at if before else now,
            updated_at=now,
            details={
                "files": len(snapshot.files),
                "skipped": len(snapshot.skipped),
                "bytes": sum(file.size for file in snapshot.files),
                "dirty": len(snapshot.dirty),
                "is_git": snapshot.is_git,
                "from_objects": snapshot.from_objects,
                "repositories": list(snapshot.repositories),
            },
        )


def index_id_of(root: str, rev: str, options: IndexOptions) -> str:
    """The id of the index of a folder at a revision: the same in every process, whatever is in the folder."""
    import os

    told = json.dumps([os.fsencode(root).decode("latin-1"), rev, options.as_data()], sort_keys=True)
    number = int.from_bytes(hashlib.sha256(told.encode()).digest()[:16])
    letters = ""
    for _ in range(26):
        number, place = divmod(number, 32)
        letters += _LETTERS[place]
    return f"idx_{letters}"


def unknown_index(index_id: str) -> NotFound:
    return NotFound(f"there is no index {index_id[:80]!r}", hint="ensure_repo_index makes one and tells its id")


def _contents(snapshot: Snapshot, files: Sequence[SourceFile]) -> Iterator[tuple[Content, bytes]]:

    from recollect.codebase.discovery.contents import read_contents

    for file, content in read_contents(snapshot, files):
        if content is not None:
            yield Content(file.blob, file.language), content


def differences(snapshot: Snapshot, known: Mapping[str, IndexedFile]) -> tuple[set[str], list[str]]:
    """The paths of files that are new or changed, and of those that are gone."""
    changed = {
        file.path
        for file in snapshot.files
        if (before := known.get(file.path)) is None
        or before.content != Content(file.blob, file.language)
        or before.dirty != file.dirty
    }
    present = {file.path for file in snapshot.files}
    return changed, sorted(path for path in known if path not in present)


def _indexed(file: SourceFile, generation: int) -> IndexedFile:
    return IndexedFile(file.path, Content(file.blob, file.language), file.size, file.traits, file.dirty, generation)


def _counted(facts: Mapping[str, FileFacts], found: Mapping[str, FileEdges]) -> dict[str, Any]:
    return {
        "symbols": sum(len(own.symbols) for own in facts.values()),
        "edges": sum(len(own.edges) for own in found.values()),
        "unresolved": sum(len(own.unresolved) for own in found.values()),
        "broken": sorted(path for path, own in facts.items() if own.problems)[:200],
    }


def _parts(contents: Sequence[Content], size: int) -> Iterator[Sequence[Content]]:
    for start in range(0, len(contents), size):
        yield contents[start : start + size]


async def _report(reporter: Reporter, stage: str, share: float, message: str) -> None:
    start, end = STAGES[stage]
    await reporter.report(round(start + share * (end - start), 1), 100, f"{stage}: {message}")
