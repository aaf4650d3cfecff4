"""Collect the reasoning steps, sentences and evidence of one answer.

This module imports numpy, which is slow to load.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from scrubjay.code_index.models import SymbolKind, UseKind
from scrubjay.code_index.questions.evidence import MAX_EVIDENCE, EvidencePool, Item, Sentence
from scrubjay.code_index.questions.intents import Intent
from scrubjay.code_index.questions.locations import (
    TextOccurrence,
)
from scrubjay.code_index.questions.parser import Subject
from scrubjay.code_index.questions.traversal import GUESS_THRESHOLD, GraphNode, GraphWalker
from scrubjay.code_index.search.use_graph import UseGraph, UseLink
from scrubjay.code_index.service import CodeService, LoadedIndex

MAX_DEFINITIONS = 3
MAX_HITS = 5
# Above this number of uses, only the count of the rest is given.
MAX_USES = 2 * MAX_EVIDENCE
# Relevance factors of evidence: per hop away from the subject, and for tests.
HOP_FACTOR = 0.9
TEST_FACTOR = 0.8
MAX_TEXT = 160

VERBS = {
    UseKind.CALL: "calls",
    UseKind.NEW: "instantiates",
    UseKind.INHERIT: "inherits from",
    UseKind.DECORATE: "is decorated by",
    UseKind.RAISE: "raises",
    UseKind.CATCH: "catches",
    UseKind.TYPE: "refers to the type",
    UseKind.READ: "reads",
    UseKind.WRITE: "writes",
}
VALUE_KINDS = frozenset(
    {SymbolKind.CONSTANT, SymbolKind.VARIABLE, SymbolKind.FIELD, SymbolKind.MEMBER, SymbolKind.SECTION}
)
CALLABLE_KINDS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR})


class ReasoningStep(NamedTuple):
    """A lookup made to answer a question."""

    intent: Intent
    query: str
    results_count: int


class AnswerBuilder:
    """Collects the parts of one answer, and names symbols and files in it."""

    def __init__(self, code: CodeService, loaded: LoadedIndex, links: UseGraph) -> None:
        self.code = code
        self.loaded = loaded
        self.names = loaded.names
        self.corpus = loaded.corpus
        self.links = links
        self.walker = GraphWalker(loaded.corpus, links)
        self.pool = EvidencePool(loaded)
        self.steps: list[ReasoningStep] = []
        self.sentences: list[Sentence] = []
        self.unread = 0
        """Files that could not be searched for mentions."""

    def add_step(self, intent: Intent, query: str, count: int) -> None:
        step = ReasoningStep(intent, query, count)
        if step not in self.steps:
            self.steps.append(step)

    def add_sentence(self, begin: str, items: Iterable[Item] = (), more: int = 0) -> None:
        sentence = Sentence(begin, tuple(items), more)
        if sentence not in self.sentences:
            self.sentences.append(sentence)

    def find(self, subject: Subject) -> list[int]:
        rows = self.names.find(subject.name) if subject.name else []
        self.add_step(Intent.SYMBOL, subject.name or subject.text, len(rows))
        return rows

    def report_missing(self, name: str) -> None:
        """Add that this name does not exist, with similar names."""
        last = re.split(r"::|[.#/]|->", name)[-1]
        qualified = [self.names.qualified(row) for row in self.names.find(last)[:MAX_DEFINITIONS]]
        near = list(dict.fromkeys([*(qualified if last != name else ()), *self.names.similar(name)]))
        self.add_sentence(f"This repository does not define `{name}`.")
        if near:
            self.add_sentence(f"Similar names are {', '.join(f'`{one}`' for one in near[:5])}.")

    def path(self, file: int) -> str:
        return self.corpus.files[file].path.encode("utf-8", "backslashreplace").decode()

    def name_of(self, node: GraphNode) -> str:
        return (
            f"`{self.names.qualified(node.symbol)}`"
            if node.symbol >= 0
            else f"module-level code of {self.path(node.file)}"
        )

    def relevance(self, link: UseLink, node: GraphNode, hops: int = 1) -> float:
        weight = TEST_FACTOR if self.walker.is_supporting(node) else 1.0
        return link.confidence * weight * HOP_FACTOR ** (hops - 1) * 0.99

    def _user_items(self, found: Mapping[GraphNode, Sequence[UseLink]]) -> list[Item]:
        """Return an item for each user, with its lines."""
        return [
            Item(
                f"{self.name_of(node)} ({self.path(node.file)}:{_numbers(link.line for link in own)})",
                tuple(
                    dict.fromkeys(
                        self.pool.use(link.source_file, link.source, link.line, self.relevance(link, node))
                        for link in own
                    )
                ),
            )
            for node, own in found.items()
        ]

    def _target_items(self, found: Mapping[GraphNode, Sequence[UseLink]]) -> list[Item]:
        """Return an item for each used definition; the evidence is the place of the use."""
        items: list[Item] = []
        for node, own in found.items():
            pieces = [
                self.pool.use(link.source_file, link.source, link.line, self.relevance(link, node)) for link in own
            ]
            if node.symbol >= 0:
                self.pool.symbol(node.symbol, self.relevance(own[0], node, hops=2))
            where = f"{self.path(node.file)}:{int(self.corpus.symbols.lines[node.symbol])}" if node.symbol >= 0 else ""
            items.append(Item(f"{self.name_of(node)}{f' ({where})' if where else ''}", tuple(dict.fromkeys(pieces))))
        return items

    def list_users(self, begin: str, links: Iterable[UseLink]) -> None:
        self._list_by_confidence(
            begin, _by_node(links, lambda link: GraphNode(link.source_file, link.source)), self._user_items
        )

    def list_targets(self, begin: str, links: Iterable[UseLink]) -> None:
        self._list_by_confidence(
            begin, _by_node(links, lambda link: GraphNode(link.target_file, link.target)), self._target_items
        )

    def _list_by_confidence(
        self,
        begin: str,
        found: Mapping[GraphNode, Sequence[UseLink]],
        items: Callable[[Mapping[GraphNode, Sequence[UseLink]]], list[Item]],
    ) -> None:
        """Add a sentence for resolved uses and one for guesses; program code comes before tests."""
        order = sorted(found, key=lambda node: (self.walker.is_supporting(node), -round(found[node][0].confidence, 1)))
        sure = [node for node in order if found[node][0].confidence >= GUESS_THRESHOLD]
        guesses = [node for node in order if found[node][0].confidence < GUESS_THRESHOLD]
        by_name = f"Guessed by name alone: {begin[0].lower()}{begin[1:]}"
        for opening, nodes in ((begin, sure), (by_name, guesses)):
            if nodes:
                shown = {node: found[node] for node in nodes[:MAX_USES]}
                self.add_sentence(opening, items(shown), len(nodes) - len(shown))

    def display_name(self, rows: Sequence[int]) -> str:
        """Return the qualified name if all rows share it, else the bare name."""
        own = {self.names.qualified(row) for row in rows}
        return own.pop() if len(own) == 1 else self.corpus.names[rows[0]]

    def occurrence_items(self, found: Sequence[TextOccurrence], relevance: float) -> list[Item]:
        return [
            Item(
                f"{self.path(one.file)}:{one.line}",
                (
                    self.pool.lines(
                        one.file,
                        one.line,
                        one.line,
                        relevance * (TEST_FACTOR if self.walker.is_supporting(GraphNode(one.file, -1)) else 1.0),
                    ),
                ),
            )
            for one in found[:MAX_USES]
        ]


class IntentAnswers:
    """Base of the classes that answer one kind of question; each adds to a shared `AnswerBuilder`."""

    def __init__(self, builder: AnswerBuilder) -> None:
        self._builder = builder
        self._code = builder.code
        self._loaded = builder.loaded
        self._names = builder.names
        self._corpus = builder.corpus
        self._links = builder.links
        self._walker = builder.walker
        self._pool = builder.pool


def _by_node(links: Iterable[UseLink], node_of: Callable[[UseLink], GraphNode]) -> dict[GraphNode, list[UseLink]]:
    """Group uses by one of their ends, each group by descending confidence."""
    found: dict[GraphNode, list[UseLink]] = {}
    for link in sorted(links, key=lambda link: -link.confidence):
        found.setdefault(node_of(link), []).append(link)
    return found


def _numbers(lines: Iterable[int]) -> str:
    return ",".join(str(line) for line in sorted({*lines})[:5])


def word_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def shorten(text: str, characters: int = MAX_TEXT) -> str:
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}…"


def first_sentence(doc: str) -> str:
    line = shorten(doc.strip().split("\n\n", 1)[0])
    sentence = re.match(r"(.+?)[.!?](?:\s|$)", line)
    return (sentence[1] if sentence else line).strip()
