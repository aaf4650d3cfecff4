"""Find the code that a memory is about, from its `about` field and from names in its text."""

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from scrubjay import code_index
from scrubjay.code_index import IndexRecord, SymbolKind
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import InvalidRequest, NotFound, StoreUnusable
from scrubjay.core.suggestions import nearest_names
from scrubjay.features.code_links.current_code import CurrentCode, CurrentFile
from scrubjay.features.code_links.mentions import code_mentions
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.link_views import CODE
from scrubjay.features.memory.links import CodeLink, CodeState, LinkOrigin, is_valid_text, merge_links
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.projects.store import ProjectStore
from scrubjay.tooling.security_events import scope_error

if TYPE_CHECKING:
    from scrubjay.code_index import LoadedIndex

logger = logging.getLogger("scrubjay.code")

# Turns, summaries and corrections report past events, which stay true when the code changes.
LINKED_KINDS = frozenset(MemoryKind) - {MemoryKind.TURN, MemoryKind.SUMMARY, MemoryKind.CORRECTION}
# Largest number of links made from mentions in one memory.
MAX_MENTION_LINKS = 20
# Naming code in `about` refreshes an index if at most this many of its files changed.
MAX_REFRESH_FILES = 25


class CodeLocation(NamedTuple):
    """A definition or a file in an index."""

    path: str
    symbol: str
    line: int


@dataclass(frozen=True, slots=True)
class IndexedNames:
    """Lookup of definitions and files of an index by name."""

    loaded: "LoadedIndex"
    paths_by_name: dict[str, list[str]]
    """Paths by file name."""

    def locations(self, name: str, *, exactly: bool) -> list[CodeLocation]:
        """Return everything that a name may mean: the file with this path, or the definitions with this name."""
        outer, separator, inner = name.partition("::")
        paths = self._paths(outer)
        if separator and paths:
            return [place for path in paths for place in self._within(path, inner)]
        if paths:
            return [CodeLocation(path, "", 1) for path in paths]
        corpus, names = self.loaded.corpus, self.loaded.names
        found: dict[tuple[str, str], CodeLocation] = {}
        for row in names.find(name, exactly=exactly):
            if exactly and names.kind(row) is SymbolKind.SECTION:  # headings and keys are ordinary words
                continue
            path, symbol = corpus.files[int(corpus.symbols.files[row])].path, names.qualified(row)
            found.setdefault((path, symbol), CodeLocation(path, symbol, int(corpus.symbols.lines[row])))
        return [*found.values()]

    def nearest(self, name: str) -> list[str]:
        """Return up to five similar names, for an error's hint."""
        outer, separator, inner = name.partition("::")
        last = outer.rpartition("/")[2]
        paths = [path for path in self.loaded.corpus.row_of if is_valid_text(path)]
        near = nearest_names(outer, paths) if "/" in outer or "." in last else []
        if separator and (own := self._paths(outer)):
            near = [f"{own[0]}::{known}" for known in self.loaded.names.similar(inner)]
        return [*near, *(known for known in self.loaded.names.similar(name) if known not in near)][:5]

    def _within(self, path: str, inner: str) -> list[CodeLocation]:
        corpus, names = self.loaded.corpus, self.loaded.names
        file, wanted = corpus.row_of[path], inner.replace("::", ".").replace("#", ".")
        rows = [row for row in names.find(inner) if int(corpus.symbols.files[row]) == file]
        found = {names.qualified(row): int(corpus.symbols.lines[row]) for row in reversed(rows)}
        if wanted in found:
            return [CodeLocation(path, wanted, found[wanted])]
        return [CodeLocation(path, symbol, line) for symbol, line in found.items()]

    def _paths(self, given: str) -> list[str]:
        given = given.removeprefix(f"{self.loaded.record.root}/").removeprefix("./")
        if given in self.loaded.corpus.row_of:
            return [given] if is_valid_text(given) else []
        named = self.paths_by_name.get(given.rpartition("/")[2], ())
        return [path for path in named if path.endswith(f"/{given}")]


@dataclass(frozen=True, slots=True)
class LinkingContext:
    """A repository during one call, with a cache so that several memories read each file once."""

    root: str
    record: IndexRecord
    names: IndexedNames
    commit: str | None
    files: dict[str, CurrentFile | None] = field(default_factory=dict[str, CurrentFile | None])


class CodeLinker:
    """Links memories to the code that they name or mention."""

    def __init__(self, now: CurrentCode, projects: ProjectStore, clock: Clock = system_clock) -> None:
        self.current = now
        self._projects = projects
        self._clock = clock
        self._cached_names: tuple[str, int, IndexedNames] | None = None

    async def links(self, drafts: Sequence[Draft], project_id: str | None) -> list[tuple[CodeLink, ...]]:
        """Return the links of each draft; raise `NotFound` for an unknown name in `about` if the folder is indexed.

        A draft is linked only to code that its `code_reader` may read: a link shows that the code exists.
        """
        mentioned = [code_mentions(draft.content) if draft.kind in LINKED_KINDS else [] for draft in drafts]
        if not any(draft.about or names for draft, names in zip(drafts, mentioned, strict=True)):
            return [()] * len(drafts)
        project = await self._projects.get(project_id) if project_id is not None else None
        here = project.path if project is not None else None
        # None for a draft whose reader may not read the repository.
        may_read = {reader: await self.current.readable_roots(reader) for reader in {one.code_reader for one in drafts}}
        where = [
            await self._readable_root(draft, here, may_read[draft.code_reader]) if draft.about or names else None
            for draft, names in zip(drafts, mentioned, strict=True)
        ]
        roots = {root: False for root in where if root is not None}
        roots |= {root: True for root, draft in zip(where, drafts, strict=True) if draft.about and root is not None}
        contexts = {root: await self.context_for(root, refresh=is_named) for root, is_named in roots.items()}
        return [
            await self._links(draft, names, root, contexts)
            for draft, names, root in zip(drafts, mentioned, where, strict=True)
        ]

    async def _readable_root(self, draft: Draft, here: str | None, may_read: Callable[[str], bool]) -> str | None:
        root, reader = draft.repository or here, draft.code_reader
        if root is None or may_read(root):
            return root
        if not draft.about:
            return None
        refusal = await (await self.current.service()).folders.refusal(root, restricted=True)
        if refusal is None or not reader.may_read(CODE):
            refusal = scope_error(reader, CODE, read_only=True, what="the code named in about")
        raise refusal

    async def _links(
        self, draft: Draft, mentioned: Sequence[str], root: str | None, contexts: Mapping[str, LinkingContext | None]
    ) -> tuple[CodeLink, ...]:
        if root is None and draft.about:
            raise InvalidRequest(
                "about: no repository is selected", hint="select a project with set_project, or pass repository"
            )
        if root is None or not (draft.about or mentioned):
            return ()
        if (context := contexts[root]) is None:
            return tuple(self._link(root, name, LinkOrigin.NAMED, None) for name in dict.fromkeys(draft.about))
        named = [await self.link_by_name(context, name) for name in dict.fromkeys(draft.about)]
        return merge_links(named, await self._link_mentions(context, mentioned, named))

    async def context_for(self, root: str, *, refresh: bool = False) -> LinkingContext | None:
        """Return the context of the repository in this folder; None if it is not indexed, or its index is unreadable.

        With `refresh`, an index that is slightly behind is updated first, so that new code can be named at once.
        """
        try:
            if (record := await self.current.record(root)) is None:
                return None
            if refresh:
                record = await self._refresh(record)
            return LinkingContext(root, record, await self._names(record), await self.current.commit(root))
        except StoreUnusable as error:  # a memory is stored nevertheless; its links are resolved later
            logger.warning("the index of code cannot be read", extra={"problem": error.message})
            return None

    async def link_by_name(self, context: LinkingContext, name: str) -> CodeLink:
        """Return the link for a name given in `about`; raise an error if it is unknown or ambiguous."""
        locations = context.names.locations(name, exactly=False)
        if len(locations) > 1:
            choices = [f"{one.path}::{one.symbol}" if one.symbol else one.path for one in locations]
            raise InvalidRequest(
                f"about: {name!r} is ambiguous: {len(locations)} definitions have this name",
                hint=f"choose one of {', '.join(choices[:3])}{' …' if len(choices) > 3 else ''}",
                details={"places": choices[:20]},
            )
        state = await self._current_state(context, locations[0]) if locations else None
        if state is None:
            near = context.names.nearest(name)
            raise NotFound(
                f"about: {name!r} is not defined in {context.root}",
                hint=f"did you mean {' or '.join(near)}?" if near else "pass a path, path::symbol or a qualified name",
                details={"nearest": near},
            )
        return self._link(context.root, name, LinkOrigin.NAMED, state)

    async def _link_mentions(
        self, context: LinkingContext, names: Sequence[str], named: Sequence[CodeLink]
    ) -> list[CodeLink]:
        """Return links for the names that are unambiguous and not linked already."""
        taken = {(link.code.path, link.code.symbol) for link in named if link.code is not None}
        found: list[CodeLink] = []
        for name in names:
            locations = context.names.locations(name, exactly=True)
            if len(locations) != 1 or (locations[0].path, locations[0].symbol) in taken:
                continue
            if (state := await self._current_state(context, locations[0])) is not None:
                taken.add((state.path, state.symbol))
                found.append(self._link(context.root, name, LinkOrigin.MENTIONED, state))
        # A text that names a definition and its file is about the definition.
        defining = {link.code.path for link in [*named, *found] if link.code is not None and link.code.symbol}
        links = [link for link in found if link.code is None or link.code.symbol or link.code.path not in defining]
        return links[:MAX_MENTION_LINKS]

    async def _current_state(self, context: LinkingContext, location: CodeLocation) -> CodeState | None:
        """Return the current code at this location."""
        path = location.path
        if path not in context.files:
            context.files.update({path: None, **await self.current.files(context.record, context.root, [path])})
        file = context.files[path]
        states = file.states(location.symbol, context.commit) if file is not None else []
        return min(states, key=lambda state: abs(state.first_line - location.line), default=None)

    async def _names(self, record: IndexRecord) -> IndexedNames:
        loaded = await self.current.loaded(record)
        record = loaded.record
        if self._cached_names is not None and self._cached_names[:2] == (record.id, record.generation):
            return self._cached_names[2]
        paths_by_name: dict[str, list[str]] = defaultdict(list)
        for path in loaded.corpus.row_of:
            if is_valid_text(path):
                paths_by_name[path.rpartition("/")[2]].append(path)
        names = IndexedNames(loaded, dict(paths_by_name))
        self._cached_names = record.id, record.generation, names
        return names

    async def _refresh(self, record: IndexRecord) -> IndexRecord:
        code = await self.current.service()
        if record.id == code_index.index_id_of(
            record.root, "HEAD", code_index.IndexOptions()
        ) and not record.details.get("from_objects"):
            await code.refresh(record.root, code_index.IndexOptions(), MAX_REFRESH_FILES)
            return await code.store.index(record.id) or record
        return record

    def _link(self, root: str, name: str, origin: LinkOrigin, code: CodeState | None) -> CodeLink:
        return CodeLink(root=root, name=name, origin=origin, code=code, linked_at=self._clock())
