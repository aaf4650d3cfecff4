"""Bringing the index of a repository up to date: only what changed is read, and it changes from whole to whole."""

import hashlib
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import anyio
import anyio.to_thread

from scrubjay.code_index.bundle.build_log import Journal
from scrubjay.code_index.discovery.limits import Limits
from scrubjay.code_index.discovery.stat_cache import Remembered
from scrubjay.code_index.facts.digest_cache import FreshDigests
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.facts.facts_cache import RecentFacts
from scrubjay.code_index.index.cancellation import LOOK_SECONDS, heeding, in_thread, meanwhile
from scrubjay.code_index.index.link_process import LinkingProcess
from scrubjay.code_index.index.linker import Linked, Linker, is_unsettled
from scrubjay.code_index.index.statistics import told_of_files
from scrubjay.code_index.index.worker_pool import Workers
from scrubjay.code_index.models import FileFacts, Skipped, Snapshot, SourceFile
from scrubjay.code_index.path_text import path_text, printable
from scrubjay.code_index.store import CodeStore, Content, IndexedFile, IndexRecord, KeptDigest, KeptEdges
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.core.progress import Reporter

logger = logging.getLogger("scrubjay.code_index")

T = TypeVar("T")

# What each stage takes of the whole, in hundredths.
STAGES: Mapping[str, tuple[int, int]] = {
    "acquire": (0, 5),
    "read": (5, 70),
    "graph": (70, 92),
    "write": (92, 97),
    "bundle": (97, 100),
}
# Of so many folders it is remembered what was seen of them last.
MOST_REMEMBERED = 8
# Digests are kept when there are so many bytes of them, or so long after the last ones.
KEPT_BYTES = 4_000_000
KEPT_SECONDS = 0.5
# A thousand files, of which git's index tells about a hundred bytes each.
LARGE_GIT_INDEX = 100_000
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


CONTEXT_LINES = 5


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """What an index is asked to hold."""

    excludes: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    """Only these; all by default."""
    context_lines: int = CONTEXT_LINES
    """How many lines are shown around what is found, where whoever asks does not say."""
    unheard: tuple[str, ...] = ()
    """The witnesses (vector, symbol, graph) that are not heard, where whoever asks does not say."""

    def as_data(self) -> dict[str, Any]:
        data: dict[str, Any] = {"excludes": list(self.excludes), "languages": list(self.languages)}
        # What is as always is not said, so that an index keeps its id.
        if self.context_lines != CONTEXT_LINES:
            data["context_lines"] = self.context_lines
        if self.unheard:
            data["unheard"] = sorted(self.unheard)
        return data

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """As they are kept with an index."""
        return cls(
            tuple(data.get("excludes", ())),
            tuple(data.get("languages", ())),
            data.get("context_lines", CONTEXT_LINES),
            tuple(data.get("unheard", ())),
        )

    @property
    def features(self) -> dict[str, bool]:
        """Which witnesses are heard."""
        return {name: name not in self.unheard for name in ("vector", "symbol", "graph")}


@dataclass(frozen=True, slots=True)
class Built:
    """An index that is up to date, and what was done for it."""

    record: IndexRecord
    snapshot: Snapshot
    changed: Sequence[str] = ()
    removed: Sequence[str] = ()


async def nothing_meanwhile(record: IndexRecord, what: object) -> None:
    """There is nothing else to do."""


@dataclass
class Indexer:
    """Builds indexes. One process at a time builds one of them; others wait and find it done."""

    store: CodeStore
    folder: Path
    """Where locks and other files of indexes are."""
    limits: Limits = field(default_factory=Limits)
    workers: Workers = field(default_factory=Workers)
    clock: Clock = system_clock
    graph_bytes: int = 4_000_000_000
    """How much memory finding what uses mean may take."""
    while_linking: Callable[[IndexRecord, Sequence[IndexedFile]], Awaitable[None]] = nothing_meanwhile
    """What else is done with the files while their uses are resolved; it is given all of them if all are new."""
    while_writing: Callable[[IndexRecord, Mapping[str, KeptEdges]], Awaitable[None]] = nothing_meanwhile
    """What else is done with what the uses lead to while it is written."""
    when_mended: Callable[[str], None] = lambda index_id: None
    """Told the id of an index whose uses were not all resolved together when it was brought up to date."""
    digests: FreshDigests = field(default_factory=FreshDigests)
    _seen: dict[tuple[str, str], Remembered] = field(default_factory=dict[tuple[str, str], Remembered])
    _recent: RecentFacts = field(default_factory=RecentFacts)
    _files: "_KnownFiles | None" = None
    """Those of the index that was asked for last, in that state."""

    async def build(
        self, root: str, rev: str, options: IndexOptions, reporter: Reporter, *, seen: Snapshot | None = None
    ) -> Built:
        """Bring the index of this folder at this revision up to date; what was just seen is not looked for again."""
        try:
            return await self._build(root, rev, options, reporter, seen)
        finally:
            self.digests.forget()

    async def _build(
        self, root: str, rev: str, options: IndexOptions, reporter: Reporter, seen: Snapshot | None
    ) -> Built:
        if seen is None and _is_large(Path(root)) and await self.store.index(index_id_of(root, rev, options)) is None:
            # There will be much to read: who does it starts while git is asked what there is.
            await anyio.to_thread.run_sync(self.workers.get_ready, self.workers.count)
        snapshot = seen or await self._acquired(root, rev, options, reporter)
        index_id = index_id_of(snapshot.root, rev, options)
        async with self.alone(index_id, reporter) as waited:
            if waited:  # what was seen before may be older than what the other process has indexed since
                snapshot = await self._acquired(root, rev, options, reporter)
            before = await self.store.index(index_id)
            unread = _binaries(snapshot, before)
            snapshot = _without(snapshot, unread)
            changed, removed, known, anew = await self._behind(snapshot, before)
            if before is not None and _is_as(before, snapshot, changed, removed, _final(unread)):
                return Built(before, snapshot)
            record = self._record(index_id, rev, options, snapshot, before)
            with Journal(self.folder / index_id, record, reporter, self.clock) as journal:
                journal.begin(snapshot)
                new = [file for file in snapshot.files if file.path in changed]
                # Who resolves uses starts while files are read.
                async with self._linker.getting_ready(
                    None if anew else before, len(changed) + len(removed), len(snapshot.files)
                ) as ready:
                    found = await self._staged("read", journal, partial(self._read, snapshot, new, ready))
                    if found:
                        unread |= found
                        snapshot = _without(snapshot, found)
                        changed, removed, known, anew = await self._behind(snapshot, before)
                        if before is not None and _is_as(before, snapshot, changed, removed, _final(unread)):
                            journal.complete(before)
                            return Built(before, snapshot)
                        record = self._record(index_id, rev, options, snapshot, before)
                    files = [_indexed(file, record.generation) for file in snapshot.files if file.path in changed]
                    linking = partial(self._linked, None if anew else before, snapshot, known, changed, ready)
                    linked = await meanwhile(
                        partial(self._staged, "graph", journal, linking),
                        partial(self.while_linking, record, files if len(files) == len(snapshot.files) else ()),
                    )
                await _report(journal, "write", 0, "writing")
                record = replace(record, details={**record.details, **linked.details, "binaries": _final(unread)})
                await meanwhile(
                    partial(self.store.write, record, changed=files, removed=removed, edges=linked.edges),
                    partial(self.while_writing, record, linked.edges),
                )
                now = {**known, **{file.path: file for file in files}}
                same = {id(file): file for file in snapshot.files}
                self._files = _KnownFiles(_state_of(record), _except(now, removed), same)
                await _report(journal, "write", 1, "written")
                journal.complete(record)
            if is_unsettled(record):
                self.when_mended(index_id)
            return Built(record, snapshot, sorted(changed), removed)

    async def settle(self, index_id: str, reporter: Reporter) -> bool:
        """Resolve all uses of an index together; False when that was done, or the index is gone."""
        async with self.alone(index_id, reporter):
            before = await self.store.index(index_id)
            if before is None or not is_unsettled(before):
                return False
            contents = {file.path: file.content for file in await self.store.files(index_id)}

            async def link(heard: Reporter) -> Linked:
                await _report(heard, "graph", 0, "finding what each use means")
                return await self._linker.all_linked(contents)

            linked = await self._staged("graph", reporter, link)
            known = await self.store.edges(index_id)
            edges = {path: found for path, found in linked.edges.items() if found.edges != known.get(path)}
            record = replace(before, generation=before.generation + 1, details={**before.details, **linked.details})
            return await self.store.write(record, changed=[], removed=[], edges=edges)

    @property
    def _linker(self) -> Linker:
        return Linker(self.store, self.graph_bytes, self._recent, self.digests)

    async def snapshot(self, root: str, rev: str, options: IndexOptions) -> Snapshot:
        """What there is now."""
        if root != (told := printable(root)):
            raise InvalidRequest(
                f"the path {told} is not UTF-8", hint="give the folder, or those around it, other names"
            )
        from scrubjay.code_index.discovery.snapshot import take_snapshot

        remembered = self._remembered(root, options)

        def take(should_stop: Callable[[], bool]) -> Snapshot:
            return take_snapshot(
                root,
                rev=rev,
                limits=self.limits,
                excludes=options.excludes,
                remembered=remembered,
                should_stop=should_stop,
            )

        found = await in_thread(take)
        if not options.languages:
            return found
        return replace(found, files=[file for file in found.files if file.language in options.languages])

    def _remembered(self, root: str, options: IndexOptions) -> Remembered:
        """What was seen of the folder before; of those that nobody looked at the longest, nothing is kept."""
        key = (root, "\0".join(options.excludes))
        remembered = self._seen.pop(key, None) or Remembered()
        self._seen[key] = remembered
        while len(self._seen) > MOST_REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return remembered

    async def _acquired(self, root: str, rev: str, options: IndexOptions, reporter: Reporter) -> Snapshot:
        async def acquire(heard: Reporter) -> Snapshot:
            await _report(heard, "acquire", 0, f"looking at {root}")
            return await self.snapshot(root, rev, options)

        return await heeding(reporter, acquire)

    async def behind(self, snapshot: Snapshot, record: IndexRecord | None) -> tuple[set[str], list[str]]:
        """The paths of files that the index does not have as they are, and of those that are gone."""
        return (await self._behind(_without(snapshot, _binaries(snapshot, record)), record))[:2]

    async def files_of(self, record: IndexRecord | None) -> Mapping[str, IndexedFile]:
        """The files that an index has, by their paths."""
        return {} if record is None else await self._files_of(record)

    async def _behind(self, snapshot: Snapshot, record: IndexRecord | None) -> "_Behind":
        """The same of a snapshot without what is known to be no text."""
        if record is None:
            return _Behind(*differences(snapshot, {}, {}), {}, to_read=False)
        known = await self._files_of(record)
        same = self._files.same if self._files is not None and self._files.files is known else {}
        changed, removed = differences(snapshot, known, same)
        unread = {*await self.store.unread(record.id, VERSION)}.difference(changed, removed)
        return _Behind(changed | unread, removed, known, to_read=bool(unread))

    async def paths_of(self, record: IndexRecord) -> Collection[str]:
        """The paths of the files that an index has in this state."""
        if self._files is not None and self._files.state == _state_of(record):
            return self._files.files.keys()
        return {*await self.store.paths(record.id)}

    async def _files_of(self, record: IndexRecord) -> Mapping[str, IndexedFile]:
        """The files of an index as it is; they are asked for once after each change."""
        if self._files is None or self._files.state != _state_of(record):
            files = {file.path: file for file in await self.store.files(record.id)}
            self._files = _KnownFiles(_state_of(record), files, {})
        return self._files.files

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

    async def _staged(self, stage: str, reporter: Reporter, work: Callable[[Reporter], Awaitable[T]]) -> T:
        return await heeding(reporter, work, stage=stage, seconds=self.limits.stage_seconds)

    async def _read(
        self,
        snapshot: Snapshot,
        files: Sequence[SourceFile],
        ready: LinkingProcess | None,
        reporter: Reporter,
    ) -> dict[Content, str]:
        """Digest the contents of these that nobody digested before; those that cannot be had, and why.

        Whoever is ready to resolve uses is told what each file says.
        """

        wanted = {Content(file.blob, file.language): file for file in files}
        known = await self.store.known(VERSION, [*wanted])
        missing = {content: file for content, file in wanted.items() if content not in known}
        total, done = sum(file.size for file in missing.values()) or 1, 0
        await _report(reporter, "read", 0, f"reading {len(missing)} of {len(snapshot.files)} files")
        reasons: dict[str, str] = {}
        async with aclosing(self.workers.digested(_contents(snapshot, [*missing.values()], reasons))) as batches:
            keeping = _Keeping(self.store)
            async for batch in batches:
                facts = keeping.add(batch)
                if ready is not None:
                    ready.tell(facts)
                self.digests.note(batch)
                done += sum([missing[content].size for content, _ in batch])
                if keeping.is_due or not batch:
                    await keeping.keep()
                    told = f"read {done // 1000} of {total // 1000} kB"
                    await _report(reporter, "read", min(1.0, done / total), told)
            await keeping.keep()
        return {content: reasons[file.path] for content, file in missing.items() if file.path in reasons}

    async def _linked(
        self,
        before: IndexRecord | None,
        snapshot: Snapshot,
        known: Mapping[str, IndexedFile],
        changed: Collection[str],
        ready: LinkingProcess | None,
        reporter: Reporter,
    ) -> Linked:
        """What the uses in changed files, and in those that may mean something else now, lead to."""
        await _report(reporter, "graph", 0, "finding what each use means")
        before_that = {path: file.content for path, file in known.items()}
        # What is the same is the same object: to see that it has not changed takes no time.
        contents = {
            path: Content(blob, language) if path in changed else before_that[path]
            for path, blob, _, language, _, _ in snapshot.files
        }
        linked = await self._linker.linked(before, before_that, contents, ready)
        await _report(reporter, "graph", 1, "found what each use means")
        return linked

    async def facts(self, files: Iterable[IndexedFile]) -> dict[str, FileFacts]:
        """What each of these files says."""
        from scrubjay.code_index.facts.packed_facts import unpacked_facts
        from scrubjay.code_index.index.gc_pause import uncollected

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
                **told_of_files(snapshot),
                "bytes": sum(file.size for file in snapshot.files),
                "dirty": len(snapshot.dirty),
                "is_git": snapshot.is_git,
                "from_objects": snapshot.from_objects,
                "repositories": list(snapshot.repositories),
            },
        )


class _Keeping:
    """Keeps digests some at a time: whoever is killed has to make those again that are not kept, and no more."""

    def __init__(self, store: CodeStore) -> None:
        self._store = store
        self._made: list[KeptDigest] = []
        self._bytes = 0
        self._kept_at = anyio.current_time()

    def add(self, batch: Iterable[tuple[Content, bytes]]) -> Mapping[Content, bytes]:
        """Take these; what they have of facts."""
        from scrubjay.code_index.facts.packed_facts import facts_and_callables

        found: dict[Content, bytes] = {}
        for content, digest in batch:
            found[content], callables = facts_and_callables(digest)
            self._made.append(KeptDigest(content, digest, callables))
            self._bytes += len(digest)
        return found

    @property
    def is_due(self) -> bool:
        return self._bytes >= KEPT_BYTES or anyio.current_time() >= self._kept_at + KEPT_SECONDS

    async def keep(self) -> None:
        if self._made:
            await self._store.keep(VERSION, self._made)
        self._made, self._bytes, self._kept_at = [], 0, anyio.current_time()


class _KnownFiles(NamedTuple):
    """The files of an index in one state."""

    state: tuple[str, int, datetime]
    files: Mapping[str, IndexedFile]
    same: dict[int, SourceFile]
    """Files of snapshots that are as the index has them, by their identity: a look takes what it knows as it is."""


class _Behind(NamedTuple):
    """How the files differ from what an index has."""

    changed: set[str]
    removed: list[str]
    known: Mapping[str, IndexedFile]
    """What it has."""
    to_read: bool
    """Whether some of what it has must be read anew: an older program had read it."""


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
    from scrubjay.code_index.discovery.contents import read_contents

    def note(skipped: Skipped) -> None:
        reasons[skipped.path] = skipped.reason

    for file, content in read_contents(snapshot, files, note=note):
        if content is not None:
            yield Content(file.blob, file.language), content


def _without(snapshot: Snapshot, unread: Mapping[Content, str]) -> Snapshot:
    """The snapshot as far as it can be read."""
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
    """Whether a repository surely has many files, by what a look tells."""
    try:
        return (root / ".git" / "index").stat().st_size >= LARGE_GIT_INDEX
    except OSError:
        return False


def _binaries(snapshot: Snapshot, record: IndexRecord | None) -> dict[Content, str]:
    """The contents that were found to be no text when the index was made, and need not be looked at again."""
    known: Mapping[str, str] = record.details.get("binaries", {}) if record else {}
    if not known:
        return {}
    return {Content(blob, language): known[blob] for _, blob, _, language, _, _ in snapshot.files if blob in known}


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
    from scrubjay.code_index.discovery.contents import CHANGED, DAMAGED

    return {content.blob: reason for content, reason in unread.items() if reason not in (CHANGED, DAMAGED)}


def differences(
    snapshot: Snapshot, known: Mapping[str, IndexedFile], same: dict[int, SourceFile]
) -> tuple[set[str], list[str]]:
    """The paths of files that are new or changed, and of those that are gone.

    Those that are the same by their identity are not looked at; if others turn out to be the same, those of this
    snapshot take their place.
    """
    changed: set[str] = set()
    there = 0
    new = [file for file in snapshot.files if id(file) not in same]
    for file in new:
        before = known.get(file.path)
        if before is not None:
            there += 1
            (blob, language), dirty = before.content, before.dirty
            if blob == file.blob and language is file.language and dirty == file.dirty:
                continue
        changed.add(file.path)
    if len(changed) < len(new):
        same.clear()
        same |= {id(file): file for file in snapshot.files if file.path not in changed}
    if len(snapshot.files) - len(new) + there == len(known):
        return changed, []
    return changed, sorted(known.keys() - {file.path for file in snapshot.files})


def _state_of(record: IndexRecord) -> tuple[str, int, datetime]:
    return record.id, record.generation, record.updated_at


def _except(files: dict[str, IndexedFile], removed: Iterable[str]) -> Mapping[str, IndexedFile]:
    for path in removed:
        files.pop(path, None)
    return files


def _indexed(file: SourceFile, generation: int) -> IndexedFile:
    return IndexedFile(file.path, Content(file.blob, file.language), file.size, file.traits, file.dirty, generation)


def _parts(contents: Sequence[Content], size: int) -> Iterator[Sequence[Content]]:
    for start in range(0, len(contents), size):
        yield contents[start : start + size]


async def _report(reporter: Reporter, stage: str, share: float, message: str) -> None:
    start, end = STAGES[stage]
    await reporter.report(round(start + share * (end - start), 1), 100, f"{stage}: {message}")
