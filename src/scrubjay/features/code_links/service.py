"""Compare memories with the code that they are linked to, and find the memories about a part of code."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scrubjay.core.callers import Caller
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound
from scrubjay.core.scopes import Visibility
from scrubjay.features.code_links.staleness import compare_links
from scrubjay.features.memory.link_review import LinkReview
from scrubjay.features.memory.link_store import LinkStore
from scrubjay.features.memory.links import CodeLink, CodeState, is_valid_text
from scrubjay.features.memory.models import Memory

if TYPE_CHECKING:
    from scrubjay.code_index import CodeService
    from scrubjay.features.code_links.linker import CodeLinker, LinkingContext

# Memories returned for each part of code that a search finds.
MAX_MEMORIES = 5
# Relevance of a memory to a part of code: linked to the same symbol, to a part or container of it, or to its file.
SAME_SYMBOL, OVERLAPPING, SAME_FILE = 1.0, 0.8, 0.6


@dataclass(frozen=True, slots=True)
class CodeRange:
    """Lines of a file, with the definition that they belong to."""

    path: str
    symbol: str
    """Empty if the lines belong to no definition."""
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class RelatedMemory:
    """A memory about a part of code, with its relevance."""

    memory: Memory
    score: float
    """How directly the memory is about this part, 0 to 1."""


class CodeLinkService:
    """Compares memories with the code they are linked to. It never waits for an index build."""

    def __init__(self, store: LinkStore, linker: Callable[[], Awaitable["CodeLinker"]]) -> None:
        """`linker` is called on first use, because most memories are not about code."""
        self._store = store
        self._linker = linker

    async def code(self) -> "CodeService":
        """Return the code index service."""
        return await (await self._linker()).current.service()

    async def repository_root(self, given: str, working_directory: str | None, *, restricted: bool = False) -> str:
        """Return the folder of a repository that is named by its path or by the id of an index of it.

        Raise `Forbidden` if the caller may not index the folder; restricted callers are those who hold a key.
        """
        code = await self.code()
        if (record := await code.store.index(given)) is not None:
            return (await code.folders.permit_index(record, given, restricted=restricted)).root
        return await code.folders.permit(given, working_directory, restricted=restricted)

    async def readable_roots(self, reader: Caller) -> Callable[[str], bool]:
        """Return a function that says whether this caller may read the code of a repository, given its folder."""
        return await (await self._linker()).current.readable_roots(reader)

    async def review(self, memories: Sequence[Memory], visibility: Visibility, reader: Caller) -> list[LinkReview]:
        """Compare the code of each of these memories, which come with their links, with the current code.

        The reviews show only code that the reader may read.
        """
        may_read = await self.readable_roots(reader)
        return [one.readable_by(may_read) for one in await self._compare(memories, visibility)]

    async def _compare(self, memories: Sequence[Memory], visibility: Visibility) -> list[LinkReview]:
        linker = await self._linker()
        memories = await self._resolve_pending(memories, visibility)
        links = [link for memory in memories for link in memory.links]
        known = dict(zip(links, await compare_links(linker.current, links), strict=True))
        return [LinkReview(memory, [known[link] for link in memory.links]) for memory in memories]

    async def review_all(
        self, visibility: Visibility, reader: Caller, memory_ids: Sequence[str] | None = None
    ) -> list[LinkReview]:
        """Like `review`, for all visible memories about code, or for these; raise `NotFound` if one is missing.

        A memory that shows the reader nothing counts as missing.
        """
        found = await self.review(await self._store.linked(visibility, memory_ids), visibility, reader)
        found = [one for one in found if one.comparisons or one.is_stale]
        known = {one.memory.id for one in found}
        if missing := [memory_id for memory_id in memory_ids or () if memory_id not in known]:
            raise NotFound(
                f"there is no memory {missing[0][:80]!r} with a link to code",
                hint="review_stale lists the memories with stale links",
                details={"ids": missing},
            )
        return found

    async def confirm(self, memory_ids: Sequence[str], visibility: Visibility, reader: Caller) -> list[LinkReview]:
        """Mark these memories as true of the current code: link them to it, and drop links to code that is gone.

        Raise `Forbidden` if the reader may not read some of that code.
        """
        found = [one.memory for one in await self.review_all(visibility, reader, memory_ids)]
        may_read = await self.readable_roots(reader)
        if any(not may_read(link.root) for memory in found for link in memory.links):
            raise Forbidden(
                f"the key {reader.name!r} may not read the code that these memories are about",
                hint="confirm them with a key that may: it needs the scope code:read, and the folder of the code",
            )
        return await self.review(
            await self._relink(await self._compare(found, visibility), visibility), visibility, reader
        )

    async def renew(self, memory_ids: Sequence[str], visibility: Visibility) -> Sequence[Memory]:
        """Link those of these memories that are about code to the current code, and return them.

        Call it after their text changed.
        """
        found = await self._store.linked(visibility, memory_ids)
        return await self._relink(await self._compare(found, visibility), visibility)

    async def _relink(self, reviewed: Sequence[LinkReview], visibility: Visibility) -> list[Memory]:
        renewed: list[Memory] = []
        for one in reviewed:
            links = tuple(link for comparison in one.comparisons if (link := comparison.relinked()) is not None)
            if links != one.memory.links:
                await self._store.replace_links(visibility, one.memory.id, one.memory.links, links)
            renewed.append(replace(one.memory, links=links))
        return renewed

    async def related_memories(
        self, root: str, parts: Sequence[CodeRange], visibility: Visibility
    ) -> list[list[RelatedMemory]]:
        """Return the memories about each of these parts of a repository, most relevant first."""
        paths = [path for path in dict.fromkeys(part.path for part in parts) if is_valid_text(path)]
        found = await self._store.linked_to(visibility, root, paths) if paths else list[Memory]()
        memories = await self._resolve_pending(found, visibility)
        related: list[list[RelatedMemory]] = []
        for part in parts:
            about = [RelatedMemory(memory, score) for memory in memories if (score := _relevance(memory, root, part))]
            related.append(sorted(about, key=lambda one: -one.score)[:MAX_MEMORIES])
        return related

    async def _resolve_pending(self, memories: Sequence[Memory], visibility: Visibility) -> list[Memory]:
        """Resolve links that were stored before the repository was indexed, and store the result."""
        contexts: dict[str, LinkingContext | None] = {}
        found: list[Memory] = []
        for memory in memories:
            links = tuple([await self._resolve(link, contexts) if link.code is None else link for link in memory.links])
            if links != memory.links:
                await self._store.replace_links(visibility, memory.id, memory.links, links)
            found.append(replace(memory, links=links))
        return found

    async def _resolve(self, link: CodeLink, contexts: "dict[str, LinkingContext | None]") -> CodeLink:
        linker = await self._linker()
        if link.root not in contexts:
            contexts[link.root] = await linker.context_for(link.root)
        if (context := contexts[link.root]) is None:
            return link
        try:
            return await linker.link_by_name(context, link.name)
        except (NotFound, InvalidRequest):  # it may be defined later: keep the link as written
            return link


def _relevance(memory: Memory, root: str, part: CodeRange) -> float:
    """Return how directly a memory is about a part of code, 0 to 1."""
    return max(
        (_link_relevance(link.code, part) for link in memory.links if link.root == root and link.code), default=0
    )


def _link_relevance(code: CodeState, part: CodeRange) -> float:
    if code.path != part.path:
        return 0
    if not code.symbol:
        return SAME_FILE
    if not part.symbol:
        return OVERLAPPING if code.first_line <= part.last_line and part.first_line <= code.last_line else 0
    if code.symbol == part.symbol:
        return SAME_SYMBOL
    is_near = code.symbol.startswith(f"{part.symbol}.") or part.symbol.startswith(f"{code.symbol}.")
    return OVERLAPPING if is_near else 0
