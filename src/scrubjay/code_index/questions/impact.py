"""Who breaks when a definition changes, and by which calls one definition reaches another.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio.to_thread

from scrubjay.code_index.models import FileTrait
from scrubjay.code_index.questions.traversal import GUESS, Reached, Walker, Way
from scrubjay.code_index.search.use_graph import Links
from scrubjay.code_index.service import CodeService, Loaded
from scrubjay.core.errors import NotFound


@dataclass(frozen=True, slots=True)
class Impact:
    """All that uses a definition, directly or through others."""

    definitions: Sequence[int]
    affected: Sequence[Reached]
    """The program itself, then examples and the like; among them the nearest first, then the surest."""
    tests: Sequence[Reached]
    """Tests that reach it."""
    incomplete: bool
    """Whether there is more than was looked at."""

    @property
    def guesses(self) -> int:
        """How many are only affected if a guess is right."""
        return sum(is_guess(one.way) for one in (*self.affected, *self.tests))


@dataclass(frozen=True, slots=True)
class Trace:
    """The ways that calls take from one definition to another."""

    ways: Sequence[Way]
    """The surest first."""
    is_reversed: bool
    """Whether there is only a way from the second to the first."""
    incomplete: bool


def is_guess(way: Way) -> bool:
    return any(link.confidence < GUESS for link in way.links)


async def impact_of(name: str, code: CodeService, loaded: Loaded, hops: int) -> Impact:
    """Who breaks when what is called so changes, through at most so many others."""
    rows = defined(name, loaded)
    links = await code.links(loaded)
    return await anyio.to_thread.run_sync(impact_of_rows, rows, loaded, links, hops)


def impact_of_rows(rows: Sequence[int], loaded: Loaded, links: Links, hops: int) -> Impact:
    """The same for definitions by their rows."""
    walker = Walker(loaded.corpus, links)
    starts = walker.whole(rows)
    inside = {*starts}
    reached = [one for one in walker.backward(starts, hops) if one.node not in inside]
    files = loaded.corpus.files
    tests = [one for one in reached if files[one.node.file].traits & FileTrait.TEST]
    beside = {one.node for one in tests}
    affected = sorted((one for one in reached if one.node not in beside), key=lambda one: walker.is_beside(one.node))
    return Impact(rows, affected, tests, walker.ended_early)


async def trace_of(first: str, second: str, code: CodeService, loaded: Loaded, *, hops: int, limit: int) -> Trace:
    """The calls by which the first reaches the second; if there are none, those the other way round."""
    starts, goals = defined(first, loaded), defined(second, loaded)
    links = await code.links(loaded)
    return await anyio.to_thread.run_sync(_trace, starts, goals, loaded, links, hops, limit)


def _trace(starts: Sequence[int], goals: Sequence[int], loaded: Loaded, links: Links, hops: int, limit: int) -> Trace:
    walker = Walker(loaded.corpus, links)
    first, second = walker.whole(starts), walker.whole(goals)
    # One more than is wanted tells whether there are more.
    if ways := walker.between(first, second, hops, limit + 1):
        return Trace(ways[:limit], is_reversed=False, incomplete=walker.ended_early or len(ways) > limit)
    back = walker.between(second, first, hops, limit + 1)
    return Trace(back[:limit], is_reversed=bool(back), incomplete=walker.ended_early or len(back) > limit)


def defined(name: str, loaded: Loaded) -> list[int]:
    """The definitions that are meant by a name; `NotFound` with the nearest when there are none."""
    if rows := loaded.names.find(name):
        return rows
    near = loaded.names.similar(name)
    raise NotFound(
        f"nothing is called {name[:200]!r} in this repository",
        hint=f"did you mean {' or '.join(near)}?" if near else "get_symbols lists what a file defines",
        details={"nearest": near},
    )
