"""Bringing the index of a repository up to date: only what changed is read, and it changes from whole to whole."""

import hashlib
import json
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from recollect.codebase.bundling.journal import Journal
from recollect.codebase.discovery.limits import Limits
from recollect.codebase.path_text import path_text
from recollect.codebase.workers import Workers
from recollect.domain.clock import Clock, system_clock
from recollect.domain.code import FileEdges, FileFacts, Skipped, Snapshot, SourceFile
from recollect.domain.errors import Cancelled, InvalidRequest, NotFound
from recollect.domain.progress import Progress, Reporter
from recollect.storage.code import CodeStore, Content, IndexedFile, IndexRecord

logger = logging.getLogger("recollect.codebase")

T = TypeVar("T")

# What each stage takes of the whole, in hundredths.
STAGES: Mapping[str, tuple[int, int]] = {
    "acquire": (0, 5),
    "read": (5, 70),
    "graph": (70, 92),
    "write": (92, 97),
    "bundle": (97, 100),
}
LOOK_SECONDS = 0.1
# So many files of each sort that could not be read are named.
MOST_TOLD = 200
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
    workers: Workers = field(default_factory=Workers)
    clock: Clock = system_clock

    async def build(self, root: str, rev: str, options: IndexOptions, reporter: Reporter) -> Built:
        """Bring the index of this folder at this revision up to date."""
        snapshot = await self._acquired(root, rev, options, reporter)
        index_id = index_id_of(snapshot.root, rev, options)
        async with self.alone(index_id, reporter) as waited:
            if waited:  # what was seen before may be older than what the other process has indexed since
                snapshot = await self._acquired(root, rev, options, reporter)
            before = await self.store.index(index_id)
            unread = _binaries(snapshot, before)
            snapshot = _without(snapshot, unread)
            changed, removed = await self.behind(snapshot, before)
            if before is not None and _is_as(before, snapshot, changed, removed, _final(unread)):
                return Built(before, snapshot)
            record = self._record(index_id, rev, options, snapshot, before)
            with Journal(self.folder / index_id, record, reporter, self.clock) as journal:
                journal.begin(snapshot)
                found = await self._read(snapshot, [file for file in snapshot.files if file.path in changed], journal)
                if found:
                    unread |= found
                    snapshot = _without(snapshot, found)
                    changed, removed = await self.behind(snapshot, before)
                    if before is not None and _is_as(before, snapshot, changed, removed, _final(unread)):
                        journal.complete(before)
                        return Built(before, snapshot)
                    record = self._record(index_id, rev, options, snapshot, before)
                edges, details = await _heeding(
                    journal, lambda heard: self._edges(record, snapshot, changed, removed, heard)
                )
                await _report(journal, "write", 0, "writing")
                files = [_indexed(file, record.generation) for file in snapshot.files if file.path in changed]
                record = replace(record, details={**record.details, **details, "binaries": _final(unread)})
                await self.store.write(record, changed=files, removed=removed, edges=edges)
                await _report(journal, "write", 1, "written")
                journal.complete(record)
            return Built(record, snapshot, sorted(changed), removed)

    async def snapshot(self, root: str, rev: str, options: IndexOptions) -> Snapshot:
        """What there is now."""
        if root != (told := _printable(root)):
            raise InvalidRequest(
                f"the path {told} is not UTF-8", hint="give the folder, or those around it, other names"
            )
        from recollect.codebase.discovery.snapshot import take_snapshot

        given_up = threading.Event()

        def take() -> Snapshot:
            excludes = options.excludes
            return take_snapshot(root, rev=rev, limits=self.limits, excludes=excludes, should_stop=given_up.is_set)

        try:
            found = await anyio.to_thread.run_sync(take, abandon_on_cancel=True)
        finally:
            given_up.set()
        if not options.languages:
            return found
        return replace(found, files=[file for file in found.files if file.language in options.languages])

    async def _acquired(self, root: str, rev: str, options: IndexOptions, reporter: Reporter) -> Snapshot:
        async def acquire(heard: Reporter) -> Snapshot:
            await _report(heard, "acquire", 0, f"looking at {root}")
            return await self.snapshot(root, rev, options)

        return await _heeding(reporter, acquire)

    async def behind(self, snapshot: Snapshot, record: IndexRecord | None) -> tuple[set[str], list[str]]:
        """The paths of files that the index does not have as they are, and of those that are gone."""
        from recollect.codebase.digest import VERSION

        if record is None:
            return differences(snapshot, {})
        snapshot = _without(snapshot, _binaries(snapshot, record))
        changed, removed = differences(snapshot, {file.path: file for file in await self.store.files(record.id)})
        # What a newer program would read otherwise, or was swept away while nothing needed it yet.
        same = {Content(file.blob, file.language) for file in snapshot.files if file.path not in changed}
        known = await self.store.known(VERSION, [*same])
        lost = same - known
        return changed | {file.path for file in snapshot.files if Content(file.blob, file.language) in lost}, removed

    @asynccontextmanager
    async def alone(self, index_id: str, reporter: Reporter) -> AsyncGenerator[bool]:
        """While this is held, no other process builds the same index; it tells whether another one had to end first."""
        import fcntl

        await anyio.to_thread.run_sync(lambda: self.folder.mkdir(mode=0o700, parents=True, exist_ok=True))
        with (self.folder / f"{index_id}.lock").open("wb") as lock:
            waited = False
            while True:
                try:
                    fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    waited = True
                    await _report(reporter, "acquire", 0, "another process builds this index; waiting for it")
                    await anyio.sleep(LOOK_SECONDS)
            yield waited

    async def _read(self, snapshot: Snapshot, files: Sequence[SourceFile], reporter: Reporter) -> dict[Content, str]:
        """Digest the contents of these that nobody digested before; those that cannot be had, and why."""
        from recollect.codebase.digest import VERSION

        wanted = {Content(file.blob, file.language): file for file in files}
        known = await self.store.known(VERSION, [*wanted])
        missing = {content: file for content, file in wanted.items() if content not in known}
        total, done = sum(file.size for file in missing.values()) or 1, 0
        await _report(reporter, "read", 0, f"reading {len(missing)} of {len(snapshot.files)} files")
        reasons: dict[str, str] = {}
        async with aclosing(self.workers.digested(_contents(snapshot, [*missing.values()], reasons))) as batches:
            async for batch in batches:
                await self.store.keep(VERSION, batch)
                done += sum(missing[content].size for content, _ in batch)
                await _report(reporter, "read", min(1.0, done / total), f"read {done // 1000} of {total // 1000} kB")
        return {content: reasons[file.path] for content, file in missing.items() if file.path in reasons}

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
        from recollect.codebase.garbage import uncollected

        wanted = {file.path: file.content for file in files}
        known: dict[Content, FileFacts] = {}
        for part in _parts(list(dict.fromkeys(wanted.values())), 500):
            packed = await self.store.digests(VERSION, part)
            with uncollected():
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
    told = json.dumps([path_text(root), rev, options.as_data()], sort_keys=True)
    number = int.from_bytes(hashlib.sha256(told.encode()).digest()[:16])
    letters = ""
    for _ in range(26):
        number, place = divmod(number, 32)
        letters += _LETTERS[place]
    return f"idx_{letters}"


def unknown_index(index_id: str) -> NotFound:
    return NotFound(f"there is no index {index_id[:80]!r}", hint="ensure_repo_index makes one and tells its id")


def _contents(
    snapshot: Snapshot, files: Sequence[SourceFile], reasons: dict[str, str]
) -> Iterator[tuple[Content, bytes]]:
    from recollect.codebase.discovery.contents import read_contents

    def note(skipped: Skipped) -> None:
        reasons[skipped.path] = skipped.reason

    for file, content in read_contents(snapshot, files, note=note):
        if content is not None:
            yield Content(file.blob, file.language), content


def _without(snapshot: Snapshot, unread: Mapping[Content, str]) -> Snapshot:
    """The snapshot as far as it can be read."""
    if not unread:
        return snapshot
    reasons = [(file, unread.get(Content(file.blob, file.language))) for file in snapshot.files]
    left_out = [Skipped(file.path, reason) for file, reason in reasons if reason is not None]
    return replace(
        snapshot,
        files=[file for file, reason in reasons if reason is None],
        skipped=sorted([*snapshot.skipped, *left_out]),
    )


def _binaries(snapshot: Snapshot, record: IndexRecord | None) -> dict[Content, str]:
    """The contents that were found to be no text when the index was made, and need not be looked at again."""
    known: Mapping[str, str] = record.details.get("binaries", {}) if record else {}
    return {Content(file.blob, file.language): known[file.blob] for file in snapshot.files if file.blob in known}


def _is_as(
    record: IndexRecord,
    snapshot: Snapshot,
    changed: set[str],
    removed: Sequence[str],
    binaries: Mapping[str, str],
) -> bool:
    """Whether an index with these differences would be no other than it is."""
    same = record.commit == snapshot.commit and record.details.get("binaries", {}) == binaries
    return same and not changed and not removed


def _final(unread: Mapping[Content, str]) -> dict[str, str]:
    """Of contents that were not read those that never will be, and why."""
    from recollect.codebase.discovery.contents import CHANGED, DAMAGED

    return {content.blob: reason for content, reason in unread.items() if reason not in (CHANGED, DAMAGED)}


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
        "broken": sorted(_printable(path) for path, own in facts.items() if own.problems)[:MOST_TOLD],
        # Those that were read as text only, and why.
        "unparsed": dict(
            sorted(
                (_printable(path), problem.message)
                for path, own in facts.items()
                for problem in own.problems
                if problem.line == 0
            )[:MOST_TOLD]
        ),
    }


def _printable(path: str) -> str:
    """The path as text, whatever bytes it has."""
    return path.encode("utf-8", "backslashreplace").decode()


def _parts(contents: Sequence[Content], size: int) -> Iterator[Sequence[Content]]:
    for start in range(0, len(contents), size):
        yield contents[start : start + size]


async def _report(reporter: Reporter, stage: str, share: float, message: str) -> None:
    start, end = STAGES[stage]
    await reporter.report(round(start + share * (end - start), 1), 100, f"{stage}: {message}")


class _Heard:
    """A reporter that can say again what was said last."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._last = Progress()

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        self._last = Progress(done, total, message)
        await self.again()

    async def again(self) -> None:
        await self._reporter.report(self._last.done, self._last.total, self._last.message)


async def _heeding(reporter: Reporter, work: Callable[[Reporter], Awaitable[T]]) -> T:
    """What the work comes to; it is given up at once when it is asked to stop, also where it reports nothing."""
    heard = _Heard(reporter)
    outcome: list[T] = []
    failures: list[Exception] = []

    async def perform() -> None:
        try:
            outcome.append(await work(heard))
        except Exception as error:  # it is raised below, and not as one of a group
            failures.append(error)
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(perform)
        while True:
            await anyio.sleep(LOOK_SECONDS)
            try:
                await heard.again()
            except Cancelled as error:
                failures.append(error)
                tasks.cancel_scope.cancel()
    if failures:
        raise failures[0]
    return outcome[0]
