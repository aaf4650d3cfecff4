"""Walks over who uses what: what is reached from a definition, by which way, and how sure that is.

This module imports numpy, which takes a while: import it where it is needed.
"""

import heapq
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from scrubjay.code_index.models import FileTrait, SymbolKind, UseKind
from scrubjay.code_index.search.corpus import KINDS, Corpus
from scrubjay.code_index.search.use_graph import Link, Links

CALLING = frozenset({UseKind.CALL, UseKind.NEW, UseKind.DECORATE})
# Less sure than this is a guess.
GUESS = 0.5
# What comes after the program itself.
BESIDE = FileTrait.TEST | FileTrait.EXAMPLE | FileTrait.DOCUMENTATION | FileTrait.VENDORED | FileTrait.GENERATED
# Nodes that a walk looks at before it ends: a definition that half of a large repository uses is no reason to wait.
MOST_VISITED = 20_000
TYPES = frozenset(
    {SymbolKind.CLASS, SymbolKind.STRUCT, SymbolKind.INTERFACE, SymbolKind.TRAIT, SymbolKind.ENUM, SymbolKind.IMPL}
)


class Node(NamedTuple):
    """A definition, or the top of a file, whose symbol is -1."""

    file: int
    symbol: int


class Way(NamedTuple):
    """A way from one node to another."""

    nodes: Sequence[Node]
    links: Sequence[Link]
    """Between each node and the next, in whichever direction."""

    @property
    def confidence(self) -> float:
        sure = 1.0
        for link in self.links:
            sure *= link.confidence
        return sure


class Reached(NamedTuple):
    """What a walk came to."""

    node: Node
    way: Way
    """The surest of the shortest ways to it."""

    @property
    def hops(self) -> int:
        return len(self.way.links)


class Walker:
    """Walks in one state of an index."""

    def __init__(self, corpus: Corpus, links: Links) -> None:
        self._corpus = corpus
        self._links = links
        self._visited = 0
        self.ended_early = False
        """Whether a walk met more than it looks at."""

    # -- nodes ---------------------------------------------------------------------------------------

    def node(self, symbol: int) -> Node:
        return Node(int(self._corpus.symbols.files[symbol]), symbol)

    def kind(self, symbol: int) -> SymbolKind:
        return KINDS[int(self._corpus.symbols.kinds[symbol])]

    def symbols_of(self, file: int) -> range:
        """The rows of what a file defines."""
        first, last = np.searchsorted(self._corpus.symbols.files, [file, file + 1]).tolist()
        return range(first, last)

    def within(self, symbol: int) -> list[int]:
        """The rows of all that is in a definition."""
        file = int(self._corpus.symbols.files[symbol])
        inner = {symbol}
        for row in self.symbols_of(file):
            if row > symbol and int(self._corpus.symbols.containers[row]) in inner:
                inner.add(row)
        return sorted(inner - {symbol})

    def whole(self, symbols: Iterable[int]) -> list[Node]:
        """These definitions, each type with all that is in it."""
        rows: dict[int, None] = {}
        for symbol in symbols:
            rows[symbol] = None
            if self.kind(symbol) in TYPES:
                rows.update(dict.fromkeys(self.within(symbol)))
        return [self.node(row) for row in rows]

    def is_beside(self, node: Node) -> bool:
        """Whether it is a test, an example or the like."""
        return bool(self._corpus.files[node.file].traits & BESIDE)

    # -- steps ---------------------------------------------------------------------------------------

    def users(self, node: Node, kinds: Collection[UseKind] | None = None) -> list[Link]:
        """Who uses a node, each once for each kind and line, the surest first."""
        found = self._links.to_file(node.file) if node.symbol < 0 else self._links.to(node.symbol)
        return self._sorted(found, kinds, lambda link: Node(link.source_file, link.source))

    def used(self, node: Node, kinds: Collection[UseKind] | None = None) -> list[Link]:
        """What a node uses, likewise."""
        found = self._links.of_file(node.file) if node.symbol < 0 else self._links.of(node.symbol)
        return self._sorted(found, kinds, lambda link: Node(link.target_file, link.target))

    def callers(self, symbol: int) -> list[Link]:
        """Who calls a definition; of a type, who makes one of it. A call that is known twice is told once."""
        found = self.users(self.node(symbol), CALLING)
        if self.kind(symbol) in TYPES:
            for row in self.within(symbol):
                if self.kind(row) is SymbolKind.CONSTRUCTOR:
                    found += self.users(self.node(row), CALLING)
        places = {(link.source_file, link.source, link.line): link for link in reversed(found)}
        return [link for link in found if places[link.source_file, link.source, link.line] is link]

    def called(self, node: Node) -> list[Link]:
        """What a node calls. Making something is told as the call of its constructor where there is one."""
        found = self.used(node, CALLING)
        made = {
            int(self._corpus.symbols.containers[link.target])
            for link in found
            if link.target >= 0 and self.kind(link.target) is SymbolKind.CONSTRUCTOR
        }
        return [link for link in found if link.target < 0 or link.target not in made]

    # -- walks ---------------------------------------------------------------------------------------

    def onward(self, starts: Sequence[Node], hops: int, limit: int) -> list[Way]:
        """The ways that calls take from here: those that end or have come so far, the surest and longest first."""
        found: list[Way] = []
        self._begin()
        heap: list[tuple[float, int, Way]] = [
            (-1.0, place, Way((node,), ())) for place, node in enumerate(dict.fromkeys(starts))
        ]
        heapq.heapify(heap)
        number = len(heap)
        while heap and len(found) < 4 * limit and self._may_go_on():
            _, _, way = heapq.heappop(heap)
            ahead = [] if len(way.links) >= hops else self._next(way, self.called(way.nodes[-1]))
            for link, node in ahead:
                longer = Way((*way.nodes, node), (*way.links, link))
                heapq.heappush(heap, (-longer.confidence * self._weight(node), number, longer))
                number += 1
            if not ahead and way.links:
                found.append(way)
        found.sort(key=lambda way: (-round(way.confidence, 1), -len(way.links), -way.confidence))
        return found[:limit]

    def between(self, starts: Sequence[Node], goals: Sequence[Node], hops: int, limit: int) -> list[Way]:
        """The ways that calls take from one to the other, the surest first."""
        left = self._distances(goals, hops)
        ends = {*goals}
        found: list[Way] = []
        self._begin()
        heap: list[tuple[float, int, int, Way]] = [
            (-1.0, 0, place, Way((node,), ())) for place, node in enumerate(dict.fromkeys(starts)) if node in left
        ]
        number = len(heap)
        while heap and len(found) < limit and self._may_go_on():
            _, length, _, way = heapq.heappop(heap)
            if way.links and way.nodes[-1] in ends:
                found.append(way)
                continue
            for link, node in self._next(way, self.called(way.nodes[-1])):
                if node in left and length + 1 + left[node] <= hops:
                    longer = Way((*way.nodes, node), (*way.links, link))
                    heapq.heappush(heap, (-longer.confidence, length + 1, number, longer))
                    number += 1
        return found

    def backward(self, starts: Sequence[Node], hops: int) -> list[Reached]:
        """All that uses these, directly or through others; the nearest first, then the surest."""
        self._begin()
        best: dict[Node, Way] = {node: Way((node,), ()) for node in starts}
        around = list(best)
        found: list[Reached] = []
        for _ in range(hops):
            reached: dict[Node, Way] = {}
            for node in around:
                if not self._may_go_on():
                    break
                way = best[node]
                for link in self.users(node):
                    user = Node(link.source_file, link.source)
                    if user in best:
                        continue
                    longer = Way((*way.nodes, user), (*way.links, link))
                    if user not in reached or longer.confidence > reached[user].confidence:
                        reached[user] = longer
            best |= reached
            around = list(reached)
            found += sorted(
                (Reached(node, way) for node, way in reached.items()),
                key=lambda one: (self.is_beside(one.node), -one.way.confidence, one.node),
            )
        return found

    def shortest(self, starts: Sequence[Node], goals: Sequence[Node], hops: int, limit: int) -> list[Way]:
        """The shortest ways over uses in whichever direction, to different ends; the surest of the first met."""
        ends = {*goals}
        self._begin()
        before: dict[Node, tuple[Node, Link] | None] = dict.fromkeys(starts)
        queue = deque((node, 0) for node in before)
        found: list[Way] = []
        while queue and len(found) < limit and self._may_go_on():
            node, length = queue.popleft()
            if found and length > len(found[0].links):
                break
            if node in ends and length:
                found.append(_way_back(node, before))
            elif length < hops:
                for link, other in self._around(node):
                    if other not in before:
                        before[other] = node, link
                        queue.append((other, length + 1))
        return found

    def _around(self, node: Node) -> list[tuple[Link, Node]]:
        ahead = [(link, Node(link.target_file, link.target)) for link in self.used(node)]
        behind = [(link, Node(link.source_file, link.source)) for link in self.users(node)]
        return sorted([*ahead, *behind], key=lambda one: (-one[0].confidence, self.is_beside(one[1])))

    def _distances(self, goals: Sequence[Node], hops: int) -> dict[Node, int]:
        """How many calls each node is away from the nearest goal, at most so many."""
        self._begin()
        found = dict.fromkeys(goals, 0)
        queue = deque(found)
        while queue and self._may_go_on():
            node = queue.popleft()
            if found[node] == hops:
                continue
            for link in self.users(node, CALLING):
                user = Node(link.source_file, link.source)
                if user not in found:
                    found[user] = found[node] + 1
                    queue.append(user)
        return found

    def _next(self, way: Way, links: Sequence[Link]) -> list[tuple[Link, Node]]:
        """Each node that these lead to and that the way has not, once."""
        found: dict[Node, Link] = {}
        for link in links:
            node = Node(link.target_file, link.target)
            if node not in way.nodes:
                found.setdefault(node, link)
        return [(link, node) for node, link in found.items()]

    def _weight(self, node: Node) -> float:
        return 0.8 if self.is_beside(node) else 1.0

    def _begin(self) -> None:
        self._visited = 0

    def _may_go_on(self) -> bool:
        self._visited += 1
        if self._visited > MOST_VISITED:
            self.ended_early = True
        return self._visited <= MOST_VISITED

    def _sorted(
        self, links: Iterable[Link], kinds: Collection[UseKind] | None, other: Callable[[Link], Node]
    ) -> list[Link]:
        wanted = links if kinds is None else [link for link in links if link.kind in kinds]
        return sorted(
            dict.fromkeys(wanted), key=lambda link: (-link.confidence, self.is_beside(other(link)), link.line)
        )


def _way_back(node: Node, before: "dict[Node, tuple[Node, Link] | None]") -> Way:
    nodes, links = [node], list[Link]()
    while (step := before[node]) is not None:
        node, link = step
        nodes.append(node)
        links.append(link)
    return Way(tuple(reversed(nodes)), tuple(reversed(links)))
