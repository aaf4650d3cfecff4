"""What memories say of code, held against the code: when they are recalled or reviewed, or when code is searched."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scrubjay.code_index.repository_root import resolve_root
from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.link_review import Reviewed
from scrubjay.features.memory.link_store import LinkStore
from scrubjay.features.memory.links import CodeLink, CodeState, is_text
from scrubjay.features.memory.models import Memory

if TYPE_CHECKING:
    from scrubjay.code_index.service import CodeService
    from scrubjay.features.code_links.linker import Linker, Site

# Of each part of code that a search finds, so many memories are told.
MOST_TOLD = 5
# How surely a memory about one part of code is about another: the same, a part of it or what it is in, its whole file.
SAME, NEAR, OF_THE_FILE = 1.0, 0.8, 0.6


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file that a search found."""

    path: str
    symbol: str
    """Empty when it is about no definition."""
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory about a part of code."""

    memory: Memory
    score: float
    """How surely it is about this very part, from 0 to 1."""


class Grounding:
    """Compares memories with code. It never waits until code is indexed."""

    def __init__(self, store: LinkStore, linker: Callable[[], Awaitable["Linker"]]) -> None:
        """`linker` is made when the first memory about code is met: most are about none."""
        self._store = store
        self._linker = linker

    async def code(self) -> "CodeService":
        """What is indexed."""
        return await (await self._linker()).now.service()

    async def repository_root(self, given: str, working_directory: str | None) -> str:
        """Return the folder of a repository that is named by its path or by the id of an index of it."""
        code = await self.code()
        if (record := await code.store.index(given)) is not None:
            return record.root
        return resolve_root(given, working_directory, code.roots)

    async def review(self, memories: Sequence[Memory], visibility: Visibility) -> list[Reviewed]:
        """What has become of the code of each of these, which come with their links."""
        from scrubjay.features.code_links.staleness import compared

        linker = await self._linker()
        memories = await self._looked_up(memories, visibility)
        links = [link for memory in memories for link in memory.links]
        known = dict(zip(links, await compared(linker.now, links), strict=True))
        return [Reviewed(memory, [known[link] for link in memory.links]) for memory in memories]

    async def review_all(self, visibility: Visibility, memory_ids: Sequence[str] | None = None) -> list[Reviewed]:
        """The same for all memories that can be seen and are about code, or for these, of which none may be missing."""
        found = await self._store.linked(visibility, memory_ids)
        known = {memory.id for memory in found}
        if missing := [memory_id for memory_id in memory_ids or () if memory_id not in known]:
            raise NotFound(
                f"no memory {missing[0][:80]!r} is about code here",
                hint="review_stale lists those that are",
                details={"ids": missing},
            )
        return await self.review(found, visibility)

    async def confirm(self, memory_ids: Sequence[str], visibility: Visibility) -> list[Reviewed]:
        """These are true of the code as it is now: link them to that, and no more to what is gone."""
        return await self._renewed(await self.review_all(visibility, memory_ids), visibility)

    async def renew(self, memory_ids: Sequence[str], visibility: Visibility) -> list[Reviewed]:
        """The same for those of these that are about code: they say something else now."""
        found = await self._store.linked(visibility, memory_ids)
        return await self._renewed(await self.review(found, visibility), visibility)

    async def _renewed(self, reviewed: Sequence[Reviewed], visibility: Visibility) -> list[Reviewed]:
        renewed: list[Memory] = []
        for one in reviewed:
            links = tuple(link for comparison in one.comparisons if (link := comparison.renewed()) is not None)
            if links != one.memory.links:
                await self._store.exchange(visibility, one.memory.id, one.memory.links, links)
            renewed.append(replace(one.memory, links=links))
        return await self.review(renewed, visibility)

    async def remembered(self, root: str, parts: Sequence[Part], visibility: Visibility) -> list[list[Remembered]]:
        """What is remembered about each of these parts of a repository, the surest first."""
        paths = [path for path in dict.fromkeys(part.path for part in parts) if is_text(path)]
        found = await self._store.linked_to(visibility, root, paths) if paths else list[Memory]()
        memories = await self._looked_up(found, visibility)
        told: list[list[Remembered]] = []
        for part in parts:
            about = [Remembered(memory, score) for memory in memories if (score := _nearness(memory, root, part))]
            told.append(sorted(about, key=lambda one: -one.score)[:MOST_TOLD])
        return told

    async def _looked_up(self, memories: Sequence[Memory], visibility: Visibility) -> list[Memory]:
        """The memories with those names looked up that nothing was known of when they were written."""
        sites: dict[str, Site | None] = {}
        found: list[Memory] = []
        for memory in memories:
            links = tuple([await self._link_now(link, sites) if link.code is None else link for link in memory.links])
            if links != memory.links:
                await self._store.exchange(visibility, memory.id, memory.links, links)
            found.append(replace(memory, links=links))
        return found

    async def _link_now(self, link: CodeLink, sites: "dict[str, Site | None]") -> CodeLink:
        linker = await self._linker()
        if link.root not in sites:
            sites[link.root] = await linker.site(link.root)
        if (site := sites[link.root]) is None:
            return link
        try:
            return await linker.named(site, link.name)
        except (NotFound, InvalidRequest):  # it may be there later, or never was: whoever wrote it said so
            return link


def _nearness(memory: Memory, root: str, part: Part) -> float:
    """How surely a memory is about a part of code; 0 when it is not."""
    return max((_nearness_of(link.code, part) for link in memory.links if link.root == root and link.code), default=0)


def _nearness_of(code: CodeState, part: Part) -> float:
    if code.path != part.path:
        return 0
    if not code.symbol:
        return OF_THE_FILE
    if not part.symbol:
        return NEAR if code.first_line <= part.last_line and part.first_line <= code.last_line else 0
    if code.symbol == part.symbol:
        return SAME
    is_near = code.symbol.startswith(f"{part.symbol}.") or part.symbol.startswith(f"{code.symbol}.")
    return NEAR if is_near else 0
