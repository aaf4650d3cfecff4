"""Code as it is now, file by file, whether or not an index has it so. Nothing here waits for an index to be built."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.models import FileFacts, Language, Span, qualified_name
from scrubjay.code_index.store import Content, IndexRecord
from scrubjay.core.errors import ScrubjayError
from scrubjay.features.memory.links import CodeState

if TYPE_CHECKING:
    from scrubjay.code_index.discovery.rooted_reader import Beneath
    from scrubjay.code_index.service import CodeService, Loaded

# Longer texts are compared by their digests alone.
MOST_KEPT = 32_000
# Code of the same name in another file is taken for the same when so much of its lines is.
ALIKE = 0.5
# What so many files say is kept in memory.
MOST_KNOWN = 64
# Git tells the commit at once; nobody waits for one that does not.
GIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class FileNow:
    """A file as it is, without secrets."""

    path: str
    blob: str
    content: bytes
    facts: FileFacts

    def states(self, symbol: str, commit: str | None) -> list[CodeState]:
        """What is called so in this file; the file itself when the name is empty."""
        if not symbol:
            lines = max(1, self.facts.lines)
            return [self._state(symbol, Span(0, len(self.content), 1, lines), commit)]
        last = symbol.rpartition(".")[2]
        return [
            self._state(symbol, own.span, commit)
            for place, own in enumerate(self.facts.symbols)
            # What a method of Go belongs to was once not kept with its name.
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
            text=text if len(text) <= MOST_KEPT else "",
        )


class CodeNow:
    """Looks at the folders of repositories, and at what is indexed of them."""

    def __init__(self, code: Callable[[], Awaitable["CodeService"]], is_indexed: Callable[[], bool]) -> None:
        """`is_indexed` tells whether there is any index at all, which is asked before `code` is."""
        self._code = code
        self._is_indexed = is_indexed
        self._known: dict[Content, FileFacts] = {}

    async def service(self) -> "CodeService":
        return await self._code()

    async def record(self, root: str) -> IndexRecord | None:
        """The index of a folder's work tree; None when there is none that is whole, or it is out of bounds."""
        if not self._is_indexed():
            return None
        from scrubjay.code_index.index.indexer import IndexOptions, index_id_of

        code = await self._code()
        if code.roots and not any(Path(root).is_relative_to(allowed) for allowed in code.roots):
            return None
        record = await code.store.index(index_id_of(root, "HEAD", IndexOptions()))
        if record is None:
            others = [one for one in await code.store.indexes() if one.root == root]
            record = next((one for one in others if one.rev == "HEAD"), others[0] if others else None)
        return record if record is not None and record.generation else None

    async def paths(self, record: IndexRecord) -> set[str]:
        """Of all files that are indexed."""
        return {*await (await self._code()).store.paths(record.id)}

    async def loaded(self, record: IndexRecord) -> "Loaded":
        return await (await self._code()).load(record.id)

    async def commit(self, root: str) -> str | None:
        """The commit that is checked out; None where there is none, or git does not tell."""
        from scrubjay.code_index.discovery.git import GitFailed, ask
        from scrubjay.code_index.discovery.limits import Bounds

        def asked() -> str | None:
            try:
                return ask(root, Bounds(GIT_SECONDS), "rev-parse", "--verify", "-q", "HEAD").decode().strip()
            except (GitFailed, ScrubjayError):
                return None

        return await anyio.to_thread.run_sync(asked)

    async def blobs(self, root: str, paths: Iterable[str]) -> Mapping[str, str]:
        """The ids of what these files hold now; those that are not there are left out."""
        contents = await self._read(root, [*paths])
        return {path: blob for path, (blob, _) in contents.items()}

    async def files(self, record: IndexRecord, root: str, paths: Iterable[str]) -> Mapping[str, FileNow]:
        """These files as they are; those that are not there, or are no text, are left out."""
        from scrubjay.code_index.discovery.skip_rules import reason_by_content
        from scrubjay.code_index.secret_masking import hidden

        wanted = list(dict.fromkeys(paths))
        if record.details.get("from_objects"):
            contents = await self._read_objects(record, wanted)
        else:
            contents = await self._read(root, wanted)
        found: dict[str, FileNow] = {}
        for path, (blob, content) in contents.items():
            if reason_by_content(content) is None:
                own = await anyio.to_thread.run_sync(hidden, content)
                found[path] = FileNow(path, blob, own, await self._facts(record, blob, path, own))
        return found

    async def elsewhere(self, record: IndexRecord, state: CodeState, few: int) -> CodeState | None:
        """What has its name in another file and is much like it, or the same; of a small repository also where no
        index has it yet."""
        from scrubjay.code_index.index.indexer import IndexOptions
        from scrubjay.code_index.service import SOON_READ

        code, loaded = await self._code(), await self.loaded(record)
        corpus = loaded.corpus
        last = state.symbol.rpartition(".")[2]
        rows = loaded.names.find(last, exactly=True) if last else ()
        paths = [corpus.files[int(corpus.symbols.files[row])].path for row in rows]
        if not last:
            paths = [path for path, row in corpus.row_of.items() if corpus.files[row].content.blob == state.blob]
        if record.rev == "HEAD" and len(corpus.row_of) <= SOON_READ:
            try:
                snapshot = await code.indexer.snapshot(record.root, "HEAD", IndexOptions())
            except ScrubjayError:  # the folder went away meanwhile: what the index has is all that is known
                snapshot = None
            for file in snapshot.files if snapshot else ():
                row = corpus.row_of.get(file.path)
                if file.blob == state.blob or row is None or corpus.files[row].content.blob != file.blob:
                    paths.append(file.path)
        paths = [path for path in dict.fromkeys(paths) if path != state.path][:few]
        found: list[CodeState] = []
        for file in (await self.files(record, record.root, paths)).values():
            named = [file.qualified(place) for place, own in enumerate(file.facts.symbols) if own.name == last]
            found += [one for symbol in (dict.fromkeys(named) if last else [""]) for one in file.states(symbol, None)]
        best = max(found, key=lambda one: _likeness(state, one), default=None)
        return best if best is not None and _likeness(state, best) >= ALIKE else None

    async def _read(self, root: str, paths: Sequence[str]) -> dict[str, tuple[str, bytes]]:
        """The ids and contents of files of the work tree."""
        from scrubjay.code_index.discovery.rooted_reader import Beneath

        most = (await self._code()).indexer.limits.max_file_bytes

        def read() -> dict[str, tuple[str, bytes]]:
            try:
                with Beneath(root) as beneath:
                    found = {path: _content(beneath, path, most) for path in sorted(paths)}
            except OSError:
                return {}
            return {path: one for path, one in found.items() if one is not None}

        return await anyio.to_thread.run_sync(read)

    async def _read_objects(self, record: IndexRecord, paths: Sequence[str]) -> dict[str, tuple[str, bytes]]:
        """The same where there is no work tree, as the index has them."""
        code, loaded = await self._code(), await self.loaded(record)
        rows = [loaded.corpus.row_of[path] for path in paths if path in loaded.corpus.row_of]
        files = [loaded.corpus.files[row] for row in rows]
        return {file.path: (file.content.blob, await code.content(loaded, file)) for file in files}

    async def _facts(self, record: IndexRecord, blob: str, path: str, content: bytes) -> FileFacts:
        from scrubjay.code_index.facts.packed_facts import unpacked_facts

        wanted = Content(blob, await self._language(record, path, content))
        if wanted in self._known:
            return self._known[wanted]
        packed = (await (await self._code()).store.digests(VERSION, [wanted])).get(wanted)
        if packed is not None:
            facts = unpacked_facts(packed)
        else:
            facts = await anyio.to_thread.run_sync(_facts_of, content, wanted.language)
        while len(self._known) >= MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[wanted] = facts
        return facts

    async def _language(self, record: IndexRecord, path: str, content: bytes) -> Language:
        from scrubjay.code_index.discovery.languages import is_header, language_by_content, language_by_name

        if is_header(path):  # C or C++: only the whole repository tells
            corpus = (await self.loaded(record)).corpus
            if (row := corpus.row_of.get(path)) is not None:
                return corpus.files[row].content.language
        return language_by_name(path) or language_by_content(content[:200])


def _facts_of(content: bytes, language: Language) -> FileFacts:
    from scrubjay.code_index.parsing.reader import lines_of, read_facts

    try:
        return read_facts(content, language)
    except Exception:  # a bug that one file shows must not keep anybody from recalling; the index tells of it
        return FileFacts(language, lines_of(content))


def _likeness(then: CodeState, now: CodeState) -> float:
    """From 0, something else, to 1, the same."""
    if then.digest == now.digest:
        return 1
    return SequenceMatcher(None, then.text.splitlines(), now.text.splitlines(), autojunk=False).ratio()


def _content(beneath: "Beneath", path: str, most: int) -> tuple[str, bytes] | None:
    from scrubjay.code_index.discovery.contents import blob_id

    try:
        content = beneath.read(path, most + 1)
    except (OSError, ValueError):
        return None
    return (blob_id(content), content) if len(content) <= most else None
