"""Answer questions about call paths: flow from a definition, reachability, relationships.

This module imports numpy, which is slow to load.
"""

from collections import Counter
from collections.abc import Sequence
from math import log1p

import anyio.to_thread

from scrubjay.code_index.facts.tokenizer import tokenize
from scrubjay.code_index.questions.answer_builder import (
    CALLABLE_KINDS,
    VERBS,
    AnswerBuilder,
    IntentAnswers,
    shorten,
)
from scrubjay.code_index.questions.definition_answers import DefinitionAnswers
from scrubjay.code_index.questions.evidence import Item
from scrubjay.code_index.questions.intents import Intent
from scrubjay.code_index.questions.locations import (
    files_named,
)
from scrubjay.code_index.questions.parser import Subject
from scrubjay.code_index.questions.traversal import GUESS_THRESHOLD, GraphNode, UsePath
from scrubjay.code_index.search.use_graph import UseLink

FLOW_HOPS = 3
# Between two given definitions, longer paths are acceptable than in a listing of everything called.
REACH_HOPS = 6
RELATED_HOPS = 5
MAX_PATHS = 5
MAX_CONNECTIONS = 3
MAX_SEEDS = 2
MIN_SEED_SHARE = 0.6
# Words that occur in every part of a program.
_GENERIC_WORDS = frozenset(
    tokenize("system code codebase process flow logic mechanism feature implementation project app application program")
) | frozenset(tokenize("work works working module component part whole everything thing function method class"))


class PathAnswers(IntentAnswers):
    """Answers how code flows from a definition, whether one reaches another, and how two are connected."""

    def __init__(self, builder: AnswerBuilder, definitions: DefinitionAnswers) -> None:
        super().__init__(builder)
        self._definitions = definitions

    async def flow(self, subject: Subject) -> None:
        rows = self._names.find(subject.name) if subject.name else []
        if rows:
            self._builder.find(subject)
        elif subject.certain:
            self._builder.find(subject)
            self._builder.report_missing(subject.name)
            return
        else:
            words = [word for word in tokenize(subject.text) if word not in _GENERIC_WORDS and not word.startswith("=")]
            rows = await anyio.to_thread.run_sync(self._seeds, words)
            self._builder.add_step(
                Intent.SYMBOL, ", ".join(self._names.qualified(row) for row in rows) or subject.text, len(rows)
            )
            if not rows:
                await self._definitions.search(subject.text)
                return
            self._builder.add_sentence(
                f"No definition is named “{shorten(subject.text)}”; these names match the words."
            )
        await self._definitions.define(rows[:MAX_SEEDS])
        for row in rows[:MAX_SEEDS]:
            await self._flow_of(row)
        if not subject.name:
            await self._definitions.search(subject.text)

    async def _flow_of(self, row: int) -> None:
        called = self._names.qualified(row)
        nodes = self._walker.with_members([row])
        before = self._walker.callers(row)
        after = [link for node in nodes for link in self._walker.callees(node)]
        self._builder.add_step(Intent.CALLGRAPH, called, len({*before, *after}))
        self._builder.list_users(f"`{called}` is called by", before)
        paths = await anyio.to_thread.run_sync(self._walker.call_paths_from, nodes, FLOW_HOPS, MAX_PATHS)
        self._builder.add_step(Intent.FLOW, called, len(paths))
        self._list_paths("Calls continue along", paths)
        if not paths:
            self._builder.add_sentence(f"`{called}` is not known to call anything in this repository.")

    def _list_paths(self, begin: str, paths: Sequence[UsePath]) -> None:
        for sure, opening in ((True, begin), (False, f"{begin} (with a guessed step)")):
            own = [path for path in paths if all(link.confidence >= GUESS_THRESHOLD for link in path.links) is sure]
            if own:
                self._builder.add_sentence(opening, [self._path_item(path) for path in own])

    def _path_item(self, path: UsePath) -> Item:
        pieces = [
            self._pool.use(
                link.source_file,
                link.source,
                link.line,
                self._builder.relevance(link, path.nodes[place + 1], place + 1),
            )
            for place, link in enumerate(path.links)
        ]
        last = path.nodes[-1]
        if last.symbol >= 0:
            pieces.append(
                self._pool.symbol(last.symbol, self._builder.relevance(path.links[-1], last, len(path.nodes)))
            )
        return Item(" → ".join(map(self._builder.name_of, path.nodes)), tuple(dict.fromkeys(pieces)))

    def _seeds(self, words: Sequence[str]) -> list[int]:
        """Return the functions that match the words best by name, preferring those with many uses."""
        if not words:
            return []
        corpus = self._corpus
        wanted = {*words}
        symbols = [
            (row, wanted.intersection(tokenize(corpus.names[row])))
            for file in corpus.row_of.values()
            if not self._walker.is_supporting(GraphNode(file, -1))
            for row in self._walker.symbols_of(file)
        ]
        having = Counter(word for _, own in symbols for word in own)
        # Words that few names contain count more.
        worth = {word: log1p(len(symbols) / count) for word, count in having.items()}
        found: list[tuple[float, int]] = []
        for row, own in symbols:
            if self._walker.kind(row) not in CALLABLE_KINDS:
                continue
            outer = wanted.intersection(tokenize(self._names.qualified(row)))
            if outer:
                uses = len(self._links.uses_by(row)) + len(self._links.users_of(row))
                score = sum(worth[word] for word in own) + 0.5 * sum(worth.get(word, 0.0) for word in outer - own)
                found.append((score * (1 + 0.2 * min(1.0, uses / 5)) / len(tokenize(corpus.names[row])) ** 0.2, row))
        found.sort(key=lambda one: (-one[0], one[1]))
        return [row for score, row in found[:MAX_SEEDS] if score >= MIN_SEED_SHARE * found[0][0]]

    async def _nodes_of_both(self, first: Subject, second: Subject) -> tuple[list[GraphNode], list[GraphNode]] | None:
        """Return the nodes of both subjects; report the missing one and return None if either is unknown."""
        nodes: list[list[GraphNode]] = []
        for subject in (first, second):
            found = self._walker.with_members(self._builder.find(subject))
            if not found:
                found = [
                    node
                    for file in files_named(subject.name, self._corpus)
                    for node in (GraphNode(file, -1), *map(self._walker.node, self._walker.symbols_of(file)))
                ]
            if not found:
                self._builder.report_missing(subject.name)
            nodes.append(found)
        return (nodes[0], nodes[1]) if nodes[0] and nodes[1] else None

    async def reach(self, first: Subject, second: Subject) -> None:
        if (both := await self._nodes_of_both(first, second)) is None:
            return
        walk = self._walker.call_paths_between
        paths = await anyio.to_thread.run_sync(walk, both[0], both[1], REACH_HOPS, MAX_PATHS)
        self._builder.add_step(Intent.FLOW, f"{first.name} → {second.name}", len(paths))
        self._list_paths(f"`{first.name}` reaches `{second.name}` via", paths)
        if not paths:
            self._builder.add_sentence(
                f"No calls lead from `{first.name}` to `{second.name}` within {REACH_HOPS} steps."
            )
            back = await anyio.to_thread.run_sync(walk, both[1], both[0], REACH_HOPS, MAX_PATHS)
            self._list_paths("In the opposite direction there is", back)

    async def relationship(self, first: Subject, second: Subject) -> None:
        if (both := await self._nodes_of_both(first, second)) is None:
            return
        if {*both[0]} & {*both[1]}:
            self._builder.add_step(Intent.RELATIONSHIP, f"{first.name} ↔ {second.name}", 1)
            shared = next(node for node in both[0] if node in both[1])
            items = (
                [Item(self._builder.name_of(shared), (self._pool.symbol(shared.symbol, 1.0),))]
                if shared.symbol >= 0
                else []
            )
            self._builder.add_sentence(f"One of `{first.name}` and `{second.name}` contains the other:", items)
            return
        paths = await anyio.to_thread.run_sync(self._walker.shortest_paths, *both, RELATED_HOPS, MAX_CONNECTIONS)
        self._builder.add_step(Intent.RELATIONSHIP, f"{first.name} ↔ {second.name}", len(paths))
        if not paths:
            self._builder.add_sentence(
                f"Nothing connects `{first.name}` and `{second.name}` within {RELATED_HOPS} steps."
            )
        for place, path in enumerate(paths):
            begin = "They are also connected:" if place else f"`{first.name}` and `{second.name}` are connected:"
            self._builder.add_sentence(begin, [*map(self._use_item, path.links)])
            for node in (path.nodes[0], path.nodes[-1]):
                if node.symbol >= 0:
                    self._pool.symbol(node.symbol, 0.6)

    def _use_item(self, link: UseLink) -> Item:
        """Return one use as a sentence."""
        source, target = GraphNode(link.source_file, link.source), GraphNode(link.target_file, link.target)
        guess = " (a guess)" if link.confidence < GUESS_THRESHOLD else ""
        piece = self._pool.use(link.source_file, link.source, link.line, self._builder.relevance(link, source))
        return Item(
            f"{self._builder.name_of(source)} {VERBS[link.kind]} {self._builder.name_of(target)}{guess}", (piece,)
        )
