"""Query indexes: search, symbols, facts and uses. An index is loaded into memory on first use."""

import re
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar, cast

import anyio
import anyio.to_thread

from scrubjay.code_index.content_location import contents_of
from scrubjay.code_index.discovery.commit_log import commit_subjects
from scrubjay.code_index.discovery.contents import changed_after, read_content, read_unchanged
from scrubjay.code_index.discovery.limits import never
from scrubjay.code_index.excerpts import Excerpt, cut_excerpt
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.facts.packed_facts import LazyFacts, unpack_facts
from scrubjay.code_index.facts.packing import unpack_edges
from scrubjay.code_index.folder_policy import FolderPolicy
from scrubjay.code_index.graph.module_map import build_module_map
from scrubjay.code_index.index.cancellation import run_in_thread
from scrubjay.code_index.index.indexer import KEPT_OUT, Indexer
from scrubjay.code_index.index.options import IndexOptions, index_id_of, unknown_index
from scrubjay.code_index.models import FileFacts, FileTrait, Language, Snapshot, SourceFile, Span
from scrubjay.code_index.store import CodeStore, Content, IndexedFile, IndexRecord, StoredEdges
from scrubjay.core.errors import NotFound
from scrubjay.core.lazy import lazy_module
from scrubjay.core.progress import SilentReporter
from scrubjay.core.suggestions import nearest_names

if TYPE_CHECKING:
    import numpy as np

    from scrubjay.code_index.facts import digest as digest_module
    from scrubjay.code_index.facts.digest import Digest
    from scrubjay.code_index.graph.module_map import ModuleMap
    from scrubjay.code_index.reranking.reranker import Reranker
    from scrubjay.code_index.reranking.service import CodeEmbedding
    from scrubjay.code_index.search import (
        callers_text,
        commit_history,
        corpus_file,
        symbol_lookup,
        use_columns,
        use_graph,
    )
    from scrubjay.code_index.search import corpus as corpus_module
    from scrubjay.code_index.search import importance as importance_module
    from scrubjay.code_index.search import ranker as ranker_module
    from scrubjay.code_index.search.callers_text import CallerWords
    from scrubjay.code_index.search.corpus import Corpus
    from scrubjay.code_index.search.corpus_file import StoredCorpus
    from scrubjay.code_index.search.importance import Importance
    from scrubjay.code_index.search.ranker import RankedFile, Ranker, SignalToggles
    from scrubjay.code_index.search.symbol_lookup import SymbolLookup
    from scrubjay.code_index.search.use_columns import UseEdgeColumns
    from scrubjay.code_index.search.use_graph import UseGraph
else:
    np = lazy_module("numpy")
    digest_module = lazy_module("scrubjay.code_index.facts.digest")
    callers_text = lazy_module("scrubjay.code_index.search.callers_text")
    commit_history = lazy_module("scrubjay.code_index.search.commit_history")
    corpus_module = lazy_module("scrubjay.code_index.search.corpus")
    corpus_file = lazy_module("scrubjay.code_index.search.corpus_file")
    importance_module = lazy_module("scrubjay.code_index.search.importance")
    ranker_module = lazy_module("scrubjay.code_index.search.ranker")
    symbol_lookup = lazy_module("scrubjay.code_index.search.symbol_lookup")
    use_columns = lazy_module("scrubjay.code_index.search.use_columns")
    use_graph = lazy_module("scrubjay.code_index.search.use_graph")

T = TypeVar("T")

# A query that consists of a name only.
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*(?:\(\))?")
# Indexes kept in memory; the least recently used one is evicted first.
MAX_LOADED = 8
# In larger repositories a snapshot takes too long to refresh the index during a query.
MAX_AUTO_REFRESH_FILES = 10_000
# Digests read from the store at a time.
DIGEST_BATCH = 1_000
# Above this number of changed files, the corpus is written to a file for other processes.
PERSIST_THRESHOLD = 200
# Minimum bytes shown of a definition, if it is that long.
MIN_SHOWN_BYTES = 600
# Highest sum of signals that real queries reach; scores are divided by it.
MAX_SIGNAL_SUM = 4.0


@dataclass(frozen=True, slots=True)
class CodeHit:
    """A part of a file that matches a query."""

    file: IndexedFile
    score: float
    """0 to 1."""
    scores: Mapping[str, float]
    """Contribution of each signal group (vector, symbol, graph, text), 0 to 1."""
    excerpt: Excerpt
    symbol: str
    """Qualified name of the definition it belongs to; empty when there is none."""
    stale: bool = False
    """Whether the file changed since it was indexed; the excerpt shows the indexed text, or nothing if that is gone."""


class SearchHits(list[T]):
    """Search results, best first."""

    def __init__(self, hits: Iterable[T] = (), degraded: str | None = None, *, more: bool = False) -> None:
        """`degraded` is why the configured model did not rank all results; `more` means that results were cut off."""
        super().__init__(hits)
        self.degraded = degraded
        self.more = more


@dataclass
class LoadedIndex:
    """One generation of an index, in memory."""

    record: IndexRecord
    corpus: "Corpus"
    ranker: "Ranker"
    names: "SymbolLookup"
    links: "UseGraph | None" = None
    uses: "UseEdgeColumns | None" = None
    """Uses of all files, if they were read already; consumed by `CodeService.importance`."""
    importance: "Importance | None" = None
    facts: dict[str, FileFacts] = field(default_factory=dict[str, FileFacts])

    @property
    def place(self) -> Snapshot:
        """Snapshot without files, for reading the contents of the index."""
        return contents_of(self.record)


ChangeKind = Literal["created", "modified", "deleted"]
FileChangeListener = Callable[[str, ChangeKind, bool], None]
"""Receives the absolute path of a changed file, the kind of change, and whether only callers without a key may read the
file; must not block or raise."""


class CodeService:
    """Queries indexes and keeps recently used ones in memory."""

    def __init__(
        self,
        store: CodeStore,
        indexer: Indexer,
        folders: FolderPolicy | None = None,
        embedding: "CodeEmbedding | None" = None,
    ) -> None:
        """`folders` decides which folders may be indexed and read; callers ask it before they use an index.

        `embedding` is the configured embedding model, used to rerank; the bundled model is always used.
        """
        self.embedding = embedding
        self.folders = folders or FolderPolicy(indexer.protected)
        self.store = store
        self.indexer = indexer
        self._loaded: dict[str, LoadedIndex] = {}
        self._prepared: _Prepared | None = None
        """Search data of an index that is still being built, and may fail."""
        indexer.during_linking, indexer.during_writing = self._prepare, self._prepare_uses
        self._loading = anyio.Lock()
        self.on_change: FileChangeListener | None = None
        """Called for each changed file in watched folders."""
        self.clean: set[str] = set()
        """Blob ids of contents known to hold no secret."""

    async def load(self, index_id: str) -> LoadedIndex:
        """Return the newest complete generation of an index; raises `NotFound` for an unknown id."""
        record = await self.store.index(index_id)
        if record is None:
            self._loaded.pop(index_id, None)
            raise unknown_index(index_id)
        async with self._loading:
            known = self._loaded.pop(index_id, None)
            if known is None or known.record.generation != record.generation:
                known = await self._load_newest(record, known)
            self._loaded[index_id] = known
            while len(self._loaded) > MAX_LOADED:
                del self._loaded[next(iter(self._loaded))]
            return known

    async def reload(self, index_id: str) -> None:
        """Load the newest generation if the index is in memory, so that the next query does not wait."""
        if index_id in self._loaded:
            await self.load(index_id)

    async def use_graph(self, loaded: LoadedIndex) -> "UseGraph":
        """Return the use graph, loading it on first use."""
        if loaded.links is None:
            packed = await self.store.edges(loaded.record.id)
            loaded.links = await anyio.to_thread.run_sync(
                lambda: use_graph.UseGraph(loaded.corpus, {path: unpack_edges(edges) for path, edges in packed.items()})
            )
        return loaded.links

    async def importance(self, loaded: LoadedIndex) -> "Importance":
        """Return the importance of files and definitions, by what uses them."""
        if loaded.importance is None:
            uses = await self._uses(loaded.record, loaded.corpus) if loaded.uses is None else loaded.uses
            loaded.importance, loaded.uses = (
                await anyio.to_thread.run_sync(importance_module.importance_of, loaded.corpus, uses),
                None,
            )
        return loaded.importance

    async def search(
        self,
        index_id: str,
        query: str,
        *,
        limit: int,
        toggles: "SignalToggles",
        context_lines: int,
        reranker: "Reranker | None" = None,
        language: Language | None = None,
    ) -> SearchHits[CodeHit]:
        """Return the best matching parts of files: definitions of a name, if the query is one, then one part per file.

        `language` restricts the search to files of that language. To share one time budget between several
        indexes, pass each the same `reranker`.
        """
        loaded = await self.load(index_id)
        reranker = reranker or self.reranker(query, toggles)
        wide = limit + 1 if reranker is None else max(limit + 1, reranker.candidates)
        files = loaded.corpus.files

        def ranked() -> "list[RankedFile]":
            found = loaded.ranker.rank(query, wide if language is None else len(files), toggles)
            return [one for one in found if language in (None, files[one.file].content.language)][:wide]

        def shown(found: "Sequence[RankedFile]", degraded: str | None) -> SearchHits[CodeHit]:
            is_name = toggles.symbol and _NAME.fullmatch(query.strip()) is not None
            parts = _file_parts(loaded, found, query if is_name else "", limit + 1, language)
            return SearchHits(_hits(loaded, parts[:limit], context_lines), degraded, more=len(parts) > limit)

        if reranker is None:
            return await anyio.to_thread.run_sync(lambda: shown(ranked(), None))
        found, degraded = await anyio.to_thread.run_sync(ranked), None
        if found:
            found, degraded = await reranker.rerank(index_id, loaded.corpus, found)
        return await anyio.to_thread.run_sync(shown, found[: limit + 1], degraded)

    def reranker(self, query: str, toggles: "SignalToggles") -> "Reranker | None":
        """Return a reranker for one search; None when no model is configured or the vector signal is off."""
        return self.embedding.reranker(query) if self.embedding is not None and toggles.vector else None

    async def refresh(self, root: str, options: IndexOptions, few: int) -> int:
        """Update the index if at most `few` files changed and it is small; return the number of changes left."""
        index_id = index_id_of(root, "HEAD", options)
        snapshot = await self.indexer.snapshot(root, "HEAD", options)
        changed, removed = await self.indexer.changes_since(snapshot, await self.store.index(index_id))
        pending = len(changed) + len(removed)
        if 0 < pending <= few and len(snapshot.files) <= MAX_AUTO_REFRESH_FILES:
            await self.indexer.build(root, "HEAD", options, SilentReporter(), seen=snapshot)
            return 0
        return pending

    async def stored_facts(self, content: Content) -> FileFacts | None:
        """Return the facts that some index has stored for this content; None when no index has it."""
        packed = (await self.store.digests(VERSION, [content])).get(content)
        return None if packed is None else unpack_facts(packed)

    async def clean_up(self) -> int:
        """Remove indexes of folders that are missing or may not be indexed, and unreferenced data; return how many."""

        removed = 0
        for record in await self.store.indexes():
            if not await anyio.Path(record.root).is_dir() or self.indexer.protected.in_store(record.root):
                removed += await self.store.delete(record.id)
                self._loaded.pop(record.id, None)
                await anyio.to_thread.run_sync(shutil.rmtree, self.indexer.folder / record.id, True)
        if self.embedding is not None:
            await self.embedding.read_all()
        await self.store.sweep(VERSION)
        return removed

    async def content(self, loaded: LoadedIndex, file: IndexedFile) -> bytes:
        return await anyio.to_thread.run_sync(read_content, loaded.place, source_of(file))

    async def facts(self, loaded: LoadedIndex, path: str) -> FileFacts:
        """Return the facts of one file; raises `NotFound` when the index does not have it."""
        if path not in loaded.facts:
            row = loaded.corpus.row_of.get(path)
            if row is None:
                raise unknown_file(path, loaded)
            content = loaded.corpus.files[row].content
            packed = await self.store.digests(VERSION, [content])
            if content not in packed:
                raise NotFound(f"{path} is being indexed again", hint="retry in a moment")
            loaded.facts[path] = unpack_facts(packed[content])
        return loaded.facts[path]

    async def modules(self, loaded: LoadedIndex) -> "ModuleMap":
        """Return the modules of the repository, without tests, examples, and vendored or generated code."""
        corpus = loaded.corpus
        facts = await self.indexer.facts([corpus.files[row] for row in corpus.row_of.values()])
        packed = await self.store.edges(loaded.record.id)
        beside = FileTrait.TEST | FileTrait.EXAMPLE | FileTrait.VENDORED | FileTrait.GENERATED | FileTrait.MINIFIED

        def left_out(path: str) -> bool:
            return bool(corpus.files[corpus.row_of[path]].traits & beside)

        def drawn() -> "ModuleMap":
            edges = {path: unpack_edges(own) for path, own in packed.items()}
            return build_module_map(PurePath(loaded.record.root).name, facts, edges, is_excluded=left_out)

        return await anyio.to_thread.run_sync(drawn)

    async def _load_newest(self, record: IndexRecord, known: LoadedIndex | None) -> LoadedIndex:
        """Load the newest generation: start from memory or the corpus file, and apply what changed since."""
        folder = self.indexer.folder / record.id
        if (prepared := self._take_prepared(record)) is not None:
            return await anyio.to_thread.run_sync(_as_prepared, folder, record, prepared)
        if known is not None:
            generation, commit = known.record.generation, known.record.commit
            base = corpus_file.StoredCorpus(
                generation, commit, known.corpus, known.ranker.history, known.ranker.callers
            )
        else:
            base = await anyio.to_thread.run_sync(corpus_file.read_corpus, folder)
            if base is not None and base.generation > record.generation:
                base = None  # the file belongs to a deleted index
        may_show = self._readable_paths(record)
        changed = await self.store.files(record.id, after_generation=base.generation if base else 0)
        if base is not None and _needs_rebuild(base.corpus, len(changed)):
            base, changed = None, await self.store.files(record.id)
        paths = {path for path in await self.indexer.paths_of(record) if may_show(path)}
        changed = [file for file in changed if may_show(file.path)]
        corpus = await anyio.to_thread.run_sync(_without_removed, base, paths)
        await self._put(corpus, changed)
        known_uses = 0 if base is None or base.users is None else base.generation
        uses = await self._uses(record, corpus, known_uses)

        def bring_up() -> LoadedIndex:
            kept = _stored_corpus(record, base, corpus)._replace(users=_caller_words(base, corpus, uses))
            if base is None or len(changed) > PERSIST_THRESHOLD:
                corpus_file.write_corpus(folder, kept)
            return _loaded_index(record, kept, None if known_uses else uses)

        return await anyio.to_thread.run_sync(bring_up)

    def _readable_paths(self, record: IndexRecord) -> Callable[[str], bool]:
        """Return a predicate that is false for files that an earlier version indexed and this one keeps out."""
        kept_out = self.indexer.protected.below(record.root)
        if record.details.get(KEPT_OUT) == kept_out.version:
            return lambda path: True
        return lambda path: kept_out.reason(path) is None

    async def _prepare(self, record: IndexRecord, files: Sequence[IndexedFile]) -> None:
        """Prepare the search data of a large new index while its files are linked."""
        if len(files) <= PERSIST_THRESHOLD:
            return
        corpus = corpus_module.Corpus()
        await self._put(corpus, files)
        self._prepared = await run_in_thread(partial(_prepared, record, corpus))

    async def _prepare_uses(self, record: IndexRecord, edges: Mapping[str, StoredEdges]) -> None:
        """Add the uses to the prepared search data while the edges are written."""
        prepared = self._prepared
        if prepared is not None and prepared.is_of(record):
            self._prepared = await anyio.to_thread.run_sync(prepared.with_uses, edges)

    def _take_prepared(self, record: IndexRecord) -> "_Prepared | None":
        """Return the prepared data if it belongs to this generation; its build may have failed."""
        if self._prepared is None or self._prepared.record.id != record.id:
            return None
        prepared, self._prepared = self._prepared, None
        return prepared if prepared.is_of(record) and prepared.uses is not None else None

    async def _uses(self, record: IndexRecord, corpus: "Corpus", after_generation: int = 0) -> "UseEdgeColumns":
        """Read the uses of files changed since a generation."""
        packed = await self.store.edges(record.id, after_generation=after_generation)
        return await anyio.to_thread.run_sync(use_columns.read_uses, corpus, packed)

    async def _put(self, corpus: "Corpus", files: Sequence[IndexedFile]) -> None:
        # In batches: the digests of all files take several times the memory of the corpus.
        for start in range(0, len(files), DIGEST_BATCH):
            part = files[start : start + DIGEST_BATCH]
            packed = await self.indexer.digests.load([*dict.fromkeys(file.content for file in part)], self.store)
            await anyio.to_thread.run_sync(_put, corpus, part, packed)


class _Prepared(NamedTuple):
    """Search data of a generation that is not written yet."""

    record: IndexRecord
    kept: "StoredCorpus"
    ranker: "Ranker"
    uses: "UseEdgeColumns | None" = None

    def is_of(self, record: IndexRecord) -> bool:
        own = self.record
        return (own.id, own.generation, own.updated_at) == (record.id, record.generation, record.updated_at)

    def with_uses(self, edges: Mapping[str, StoredEdges]) -> "_Prepared":
        """Return this with the uses added."""
        corpus = self.kept.corpus
        uses = use_columns.read_uses(corpus, {path: found.edges for path, found in edges.items()})
        users = _caller_words(None, corpus, uses)
        return self._replace(kept=self.kept._replace(users=users), ranker=self.ranker.with_callers(users), uses=uses)


def _prepared(record: IndexRecord, corpus: "Corpus", should_stop: Callable[[], bool]) -> _Prepared:
    kept = _stored_corpus(record, None, corpus, should_stop)
    return _Prepared(record, kept, ranker_module.Ranker(corpus, kept.history))


def _as_prepared(folder: Path, record: IndexRecord, prepared: _Prepared) -> LoadedIndex:
    """Return a prepared generation that has been written since."""
    corpus_file.write_corpus(folder, prepared.kept)
    corpus = prepared.kept.corpus
    return LoadedIndex(record, corpus, prepared.ranker, symbol_lookup.SymbolLookup(corpus), uses=prepared.uses)


def _needs_rebuild(corpus: "Corpus", changed: int) -> bool:
    """Return whether the corpus has enough dead rows for a rebuild to be cheaper."""
    return len(corpus.files) + changed > 1.25 * len(corpus.row_of) + PERSIST_THRESHOLD


def _without_removed(base: "StoredCorpus | None", paths: Collection[str]) -> "Corpus":
    """Return a copy of the corpus without removed files; concurrent searches keep using the original."""
    corpus = base.corpus.copied() if base else corpus_module.Corpus()
    corpus.update((), corpus.row_of.keys() - paths)
    return corpus


def _put(corpus: "Corpus", files: Sequence[IndexedFile], packed: Mapping[Content, bytes]) -> None:
    digests = _unpack_all(packed)
    # Binary contents have no digest.
    corpus.update((file, digests[file.content]) for file in files if file.content in digests)


def _stored_corpus(
    record: IndexRecord, base: "StoredCorpus | None", corpus: "Corpus", should_stop: Callable[[], bool] = never
) -> "StoredCorpus":
    if base is not None and base.commit == record.commit:
        history = base.history
    else:
        has_history = record.details.get("is_git", True) and record.commit is not None
        rev = record.commit or "HEAD"
        history = commit_history.CommitHistory(
            commit_subjects(record.root, rev, should_stop=should_stop) if has_history else ()
        )
    return corpus_file.StoredCorpus(record.generation, record.commit, corpus, history)


def _caller_words(base: "StoredCorpus | None", corpus: "Corpus", uses: "UseEdgeColumns") -> "CallerWords":
    """Return a copy of the known users with these uses added; concurrent searches keep using the original."""
    users = callers_text.CallerWords() if base is None or base.users is None else base.users.copied()
    users.add(corpus, uses)
    return users


def _loaded_index(record: IndexRecord, kept: "StoredCorpus", uses: "UseEdgeColumns | None") -> LoadedIndex:
    ranker = ranker_module.Ranker(kept.corpus, kept.history, kept.users)
    return LoadedIndex(record, kept.corpus, ranker, symbol_lookup.SymbolLookup(kept.corpus), uses=uses)


class _FilePart(NamedTuple):
    """A part of a file to show."""

    file: int
    span: Span
    symbol: int
    """Row of the definition it belongs to; -1 for none."""
    score: float
    signals: Mapping[str, float]


def _file_parts(
    loaded: LoadedIndex, found: "Sequence[RankedFile]", name: str, limit: int, language: Language | None
) -> list[_FilePart]:
    """Return the parts to show: definitions of `name` first, if given, then one part per file."""
    parts = [_chunk_part(loaded, one.file, one.chunk, one.score / MAX_SIGNAL_SUM, one.signals) for one in found]
    if name:
        named = _definitions(loaded, name, limit, {part.file: part.signals for part in parts})
        files = loaded.corpus.files
        named = [part for part in named if language in (None, files[part.file].content.language)]
        defining = {part.file for part in named}
        parts = [*named, *(part for part in parts if part.file not in defining)]
    return parts[:limit]


def _chunk_part(loaded: LoadedIndex, file: int, chunk: int, score: float, signals: Mapping[str, float]) -> _FilePart:
    chunks = loaded.corpus.chunks
    if chunk < 0:
        return _FilePart(file, Span(0, 0, 1, 1), -1, score, signals)
    return _FilePart(file, Span(*chunks.spans[chunk].tolist()), int(chunks.symbols[chunk]), score, signals)


def _hits(loaded: LoadedIndex, parts: Sequence[_FilePart], context_lines: int) -> list[CodeHit]:
    """Return the hits for these parts; a changed file shows its indexed text and is marked stale."""
    files = [loaded.corpus.files[part.file] for part in parts]
    held = read_unchanged(loaded.place, [source_of(file) for file in files])
    changed = changed_files(loaded, files)
    return [
        CodeHit(
            file=file,
            score=round(min(1.0, part.score), 4),
            scores=_signal_shares(part.signals),
            excerpt=cut_excerpt(held[file.path], part.span, context_lines)
            if file.path in held
            else Excerpt(part.span, "", "", ""),
            symbol=loaded.names.qualified(part.symbol) if part.symbol >= 0 else "",
            stale=file.path not in held or file.path in changed,
        )
        for file, part in zip(files, parts, strict=True)
    ]


def changed_files(loaded: LoadedIndex, files: Iterable[IndexedFile]) -> set[str]:
    """Return the paths of files that changed since they were indexed."""
    return changed_after(loaded.place, map(source_of, files), loaded.record.updated_at.timestamp())


def source_of(file: IndexedFile) -> SourceFile:
    """Convert an indexed file to a snapshot file."""
    return SourceFile(file.path, file.content.blob, file.size, file.content.language, file.traits, file.dirty)


def _definitions(
    loaded: LoadedIndex, name: str, limit: int, signals: Mapping[int, Mapping[str, float]]
) -> list[_FilePart]:
    """Return the definitions of a name, likeliest first; of a long definition only the beginning."""
    chunks, symbols = loaded.corpus.chunks, loaded.corpus.symbols
    parts: list[_FilePart] = []
    for row in loaded.names.find(name)[:limit]:
        file, line = int(symbols.files[row]), int(symbols.lines[row])
        # The chunks of a file are adjacent rows.
        first_own, next_own = np.searchsorted(chunks.files, [file, file + 1]).tolist()
        own = chunks.spans[first_own:next_own]
        inside = np.flatnonzero((own[:, 2] <= line) & (line <= own[:, 3]))
        start, end, first, last = map(int, symbols.spans[row])
        if len(inside):
            after = own[int(inside[0]) :]
            enough = after[min(int(np.searchsorted(after[:, 1], start + MIN_SHOWN_BYTES)), len(after) - 1)]
            end, last = min(end, int(enough[1])), min(last, int(enough[3]))
        parts.append(
            _FilePart(file, Span(start, end, first, last), row, 1.0, {**signals.get(file, {}), "defines": 1.0})
        )
    return parts


def _unpack_all(packed: Mapping[Content, bytes]) -> "dict[Content, Digest]":
    return {
        content: digest_module.Digest(
            cast(FileFacts, LazyFacts(content.language, partial(packed.__getitem__, content))),
            digest_module.unpack_search_arrays(digest),
        )
        for content, digest in packed.items()
    }


def unknown_file(path: str, loaded: LoadedIndex) -> NotFound:
    """Return the error for a path that the index does not have, with similar paths as a hint."""
    near = nearest_names(path, loaded.corpus.row_of)
    hint = f"did you mean {' or '.join(near)}?" if near else "paths are relative to the root of the index"
    return NotFound(f"there is no file {path[:200]!r} in this index", hint=hint)


def _signal_shares(signals: Mapping[str, float]) -> dict[str, float]:
    value = signals.get
    return {
        group: round(min(1.0, sum([value(name, 0.0) for name in names]) / maximum), 4)
        for group, names, maximum in _signal_groups()
    }


@cache
def _signal_groups() -> Sequence[tuple[str, Sequence[str], float]]:
    """Return the signal groups shown with a hit: name, signals, and the sum of their weights."""
    groups = {
        "vector": ("embedding", "file_embedding"),
        "symbol": ("defines", "name"),
        "graph": ("history", "activity", "callers"),
        "text": ("text", "coverage"),
    }
    return [
        (name, signals, sum(ranker_module.WEIGHTS[signal] for signal in signals)) for name, signals in groups.items()
    ]
