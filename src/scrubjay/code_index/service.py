"""Asking an index: where code is, what it says, and who uses what. Indexes are loaded when they are first asked."""

import re
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar, cast

import anyio
import anyio.to_thread

from scrubjay.code_index.content_location import place_of
from scrubjay.code_index.discovery.limits import never
from scrubjay.code_index.excerpts import Extract, extracted
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.index.cancellation import in_thread
from scrubjay.code_index.index.indexer import Indexer, IndexOptions, index_id_of, unknown_index
from scrubjay.code_index.models import FileFacts, FileTrait, Language, Snapshot, SourceFile, Span
from scrubjay.code_index.store import CodeStore, Content, IndexedFile, IndexRecord, KeptEdges
from scrubjay.core.errors import NotFound
from scrubjay.core.progress import SilentReporter

if TYPE_CHECKING:
    from scrubjay.code_index.facts.digest import Digest
    from scrubjay.code_index.graph.module_map import ModuleMap
    from scrubjay.code_index.reranking.reranker import Hearing
    from scrubjay.code_index.reranking.service import CodeEmbedding
    from scrubjay.code_index.search.callers_text import Users
    from scrubjay.code_index.search.corpus import Corpus
    from scrubjay.code_index.search.corpus_file import KeptCorpus
    from scrubjay.code_index.search.importance import Importance
    from scrubjay.code_index.search.ranker import Found, Ranker, Toggles
    from scrubjay.code_index.search.symbol_lookup import Names
    from scrubjay.code_index.search.use_columns import Uses
    from scrubjay.code_index.search.use_graph import Links

T = TypeVar("T")

# A question that is nothing but a name.
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*(?:\(\))?")
# So many indexes are kept in memory; the one that nobody asked for the longest goes first.
MOST_LOADED = 8
# In larger repositories looking at all files takes longer than anybody waits for an answer.
SOON_READ = 10_000
# So many digests are taken out at a time.
AT_ONCE = 1_000
# When more files than this changed, what is in memory is kept in a file for other processes.
MANY_CHANGES = 200
# Of a definition, at least so much is shown if it is as long.
SHOWN_BYTES = 600
# The greatest sum of all signals that real questions reach.
FULL = 4.0


@dataclass(frozen=True, slots=True)
class CodeHit:
    """A part of a file that answers."""

    file: IndexedFile
    score: float
    """From 0 to 1."""
    scores: Mapping[str, float]
    """What the words, the meaning, the names, the history and the graph say, each from 0 to 1."""
    extract: Extract
    symbol: str
    """The definition that it is about; empty when it is about none."""
    stale: bool = False
    """Whether the file has changed since: what is shown is what was there, or nothing if that cannot be had."""


class Hits(list[T]):
    """What was found, best first."""

    def __init__(self, hits: Iterable[T] = (), degraded: str | None = None, *, more: bool = False) -> None:
        """`degraded` is why the model that the owner chose was not heard of all of it; `more` that this is not all."""
        super().__init__(hits)
        self.degraded = degraded
        self.more = more


@dataclass
class Loaded:
    """One state of an index, in memory."""

    record: IndexRecord
    corpus: "Corpus"
    ranker: "Ranker"
    names: "Names"
    links: "Links | None" = None
    uses: "Uses | None" = None
    """Those of all files, where they were read for something else and not asked for yet."""
    importance: "Importance | None" = None
    facts: dict[str, FileFacts] = field(default_factory=dict[str, FileFacts])

    @property
    def place(self) -> Snapshot:
        """Where its contents can be read."""
        return place_of(self.record)


ChangeKind = Literal["created", "modified", "deleted"]
FileHeard = Callable[[str, ChangeKind], None]
"""Told of a file, by its whole path, and what became of it; must neither wait nor fail."""


class CodeService:
    """Answers from indexes."""

    def __init__(
        self,
        store: CodeStore,
        indexer: Indexer,
        roots: Sequence[Path] = (),
        embedding: "CodeEmbedding | None" = None,
    ) -> None:
        """`roots` are the only folders that may be indexed, and what is in them; all when there are none.

        `embedding` is the model that the owner chose beside the bundled one.
        """
        self.embedding = embedding
        self.roots = [root.resolve() for root in roots]
        self.store = store
        self.indexer = indexer
        self._loaded: dict[str, Loaded] = {}
        self._prepared: _Prepared | None = None
        """What can be searched of an index that is not written yet, and may never be."""
        indexer.while_linking, indexer.while_writing = self._prepare, self._prepare_uses
        self._loading = anyio.Lock()
        self.on_change: FileHeard | None = None
        """Who is told of files that changed in watched folders, if anybody is."""
        self.clean: set[str] = set()
        """The ids of contents that are known to hold no secret."""

    async def load(self, index_id: str) -> Loaded:
        """The newest whole state of an index."""
        record = await self.store.index(index_id)
        if record is None:
            self._loaded.pop(index_id, None)
            raise unknown_index(index_id)
        async with self._loading:
            known = self._loaded.pop(index_id, None)
            if known is None or known.record.generation != record.generation:
                known = await self._brought_up(record, known)
            self._loaded[index_id] = known
            while len(self._loaded) > MOST_LOADED:
                del self._loaded[next(iter(self._loaded))]
            return known

    async def bring_up(self, index_id: str) -> None:
        """Load what is new of an index that is in memory, so that nobody waits for it when they ask."""
        if index_id in self._loaded:
            await self.load(index_id)

    async def links(self, loaded: Loaded) -> "Links":
        """Who uses what."""
        if loaded.links is None:
            from scrubjay.code_index.facts.packing import unpacked_edges
            from scrubjay.code_index.search.use_graph import Links

            packed = await self.store.edges(loaded.record.id)
            loaded.links = await anyio.to_thread.run_sync(
                lambda: Links(loaded.corpus, {path: unpacked_edges(edges) for path, edges in packed.items()})
            )
        return loaded.links

    async def importance(self, loaded: Loaded) -> "Importance":
        """How much leads to each file and definition."""
        if loaded.importance is None:
            from scrubjay.code_index.search.importance import importance_of

            uses = await self._uses(loaded.record, loaded.corpus) if loaded.uses is None else loaded.uses
            loaded.importance, loaded.uses = await anyio.to_thread.run_sync(importance_of, loaded.corpus, uses), None
        return loaded.importance

    async def search(
        self,
        index_id: str,
        query: str,
        *,
        limit: int,
        toggles: "Toggles",
        context_lines: int,
        hearing: "Hearing | None" = None,
        language: Language | None = None,
    ) -> Hits[CodeHit]:
        """The parts of files that answer best, best first: definitions of what is named, then one of each file.

        With a language only files of it count.
        Whoever searches several indexes gives each the same `hearing`; see there.
        """
        loaded = await self.load(index_id)
        hearing = hearing or self.hearing(query, toggles)
        wide = limit + 1 if hearing is None else max(limit + 1, hearing.candidates)
        files = loaded.corpus.files

        def ranked() -> "list[Found]":
            found = loaded.ranker.rank(query, wide if language is None else len(files), toggles)
            return [one for one in found if language in (None, files[one.file].content.language)][:wide]

        def shown(found: "Sequence[Found]", degraded: str | None) -> Hits[CodeHit]:
            is_name = toggles.symbol and _NAME.fullmatch(query.strip()) is not None
            parts = _parts(loaded, found, query if is_name else "", limit + 1, language)
            return Hits(_hits(loaded, parts[:limit], context_lines), degraded, more=len(parts) > limit)

        if hearing is None:
            return await anyio.to_thread.run_sync(lambda: shown(ranked(), None))
        found, degraded = await anyio.to_thread.run_sync(ranked), None
        if found:
            found, degraded = await hearing.of(index_id, loaded.corpus, found)
        return await anyio.to_thread.run_sync(shown, found[: limit + 1], degraded)

    def hearing(self, query: str, toggles: "Toggles") -> "Hearing | None":
        """What the model that the owner chose is asked for a search; None when there is none, or it is not wanted."""
        return self.embedding.hearing(query) if self.embedding is not None and toggles.vector else None

    async def freshen(self, root: str, options: IndexOptions, few: int) -> int:
        """Bring a small index up to date if no more than a few files changed; else how many did."""
        index_id = index_id_of(root, "HEAD", options)
        snapshot = await self.indexer.snapshot(root, "HEAD", options)
        changed, removed = await self.indexer.behind(snapshot, await self.store.index(index_id))
        behind = len(changed) + len(removed)
        if 0 < behind <= few and len(snapshot.files) <= SOON_READ:
            await self.indexer.build(root, "HEAD", options, SilentReporter(), seen=snapshot)
            return 0
        return behind

    async def clean_up(self) -> int:
        """Remove the indexes of folders that are gone, and what no index needs; how many indexes that were."""

        removed = 0
        for record in await self.store.indexes():
            if not await anyio.Path(record.root).is_dir():
                removed += await self.store.delete(record.id)
                self._loaded.pop(record.id, None)
                await anyio.to_thread.run_sync(shutil.rmtree, self.indexer.folder / record.id, True)
        if self.embedding is not None:
            await self.embedding.read_all()
        await self.store.sweep(VERSION)
        return removed

    async def content(self, loaded: Loaded, file: IndexedFile) -> bytes:
        from scrubjay.code_index.discovery.contents import read_content

        return await anyio.to_thread.run_sync(read_content, loaded.place, source_of(file))

    async def facts(self, loaded: Loaded, path: str) -> FileFacts:
        """What one file says."""
        from scrubjay.code_index.facts.packed_facts import unpacked_facts

        if path not in loaded.facts:
            row = loaded.corpus.row_of.get(path)
            if row is None:
                raise unknown_file(path, loaded)
            content = loaded.corpus.files[row].content
            packed = await self.store.digests(VERSION, [content])
            if content not in packed:
                raise NotFound(f"{path} is being indexed anew", hint="ask again in a moment")
            loaded.facts[path] = unpacked_facts(packed[content])
        return loaded.facts[path]

    async def modules(self, loaded: Loaded) -> "ModuleMap":
        """The modules of the repository, without tests and the like."""
        from pathlib import PurePath

        from scrubjay.code_index.facts.packing import unpacked_edges
        from scrubjay.code_index.graph.module_map import module_map

        corpus = loaded.corpus
        facts = await self.indexer.facts([corpus.files[row] for row in corpus.row_of.values()])
        packed = await self.store.edges(loaded.record.id)
        beside = FileTrait.TEST | FileTrait.EXAMPLE | FileTrait.VENDORED | FileTrait.GENERATED | FileTrait.MINIFIED

        def left_out(path: str) -> bool:
            return bool(corpus.files[corpus.row_of[path]].traits & beside)

        def drawn() -> "ModuleMap":
            edges = {path: unpacked_edges(own) for path, own in packed.items()}
            return module_map(PurePath(loaded.record.root).name, facts, edges, left_out=left_out)

        return await anyio.to_thread.run_sync(drawn)

    async def _brought_up(self, record: IndexRecord, known: Loaded | None) -> Loaded:
        """The newest state: what is in memory or in a file, and what changed since."""
        from scrubjay.code_index.search.corpus_file import KeptCorpus, read_corpus, write_corpus

        folder = self.indexer.folder / record.id
        if (prepared := self._taken_for(record)) is not None:
            return await anyio.to_thread.run_sync(_as_prepared, folder, record, prepared)
        if known is not None:
            generation, commit = known.record.generation, known.record.commit
            base = KeptCorpus(generation, commit, known.corpus, known.ranker.history, known.ranker.users)
        else:
            base = await anyio.to_thread.run_sync(read_corpus, folder)
            if base is not None and base.generation > record.generation:
                base = None  # of an index that was deleted since
        changed = await self.store.files(record.id, after_generation=base.generation if base else 0)
        if base is not None and _is_worn(base.corpus, len(changed)):
            base, changed = None, await self.store.files(record.id)
        paths = await self.indexer.paths_of(record)
        corpus = await anyio.to_thread.run_sync(_without_removed, base, paths)
        await self._put(corpus, changed)
        known_uses = 0 if base is None or base.users is None else base.generation
        uses = await self._uses(record, corpus, known_uses)

        def bring_up() -> Loaded:
            kept = _kept(record, base, corpus)._replace(users=_users(base, corpus, uses))
            if base is None or len(changed) > MANY_CHANGES:
                write_corpus(folder, kept)
            return _loaded(record, kept, None if known_uses else uses)

        return await anyio.to_thread.run_sync(bring_up)

    async def _prepare(self, record: IndexRecord, files: Sequence[IndexedFile]) -> None:
        """Make all of an index that is searched, if it is much, while others find out who uses what."""
        if len(files) <= MANY_CHANGES:
            return
        from scrubjay.code_index.search.corpus import Corpus

        corpus = Corpus()
        await self._put(corpus, files)
        self._prepared = await in_thread(partial(_prepared, record, corpus))

    async def _prepare_uses(self, record: IndexRecord, edges: Mapping[str, KeptEdges]) -> None:
        """The same of who uses what, while that is written."""
        prepared = self._prepared
        if prepared is not None and prepared.is_of(record):
            self._prepared = await anyio.to_thread.run_sync(prepared.with_uses, edges)

    def _taken_for(self, record: IndexRecord) -> "_Prepared | None":
        """What was prepared of just this state: the build that it was for may have failed, and another succeeded."""
        if self._prepared is None or self._prepared.record.id != record.id:
            return None
        prepared, self._prepared = self._prepared, None
        return prepared if prepared.is_of(record) and prepared.uses is not None else None

    async def _uses(self, record: IndexRecord, corpus: "Corpus", after_generation: int = 0) -> "Uses":
        """What all files use of which that may have changed since a state."""
        from scrubjay.code_index.search.use_columns import read_uses

        packed = await self.store.edges(record.id, after_generation=after_generation)
        return await anyio.to_thread.run_sync(read_uses, corpus, packed)

    async def _put(self, corpus: "Corpus", files: Sequence[IndexedFile]) -> None:
        # A part at a time: what is in the digests of all files takes several times what comes of it.
        for start in range(0, len(files), AT_ONCE):
            part = files[start : start + AT_ONCE]
            packed = await self.indexer.digests.of([*dict.fromkeys(file.content for file in part)], self.store)
            await anyio.to_thread.run_sync(_put, corpus, part, packed)


class _Prepared(NamedTuple):
    """What is known of a state of an index before it is written."""

    record: IndexRecord
    kept: "KeptCorpus"
    ranker: "Ranker"
    uses: "Uses | None" = None

    def is_of(self, record: IndexRecord) -> bool:
        own = self.record
        return (own.id, own.generation, own.updated_at) == (record.id, record.generation, record.updated_at)

    def with_uses(self, edges: Mapping[str, KeptEdges]) -> "_Prepared":
        """The same when it is known what the files lead to."""
        from scrubjay.code_index.search.use_columns import read_uses

        corpus = self.kept.corpus
        uses = read_uses(corpus, {path: found.edges for path, found in edges.items()})
        users = _users(None, corpus, uses)
        return self._replace(kept=self.kept._replace(users=users), ranker=self.ranker.knowing(users), uses=uses)


def _prepared(record: IndexRecord, corpus: "Corpus", should_stop: Callable[[], bool]) -> _Prepared:
    from scrubjay.code_index.search.ranker import Ranker

    kept = _kept(record, None, corpus, should_stop)
    return _Prepared(record, kept, Ranker(corpus, kept.history))


def _as_prepared(folder: Path, record: IndexRecord, prepared: _Prepared) -> Loaded:
    """A state that was prepared and has been written since."""
    from scrubjay.code_index.search.corpus_file import write_corpus
    from scrubjay.code_index.search.symbol_lookup import Names

    write_corpus(folder, prepared.kept)
    corpus = prepared.kept.corpus
    return Loaded(record, corpus, prepared.ranker, Names(corpus), uses=prepared.uses)


def _is_worn(corpus: "Corpus", changed: int) -> bool:
    """Whether so many rows are dead, or will be, that it is better to begin anew."""
    return len(corpus.files) + changed > 1.25 * len(corpus.row_of) + MANY_CHANGES


def _without_removed(base: "KeptCorpus | None", paths: Collection[str]) -> "Corpus":
    """What there is of the files that still are; others may be searching what is there now."""
    from scrubjay.code_index.search.corpus import Corpus

    corpus = base.corpus.copied() if base else Corpus()
    corpus.put((), corpus.row_of.keys() - paths)
    return corpus


def _put(corpus: "Corpus", files: Sequence[IndexedFile], packed: Mapping[Content, bytes]) -> None:
    digests = _all_unpacked(packed)
    # What turned out to be no text when it was read has no digest.
    corpus.put((file, digests[file.content]) for file in files if file.content in digests)


def _kept(
    record: IndexRecord, base: "KeptCorpus | None", corpus: "Corpus", should_stop: Callable[[], bool] = never
) -> "KeptCorpus":
    from scrubjay.code_index.discovery.commit_log import commit_subjects
    from scrubjay.code_index.search.commit_history import History
    from scrubjay.code_index.search.corpus_file import KeptCorpus

    if base is not None and base.commit == record.commit:
        history = base.history
    else:
        has_history = record.details.get("is_git", True) and record.commit is not None
        rev = record.commit or "HEAD"
        history = History(commit_subjects(record.root, rev, should_stop=should_stop) if has_history else ())
    return KeptCorpus(record.generation, record.commit, corpus, history)


def _users(base: "KeptCorpus | None", corpus: "Corpus", uses: "Uses") -> "Users":
    """Those that are known and these; others may be asking those that are known."""
    from scrubjay.code_index.search.callers_text import Users

    users = Users() if base is None or base.users is None else base.users.copied()
    users.add(corpus, uses)
    return users


def _loaded(record: IndexRecord, kept: "KeptCorpus", uses: "Uses | None") -> Loaded:
    from scrubjay.code_index.search.ranker import Ranker
    from scrubjay.code_index.search.symbol_lookup import Names

    ranker = Ranker(kept.corpus, kept.history, kept.users)
    return Loaded(record, kept.corpus, ranker, Names(kept.corpus), uses=uses)


class _Part(NamedTuple):
    """A part of a file that is to be shown."""

    file: int
    span: Span
    symbol: int
    """The row of the definition that it is about; -1 when it is about none."""
    score: float
    signals: Mapping[str, float]


def _parts(loaded: Loaded, found: "Sequence[Found]", name: str, limit: int, language: Language | None) -> list[_Part]:
    """What is shown of these files, after the definitions of what has this name, if there is one."""
    parts = [_part(loaded, one.file, one.chunk, one.score / FULL, one.signals) for one in found]
    if name:
        named = _definitions(loaded, name, limit, {part.file: part.signals for part in parts})
        files = loaded.corpus.files
        named = [part for part in named if language in (None, files[part.file].content.language)]
        defining = {part.file for part in named}
        parts = [*named, *(part for part in parts if part.file not in defining)]
    return parts[:limit]


def _part(loaded: Loaded, file: int, chunk: int, score: float, signals: Mapping[str, float]) -> _Part:
    chunks = loaded.corpus.chunks
    if chunk < 0:
        return _Part(file, Span(0, 0, 1, 1), -1, score, signals)
    return _Part(file, Span(*chunks.spans[chunk].tolist()), int(chunks.symbols[chunk]), score, signals)


def _hits(loaded: Loaded, parts: Sequence[_Part], context_lines: int) -> list[CodeHit]:
    """What is shown of these parts; of a file that changed since, what it was and nothing that is passed off as it."""
    from scrubjay.code_index.discovery.contents import still_held

    files = [loaded.corpus.files[part.file] for part in parts]
    held = still_held(loaded.place, [source_of(file) for file in files])
    changed = changed_files(loaded, files)
    return [
        CodeHit(
            file=file,
            score=round(min(1.0, part.score), 4),
            scores=_shares(part.signals),
            extract=extracted(held[file.path], part.span, context_lines)
            if file.path in held
            else Extract(part.span, "", "", ""),
            symbol=loaded.names.qualified(part.symbol) if part.symbol >= 0 else "",
            stale=file.path not in held or file.path in changed,
        )
        for file, part in zip(files, parts, strict=True)
    ]


def changed_files(loaded: Loaded, files: Iterable[IndexedFile]) -> set[str]:
    """The paths of those that are not any more what they were when they were indexed."""
    from scrubjay.code_index.discovery.contents import changed_after

    return changed_after(loaded.place, map(source_of, files), loaded.record.updated_at.timestamp())


def source_of(file: IndexedFile) -> SourceFile:
    """The same as a file of a snapshot."""
    return SourceFile(file.path, file.content.blob, file.size, file.content.language, file.traits, file.dirty)


def _definitions(loaded: Loaded, name: str, limit: int, signals: Mapping[int, Mapping[str, float]]) -> list[_Part]:
    """Where what is called like this is defined, likeliest first; of a long definition the beginning."""
    import numpy as np

    chunks, symbols = loaded.corpus.chunks, loaded.corpus.symbols
    parts: list[_Part] = []
    for row in loaded.names.find(name)[:limit]:
        file, line = int(symbols.files[row]), int(symbols.lines[row])
        # The chunks of a file are neighbours.
        first_own, behind = np.searchsorted(chunks.files, [file, file + 1]).tolist()
        own = chunks.spans[first_own:behind]
        inside = np.flatnonzero((own[:, 2] <= line) & (line <= own[:, 3]))
        start, end, first, last = map(int, symbols.spans[row])
        if len(inside):
            after = own[int(inside[0]) :]
            enough = after[min(int(np.searchsorted(after[:, 1], start + SHOWN_BYTES)), len(after) - 1)]
            end, last = min(end, int(enough[1])), min(last, int(enough[3]))
        parts.append(_Part(file, Span(start, end, first, last), row, 1.0, {**signals.get(file, {}), "defines": 1.0}))
    return parts


def _all_unpacked(packed: Mapping[Content, bytes]) -> "dict[Content, Digest]":
    from scrubjay.code_index.facts.digest import Digest, unpacked_searchable
    from scrubjay.code_index.facts.packed_facts import LateFacts

    return {
        content: Digest(
            cast(FileFacts, LateFacts(content.language, partial(packed.__getitem__, content))),
            unpacked_searchable(digest),
        )
        for content, digest in packed.items()
    }


def unknown_file(path: str, loaded: Loaded) -> NotFound:
    from scrubjay.core.suggestions import nearest_names

    near = nearest_names(path, loaded.corpus.row_of)
    hint = f"did you mean {' or '.join(near)}?" if near else "paths are given from the root of the index"
    return NotFound(f"there is no file {path[:200]!r} in this index", hint=hint)


def _shares(signals: Mapping[str, float]) -> dict[str, float]:
    heard = signals.get
    return {
        told: round(min(1.0, sum([heard(name, 0.0) for name in names]) / most), 4) for told, names, most in _witnesses()
    }


@cache
def _witnesses() -> Sequence[tuple[str, Sequence[str], float]]:
    """What is told of a hit, by which signals, and the most that these come to."""
    from scrubjay.code_index.search.ranker import WEIGHTS

    told = {
        "vector": ("meaning", "about"),
        "symbol": ("defines", "name"),
        "graph": ("history", "lively", "users"),
        "text": ("text", "covered"),
    }
    return [(name, signals, sum(WEIGHTS[signal] for signal in signals)) for name, signals in told.items()]
