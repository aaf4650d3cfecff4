"""Walks over the use graph: paths, reachability and their confidence.

This module imports numpy, which is slow to load.
"""

import heapq
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from scrubjay.code_index.models import FileTrait, SymbolKind, UseKind
from scrubjay.code_index.search.corpus import KINDS, Corpus
from scrubjay.code_index.search.use_graph import UseGraph, UseLink

CALL_KINDS = frozenset({UseKind.CALL, UseKind.NEW, UseKind.DECORATE})
# Uses below this confidence are guesses.
GUESS_THRESHOLD = 0.5
# Files that are listed after program code.
SUPPORTING = FileTrait.TEST | FileTrait.EXAMPLE | FileTrait.DOCUMENTATION | FileTrait.VENDORED | FileTrait.GENERATED
# Nodes that a walk visits at most: half of a large repository may use a definition.
MAX_VISITED = 20_000
TYPES = frozenset(
    {SymbolKind.CLASS, SymbolKind.STRUCT, SymbolKind.INTERFACE, SymbolKind.TRAIT, SymbolKind.ENUM, SymbolKind.IMPL}
)


class GraphNode(NamedTuple):
    """A definition, or the module-level code of a file (`symbol` is -1)."""

    file: int
    symbol: int


class UsePath(NamedTuple):
    """A path of uses from one node to another."""

    nodes: Sequence[GraphNode]
    links: Sequence[UseLink]
    """The use between each node and the next, in either direction."""

    @property
    def confidence(self) -> float:
        sure = 1.0
        for link in self.links:
            sure *= link.confidence
        return sure


class ReachedNode(NamedTuple):
    """A node that a walk reached."""

    node: GraphNode
    path: UsePath
    """The most confident of the shortest paths to it."""

    @property
    def hops(self) -> int:
        return len(self.path.links)


class GraphWalker:
    """Walks over the use graph of one generation of an index."""

    def __init__(self, corpus: Corpus, links: UseGraph) -> None:
        self._corpus = corpus
        self._links = links
        self._visited = 0
        self.ended_early = False
        """Whether a walk stopped at its limit."""

    # -- nodes ---------------------------------------------------------------------------------------

    def node(self, symbol: int) -> GraphNode:
        return GraphNode(int(self._corpus.symbols.files[symbol]), symbol)

    def kind(self, symbol: int) -> SymbolKind:
        return KINDS[int(self._corpus.symbols.kinds[symbol])]

    def symbols_of(self, file: int) -> range:
        """Return the rows of the symbols of a file."""
        first, last = np.searchsorted(self._corpus.symbols.files, [file, file + 1]).tolist()
        return range(first, last)

    def members(self, symbol: int) -> list[int]:
        """Return the rows of all definitions inside a definition."""
        file = int(self._corpus.symbols.files[symbol])
        inner = {symbol}
        for row in self.symbols_of(file):
            if row > symbol and int(self._corpus.symbols.containers[row]) in inner:
                inner.add(row)
        return sorted(inner - {symbol})

    def with_members(self, symbols: Iterable[int]) -> list[GraphNode]:
        """Return the nodes of these definitions; types include everything inside them."""
        rows: dict[int, None] = {}
        for symbol in symbols:
            rows[symbol] = None
            if self.kind(symbol) in TYPES:
                rows.update(dict.fromkeys(self.members(symbol)))
        return [self.node(row) for row in rows]

    def is_supporting(self, node: GraphNode) -> bool:
        """Return whether the node is in a test, an example or the like."""
        return bool(self._corpus.files[node.file].traits & SUPPORTING)

    # -- steps ---------------------------------------------------------------------------------------

    def users(self, node: GraphNode, kinds: Collection[UseKind] | None = None) -> list[UseLink]:
        """Return the uses of a node without duplicates, highest confidence first."""
        found = self._links.users_of_file(node.file) if node.symbol < 0 else self._links.users_of(node.symbol)
        return self._sorted(found, kinds, lambda link: GraphNode(link.source_file, link.source))

    def uses(self, node: GraphNode, kinds: Collection[UseKind] | None = None) -> list[UseLink]:
        """Return the uses made by a node without duplicates, highest confidence first."""
        found = self._links.uses_by_file(node.file) if node.symbol < 0 else self._links.uses_by(node.symbol)
        return self._sorted(found, kinds, lambda link: GraphNode(link.target_file, link.target))

    def callers(self, symbol: int) -> list[UseLink]:
        """Return the calls of a definition, or the instantiations of a type, one per line and caller."""
        found = self.users(self.node(symbol), CALL_KINDS)
        if self.kind(symbol) in TYPES:
            for row in self.members(symbol):
                if self.kind(row) is SymbolKind.CONSTRUCTOR:
                    found += self.users(self.node(row), CALL_KINDS)
        places = {(link.source_file, link.source, link.line): link for link in reversed(found)}
        return [link for link in found if places[link.source_file, link.source, link.line] is link]

    def callees(self, node: GraphNode) -> list[UseLink]:
        """Return the calls made by a node; an instantiation counts as a call of the constructor if there is one."""
        found = self.uses(node, CALL_KINDS)
        made = {
            int(self._corpus.symbols.containers[link.target])
            for link in found
            if link.target >= 0 and self.kind(link.target) is SymbolKind.CONSTRUCTOR
        }
        return [link for link in found if link.target < 0 or link.target not in made]

    # -- walks ---------------------------------------------------------------------------------------

    def call_paths_from(self, starts: Sequence[GraphNode], hops: int, limit: int) -> list[UsePath]:
        """Return call paths from these nodes that end or have `hops` calls, most confident and longest first."""
        found: list[UsePath] = []
        self._reset()
        heap: list[tuple[float, int, UsePath]] = [
            (-1.0, place, UsePath((node,), ())) for place, node in enumerate(dict.fromkeys(starts))
        ]
        heapq.heapify(heap)
        number = len(heap)
        while heap and len(found) < 4 * limit and self._within_limit():
            _, _, path = heapq.heappop(heap)
            ahead = [] if len(path.links) >= hops else self._extensions(path, self.callees(path.nodes[-1]))
            for link, node in ahead:
                longer = UsePath((*path.nodes, node), (*path.links, link))
                heapq.heappush(heap, (-longer.confidence * self._weight(node), number, longer))
                number += 1
            if not ahead and path.links:
                found.append(path)
        found.sort(key=lambda path: (-round(path.confidence, 1), -len(path.links), -path.confidence))
        return found[:limit]

    def call_paths_between(
        self, starts: Sequence[GraphNode], goals: Sequence[GraphNode], hops: int, limit: int
    ) -> list[UsePath]:
        """Return call paths from `starts` to `goals`, most confident first."""
        left = self._distances(goals, hops)
        ends = {*goals}
        found: list[UsePath] = []
        self._reset()
        heap: list[tuple[float, int, int, UsePath]] = [
            (-1.0, 0, place, UsePath((node,), ())) for place, node in enumerate(dict.fromkeys(starts)) if node in left
        ]
        number = len(heap)
        while heap and len(found) < limit and self._within_limit():
            _, length, _, path = heapq.heappop(heap)
            if path.links and path.nodes[-1] in ends:
                found.append(path)
                continue
            for link, node in self._extensions(path, self.callees(path.nodes[-1])):
                if node in left and length + 1 + left[node] <= hops:
                    longer = UsePath((*path.nodes, node), (*path.links, link))
                    heapq.heappush(heap, (-longer.confidence, length + 1, number, longer))
                    number += 1
        return found

    def dependents(self, starts: Sequence[GraphNode], hops: int) -> list[ReachedNode]:
        """Return the direct and indirect users of these nodes, by hops and then by confidence."""
        self._reset()
        best: dict[GraphNode, UsePath] = {node: UsePath((node,), ()) for node in starts}
        around = list(best)
        found: list[ReachedNode] = []
        for _ in range(hops):
            reached: dict[GraphNode, UsePath] = {}
            for node in around:
                if not self._within_limit():
                    break
                path = best[node]
                for link in self.users(node):
                    user = GraphNode(link.source_file, link.source)
                    if user in best:
                        continue
                    longer = UsePath((*path.nodes, user), (*path.links, link))
                    if user not in reached or longer.confidence > reached[user].confidence:
                        reached[user] = longer
            best |= reached
            around = list(reached)
            found += sorted(
                (ReachedNode(node, path) for node, path in reached.items()),
                key=lambda one: (self.is_supporting(one.node), -one.path.confidence, one.node),
            )
        return found

    def shortest_paths(
        self, starts: Sequence[GraphNode], goals: Sequence[GraphNode], hops: int, limit: int
    ) -> list[UsePath]:
        """Return the shortest paths over uses in either direction, one for each reached goal."""
        ends = {*goals}
        self._reset()
        before: dict[GraphNode, tuple[GraphNode, UseLink] | None] = dict.fromkeys(starts)
        queue = deque((node, 0) for node in before)
        found: list[UsePath] = []
        while queue and len(found) < limit and self._within_limit():
            node, length = queue.popleft()
            if found and length > len(found[0].links):
                break
            if node in ends and length:
                found.append(_path_to(node, before))
            elif length < hops:
                for link, other in self._neighbors(node):
                    if other not in before:
                        before[other] = node, link
                        queue.append((other, length + 1))
        return found

    def _neighbors(self, node: GraphNode) -> list[tuple[UseLink, GraphNode]]:
        ahead = [(link, GraphNode(link.target_file, link.target)) for link in self.uses(node)]
        behind = [(link, GraphNode(link.source_file, link.source)) for link in self.users(node)]
        return sorted([*ahead, *behind], key=lambda one: (-one[0].confidence, self.is_supporting(one[1])))

    def _distances(self, goals: Sequence[GraphNode], hops: int) -> dict[GraphNode, int]:
        """Return the number of calls from each node to the nearest goal, up to `hops`."""
        self._reset()
        found = dict.fromkeys(goals, 0)
        queue = deque(found)
        while queue and self._within_limit():
            node = queue.popleft()
            if found[node] == hops:
                continue
            for link in self.users(node, CALL_KINDS):
                user = GraphNode(link.source_file, link.source)
                if user not in found:
                    found[user] = found[node] + 1
                    queue.append(user)
        return found

    def _extensions(self, path: UsePath, links: Sequence[UseLink]) -> list[tuple[UseLink, GraphNode]]:
        """Return the targets of these uses that are not on the path yet, once each."""
        found: dict[GraphNode, UseLink] = {}
        for link in links:
            node = GraphNode(link.target_file, link.target)
            if node not in path.nodes:
                found.setdefault(node, link)
        return [(link, node) for node, link in found.items()]

    def _weight(self, node: GraphNode) -> float:
        return 0.8 if self.is_supporting(node) else 1.0

    def _reset(self) -> None:
        self._visited = 0

    def _within_limit(self) -> bool:
        self._visited += 1
        if self._visited > MAX_VISITED:
            self.ended_early = True
        return self._visited <= MAX_VISITED

    def _sorted(
        self, links: Iterable[UseLink], kinds: Collection[UseKind] | None, other: Callable[[UseLink], GraphNode]
    ) -> list[UseLink]:
        wanted = links if kinds is None else [link for link in links if link.kind in kinds]
        return sorted(
            dict.fromkeys(wanted), key=lambda link: (-link.confidence, self.is_supporting(other(link)), link.line)
        )


def _path_to(node: GraphNode, before: "dict[GraphNode, tuple[GraphNode, UseLink] | None]") -> UsePath:
    nodes, links = [node], list[UseLink]()
    while (step := before[node]) is not None:
        node, link = step
        nodes.append(node)
        links.append(link)
    return UsePath(tuple(reversed(nodes)), tuple(reversed(links)))
