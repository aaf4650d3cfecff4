"""Resolve the uses in a repository's files to definitions: for all files, or incrementally for a few changed ones."""

import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import anyio.from_thread

from scrubjay.code_index.facts.digest_cache import DigestCache
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.facts.facts_cache import FactsCache
from scrubjay.code_index.facts.lazy_facts import StoredFacts
from scrubjay.code_index.facts.packed_facts import unpack_facts
from scrubjay.code_index.facts.packing import pack_edges, unpack_edges
from scrubjay.code_index.graph.definitions import last_name
from scrubjay.code_index.graph.incremental import resolve_incrementally
from scrubjay.code_index.graph.manifests import MANIFEST_NAMES, is_manifest_changed
from scrubjay.code_index.graph.resolver import resolve
from scrubjay.code_index.index.cancellation import run_in_thread
from scrubjay.code_index.index.gc_pause import gc_paused
from scrubjay.code_index.index.link_process import LinkProcess, link_in_process, start_link_process
from scrubjay.code_index.index.statistics import GRAPH_PROBLEM, Counts, count_files
from scrubjay.code_index.models import FileEdges, FileFacts
from scrubjay.code_index.store import CodeStore, Content, IndexRecord, StoredEdges
from scrubjay.core.errors import NotFound, Unavailable

logger = logging.getLogger("scrubjay.code_index")

# A repository of at most this many files is always relinked as a whole, which takes milliseconds.
SMALL_REPOSITORY = 50
# Above this number of changed files, a full relink is used.
MAX_INCREMENTAL = 25
# Also when this many files were linked incrementally since the last full relink: their indirect effects add up.
MAX_PENDING_RELINK = 250
# Up to this many files, linking in this process is faster than starting another.
FEW_FILES = 250
# Digests read from the store at a time.
AT_ONCE = 500

PENDING_RELINK = "unsettled"
"""Key in an index's details: files linked incrementally since the last full relink. Stored on disk, so it stays."""


class LinkResult(NamedTuple):
    """Edges that changed, and the new details of the index."""

    edges: Mapping[str, StoredEdges]
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RepositoryLinker:
    """Links files: resolves each use to the definition it refers to."""

    store: CodeStore
    memory_bytes: int = 4_000_000_000
    """Memory limit of the link process."""
    recent: FactsCache = field(default_factory=FactsCache)
    fresh: DigestCache = field(default_factory=DigestCache)

    @asynccontextmanager
    async def prepare_process(
        self, before: IndexRecord | None, changed: int, files: int
    ) -> AsyncGenerator[LinkProcess | None]:
        """Start the link process while files are still being read, if a full relink will need one.

        `changed` and `files` are numbers of files. The process is killed when the context exits.
        """
        if files > FEW_FILES and (before is None or _needs_full_link(before, changed)):
            async with start_link_process(self.memory_bytes) as ready:
                yield ready
        else:
            yield None

    async def link(
        self,
        before: IndexRecord | None,
        known: Mapping[str, Content],
        contents: Mapping[str, Content],
        ready: LinkProcess | None = None,
    ) -> LinkResult:
        """Return what changes in the graph when the files have `contents`; `known` are their contents before."""
        paths = known if known.keys() == contents.keys() else {**known, **contents}
        changed = [
            path
            for path in paths
            if (content := contents.get(path)) is not (previous := known.get(path)) and content != previous
        ]
        if before is None or _needs_full_link(before, len(changed)):
            return await self.link_all(contents, ready)
        if not changed:
            return LinkResult({}, _unchanged_details(before))
        if len(contents) <= SMALL_REPOSITORY:
            return await self.link_all(contents, ready)
        try:
            return await self._link_changed(before, changed, known, contents)
        except NotFound:  # facts that the edges were made from were swept
            return await self.link_all(contents, ready)

    async def link_all(self, contents: Mapping[str, Content], ready: LinkProcess | None = None) -> LinkResult:
        """Link all files. When that exceeds the memory limit, return no edges and record the reason in the details."""
        if len(contents) > FEW_FILES:
            try:
                batches = partial(self._batches, contents)
                edges, counts = await link_in_process(contents, batches, self.memory_bytes, ready)
            except Unavailable as problem:
                logger.warning("linking failed; the index has no use graph", extra={"problem": problem.message})
                edges, counts = await self._unlinked(contents, problem.message)
        else:
            facts = await self._facts(contents)
            found, counts = await run_in_thread(partial(_resolve_all, facts))
            edges = {path: pack_edges(own) for path, own in found.items()}
        return LinkResult(edges, {**counts.as_data(), PENDING_RELINK: 0})

    async def _unlinked(self, contents: Mapping[str, Content], problem: str) -> tuple[dict[str, StoredEdges], Counts]:
        """Return empty edges and the counts for files that could not be linked."""
        counts, paths = Counts(problem=problem), defaultdict[Content, list[str]](list)
        for path, content in contents.items():
            paths[content].append(path)
        async for batch in self._batches(contents):
            for content, digest in batch.items():
                facts = unpack_facts(digest)
                for path in paths[content]:
                    counts.add(path, facts, None)
        return {path: StoredEdges(b"") for path in contents}, counts

    async def _batches(
        self, contents: Mapping[str, Content], but: Collection[Content] = ()
    ) -> AsyncGenerator[Mapping[Content, bytes]]:
        """Yield the digests of these contents, except those in `but`."""
        for part in _split([content for content in dict.fromkeys(contents.values()) if content not in but]):
            yield await self.fresh.load(part, self.store)

    async def _facts(self, contents: Mapping[str, Content]) -> dict[str, FileFacts]:
        known: dict[Content, FileFacts] = {}
        async for batch in self._batches(contents):
            known |= {content: unpack_facts(digest) for content, digest in batch.items()}
        return {path: known[content] for path, content in contents.items() if content in known}

    async def _link_changed(
        self,
        before: IndexRecord,
        changed: Sequence[str],
        known: Mapping[str, Content],
        contents: Mapping[str, Content],
    ) -> LinkResult:
        leading = await self._edges(before.id, [*await self.store.dependents_of(before.id, changed), *changed])
        # Most targets of the changed files stay the same: load them in one query.
        near = [*leading, *(target for path in changed for target in _targets(leading.get(path)))]
        wanted = [contents[path] for path in [*changed, *near] if path in contents]
        wanted += [known[path] for path in changed if path in known]
        # Resolving one import needs all manifests.
        wanted += [content for path, content in contents.items() if path[path.rfind("/") + 1 :] in MANIFEST_NAMES]
        loaded = dict(await self.recent.load(wanted, self.store))

        def load(content: Content) -> bytes:
            if content not in loaded:
                loaded.update(anyio.from_thread.run(self.recent.load, [content], self.store))
            if content not in loaded:
                raise NotFound(f"the content {content.blob} has not been read")
            return loaded[content]

        old = {path: unpack_facts(load(known[path])) if path in known else None for path in changed}
        new = {path: unpack_facts(load(contents[path])) if path in contents else None for path in changed}
        if any(is_manifest_changed(old[path], new[path]) for path in changed):
            return await self.link_all(contents)
        uses = [one.use for edges in leading.values() for one in edges.unresolved]
        uses += [use.path for own in new.values() if own is not None for use in own.uses]
        asked = {last_name(use) for use in uses}
        names = await self.store.files_defining(before.id, VERSION, sorted(name for name in asked if name[:2] != "__"))
        facts = StoredFacts(contents, load, names)

        def link_incrementally(should_stop: Callable[[], bool]) -> tuple[Mapping[str, FileEdges], Mapping[str, Any]]:
            with gc_paused():
                found = resolve_incrementally(old, facts, leading, should_stop=should_stop)
            counts = Counts.of(before.details)
            for path in {*found, *changed}:
                counts.remove(path, old.get(path), leading.get(path))
                counts.add(path, facts[path] if path in changed and path in facts else None, found.get(path))
            return found, counts.as_data()

        found, details = await run_in_thread(link_incrementally)
        # A full relink that failed is not retried after each change: the failure takes minutes to appear.
        pending = 0 if GRAPH_PROBLEM in details else before.details.get(PENDING_RELINK, 0) + len(changed)
        return LinkResult({path: pack_edges(own) for path, own in found.items()}, {**details, PENDING_RELINK: pending})

    async def _edges(self, index_id: str, paths: Sequence[str]) -> Mapping[str, FileEdges]:
        packed = await self.store.edges(index_id, [*dict.fromkeys(paths)])
        return {path: unpack_edges(edges) for path, edges in packed.items()}


def _needs_full_link(before: IndexRecord, changed: int) -> bool:
    """Return whether enough files changed to relink everything."""
    return changed > MAX_INCREMENTAL or before.details.get(PENDING_RELINK, 0) + changed > MAX_PENDING_RELINK


def needs_relink(record: IndexRecord) -> bool:
    """Return whether the index was linked incrementally since its last full relink."""
    return record.details.get(PENDING_RELINK, 0) > 0


def _resolve_all(
    facts: Mapping[str, FileFacts], should_stop: Callable[[], bool]
) -> tuple[Mapping[str, FileEdges], Counts]:
    found = resolve([*facts], facts, should_stop=should_stop)
    return found, count_files(facts, found)


def _unchanged_details(before: IndexRecord) -> dict[str, Any]:
    return {**Counts.of(before.details).as_data(), PENDING_RELINK: before.details.get(PENDING_RELINK, 0)}


def _targets(edges: FileEdges | None) -> Sequence[str]:
    return [*{*edges.imports, *(edge.path for edge in edges.edges)}] if edges is not None else ()


def _split(contents: Sequence[Content]) -> Iterator[Sequence[Content]]:
    for start in range(0, len(contents), AT_ONCE):
        yield contents[start : start + AT_ONCE]
