"""Finding what the uses in a repository's files lead to: in all files, or what a few changed files mean for it."""

import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import anyio.from_thread

from scrubjay.code_index.facts.digest_cache import FreshDigests
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.facts.facts_cache import RecentFacts
from scrubjay.code_index.facts.packing import kept_edges, unpacked_edges
from scrubjay.code_index.index.cancellation import in_thread
from scrubjay.code_index.index.gc_pause import uncollected
from scrubjay.code_index.index.link_process import LinkingProcess, linked_apart, linking_process
from scrubjay.code_index.index.statistics import PROBLEM, Counts, counted
from scrubjay.code_index.models import FileEdges, FileFacts
from scrubjay.code_index.store import CodeStore, Content, IndexRecord, KeptEdges
from scrubjay.core.errors import NotFound, Unavailable

logger = logging.getLogger("scrubjay.code_index")

# Everything of no more files than this is resolved anew in no time.
SOON_RESOLVED = 50
# When more files than this changed, everything is resolved anew as well.
MOST_MENDED = 25
# The same when so many were mended since: what follows from them for others adds up.
MOST_UNSETTLED = 250
# All of fewer files are resolved sooner here than a process starts.
FEW_FILES = 250
# So many digests are taken out at a time.
AT_ONCE = 500

UNSETTLED = "unsettled"
"""Among an index's details: how many files were mended since all uses were resolved together."""


class Linked(NamedTuple):
    """What the uses lead to that is not as it was, and what is told of all of them."""

    edges: Mapping[str, KeptEdges]
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Linker:
    """Finds it."""

    store: CodeStore
    memory_bytes: int = 4_000_000_000
    """So much a process of its own may take."""
    recent: RecentFacts = field(default_factory=RecentFacts)
    fresh: FreshDigests = field(default_factory=FreshDigests)

    @asynccontextmanager
    async def getting_ready(
        self, before: IndexRecord | None, changed: int, files: int
    ) -> AsyncGenerator[LinkingProcess | None]:
        """While the files are read, so many of which changed, let that process start that will be needed then, if any.

        It is gone when this is left.
        """
        if files > FEW_FILES and (before is None or _is_much(before, changed)):
            async with linking_process(self.memory_bytes) as ready:
                yield ready
        else:
            yield None

    async def linked(
        self,
        before: IndexRecord | None,
        known: Mapping[str, Content],
        contents: Mapping[str, Content],
        ready: LinkingProcess | None = None,
    ) -> Linked:
        """What changes when the files have these contents; before, they had the known ones."""
        paths = known if known.keys() == contents.keys() else {**known, **contents}
        changed = [
            path
            for path in paths
            if (content := contents.get(path)) is not (before_that := known.get(path)) and content != before_that
        ]
        if before is None or _is_much(before, len(changed)):
            return await self.all_linked(contents, ready)
        if not changed:
            return Linked({}, _told(before))
        if len(contents) <= SOON_RESOLVED:
            return await self.all_linked(contents, ready)
        try:
            return await self._mended(before, changed, known, contents)
        except NotFound:  # what it was made of is there no more
            return await self.all_linked(contents, ready)

    async def all_linked(self, contents: Mapping[str, Content], ready: LinkingProcess | None = None) -> Linked:
        """What the uses in all files lead to; nowhere, with the reason, when that takes too much memory."""
        if len(contents) > FEW_FILES:
            try:
                batches = partial(self._batches, contents)
                edges, counts = await linked_apart(contents, batches, self.memory_bytes, ready)
            except Unavailable as problem:
                logger.warning("it is not known who uses what", extra={"problem": problem.message})
                edges, counts = await self._unlinked(contents, problem.message)
        else:
            facts = await self._facts(contents)
            found, counts = await in_thread(partial(_all_resolved, facts))
            edges = {path: kept_edges(own) for path, own in found.items()}
        return Linked(edges, {**counts.as_data(), UNSETTLED: 0})

    async def _unlinked(self, contents: Mapping[str, Content], problem: str) -> tuple[dict[str, KeptEdges], Counts]:
        """What can be told of files whose uses are not resolved."""
        from scrubjay.code_index.facts.packed_facts import unpacked_facts

        counts, paths = Counts(problem=problem), defaultdict[Content, list[str]](list)
        for path, content in contents.items():
            paths[content].append(path)
        async for batch in self._batches(contents):
            for content, digest in batch.items():
                facts = unpacked_facts(digest)
                for path in paths[content]:
                    counts.put_in(path, facts, None)
        return {path: KeptEdges(b"") for path in contents}, counts

    async def _batches(
        self, contents: Mapping[str, Content], but: Collection[Content] = ()
    ) -> AsyncGenerator[Mapping[Content, bytes]]:
        """The digests of all these contents but some."""
        for part in _parts([content for content in dict.fromkeys(contents.values()) if content not in but]):
            yield await self.fresh.of(part, self.store)

    async def _facts(self, contents: Mapping[str, Content]) -> dict[str, FileFacts]:
        from scrubjay.code_index.facts.packed_facts import unpacked_facts

        known: dict[Content, FileFacts] = {}
        async for batch in self._batches(contents):
            known |= {content: unpacked_facts(digest) for content, digest in batch.items()}
        return {path: known[content] for path, content in contents.items() if content in known}

    async def _mended(
        self,
        before: IndexRecord,
        changed: Sequence[str],
        known: Mapping[str, Content],
        contents: Mapping[str, Content],
    ) -> Linked:
        from scrubjay.code_index.facts.lazy_facts import KeptFacts
        from scrubjay.code_index.facts.packed_facts import unpacked_facts
        from scrubjay.code_index.graph.definitions import last_name
        from scrubjay.code_index.graph.incremental import resolve_incrementally
        from scrubjay.code_index.graph.manifests import NAMES, differ

        leading = await self._edges(before.id, [*await self.store.leading_to(before.id, changed), *changed])
        # What the changed files led to is most of what they lead to now.
        near = [*leading, *(target for path in changed for target in _targets(leading.get(path)))]
        wanted = [contents[path] for path in [*changed, *near] if path in contents]
        wanted += [known[path] for path in changed if path in known]
        # One import asks for all manifests.
        wanted += [content for path, content in contents.items() if path[path.rfind("/") + 1 :] in NAMES]
        loaded = dict(await self.recent.of(wanted, self.store))

        def load(content: Content) -> bytes:
            if content not in loaded:
                loaded.update(anyio.from_thread.run(self.recent.of, [content], self.store))
            if content not in loaded:
                raise NotFound(f"the content {content.blob} has not been read")
            return loaded[content]

        old = {path: unpacked_facts(load(known[path])) if path in known else None for path in changed}
        new = {path: unpacked_facts(load(contents[path])) if path in contents else None for path in changed}
        if any(differ(old[path], new[path]) for path in changed):
            return await self.all_linked(contents)
        uses = [one.use for edges in leading.values() for one in edges.unresolved]
        uses += [use.path for own in new.values() if own is not None for use in own.uses]
        asked = {last_name(use) for use in uses}
        names = await self.store.defining(before.id, VERSION, sorted(name for name in asked if name[:2] != "__"))
        facts = KeptFacts(contents, load, names)

        def mend(should_stop: Callable[[], bool]) -> tuple[Mapping[str, FileEdges], Mapping[str, Any]]:
            with uncollected():  # until all is let go of that was needed
                found = resolve_incrementally(old, facts, leading, should_stop=should_stop)
            counts = Counts.of(before.details)
            for path in {*found, *changed}:
                counts.take_out(path, old.get(path), leading.get(path))
                counts.put_in(path, facts[path] if path in changed and path in facts else None, found.get(path))
            return found, counts.as_data()

        found, told = await in_thread(mend)
        # What could not be resolved as a whole is not tried again after each change: it takes minutes to find out.
        unsettled = 0 if PROBLEM in told else before.details.get(UNSETTLED, 0) + len(changed)
        return Linked({path: kept_edges(own) for path, own in found.items()}, {**told, UNSETTLED: unsettled})

    async def _edges(self, index_id: str, paths: Sequence[str]) -> Mapping[str, FileEdges]:
        packed = await self.store.edges(index_id, [*dict.fromkeys(paths)])
        return {path: unpacked_edges(edges) for path, edges in packed.items()}


def _is_much(before: IndexRecord, changed: int) -> bool:
    """Whether so many files changed that everything is resolved anew."""
    return changed > MOST_MENDED or before.details.get(UNSETTLED, 0) + changed > MOST_UNSETTLED


def is_unsettled(record: IndexRecord) -> bool:
    """Whether it was mended since all its uses were resolved together."""
    return record.details.get(UNSETTLED, 0) > 0


def _all_resolved(
    facts: Mapping[str, FileFacts], should_stop: Callable[[], bool]
) -> tuple[Mapping[str, FileEdges], Counts]:
    from scrubjay.code_index.graph.resolver import resolve

    found = resolve([*facts], facts, should_stop=should_stop)
    return found, counted(facts, found)


def _told(before: IndexRecord) -> dict[str, Any]:
    return {**Counts.of(before.details).as_data(), UNSETTLED: before.details.get(UNSETTLED, 0)}


def _targets(edges: FileEdges | None) -> Sequence[str]:
    return [*{*edges.imports, *(edge.path for edge in edges.edges)}] if edges is not None else ()


def _parts(contents: Sequence[Content]) -> Iterator[Sequence[Content]]:
    for start in range(0, len(contents), AT_ONCE):
        yield contents[start : start + AT_ONCE]
