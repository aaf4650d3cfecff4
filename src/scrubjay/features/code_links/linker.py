"""Finding the code that a memory is about, by what it names and by what its words mention."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.code_index.models import SymbolKind
from scrubjay.code_index.store import IndexRecord
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.core.suggestions import nearest_names
from scrubjay.features.code_links.current_code import CodeNow, FileNow
from scrubjay.features.code_links.mentions import mentions
from scrubjay.features.memory.links import CodeLink, CodeState, LinkOrigin, is_text, joined
from scrubjay.features.memory.models import Kind
from scrubjay.features.memory.service import Draft
from scrubjay.features.projects.store import ProjectStore

if TYPE_CHECKING:
    from scrubjay.code_index.service import Loaded

# Turns, summaries and corrections tell what was said and done, and that stays so whatever becomes of the code.
GROUNDED = frozenset(Kind) - {Kind.TURN, Kind.SUMMARY, Kind.CORRECTION}
# So many mentions of one memory become links.
MOST_MENTIONED = 20
# An index that is behind by no more files than this is brought up to date for a name that somebody gives.
FEW_CHANGES = 25


class Place(NamedTuple):
    """A definition or a file, as an index has it."""

    path: str
    symbol: str
    line: int


@dataclass(frozen=True, slots=True)
class Known:
    """What an index knows by name."""

    loaded: "Loaded"
    by_ending: dict[str, list[str]]
    """Paths by the name of the file."""

    def places(self, name: str, *, exactly: bool) -> list[Place]:
        """All that may be meant by a name: the file of this path, or whatever is defined under it."""
        outer, separator, inner = name.partition("::")
        paths = self._paths(outer)
        if separator and paths:
            return [place for path in paths for place in self._within(path, inner)]
        if paths:
            return [Place(path, "", 1) for path in paths]
        corpus, names = self.loaded.corpus, self.loaded.names
        found: dict[tuple[str, str], Place] = {}
        for row in names.find(name, exactly=exactly):
            if exactly and names.kind(row) is SymbolKind.SECTION:  # a heading or a key: a word like any other
                continue
            path, symbol = corpus.files[int(corpus.symbols.files[row])].path, names.qualified(row)
            found.setdefault((path, symbol), Place(path, symbol, int(corpus.symbols.lines[row])))
        return [*found.values()]

    def nearest(self, name: str) -> list[str]:
        """What somebody may have meant."""
        outer, separator, inner = name.partition("::")
        last = outer.rpartition("/")[2]
        paths = [path for path in self.loaded.corpus.row_of if is_text(path)]
        near = nearest_names(outer, paths) if "/" in outer or "." in last else []
        if separator and (own := self._paths(outer)):
            near = [f"{own[0]}::{known}" for known in self.loaded.names.similar(inner)]
        return [*near, *(known for known in self.loaded.names.similar(name) if known not in near)][:5]

    def _within(self, path: str, inner: str) -> list[Place]:
        corpus, names = self.loaded.corpus, self.loaded.names
        file, wanted = corpus.row_of[path], inner.replace("::", ".").replace("#", ".")
        rows = [row for row in names.find(inner) if int(corpus.symbols.files[row]) == file]
        found = {names.qualified(row): int(corpus.symbols.lines[row]) for row in reversed(rows)}
        if wanted in found:
            return [Place(path, wanted, found[wanted])]
        return [Place(path, symbol, line) for symbol, line in found.items()]

    def _paths(self, given: str) -> list[str]:
        given = given.removeprefix(f"{self.loaded.record.root}/").removeprefix("./")
        if given in self.loaded.corpus.row_of:
            return [given] if is_text(given) else []
        named = self.by_ending.get(given.rpartition("/")[2], ())
        return [path for path in named if path.endswith(f"/{given}")]


@dataclass(frozen=True, slots=True)
class Site:
    """A repository, for as long as one call takes: whatever many memories name in it is read once."""

    root: str
    record: IndexRecord
    known: Known
    commit: str | None
    files: dict[str, FileNow | None] = field(default_factory=dict[str, FileNow | None])


class Linker:
    """Ties memories to code."""

    def __init__(self, now: CodeNow, projects: ProjectStore, clock: Clock = system_clock) -> None:
        self.now = now
        self._projects = projects
        self._clock = clock
        self._known: tuple[str, int, Known] | None = None

    async def links(self, drafts: Sequence[Draft], project_id: str | None) -> list[tuple[CodeLink, ...]]:
        """What each draft is about. `NotFound` for a name that nothing has, unless nothing is indexed there yet."""
        mentioned = [mentions(draft.content) if draft.kind in GROUNDED else [] for draft in drafts]
        naming = [draft for draft, names in zip(drafts, mentioned, strict=True) if draft.about or names]
        if not naming:
            return [()] * len(drafts)
        project = await self._projects.get(project_id) if project_id is not None else None
        here = project.path if project is not None else None
        roots = {root: False for draft in naming if (root := draft.repository or here) is not None}
        roots |= {root: True for draft in naming if draft.about and (root := draft.repository or here) is not None}
        sites = {root: await self.site(root, brought_up=is_named) for root, is_named in roots.items()}
        return [
            await self._links(draft, names, draft.repository or here, sites)
            for draft, names in zip(drafts, mentioned, strict=True)
        ]

    async def _links(
        self, draft: Draft, mentioned: Sequence[str], root: str | None, sites: Mapping[str, Site | None]
    ) -> tuple[CodeLink, ...]:
        if root is None and draft.about:
            raise InvalidRequest(
                "about: it is not known which code is meant", hint="choose a project by set_project, or give repository"
            )
        if root is None or not (draft.about or mentioned):
            return ()
        if (site := sites[root]) is None:
            return tuple(self._link(root, name, LinkOrigin.NAMED, None) for name in dict.fromkeys(draft.about))
        named = [await self.named(site, name) for name in dict.fromkeys(draft.about)]
        return joined(named, await self._mentioned(site, mentioned, named))

    async def site(self, root: str, *, brought_up: bool = False) -> Site | None:
        """The repository in this folder; None when nothing is indexed there.

        An index that is little behind can be brought up to date first: so what was just written can be named at once.
        """
        if (record := await self.now.record(root)) is None:
            return None
        if brought_up:
            record = await self._brought_up(record)
        return Site(root, record, await self._names(record), await self.now.commit(root))

    async def named(self, site: Site, name: str) -> CodeLink:
        """The link to what somebody named."""
        places = site.known.places(name, exactly=False)
        if len(places) > 1:
            told = [f"{place.path}::{place.symbol}" if place.symbol else place.path for place in places]
            raise InvalidRequest(
                f"about: {len(places)} things are called {name!r}",
                hint=f"say which one: {', '.join(told[:3])}{' …' if len(told) > 3 else ''}",
                details={"places": told[:20]},
            )
        state = await self._state(site, places[0]) if places else None
        if state is None:
            near = site.known.nearest(name)
            raise NotFound(
                f"about: nothing is called {name!r} in {site.root}",
                hint=f"did you mean {' or '.join(near)}?" if near else "give a path, path::symbol or a qualified name",
                details={"nearest": near},
            )
        return self._link(site.root, name, LinkOrigin.NAMED, state)

    async def _mentioned(self, site: Site, names: Sequence[str], named: Sequence[CodeLink]) -> list[CodeLink]:
        """Links to those of these names that only one thing has, and that is not linked already."""
        taken = {(link.code.path, link.code.symbol) for link in named if link.code is not None}
        found: list[CodeLink] = []
        for name in names:
            places = site.known.places(name, exactly=True)
            if len(places) != 1 or (places[0].path, places[0].symbol) in taken:
                continue
            if (state := await self._state(site, places[0])) is not None:
                taken.add((state.path, state.symbol))
                found.append(self._link(site.root, name, LinkOrigin.MENTIONED, state))
        # Who names a definition and its file means the definition.
        defining = {link.code.path for link in [*named, *found] if link.code is not None and link.code.symbol}
        kept = [link for link in found if link.code is None or link.code.symbol or link.code.path not in defining]
        return kept[:MOST_MENTIONED]

    async def _state(self, site: Site, place: Place) -> CodeState | None:
        """What is at this place now."""
        if place.path not in site.files:
            site.files.update({place.path: None, **await self.now.files(site.record, site.root, [place.path])})
        file = site.files[place.path]
        states = file.states(place.symbol, site.commit) if file is not None else []
        return min(states, key=lambda state: abs(state.first_line - place.line), default=None)

    async def _names(self, record: IndexRecord) -> Known:
        loaded = await self.now.loaded(record)
        record = loaded.record
        if self._known is not None and self._known[:2] == (record.id, record.generation):
            return self._known[2]
        by_ending: dict[str, list[str]] = defaultdict(list)
        for path in loaded.corpus.row_of:
            if is_text(path):
                by_ending[path.rpartition("/")[2]].append(path)
        known = Known(loaded, dict(by_ending))
        self._known = record.id, record.generation, known
        return known

    async def _brought_up(self, record: IndexRecord) -> IndexRecord:
        from scrubjay.code_index.index.indexer import IndexOptions, index_id_of

        code = await self.now.service()
        if record.id == index_id_of(record.root, "HEAD", IndexOptions()) and not record.details.get("from_objects"):
            await code.freshen(record.root, IndexOptions(), FEW_CHANGES)
            return await code.store.index(record.id) or record
        return record

    def _link(self, root: str, name: str, origin: LinkOrigin, code: CodeState | None) -> CodeLink:
        return CodeLink(root=root, name=name, origin=origin, code=code, linked_at=self._clock())
