"""Impact of changing a definition, and call chains between definitions.

This module imports numpy, which is slow to load.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio.to_thread

from scrubjay.code_index.models import FileTrait
from scrubjay.code_index.questions.traversal import GUESS_THRESHOLD, GraphWalker, ReachedNode, UsePath
from scrubjay.code_index.search.use_graph import UseGraph
from scrubjay.code_index.service import CodeService, LoadedIndex
from scrubjay.core.errors import NotFound


@dataclass(frozen=True, slots=True)
class Impact:
    """The direct and indirect users of a definition."""

    definitions: Sequence[int]
    affected: Sequence[ReachedNode]
    """Program code, then examples and the like; each by hops, then by confidence."""
    tests: Sequence[ReachedNode]
    """Tests that reach the definition."""
    incomplete: bool
    """Whether the walk stopped at its limit."""

    @property
    def guesses(self) -> int:
        """Number of results that depend on a guess."""
        return sum(is_guess(one.path) for one in (*self.affected, *self.tests))


@dataclass(frozen=True, slots=True)
class CallTrace:
    """Call chains from one definition to another."""

    paths: Sequence[UsePath]
    """Highest confidence first."""
    is_reversed: bool
    """True if only the second definition reaches the first."""
    incomplete: bool


def is_guess(path: UsePath) -> bool:
    return any(link.confidence < GUESS_THRESHOLD for link in path.links)


async def impact_of(name: str, code: CodeService, loaded: LoadedIndex, hops: int) -> Impact:
    """Return what may break when the definitions with this name change, within `hops` uses."""
    rows = definitions_named(name, loaded)
    links = await code.use_graph(loaded)
    return await anyio.to_thread.run_sync(impact_of_rows, rows, loaded, links, hops)


def impact_of_rows(rows: Sequence[int], loaded: LoadedIndex, links: UseGraph, hops: int) -> Impact:
    """Like `impact_of`, for definitions given by row."""
    walker = GraphWalker(loaded.corpus, links)
    starts = walker.with_members(rows)
    inside = {*starts}
    reached = [one for one in walker.dependents(starts, hops) if one.node not in inside]
    files = loaded.corpus.files
    tests = [one for one in reached if files[one.node.file].traits & FileTrait.TEST]
    beside = {one.node for one in tests}
    affected = sorted(
        (one for one in reached if one.node not in beside), key=lambda one: walker.is_supporting(one.node)
    )
    return Impact(rows, affected, tests, walker.ended_early)


async def trace_calls(
    first: str, second: str, code: CodeService, loaded: LoadedIndex, *, hops: int, limit: int
) -> CallTrace:
    """Return the call chains from the first to the second definition; if there are none, the reverse ones."""
    starts, goals = definitions_named(first, loaded), definitions_named(second, loaded)
    links = await code.use_graph(loaded)
    return await anyio.to_thread.run_sync(_trace, starts, goals, loaded, links, hops, limit)


def _trace(
    starts: Sequence[int], goals: Sequence[int], loaded: LoadedIndex, links: UseGraph, hops: int, limit: int
) -> CallTrace:
    walker = GraphWalker(loaded.corpus, links)
    first, second = walker.with_members(starts), walker.with_members(goals)
    # One more than wanted, to detect that there are more.
    if paths := walker.call_paths_between(first, second, hops, limit + 1):
        return CallTrace(paths[:limit], is_reversed=False, incomplete=walker.ended_early or len(paths) > limit)
    back = walker.call_paths_between(second, first, hops, limit + 1)
    return CallTrace(back[:limit], is_reversed=bool(back), incomplete=walker.ended_early or len(back) > limit)


def definitions_named(name: str, loaded: LoadedIndex) -> list[int]:
    """Return the definitions with this name; raise `NotFound` with similar names if there are none."""
    if rows := loaded.names.find(name):
        return rows
    near = loaded.names.similar(name)
    raise NotFound(
        f"this repository does not define {name[:200]!r}",
        hint=f"did you mean {' or '.join(near)}?" if near else "get_symbols lists the symbols of a file",
        details={"nearest": near},
    )
