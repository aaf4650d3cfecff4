"""Build and update the index of a repository: parse only what changed, and commit each state atomically."""

import fcntl
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import anyio
import anyio.to_thread

from scrubjay.code_index.bundle.build_log import BuildLogReporter
from scrubjay.code_index.discovery.contents import CHANGED, DAMAGED, read_contents
from scrubjay.code_index.discovery.limits import IndexLimits
from scrubjay.code_index.discovery.snapshot import take_snapshot
from scrubjay.code_index.discovery.stat_cache import StatCache
from scrubjay.code_index.facts.digest_cache import DigestCache
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.facts.facts_cache import FactsCache
from scrubjay.code_index.facts.packed_facts import extract_facts_and_callables, unpack_facts
from scrubjay.code_index.index.cancellation import POLL_SECONDS, run_alongside, run_cancellable, run_in_thread
from scrubjay.code_index.index.gc_pause import gc_paused
from scrubjay.code_index.index.link_process import LinkProcess
from scrubjay.code_index.index.linker import LinkResult, RepositoryLinker, needs_relink
from scrubjay.code_index.index.options import IndexOptions, index_id_of
from scrubjay.code_index.index.statistics import file_statistics
from scrubjay.code_index.index.worker_pool import WorkerPool
from scrubjay.code_index.models import FileFacts, Skipped, Snapshot, SourceFile
from scrubjay.code_index.path_text import printable
from scrubjay.code_index.store import CodeStore, Content, IndexedFile, IndexRecord, StoredDigest, StoredEdges
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import InvalidRequest
from scrubjay.core.progress import Reporter
from scrubjay.core.protected_paths import ProtectedPaths

logger = logging.getLogger("scrubjay.code_index")

T = TypeVar("T")

# Start and end of each stage in overall progress, in percent.
STAGES: Mapping[str, tuple[int, int]] = {
    "acquire": (0, 5),
    "read": (5, 70),
    "graph": (70, 92),
    "write": (92, 97),
    "bundle": (97, 100),
}
# Number of folders whose file stamps are cached.
MAX_REMEMBERED_FOLDERS = 8
# Digests are written to the store in batches of this size, or after this time.
FLUSH_BYTES = 4_000_000
FLUSH_SECONDS = 0.5
# Detail of an index: the version of the rules that kept files out of it.
KEPT_OUT = "kept_out"
# About a thousand files: git's index takes about 100 bytes per file.
LARGE_GIT_INDEX = 100_000


@dataclass(frozen=True, slots=True)
class BuildResult:
    """An up-to-date index, and the files that changed."""

    record: IndexRecord
    snapshot: Snapshot
    changed: Sequence[str] = ()
    removed: Sequence[str] = ()


async def _do_nothing(record: IndexRecord, what: object) -> None:
    """Ignore the call; the default hook."""


@dataclass
class Indexer:
    """Builds indexes. A file lock lets one process build an index while others wait and reuse the result."""

    store: CodeStore
    folder: Path
    """Folder of locks and derived files."""
    limits: IndexLimits = field(default_factory=IndexLimits)
    workers: WorkerPool = field(default_factory=WorkerPool)
    clock: Clock = system_clock
    graph_bytes: int = 4_000_000_000
    """Memory limit of the link process."""
    protected: ProtectedPaths = field(default_factory=ProtectedPaths)
    """The store, which is never indexed, and places of secrets, which are left out of the indexes of other folders."""
    during_linking: Callable[[IndexRecord, Sequence[IndexedFile]], Awaitable[None]] = _do_nothing
    """Hook run while files are linked; receives all files when all are new, else none."""
    during_writing: Callable[[IndexRecord, Mapping[str, StoredEdges]], Awaitable[None]] = _do_nothing
    """Hook run while the edges are written."""
    on_incremental_link: Callable[[str], None] = lambda index_id: None
    """Called with the index id after an incremental link, which needs a full relink later."""
    digests: DigestCache = field(default_factory=DigestCache)
    _stat_caches: dict[tuple[str, str], StatCache] = field(default_factory=dict[tuple[str, str], StatCache])
    _recent: FactsCache = field(default_factory=FactsCache)
    _files: "_KnownFiles | None" = None
    """Files of the most recently used index, at one generation."""

    async def build(
        self, root: str, rev: str, options: IndexOptions, reporter: Reporter, *, seen: Snapshot | None = None
    ) -> BuildResult:
        """Bring the index of a folder at a revision up to date; `seen` is a snapshot that was just taken, if any."""
        try:
            return await self._build(root, rev, options, reporter, seen)
        finally:
            self.digests.clear()

    async def _build(
        self, root: str, rev: str, options: IndexOptions, reporter: Reporter, seen: Snapshot | None
    ) -> BuildResult:
        if seen is None and _is_large(Path(root)) and await self.store.index(index_id_of(root, rev, options)) is None:
            # A first build of a large repository: start workers while git lists the files.
            await anyio.to_thread.run_sync(self.workers.start_ahead, self.workers.count)
        snapshot = seen or await self._acquire(root, rev, options, reporter)
        index_id = index_id_of(snapshot.root, rev, options)
        async with self.lock(index_id, reporter) as waited:
            if waited:  # the snapshot may be older than what the other process has indexed
                snapshot = await self._acquire(root, rev, options, reporter)
            before = await self.store.index(index_id)
            unread = _known_binaries(snapshot, before)
            snapshot = _move_to_skipped(snapshot, unread)
            changed, removed, known, reparse = await self._compare(snapshot, before)
            if before is not None and _is_current(before, snapshot, changed, removed, _permanently_unread(unread)):
                return BuildResult(before, snapshot)
            record = self._record(index_id, rev, options, snapshot, before)
            with BuildLogReporter(self.folder / index_id, record, reporter, self.clock) as journal:
                journal.begin(snapshot)
                new = [file for file in snapshot.files if file.path in changed]
                # The link process starts while files are being read.
                async with self._linker.prepare_process(
                    None if reparse else before, len(changed) + len(removed), len(snapshot.files)
                ) as ready:
                    found = await self._run_stage("read", journal, partial(self._read, snapshot, new, ready))
                    if found:
                        unread |= found
                        snapshot = _move_to_skipped(snapshot, found)
                        changed, removed, known, reparse = await self._compare(snapshot, before)
                        if before is not None and _is_current(
                            before, snapshot, changed, removed, _permanently_unread(unread)
                        ):
                            journal.complete(before)
                            return BuildResult(before, snapshot)
                        record = self._record(index_id, rev, options, snapshot, before)
                    files = [
                        _to_indexed_file(file, record.generation) for file in snapshot.files if file.path in changed
                    ]
                    linking = partial(self._link, None if reparse else before, snapshot, known, changed, ready)
                    linked = await run_alongside(
                        partial(self._run_stage, "graph", journal, linking),
                        partial(self.during_linking, record, files if len(files) == len(snapshot.files) else ()),
                    )
                await _report(journal, "write", 0, "writing")
                record = replace(
                    record, details={**record.details, **linked.details, "binaries": _permanently_unread(unread)}
                )
                await run_alongside(
                    partial(self.store.write, record, changed=files, removed=removed, edges=linked.edges),
                    partial(self.during_writing, record, linked.edges),
                )
                now = {**known, **{file.path: file for file in files}}
                same = {id(file): file for file in snapshot.files}
                self._files = _KnownFiles(_version_of(record), _without_paths(now, removed), same)
                await _report(journal, "write", 1, "written")
                journal.complete(record)
            if needs_relink(record):
                self.on_incremental_link(index_id)
            return BuildResult(record, snapshot, sorted(changed), removed)

    async def relink(self, index_id: str, reporter: Reporter) -> bool:
        """Relink all files of an index; False when no relink is pending or the index is gone."""
        async with self.lock(index_id, reporter):
            before = await self.store.index(index_id)
            if before is None or not needs_relink(before):
                return False
            contents = {file.path: file.content for file in await self.store.files(index_id)}

            async def link(reporter: Reporter) -> LinkResult:
                await _report(reporter, "graph", 0, "linking")
                return await self._linker.link_all(contents)

            linked = await self._run_stage("graph", reporter, link)
            known = await self.store.edges(index_id)
            edges = {path: found for path, found in linked.edges.items() if found.edges != known.get(path)}
            record = replace(before, generation=before.generation + 1, details={**before.details, **linked.details})
            return await self.store.write(record, changed=[], removed=[], edges=edges)

    @property
    def _linker(self) -> RepositoryLinker:
        return RepositoryLinker(self.store, self.graph_bytes, self._recent, self.digests)

    async def snapshot(self, root: str, rev: str, options: IndexOptions) -> Snapshot:
        """Return the files of the folder now; raises `InvalidRequest` when its path is not UTF-8."""
        if root != (shown := printable(root)):
            raise InvalidRequest(f"the path {shown} is not UTF-8", hint="rename the folder or its parents")
        stat_cache = self._stat_cache(root, options)

        def take(should_stop: Callable[[], bool]) -> Snapshot:
            return take_snapshot(
                root,
                rev=rev,
                limits=self.limits,
                excludes=options.excludes,
                stat_cache=stat_cache,
                should_stop=should_stop,
                protected=self.protected,
            )

        found = await run_in_thread(take)
        if not options.languages:
            return found
        return replace(found, files=[file for file in found.files if file.language in options.languages])

    def _stat_cache(self, root: str, options: IndexOptions) -> StatCache:
        """Return the stamp cache of a folder; evict the least recently used one when there are too many."""
        key = (root, "\0".join(options.excludes))
        stat_cache = self._stat_caches.pop(key, None) or StatCache()
        self._stat_caches[key] = stat_cache
        while len(self._stat_caches) > MAX_REMEMBERED_FOLDERS:
            del self._stat_caches[next(iter(self._stat_caches))]
        return stat_cache

    async def _acquire(self, root: str, rev: str, options: IndexOptions, reporter: Reporter) -> Snapshot:
        async def acquire(reporter: Reporter) -> Snapshot:
            await _report(reporter, "acquire", 0, f"listing the files of {root}")
            return await self.snapshot(root, rev, options)

        return await run_cancellable(reporter, acquire)

    async def changes_since(self, snapshot: Snapshot, record: IndexRecord | None) -> tuple[set[str], list[str]]:
        """Return the paths of new and changed files, and of removed ones."""
        return (await self._compare(_move_to_skipped(snapshot, _known_binaries(snapshot, record)), record))[:2]

    async def files_of(self, record: IndexRecord | None) -> Mapping[str, IndexedFile]:
        """Return the files of an index by path; empty when there is no index."""
        return {} if record is None else await self._files_of(record)

    async def _compare(self, snapshot: Snapshot, record: IndexRecord | None) -> "_Changes":
        """Compare a snapshot without known binaries to the index."""
        if record is None:
            return _Changes(*differences(snapshot, {}, {}), {}, reparse=False)
        known = await self._files_of(record)
        same = self._files.same if self._files is not None and self._files.files is known else {}
        changed, removed = differences(snapshot, known, same)
        unread = {*await self.store.without_digest(record.id, VERSION)}.difference(changed, removed)
        return _Changes(changed | unread, removed, known, reparse=bool(unread))

    async def paths_of(self, record: IndexRecord) -> Collection[str]:
        """Return the paths of the files of an index."""
        if self._files is not None and self._files.state == _version_of(record):
            return self._files.files.keys()
        return {*await self.store.paths(record.id)}

    async def _files_of(self, record: IndexRecord) -> Mapping[str, IndexedFile]:
        """Return the files of an index by path, cached per generation."""
        if self._files is None or self._files.state != _version_of(record):
            files = {file.path: file for file in await self.store.files(record.id)}
            self._files = _KnownFiles(_version_of(record), files, {})
        return self._files.files

    @asynccontextmanager
    async def lock(self, index_id: str, reporter: Reporter) -> AsyncGenerator[bool]:
        """Hold the build lock of an index; yields whether another process held it first."""
        await anyio.to_thread.run_sync(lambda: self.folder.mkdir(mode=0o700, parents=True, exist_ok=True))
        with (self.folder / f"{index_id}.lock").open("wb") as lock:
            waited = False
            while True:
                try:
                    fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    waited = True
                    await _report(reporter, "acquire", 0, "waiting for another process that builds this index")
                    await anyio.sleep(POLL_SECONDS)
            yield waited

    async def _run_stage(self, stage: str, reporter: Reporter, work: Callable[[Reporter], Awaitable[T]]) -> T:
        return await run_cancellable(reporter, work, stage=stage, seconds=self.limits.stage_seconds)

    async def _read(
        self,
        snapshot: Snapshot,
        files: Sequence[SourceFile],
        ready: LinkProcess | None,
        reporter: Reporter,
    ) -> dict[Content, str]:
        """Digest the contents that are not in the store yet; return those that could not be read, with the reason.

        The facts are also sent ahead to the link process if one was started.
        """
        wanted = {Content(file.blob, file.language): file for file in files}
        known = await self.store.with_digest(VERSION, [*wanted])
        missing = {content: file for content, file in wanted.items() if content not in known}
        total, done = sum(file.size for file in missing.values()) or 1, 0
        await _report(reporter, "read", 0, f"reading {len(missing)} of {len(snapshot.files)} files")
        reasons: dict[str, str] = {}
        async with aclosing(self.workers.digest_all(_contents(snapshot, [*missing.values()], reasons))) as batches:
            writer = _DigestWriter(self.store)
            async for batch in batches:
                facts = writer.add(batch)
                if ready is not None:
                    ready.send_ahead(facts)
                self.digests.add(batch)
                done += sum([missing[content].size for content, _ in batch])
                if writer.is_due or not batch:
                    await writer.flush()
                    message = f"read {done // 1000} of {total // 1000} kB"
                    await _report(reporter, "read", min(1.0, done / total), message)
            await writer.flush()
        return {content: reasons[file.path] for content, file in missing.items() if file.path in reasons}

    async def _link(
        self,
        before: IndexRecord | None,
        snapshot: Snapshot,
        known: Mapping[str, IndexedFile],
        changed: Collection[str],
        ready: LinkProcess | None,
        reporter: Reporter,
    ) -> LinkResult:
        """Link the changed files, and those whose targets may have changed with them."""
        await _report(reporter, "graph", 0, "linking")
        previous = {path: file.content for path, file in known.items()}
        # An unchanged content stays the same object, so that comparing it takes an identity check.
        contents = {
            path: Content(blob, language) if path in changed else previous[path]
            for path, blob, _, language, _, _ in snapshot.files
        }
        linked = await self._linker.link(before, previous, contents, ready)
        await _report(reporter, "graph", 1, "linked")
        return linked

    async def facts(self, files: Iterable[IndexedFile]) -> dict[str, FileFacts]:
        """Return the facts of these files by path; files without a digest are left out."""
        wanted = {file.path: file.content for file in files}
        known: dict[Content, FileFacts] = {}
        for part in _split(list(dict.fromkeys(wanted.values())), 500):
            packed = await self.store.digests(VERSION, part)
            with gc_paused():
                known |= {content: unpack_facts(digest) for content, digest in packed.items()}
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
                **file_statistics(snapshot),
                "bytes": sum(file.size for file in snapshot.files),
                "dirty": len(snapshot.dirty),
                "is_git": snapshot.is_git,
                "from_objects": snapshot.from_objects,
                "repositories": list(snapshot.repositories),
                KEPT_OUT: self.protected.below(snapshot.root).version,
            },
        )


class _DigestWriter:
    """Writes digests to the store in batches, so that a killed build loses only the last batch."""

    def __init__(self, store: CodeStore) -> None:
        self._store = store
        self._made: list[StoredDigest] = []
        self._bytes = 0
        self._flushed_at = anyio.current_time()

    def add(self, batch: Iterable[tuple[Content, bytes]]) -> Mapping[Content, bytes]:
        """Buffer these digests, and return their facts."""
        found: dict[Content, bytes] = {}
        for content, digest in batch:
            found[content], callables = extract_facts_and_callables(digest)
            self._made.append(StoredDigest(content, digest, callables))
            self._bytes += len(digest)
        return found

    @property
    def is_due(self) -> bool:
        return self._bytes >= FLUSH_BYTES or anyio.current_time() >= self._flushed_at + FLUSH_SECONDS

    async def flush(self) -> None:
        if self._made:
            await self._store.put_digests(VERSION, self._made)
        self._made, self._bytes, self._flushed_at = [], 0, anyio.current_time()


class _KnownFiles(NamedTuple):
    """Files of an index at one generation."""

    state: tuple[str, int, datetime]
    files: Mapping[str, IndexedFile]
    same: dict[int, SourceFile]
    """Snapshot files known to equal the index, by `id()`: snapshots reuse the objects of unchanged files."""


class _Changes(NamedTuple):
    """Differences between a snapshot and an index."""

    changed: set[str]
    removed: list[str]
    known: Mapping[str, IndexedFile]
    """Files of the index by path."""
    reparse: bool
    """True if some digests must be made again because another version made them."""


def _contents(
    snapshot: Snapshot, files: Sequence[SourceFile], reasons: dict[str, str]
) -> Iterator[tuple[Content, bytes]]:
    def note(skipped: Skipped) -> None:
        reasons[skipped.path] = skipped.reason

    for file, content in read_contents(snapshot, files, note=note):
        if content is not None:
            yield Content(file.blob, file.language), content


def _move_to_skipped(snapshot: Snapshot, unread: Mapping[Content, str]) -> Snapshot:
    """Return the snapshot with unreadable files moved to `skipped`."""
    if not unread:
        return snapshot
    blobs = {content.blob for content in unread}
    reasons = {
        path: reason
        for path, blob, _, language, _, _ in snapshot.files
        if blob in blobs and (reason := unread.get(Content(blob, language))) is not None
    }
    if not reasons:
        return snapshot
    return replace(
        snapshot,
        files=[file for file in snapshot.files if file.path not in reasons],
        skipped=sorted([*snapshot.skipped, *(Skipped(path, reason) for path, reason in reasons.items())]),
    )


def _is_large(root: Path) -> bool:
    """Return whether the size of git's index implies many files."""
    try:
        return (root / ".git" / "index").stat().st_size >= LARGE_GIT_INDEX
    except OSError:
        return False


def _known_binaries(snapshot: Snapshot, record: IndexRecord | None) -> dict[Content, str]:
    """Return the contents found to be binary in an earlier build, with the reason."""
    known: Mapping[str, str] = record.details.get("binaries", {}) if record else {}
    if not known:
        return {}
    return {Content(blob, language): known[blob] for _, blob, _, language, _, _ in snapshot.files if blob in known}


def _is_current(
    record: IndexRecord,
    snapshot: Snapshot,
    changed: set[str],
    removed: Sequence[str],
    binaries: Mapping[str, str],
) -> bool:
    """Return whether the index already equals the snapshot."""
    same = record.commit == snapshot.commit and record.details.get("binaries", {}) == binaries
    return same and not changed and not removed


def _permanently_unread(unread: Mapping[Content, str]) -> dict[str, str]:
    """Return the unreadable contents that will stay unreadable, by blob id, with the reason."""
    return {content.blob: reason for content, reason in unread.items() if reason not in (CHANGED, DAMAGED)}


def differences(
    snapshot: Snapshot, known: Mapping[str, IndexedFile], same: dict[int, SourceFile]
) -> tuple[set[str], list[str]]:
    """Return the paths of new and changed files, and of removed ones.

    Files in `same` (by `id()`) are not compared. When others turn out to be equal, `same` is replaced by the unchanged
    files of this snapshot.
    """
    changed: set[str] = set()
    still_present = 0
    new = [file for file in snapshot.files if id(file) not in same]
    for file in new:
        before = known.get(file.path)
        if before is not None:
            still_present += 1
            (blob, language), dirty = before.content, before.dirty
            if blob == file.blob and language is file.language and dirty == file.dirty:
                continue
        changed.add(file.path)
    if len(changed) < len(new):
        same.clear()
        same |= {id(file): file for file in snapshot.files if file.path not in changed}
    if len(snapshot.files) - len(new) + still_present == len(known):
        return changed, []
    return changed, sorted(known.keys() - {file.path for file in snapshot.files})


def _version_of(record: IndexRecord) -> tuple[str, int, datetime]:
    return record.id, record.generation, record.updated_at


def _without_paths(files: dict[str, IndexedFile], removed: Iterable[str]) -> Mapping[str, IndexedFile]:
    for path in removed:
        files.pop(path, None)
    return files


def _to_indexed_file(file: SourceFile, generation: int) -> IndexedFile:
    return IndexedFile(file.path, Content(file.blob, file.language), file.size, file.traits, file.dirty, generation)


def _split(contents: Sequence[Content], size: int) -> Iterator[Sequence[Content]]:
    for start in range(0, len(contents), size):
        yield contents[start : start + size]


async def _report(reporter: Reporter, stage: str, share: float, message: str) -> None:
    start, end = STAGES[stage]
    await reporter.report(round(start + share * (end - start), 1), 100, f"{stage}: {message}")
