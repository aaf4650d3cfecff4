"""The current code, file by file, even where it differs from the index. Nothing here waits for an index build."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import sha256
from typing import TYPE_CHECKING

import anyio.to_thread

from scrubjay import code_index
from scrubjay.code_index import Content, FileFacts, IndexRecord, Language, Span, qualified_name
from scrubjay.core.callers import Caller
from scrubjay.core.errors import ScrubjayError
from scrubjay.features.memory.link_views import CODE
from scrubjay.features.memory.links import CodeState

if TYPE_CHECKING:
    from scrubjay.code_index import CodeService, LoadedIndex

# Longer texts are not stored, so they can be compared only by digest.
MAX_STORED_TEXT = 32_000
# Smallest share of equal lines for code of the same name in another file to count as moved.
MIN_SIMILARITY = 0.5
# Files whose facts are cached in memory.
MAX_CACHED_FILES = 64
# git returns the commit at once; do not wait for one that hangs.
GIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class CurrentFile:
    """The current content of a file, with secrets masked."""

    path: str
    blob: str
    content: bytes
    facts: FileFacts

    def states(self, symbol: str, commit: str | None) -> list[CodeState]:
        """Return the definitions with this name in the file; the file itself if the name is empty."""
        if not symbol:
            lines = max(1, self.facts.lines)
            return [self._state(symbol, Span(0, len(self.content), 1, lines), commit)]
        last = symbol.rpartition(".")[2]
        return [
            self._state(symbol, own.span, commit)
            for place, own in enumerate(self.facts.symbols)
            # Old links to methods of Go lack the name of the receiver.
            if own.name == last and symbol in (self.qualified(place), own.name if own.owner else None)
        ]

    def qualified(self, place: int) -> str:
        return qualified_name(self.facts.symbols, place)

    def _state(self, symbol: str, span: Span, commit: str | None) -> CodeState:
        text = self.content[span.start : span.end].decode("utf-8", "replace").replace("\r\n", "\n")
        return CodeState(
            path=self.path,
            symbol=symbol,
            blob=self.blob,
            digest=sha256(text.encode()).hexdigest(),
            commit=commit,
            first_line=span.first_line,
            last_line=span.last_line,
            text=text if len(text) <= MAX_STORED_TEXT else "",
        )


class CurrentCode:
    """Reads the current code of repositories, together with their indexes."""

    def __init__(self, code: Callable[[], Awaitable["CodeService"]], is_indexed: Callable[[], bool]) -> None:
        """`is_indexed` returns whether there is any index at all; `code` is not called before that is true."""
        self._code = code
        self._is_indexed = is_indexed
        self._facts_cache: dict[Content, FileFacts] = {}

    async def service(self) -> "CodeService":
        return await self._code()

    async def readable_roots(self, reader: Caller) -> Callable[[str], bool]:
        """Return a function that says whether this caller may read the code of a repository, given its folder."""
        if not reader.may_read(CODE):
            return lambda root: False
        if not reader.holds_key:
            return lambda root: True
        return await (await self._code()).folders.readable(restricted=True)

    async def record(self, root: str) -> IndexRecord | None:
        """Return the index of a folder, preferably of its work tree; None if none is complete or it is not allowed."""
        if not self._is_indexed():
            return None
        code = await self._code()
        if await code.folders.refusal(root, restricted=False) is not None:
            return None
        record = await code.store.index(code_index.index_id_of(root, "HEAD", code_index.IndexOptions()))
        if record is None:
            others = [one for one in await code.store.indexes() if one.root == root]
            record = next((one for one in others if one.rev == "HEAD"), others[0] if others else None)
        return record if record is not None and record.generation else None

    async def paths(self, record: IndexRecord) -> set[str]:
        """Return the paths of all indexed files."""
        return {*await (await self._code()).store.paths(record.id)}

    async def loaded(self, record: IndexRecord) -> "LoadedIndex":
        return await (await self._code()).load(record.id)

    async def commit(self, root: str) -> str | None:
        """Return the checked-out commit; None outside git or if git does not answer in time."""
        return await anyio.to_thread.run_sync(lambda: code_index.head_commit(root, seconds=GIT_SECONDS))

    async def blobs(self, root: str, paths: Iterable[str]) -> Mapping[str, str]:
        """Return the git blob ids of the current contents of these files; missing files are omitted."""
        contents = await self._read(root, [*paths])
        return {path: blob for path, (blob, _) in contents.items()}

    async def files(self, record: IndexRecord, root: str, paths: Iterable[str]) -> Mapping[str, CurrentFile]:
        """Return the current state of these files; missing and binary files are omitted."""
        wanted = list(dict.fromkeys(paths))
        if record.details.get("from_objects"):
            contents = await self._read_objects(record, wanted)
        else:
            contents = await self._read(root, wanted)
        found: dict[str, CurrentFile] = {}
        for path, (blob, content) in contents.items():
            if code_index.is_source_text(content):
                own = await anyio.to_thread.run_sync(code_index.mask_secrets, content)
                found[path] = CurrentFile(path, blob, own, await self._facts(record, blob, path, own))
        return found

    async def find_moved(self, record: IndexRecord, state: CodeState, max_files: int) -> CodeState | None:
        """Return the same or similar code of the same name in another file, or None.

        At most `max_files` files are compared; in small repositories also those that changed since they were indexed.
        """
        code, loaded = await self._code(), await self.loaded(record)
        corpus = loaded.corpus
        last = state.symbol.rpartition(".")[2]
        rows = loaded.names.find(last, exactly=True) if last else ()
        paths = [corpus.files[int(corpus.symbols.files[row])].path for row in rows]
        if not last:
            paths = [path for path, row in corpus.row_of.items() if corpus.files[row].content.blob == state.blob]
        if record.rev == "HEAD" and len(corpus.row_of) <= code_index.MAX_AUTO_REFRESH_FILES:
            try:
                snapshot = await code.indexer.snapshot(record.root, "HEAD", code_index.IndexOptions())
            except ScrubjayError:  # the folder was deleted: only the index is left
                snapshot = None
            for file in snapshot.files if snapshot else ():
                row = corpus.row_of.get(file.path)
                if file.blob == state.blob or row is None or corpus.files[row].content.blob != file.blob:
                    paths.append(file.path)
        paths = [path for path in dict.fromkeys(paths) if path != state.path][:max_files]
        found: list[CodeState] = []
        for file in (await self.files(record, record.root, paths)).values():
            named = [file.qualified(place) for place, own in enumerate(file.facts.symbols) if own.name == last]
            found += [one for symbol in (dict.fromkeys(named) if last else [""]) for one in file.states(symbol, None)]
        best = max(found, key=lambda one: _similarity(state, one), default=None)
        return best if best is not None and _similarity(state, best) >= MIN_SIMILARITY else None

    async def _read(self, root: str, paths: Sequence[str]) -> Mapping[str, tuple[str, bytes]]:
        """Return the blob ids and contents of files of the work tree."""
        indexer = (await self._code()).indexer
        kept_out, max_bytes = indexer.protected.below(root), indexer.limits.max_file_bytes
        paths = [path for path in paths if kept_out.reason(path) is None]
        return await anyio.to_thread.run_sync(lambda: code_index.read_work_tree(root, paths, max_bytes=max_bytes))

    async def _read_objects(self, record: IndexRecord, paths: Sequence[str]) -> Mapping[str, tuple[str, bytes]]:
        """Like `_read`, from git's object store for an index without a work tree."""
        code, loaded = await self._code(), await self.loaded(record)
        rows = [loaded.corpus.row_of[path] for path in paths if path in loaded.corpus.row_of]
        files = [loaded.corpus.files[row] for row in rows]
        return {file.path: (file.content.blob, await code.content(loaded, file)) for file in files}

    async def _facts(self, record: IndexRecord, blob: str, path: str, content: bytes) -> FileFacts:
        wanted = Content(blob, await self._language(record, path, content))
        if wanted in self._facts_cache:
            return self._facts_cache[wanted]
        facts = await (await self._code()).stored_facts(wanted)
        if facts is None:
            facts = await anyio.to_thread.run_sync(code_index.facts_of_content, content, wanted.language)
        while len(self._facts_cache) >= MAX_CACHED_FILES:
            del self._facts_cache[next(iter(self._facts_cache))]
        self._facts_cache[wanted] = facts
        return facts

    async def _language(self, record: IndexRecord, path: str, content: bytes) -> Language:
        if code_index.is_header(path):  # C or C++: the index knows, from the whole repository
            corpus = (await self.loaded(record)).corpus
            if (row := corpus.row_of.get(path)) is not None:
                return corpus.files[row].content.language
        return code_index.language_of_file(path, content)


def _similarity(then: CodeState, now: CodeState) -> float:
    """Return the share of equal lines, 0 to 1."""
    if then.digest == now.digest:
        return 1
    return SequenceMatcher(None, then.text.splitlines(), now.text.splitlines(), autojunk=False).ratio()
