"""Answers a question from an index: step by step, with evidence, and saying what is a guess and what there is not.

This module imports numpy, which takes a while: import it where it is needed.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from posixpath import dirname
from typing import NamedTuple

import anyio.to_thread

from scrubjay.code_index.facts.words import words_of
from scrubjay.code_index.models import Import, SymbolKind, UseKind
from scrubjay.code_index.questions.evidence import MOST_EVIDENCE, Evidence, Item, Pool, Sentence, printable
from scrubjay.code_index.questions.impact import impact_of_rows
from scrubjay.code_index.questions.intents import Intent
from scrubjay.code_index.questions.locations import (
    ENVIRONMENT,
    ENVIRONMENT_WORDS,
    Mention,
    environment_names,
    external_imports,
    files_named,
    files_with,
    import_lines,
    mentions,
)
from scrubjay.code_index.questions.parser import Inquiry, Subject, inquiries
from scrubjay.code_index.questions.traversal import CALLING, GUESS, TYPES, Node, Walker, Way
from scrubjay.code_index.search.use_graph import Link, Links
from scrubjay.code_index.service import FULL, CodeService, Loaded

FLOW_HOPS = 3
# From one thing to another there may be more between than one wants to read of all that one thing calls.
REACH_HOPS = 6
RELATED_HOPS = 5
MOST_PATHS = 5
MOST_CONNECTIONS = 3
MOST_DEFINITIONS = 3
MOST_SEEDS = 2
MOST_FOUND = 5
# Of more uses than these only the number is told.
MOST_USES = 2 * MOST_EVIDENCE
# A hit that is worth less than this share of the best is none.
LEAST_SHARE = 0.35
LEAST_SEED = 0.6
PER_HOP = 0.9
OF_TESTS = 0.8
BY_LETTERS = 0.45
LONGEST_TOLD = 160

_VERBS = {
    UseKind.CALL: "calls",
    UseKind.NEW: "makes",
    UseKind.INHERIT: "inherits from",
    UseKind.DECORATE: "is decorated by",
    UseKind.RAISE: "raises",
    UseKind.CATCH: "catches",
    UseKind.TYPE: "names as a type",
    UseKind.READ: "reads",
    UseKind.WRITE: "writes",
}
# Words of which every part of a program is full.
_GENERAL = frozenset(
    words_of("system code codebase process flow logic mechanism feature implementation project app application program")
) | frozenset(words_of("work works working module component part whole everything thing function method class"))
_VALUES = frozenset({SymbolKind.CONSTANT, SymbolKind.VARIABLE, SymbolKind.FIELD, SymbolKind.MEMBER, SymbolKind.SECTION})
_RUNNING = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR})
_IMPORTING = re.compile(r"^\s*(?:import|from|use|using|require|#include|export\s+\{|const .*=\s*require)\b")


class ReasoningStep(NamedTuple):
    """Something that was looked up on the way to an answer."""

    intent: Intent
    query: str
    results_count: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered, and by what."""

    steps: Sequence[ReasoningStep]
    evidence: Sequence[Evidence]
    """The most relevant first; sentences name them by their place, counted from 1."""
    text: str
    truncated: bool


async def answered(
    question: str, code: CodeService, loaded: Loaded, *, context_lines: int, token_budget: int
) -> Answer:
    """The answer to a question, within a budget."""
    inquest = _Inquest(code, loaded, await code.links(loaded))
    for inquiry in inquiries(question):
        await inquest.look_into(inquiry)
    shown = await inquest.pool.shown(code, inquest.sentences, context_lines, token_budget)
    text = shown.answer
    for paths, become in (
        (shown.changed, "is not shown"),
        (sorted({printable(one.file.path) for one in shown.evidence if one.stale}), "is shown as it was then"),
    ):
        if paths:
            told = ", ".join(paths[:3]) + (" and more" if len(paths) > 3 else "")
            text = f"{text} What is in {told} has changed since it was indexed and {become}.".strip()
    truncated = shown.truncated or inquest.walker.ended_early or inquest.unread > 0
    return Answer(inquest.steps, shown.evidence, text, truncated or bool(shown.changed))


class _Inquest:
    """One question being answered."""

    def __init__(self, code: CodeService, loaded: Loaded, links: Links) -> None:
        self._code = code
        self._loaded = loaded
        self._names = loaded.names
        self._corpus = loaded.corpus
        self._links = links
        self.walker = Walker(loaded.corpus, links)
        self.pool = Pool(loaded)
        self.steps: list[ReasoningStep] = []
        self.sentences: list[Sentence] = []
        self.unread = 0

    async def look_into(self, inquiry: Inquiry) -> None:
        match inquiry.intent:
            case Intent.SYMBOL if inquiry.only == "members":
                await self._members(inquiry.subject, inquiry.parts)
            case Intent.SYMBOL:
                await self._symbol(inquiry.subject)
            case Intent.FILE:
                await self._file(inquiry.subject)
            case Intent.IMPORT:
                await self._imports(inquiry.subject, incoming=inquiry.incoming)
            case Intent.CALLGRAPH if inquiry.only == "tests":
                await self._tests(inquiry.subject)
            case Intent.CALLGRAPH:
                await self._calls(inquiry.subject, incoming=inquiry.incoming)
            case Intent.USAGE:
                await self._usage(inquiry.subject)
            case Intent.FLOW if inquiry.other is not None:
                await self._reach(inquiry.subject, inquiry.other)
            case Intent.FLOW:
                await self._flow(inquiry.subject)
            case Intent.RAISE | Intent.CATCH:
                await self._errors(inquiry)
            case Intent.CONFIGURATION:
                await self._configuration(inquiry.subject)
            case Intent.RELATIONSHIP:
                await self._relationship(inquiry.subject, inquiry.other or inquiry.subject)
            case Intent.SEARCH:
                await self._search(inquiry.subject.text)

    # -- what is meant -------------------------------------------------------------------------------

    def _step(self, intent: Intent, query: str, count: int) -> None:
        step = ReasoningStep(intent, query, count)
        if step not in self.steps:
            self.steps.append(step)

    def _say(self, begin: str, items: Iterable[Item] = (), more: int = 0) -> None:
        sentence = Sentence(begin, tuple(items), more)
        if sentence not in self.sentences:
            self.sentences.append(sentence)

    def _found(self, subject: Subject) -> list[int]:
        rows = self._names.find(subject.name) if subject.name else []
        self._step(Intent.SYMBOL, subject.name or subject.text, len(rows))
        return rows

    def _is_missing(self, name: str) -> None:
        """Say that there is no such name, and which there are."""
        last = re.split(r"::|[.#/]|->", name)[-1]
        qualified = [self._names.qualified(row) for row in self._names.find(last)[:MOST_DEFINITIONS]]
        near = list(dict.fromkeys([*(qualified if last != name else ()), *self._names.similar(name)]))
        self._say(f"Nothing is called `{name}` in this repository.")
        if near:
            self._say(f"The nearest names are {', '.join(f'`{one}`' for one in near[:5])}.")

    async def _missing_or_words(self, subject: Subject) -> None:
        """Nothing has this name: that is the answer, unless it may have been a word."""
        self._is_missing(subject.name)
        if not subject.certain:
            await self._search(subject.text)

    # -- naming things -------------------------------------------------------------------------------

    def _path(self, file: int) -> str:
        return self._corpus.files[file].path.encode("utf-8", "backslashreplace").decode()

    def _called(self, node: Node) -> str:
        return f"`{self._names.qualified(node.symbol)}`" if node.symbol >= 0 else f"the top of {self._path(node.file)}"

    def _relevance(self, link: Link, node: Node, hops: int = 1) -> float:
        weight = OF_TESTS if self.walker.is_beside(node) else 1.0
        return link.confidence * weight * PER_HOP ** (hops - 1) * 0.99

    def _users(self, found: Mapping[Node, Sequence[Link]]) -> list[Item]:
        """Who uses, with all lines."""
        return [
            Item(
                f"{self._called(node)} ({self._path(node.file)}:{_numbers(link.line for link in own)})",
                tuple(
                    dict.fromkeys(
                        self.pool.use(link.source_file, link.source, link.line, self._relevance(link, node))
                        for link in own
                    )
                ),
            )
            for node, own in found.items()
        ]

    def _used(self, found: Mapping[Node, Sequence[Link]]) -> list[Item]:
        """What is used; the evidence is the place of the use."""
        items: list[Item] = []
        for node, own in found.items():
            pieces = [
                self.pool.use(link.source_file, link.source, link.line, self._relevance(link, node)) for link in own
            ]
            if node.symbol >= 0:
                self.pool.symbol(node.symbol, self._relevance(own[0], node, hops=2))
            where = (
                f"{self._path(node.file)}:{int(self._corpus.symbols.lines[node.symbol])}" if node.symbol >= 0 else ""
            )
            items.append(Item(f"{self._called(node)}{f' ({where})' if where else ''}", tuple(dict.fromkeys(pieces))))
        return items

    def _tell_users(self, begin: str, links: Iterable[Link]) -> None:
        self._tell(begin, _by_node(links, lambda link: Node(link.source_file, link.source)), self._users)

    def _tell_used(self, begin: str, links: Iterable[Link]) -> None:
        self._tell(begin, _by_node(links, lambda link: Node(link.target_file, link.target)), self._used)

    def _tell(
        self,
        begin: str,
        found: Mapping[Node, Sequence[Link]],
        items: Callable[[Mapping[Node, Sequence[Link]]], list[Item]],
    ) -> None:
        """What is sure, and then what is a guess; the program itself before tests."""
        order = sorted(found, key=lambda node: (self.walker.is_beside(node), -round(found[node][0].confidence, 1)))
        sure = [node for node in order if found[node][0].confidence >= GUESS]
        guesses = [node for node in order if found[node][0].confidence < GUESS]
        by_name = f"By the name alone, which is a guess: {begin[0].lower()}{begin[1:]}"
        for said, nodes in ((begin, sure), (by_name, guesses)):
            if nodes:
                shown = {node: found[node] for node in nodes[:MOST_USES]}
                self._say(said, items(shown), len(nodes) - len(shown))

    # -- definitions, files --------------------------------------------------------------------------

    async def _symbol(self, subject: Subject) -> None:
        rows = self._found(subject)
        if not rows:
            if files := files_named(subject.name, self._corpus):
                await self._tell_files(subject.name, files)
                return
            await self._missing_or_words(subject)
            return
        await self._define(rows)

    async def _define(self, rows: Sequence[int]) -> None:
        for place, row in enumerate(rows[:MOST_DEFINITIONS]):
            file = int(self._corpus.symbols.files[row])
            facts = await self._code.facts(self._loaded, self._corpus.files[file].path)
            symbol = facts.symbols[row - int(self._corpus.first_symbols[file])]
            where = f"{self._path(file)}:{symbol.line}"
            signature = f", `{_shortened(symbol.signature)}`" if symbol.signature else ""
            doc = _first_sentence(symbol.doc)
            piece = self.pool.symbol(row, 1.0 - 0.05 * place)
            text = f"{_article(symbol.kind)} at {where}{signature}{f' ({doc})' if doc else ''}"
            self._say(f"`{self._names.qualified(row)}` is", [Item(text, (piece,))])
        if len(rows) > MOST_DEFINITIONS:
            self._say(f"{len(rows) - MOST_DEFINITIONS} more definitions have this name.")

    async def _members(self, subject: Subject, parts: str) -> None:
        """What of some kind is in a definition, or in a file."""
        rows = self._found(subject)
        files = [] if rows else files_named(subject.name, self._corpus)
        if not rows and not files:
            await self._missing_or_words(subject)
            return
        containers = self._corpus.symbols.containers
        own = [(row, self.walker.within(row)) for row in rows[:MOST_DEFINITIONS]]
        own += [(-1, list(self.walker.symbols_of(file))) for file in files[:MOST_DEFINITIONS]]
        for holder, inner in own:
            members = [
                row
                for row in [*(row for row in inner if int(containers[row]) == holder), *self._outside(holder)]
                if _is_part(self.walker.kind(row), parts)
            ]
            name = self._names.qualified(holder) if holder >= 0 else subject.name
            self._step(Intent.SYMBOL, name, len(members))
            items = [self._member(row) for row in members[:MOST_USES]]
            if items:
                self._say(f"`{name}` has", items, len(members) - len(items))
            else:
                self._say(f"No {parts} are known to be defined in `{name}`.")

    def _outside(self, holder: int) -> list[int]:
        """What belongs to a type and stands outside of it, in the files of its folder: the methods of Go."""
        if holder < 0:
            return []
        corpus, files = self._corpus, self._corpus.symbols.files
        here = corpus.files[int(files[holder])]

        def is_beside(row: int) -> bool:
            other = corpus.files[int(files[row])]
            is_same = other.content.language is here.content.language
            return is_same and bool(corpus.alive[int(files[row])]) and dirname(other.path) == dirname(here.path)

        return [row for row, owner in corpus.owners.items() if owner == corpus.names[holder] and is_beside(row)]

    def _member(self, row: int) -> Item:
        file, line = int(self._corpus.symbols.files[row]), int(self._corpus.symbols.lines[row])
        text = f"the {self.walker.kind(row).value} `{self._corpus.names[row]}` ({self._path(file)}:{line})"
        return Item(text, (self.pool.lines(file, line, line, 0.8, row),))

    async def _tell_files(self, name: str, files: Sequence[int]) -> None:
        self._step(Intent.FILE, name, len(files))
        items: list[Item] = []
        for file in files[:MOST_FOUND]:
            facts = await self._code.facts(self._loaded, self._corpus.files[file].path)
            doc = _first_sentence(facts.doc)
            piece = self.pool.lines(file, 1, min(max(1, facts.lines), 20), 0.9)
            items.append(Item(f"{self._path(file)}{f' ({doc})' if doc else ''}", (piece,)))
        self._say(f"`{name}` is" if len(files) == 1 else f"`{name}` may be", items, len(files) - len(items))

    async def _file(self, subject: Subject) -> None:
        rows = self._names.find(subject.name) if subject.name else []
        if subject.certain and rows:
            self._step(Intent.FILE, subject.name, len({int(self._corpus.symbols.files[row]) for row in rows}))
            await self._define(rows)
            return
        if subject.name and (files := files_named(subject.name, self._corpus)):
            await self._tell_files(subject.name, files)
            if subject.certain:
                return
        elif subject.certain:
            self._step(Intent.FILE, subject.name, 0)
            self._is_missing(subject.name)
            return
        await self._search(subject.text, Intent.FILE)

    async def _search(self, text: str, intent: Intent = Intent.SEARCH) -> None:
        found = await anyio.to_thread.run_sync(self._loaded.ranker.rank, text, MOST_FOUND)
        hits = [hit for hit in found if hit.chunk >= 0 and hit.score >= LEAST_SHARE * found[0].score]
        self._step(intent, text, len(hits))
        items: list[Item] = []
        chunks = self._corpus.chunks
        for hit in hits:
            first, last = chunks.spans[hit.chunk][2:].tolist()
            symbol = int(chunks.symbols[hit.chunk])
            piece = self.pool.lines(hit.file, first, last, min(1.0, hit.score / FULL), symbol)
            of = f" (`{self._names.qualified(symbol)}`)" if symbol >= 0 else ""
            items.append(Item(f"{self._path(hit.file)}:{first}-{last}{of}", (piece,)))
        if items:
            self._say("The words fit best to", items)
        else:
            self._say(f"Nothing in this repository fits the words “{_shortened(text)}”.")

    # -- imports -------------------------------------------------------------------------------------

    async def _imports(self, subject: Subject, *, incoming: bool) -> None:
        files = files_named(subject.name, self._corpus)
        rows = [] if files else self._names.find(subject.name)
        if rows and not incoming:
            self._found(subject)
            await self._dependencies(rows)
        elif files or rows:
            await self._imports_of(subject.name, files or [int(self._corpus.symbols.files[rows[0]])], incoming=incoming)
            if rows:
                await self._usage(subject)
        elif incoming:
            await self._imports_of_library(subject)
        else:
            self._step(Intent.IMPORT, subject.name, 0)
            await self._missing_or_words(subject)

    async def _dependencies(self, rows: Sequence[int]) -> None:
        """What a definition, with all that is in it, uses of what is outside of it."""
        nodes = self.walker.whole(rows[:MOST_DEFINITIONS])
        inside = {*nodes}
        links = [
            link
            for node in nodes
            for link in self.walker.used(node)
            if Node(link.target_file, link.target) not in inside
        ]
        name = self._names.qualified(rows[0])
        self._step(Intent.IMPORT, name, len({(link.target_file, link.target) for link in links}))
        self._tell_used(f"`{name}` uses", links)
        if not links:
            self._say(f"No use of anything else in this repository is known of `{name}`.")

    async def _imports_of(self, name: str, files: Sequence[int], *, incoming: bool) -> None:
        inside = {*files}
        pairs = [
            (source, target)
            for source, targets in self._links.imports.items()
            for target in targets
            if (target in inside and source not in inside if incoming else source in inside and target not in inside)
        ]
        pairs.sort(key=lambda pair: (self.walker.is_beside(Node(pair[0], -1)), self._path(pair[0]), pair[1]))
        found: dict[int, list[tuple[int, int]]] = {}
        for pair in pairs:
            found.setdefault(pair[0] if incoming else pair[1], []).append(pair)
        items = [
            Item(
                self._path(file), tuple(dict.fromkeys([self._import_piece(*await self._import(*pair)) for pair in own]))
            )
            for file, own in [*found.items()][:MOST_USES]
        ]
        shown = self._path(files[0]) if len(files) == 1 else f"`{name}`"
        libraries = await (self._importing(name, inside) if incoming else self._libraries(files))
        self._step(Intent.IMPORT, name, len(found) + len(libraries))
        if items:
            self._say(f"{shown} is imported by" if incoming else f"{shown} imports", items, len(found) - len(items))
        if libraries and incoming:
            self._say(f"What is called `{name}` outside of this repository is imported by", libraries)
        elif libraries:
            self._say(f"From outside of this repository {shown} imports", libraries)
        if not items and not libraries:
            self._say(f"No file of this repository imports {shown}." if incoming else f"{shown} imports nothing.")

    async def _import(self, source: int, target: int) -> tuple[int, Sequence[Import]]:
        facts = await self._code.facts(self._loaded, self._corpus.files[source].path)
        defined = [self._corpus.names[row] for row in self.walker.symbols_of(target)]
        return source, import_lines(facts, self._corpus.files[target].path, defined) or facts.imports[:1]

    def _import_piece(self, file: int, imports: Sequence[Import]) -> int:
        lines = [one.line for one in imports] or [1]
        weight = OF_TESTS if self.walker.is_beside(Node(file, -1)) else 1.0
        return self.pool.lines(file, min(lines), min(lines), 0.95 * weight)

    async def _libraries(self, files: Sequence[int]) -> list[Item]:
        """What these files import that no file of the repository is."""
        found: dict[str, list[int]] = {}
        for file in files[:MOST_FOUND]:
            facts = await self._code.facts(self._loaded, self._corpus.files[file].path)
            inner = [
                one for target in self._links.imports.get(file, []) for one in (await self._import(file, target))[1]
            ]
            for one in facts.imports:
                if one.module and one not in inner and not one.module.startswith("."):
                    found.setdefault(one.module, []).append(self._import_piece(file, [one]))
        return [Item(f"`{module}`", tuple(dict.fromkeys(pieces))) for module, pieces in found.items()]

    async def _importing(self, name: str, inside: Collection[int] = ()) -> list[Item]:
        """Who imports what is called so and is none of these files."""
        items: list[Item] = []
        for file in files_with([re.split(r"[./:]", name.strip("./@"))[-1]], self._corpus)[:MOST_USES]:
            facts = await self._code.facts(self._loaded, self._corpus.files[file].path)
            own = external_imports(facts, name)
            if own and not any(target in inside for target in self._links.imports.get(file, ())):
                items.append(Item(f"{self._path(file)}:{own[0].line}", (self._import_piece(file, own),)))
        return items

    async def _imports_of_library(self, subject: Subject) -> None:
        items = await self._importing(subject.name)
        self._step(Intent.IMPORT, subject.name, len(items))
        if items:
            self._say(f"`{subject.name}` is not in this repository; it is imported by", items)
        else:
            await self._missing_or_words(subject)

    # -- calls, usage --------------------------------------------------------------------------------

    async def _calls(self, subject: Subject, *, incoming: bool) -> None:
        rows = self._found(subject)
        if not rows:
            if not (incoming and self._uses_of_outside(subject, Intent.CALLGRAPH, CALLING, "called")):
                await self._missing_or_words(subject)
            return
        called = self._spoken(rows)
        if incoming:
            links = [link for row in rows for link in self.walker.callers(row)]
            self._step(Intent.CALLGRAPH, called, len({(link.source_file, link.source) for link in links}))
            self._tell_users(f"`{called}` is called by", links)
            if not links:
                self._say(f"No call of `{called}` is known in this repository.")
        else:
            nodes = self.walker.whole(rows)
            links = [link for node in nodes for link in self.walker.called(node)]
            self._step(Intent.CALLGRAPH, called, len({(link.target_file, link.target) for link in links}))
            self._tell_used(f"`{called}` calls", links)
            outside = self._calls_outside(nodes)
            if outside:
                self._say("Of what is not in this repository, or cannot be told, it calls", outside)
            if not links and not outside:
                self._say(f"`{called}` calls nothing.")
        for row in rows[:MOST_DEFINITIONS]:
            self.pool.symbol(row, 0.6)

    async def _tests(self, subject: Subject) -> None:
        """Which tests reach a definition, directly or through others."""
        rows = self._found(subject)
        if not rows:
            await self._missing_or_words(subject)
            return
        called = self._spoken(rows)
        found = await anyio.to_thread.run_sync(impact_of_rows, rows, self._loaded, self._links, FLOW_HOPS)
        self._step(Intent.CALLGRAPH, called, len(found.tests))
        tests = sorted(found.tests, key=lambda one: (one.hops, -one.way.confidence))
        items = [
            Item(
                f"{self._called(one.node)} ({self._path(link.source_file)}:{link.line}"
                f"{f', through {one.hops - 1} more' if one.hops > 1 else ''})",
                (self.pool.use(link.source_file, link.source, link.line, self._relevance(link, one.node, one.hops)),),
            )
            for one in tests[:MOST_USES]
            if (link := one.way.links[-1])
        ]
        if items:
            self._say(f"`{called}` is reached by the tests", items, len(tests) - len(items))
        else:
            self._say(f"No test is known that reaches `{called}`.")
        for row in rows[:MOST_DEFINITIONS]:
            self.pool.symbol(row, 0.5)

    def _spoken(self, rows: Sequence[int]) -> str:
        """The name of what was found: qualified when it is one thing."""
        own = {self._names.qualified(row) for row in rows}
        return own.pop() if len(own) == 1 else self._corpus.names[rows[0]]

    def _calls_outside(self, nodes: Sequence[Node]) -> list[Item]:
        items: dict[str, Item] = {}
        for node in nodes:
            own = node.symbol - int(self._corpus.first_symbols[node.file])
            for one in self._links.unresolved.get(node.file, ()):
                if one.source == own and one.kind in CALLING and one.use not in items:
                    items[one.use] = Item(f"`{one.use}`", (self.pool.use(node.file, node.symbol, one.line, 0.5),))
        return [*items.values()]

    def _uses_of_outside(self, subject: Subject, intent: Intent, kinds: Collection[UseKind] | None, verb: str) -> bool:
        """Uses of a name that the repository does not define; whether there are any."""
        name = subject.name.replace("::", ".")
        items: list[Item] = []
        libraries: dict[str, None] = {}
        for file, unresolved in self._links.unresolved.items():
            for one in unresolved:
                if (one.use == name or one.use.endswith(f".{name}")) and (kinds is None or one.kind in kinds):
                    symbol = int(self._corpus.first_symbols[file]) + one.source if one.source >= 0 else -1
                    node = Node(file, symbol)
                    weight = OF_TESTS if self.walker.is_beside(node) else 1.0
                    piece = self.pool.use(file, symbol, one.line, 0.9 * weight)
                    items.append(Item(f"{self._called(node)} ({self._path(file)}:{one.line})", (piece,)))
                    libraries.update({one.external: None} if one.external else {})
        self._step(intent, subject.name, len(items))
        if items:
            source = f" (it comes from {', '.join(libraries)})" if libraries else ""
            self._say(f"`{subject.name}` is not defined in this repository{source}; it is {verb} in", items)
        return bool(items)

    def _is_of_outside(self, name: str) -> bool:
        """Whether something that the repository does not define is used by this name."""
        dotted = f".{name.replace('::', '.')}"
        return any(f".{one.use}".endswith(dotted) for own in self._links.unresolved.values() for one in own)

    async def _usage(self, subject: Subject) -> None:
        rows = self._found(subject)
        if not rows:
            if not self._uses_of_outside(subject, Intent.USAGE, None, "used"):
                await self._missing_or_words(subject)
            return
        called = self._spoken(rows)
        links = [link for row in rows for link in self.walker.users(self.walker.node(row))]
        # Where the making of something is known as a use of its constructor only, it is a use of the type too.
        known = {(link.source_file, link.source, link.line) for link in links if link.kind in CALLING}
        made = [link for row in rows for link in self.walker.callers(row)]
        links += [link for link in made if (link.source_file, link.source, link.line) not in known]
        count = len({(link.source_file, link.source) for link in links})
        mentioned: list[Mention] = []
        if not links or all(self.walker.kind(row) in _VALUES for row in rows):
            mentioned = await self._mentioned(subject.name, rows)
        self._step(Intent.USAGE, called, count or len(mentioned))
        for kind, verb in _USED_BY.items():
            own = [link for link in links if link.kind is kind]
            self._tell_users(f"`{called}` is {verb}", own)
        if mentioned:
            more = max(0, len(mentioned) - MOST_USES)
            self._say(f"By its letters alone, `{called}` stands at", self._lines(mentioned, BY_LETTERS), more)
        if not links and not mentioned:
            self._say(f"No use of `{called}` is known in this repository.")
        for row in rows[:MOST_DEFINITIONS]:
            self.pool.symbol(row, 0.6)

    async def _mentioned(self, name: str, rows: Sequence[int]) -> list[Mention]:
        """The lines that have a name and do not define it."""
        last = re.split(r"::|[.#/]|->", name)[-1]
        found = await mentions(_as_word(last), [last], self._code, self._loaded)
        self.unread += found.unread
        own = {(int(self._corpus.symbols.files[row]), int(self._corpus.symbols.lines[row])) for row in rows}
        return [one for one in found.found if (one.file, one.line) not in own]

    def _lines(self, found: Sequence[Mention], relevance: float) -> list[Item]:
        return [
            Item(
                f"{self._path(one.file)}:{one.line}",
                (
                    self.pool.lines(
                        one.file,
                        one.line,
                        one.line,
                        relevance * (OF_TESTS if self.walker.is_beside(Node(one.file, -1)) else 1.0),
                    ),
                ),
            )
            for one in found[:MOST_USES]
        ]

    # -- flow, relationship --------------------------------------------------------------------------

    async def _flow(self, subject: Subject) -> None:
        rows = self._names.find(subject.name) if subject.name else []
        if rows:
            self._found(subject)
        elif subject.certain:
            self._found(subject)
            self._is_missing(subject.name)
            return
        else:
            words = [word for word in words_of(subject.text) if word not in _GENERAL and not word.startswith("=")]
            rows = await anyio.to_thread.run_sync(self._seeds, words)
            self._step(Intent.SYMBOL, ", ".join(self._names.qualified(row) for row in rows) or subject.text, len(rows))
            if not rows:
                await self._search(subject.text)
                return
            self._say(f"No definition is called “{_shortened(subject.text)}”; these names fit the words.")
        await self._define(rows[:MOST_SEEDS])
        for row in rows[:MOST_SEEDS]:
            await self._flow_of(row)
        if not subject.name:
            await self._search(subject.text)

    async def _flow_of(self, row: int) -> None:
        called = self._names.qualified(row)
        nodes = self.walker.whole([row])
        before = self.walker.callers(row)
        after = [link for node in nodes for link in self.walker.called(node)]
        self._step(Intent.CALLGRAPH, called, len({*before, *after}))
        self._tell_users(f"`{called}` is called by", before)
        ways = await anyio.to_thread.run_sync(self.walker.onward, nodes, FLOW_HOPS, MOST_PATHS)
        self._step(Intent.FLOW, called, len(ways))
        self._tell_ways("From there calls go", ways)
        if not ways:
            self._say(f"`{called}` calls nothing that is defined in this repository.")

    def _tell_ways(self, begin: str, ways: Sequence[Way]) -> None:
        for sure, said in ((True, begin), (False, f"{begin} (with a step that is a guess)")):
            own = [way for way in ways if all(link.confidence >= GUESS for link in way.links) is sure]
            if own:
                self._say(said, [self._way(way) for way in own])

    def _way(self, way: Way) -> Item:
        pieces = [
            self.pool.use(
                link.source_file, link.source, link.line, self._relevance(link, way.nodes[place + 1], place + 1)
            )
            for place, link in enumerate(way.links)
        ]
        last = way.nodes[-1]
        if last.symbol >= 0:
            pieces.append(self.pool.symbol(last.symbol, self._relevance(way.links[-1], last, len(way.nodes))))
        return Item(" → ".join(map(self._called, way.nodes)), tuple(dict.fromkeys(pieces)))

    def _seeds(self, words: Sequence[str]) -> list[int]:
        """The definitions whose names have most of these words and that most is done with."""
        if not words:
            return []
        corpus = self._corpus
        wanted = {*words}
        symbols = [
            (row, wanted.intersection(words_of(corpus.names[row])))
            for file in corpus.row_of.values()
            if not self.walker.is_beside(Node(file, -1))
            for row in self.walker.symbols_of(file)
        ]
        having = Counter(word for _, own in symbols for word in own)
        # What few definitions are called after tells more of what is meant.
        worth = {word: log1p(len(symbols) / count) for word, count in having.items()}
        found: list[tuple[float, int]] = []
        for row, own in symbols:
            if self.walker.kind(row) not in _RUNNING:
                continue
            outer = wanted.intersection(words_of(self._names.qualified(row)))
            if outer:
                uses = len(self._links.of(row)) + len(self._links.to(row))
                told = sum(worth[word] for word in own) + 0.5 * sum(worth.get(word, 0.0) for word in outer - own)
                found.append((told * (1 + 0.2 * min(1.0, uses / 5)) / len(words_of(corpus.names[row])) ** 0.2, row))
        found.sort(key=lambda one: (-one[0], one[1]))
        return [row for score, row in found[:MOST_SEEDS] if score >= LEAST_SEED * found[0][0]]

    async def _both(self, first: Subject, second: Subject) -> tuple[list[Node], list[Node]] | None:
        """The nodes that two names mean; None, and said so, when one means nothing."""
        nodes: list[list[Node]] = []
        for subject in (first, second):
            found = self.walker.whole(self._found(subject))
            if not found:
                found = [
                    node
                    for file in files_named(subject.name, self._corpus)
                    for node in (Node(file, -1), *map(self.walker.node, self.walker.symbols_of(file)))
                ]
            if not found:
                self._is_missing(subject.name)
            nodes.append(found)
        return (nodes[0], nodes[1]) if nodes[0] and nodes[1] else None

    async def _reach(self, first: Subject, second: Subject) -> None:
        if (both := await self._both(first, second)) is None:
            return
        walk = self.walker.between
        ways = await anyio.to_thread.run_sync(walk, both[0], both[1], REACH_HOPS, MOST_PATHS)
        self._step(Intent.FLOW, f"{first.name} → {second.name}", len(ways))
        self._tell_ways(f"`{first.name}` reaches `{second.name}` by", ways)
        if not ways:
            self._say(f"No calls lead from `{first.name}` to `{second.name}` within {REACH_HOPS} steps.")
            back = await anyio.to_thread.run_sync(walk, both[1], both[0], REACH_HOPS, MOST_PATHS)
            self._tell_ways("The other way round there is", back)

    async def _relationship(self, first: Subject, second: Subject) -> None:
        if (both := await self._both(first, second)) is None:
            return
        if {*both[0]} & {*both[1]}:
            self._step(Intent.RELATIONSHIP, f"{first.name} ↔ {second.name}", 1)
            shared = next(node for node in both[0] if node in both[1])
            items = [Item(self._called(shared), (self.pool.symbol(shared.symbol, 1.0),))] if shared.symbol >= 0 else []
            self._say(f"One of `{first.name}` and `{second.name}` is in the other:", items)
            return
        ways = await anyio.to_thread.run_sync(self.walker.shortest, *both, RELATED_HOPS, MOST_CONNECTIONS)
        self._step(Intent.RELATIONSHIP, f"{first.name} ↔ {second.name}", len(ways))
        if not ways:
            self._say(f"Nothing connects `{first.name}` and `{second.name}` within {RELATED_HOPS} steps.")
        for place, way in enumerate(ways):
            begin = "They are also connected:" if place else f"`{first.name}` and `{second.name}` are connected:"
            self._say(begin, [*map(self._said, way.links)])
            for node in (way.nodes[0], way.nodes[-1]):
                if node.symbol >= 0:
                    self.pool.symbol(node.symbol, 0.6)

    def _said(self, link: Link) -> Item:
        """One use in words."""
        source, target = Node(link.source_file, link.source), Node(link.target_file, link.target)
        guess = " (a guess)" if link.confidence < GUESS else ""
        piece = self.pool.use(link.source_file, link.source, link.line, self._relevance(link, source))
        return Item(f"{self._called(source)} {_VERBS[link.kind]} {self._called(target)}{guess}", (piece,))

    # -- errors --------------------------------------------------------------------------------------

    async def _errors(self, inquiry: Inquiry) -> None:
        intent, subject = inquiry.intent, inquiry.subject
        kind, done = (UseKind.RAISE, "raised") if intent is Intent.RAISE else (UseKind.CATCH, "caught")
        rows = self._found(subject)
        if not rows:
            if inquiry.incoming and self._uses_of_outside(subject, intent, {kind}, done):
                return
            if inquiry.incoming and self._is_of_outside(subject.name):
                self._say(f"No place in this repository is known where `{subject.name}` is {done}.")
                self._uses_of_outside(subject, Intent.USAGE, None, "used")
                return
            await self._missing_or_words(subject)
            return
        called = self._spoken(rows)
        if not inquiry.incoming:
            self._errors_of(called, rows, kind)
            return
        if intent is Intent.CATCH and not self._is_error(rows):
            # "Where is login handled" asks for what does it.
            await self._define(rows)
            return
        links = [link for row in rows for link in self.walker.users(self.walker.node(row), {kind})]
        self._step(intent, called, len(links))
        self._tell_users(f"`{called}` is {done} in", links)
        if not links:
            self._say(f"No place in this repository is known where `{called}` is {done}.")
            made = [link for row in rows for link in self.walker.users(self.walker.node(row), {UseKind.NEW})]
            if intent is Intent.RAISE:
                self._tell_users("It is only made in", made)
        self._errors_around(rows, intent, kind, done)
        for row in rows[:MOST_DEFINITIONS]:
            self.pool.symbol(row, 0.6)

    def _errors_around(self, rows: Sequence[int], intent: Intent, kind: UseKind, done: str) -> None:
        """What raises a kind of the error raises it, and what catches what it is a kind of catches it."""
        for row in self._kin(rows, derived=intent is Intent.RAISE):
            links = self.walker.users(self.walker.node(row), {kind})
            relation = "a kind of it," if intent is Intent.RAISE else "which it is a kind of,"
            if links:
                name = self._names.qualified(row)
                self._step(intent, name, len(links))
                self._tell_users(f"`{name}`, {relation} is {done} in", links)

    def _kin(self, rows: Sequence[int], *, derived: bool) -> list[int]:
        """What inherits from these, or what these inherit from, however far."""
        known = dict.fromkeys(rows)
        queue = [*rows]
        while queue:
            node = self.walker.node(queue.pop(0))
            walk = self.walker.users if derived else self.walker.used
            for link in walk(node, {UseKind.INHERIT}):
                other = link.source if derived else link.target
                if other >= 0 and other not in known and link.confidence >= GUESS:
                    known[other] = None
                    queue.append(other)
        return [row for row in known if row not in rows]

    def _is_error(self, rows: Sequence[int]) -> bool:
        return any(
            self.walker.kind(row) not in _RUNNING
            or self.walker.users(self.walker.node(row), {UseKind.RAISE, UseKind.CATCH})
            for row in rows
        )

    def _errors_of(self, called: str, rows: Sequence[int], kind: UseKind) -> None:
        verb = _VERBS[kind]
        nodes = self.walker.whole(rows)
        links = [link for node in nodes for link in self.walker.used(node, {kind})]
        items: dict[str, Item] = {}
        for node in nodes:
            own = node.symbol - int(self._corpus.first_symbols[node.file])
            for one in self._links.unresolved.get(node.file, ()):
                if one.source == own and one.kind is kind:
                    items[one.use] = Item(f"`{one.use}`", (self.pool.use(node.file, node.symbol, one.line, 0.9),))
        self._step(Intent.RAISE if kind is UseKind.RAISE else Intent.CATCH, called, len(links) + len(items))
        self._tell_used(f"`{called}` {verb}", links)
        if items:
            self._say(f"Of what is not in this repository, `{called}` {verb}", items.values())
        if not links and not items:
            self._say(f"`{called}` itself {verb} nothing that is known.")

    # -- configuration -------------------------------------------------------------------------------

    async def _configuration(self, subject: Subject) -> None:
        if not subject.name:
            await self._environment()
            return
        rows = self._found(subject)
        last = re.split(r"::|[.#/]|->", subject.name)[-1]
        found = await mentions(_as_word(last), [last], self._code, self._loaded)
        self.unread += found.unread
        self._step(Intent.CONFIGURATION, subject.name, len(found.found))
        if not rows and not found.found:
            await self._missing_or_words(subject)
            return
        if "." in subject.name and not rows:
            self._is_missing(subject.name)
            return
        if rows:
            await self._define([row for row in rows if self.walker.kind(row) in _VALUES] or rows)
        sorts: dict[str, list[Mention]] = {}
        own = {(int(self._corpus.symbols.files[row]), int(self._corpus.symbols.lines[row])) for row in rows}
        for one in found.found:
            sort = _sort_of(one.text, last)
            if (one.file, one.line) not in own or sort == "environment":
                sorts.setdefault(sort, []).append(one)
        for sort, (begin, relevance) in _SORTS.items():
            if here := sorts.get(sort):
                self._say(begin.format(last), self._lines(here, relevance), max(0, len(here) - MOST_USES))

    async def _environment(self) -> None:
        found = await mentions(ENVIRONMENT, ENVIRONMENT_WORDS, self._code, self._loaded)
        self.unread += found.unread
        variables: dict[str, list[Mention]] = {}
        for one in found.found:
            for name in environment_names(one.text):
                variables.setdefault(name, []).append(one)
        self._step(Intent.CONFIGURATION, "environment variables", len(variables))
        items = [
            Item(f"`{name}` ({item.text})", item.pieces)
            for name, own in variables.items()
            for item in self._lines(own[:1], 0.9)
        ]
        if items:
            self._say("These environment variables are read:", items)
        else:
            self._say("No read of an environment variable was found.")


_USED_BY: Mapping[UseKind, str] = {
    UseKind.CALL: "called by",
    UseKind.NEW: "made by",
    UseKind.INHERIT: "inherited from by",
    UseKind.DECORATE: "what decorates",
    UseKind.RAISE: "raised in",
    UseKind.CATCH: "caught in",
    UseKind.TYPE: "named as a type in",
    UseKind.READ: "read in",
    UseKind.WRITE: "written in",
}
_SORTS: Mapping[str, tuple[str, float]] = {
    "environment": ("`{}` is read from the environment at", 0.95),
    "set": ("`{}` is set at", 0.9),
    "read": ("`{}` is read at", 0.7),
    "imported": ("`{}` is imported at", 0.4),
}


def _by_node(links: Iterable[Link], node_of: Callable[[Link], Node]) -> dict[Node, list[Link]]:
    """The uses by one of their ends, the surest of each first."""
    found: dict[Node, list[Link]] = {}
    for link in sorted(links, key=lambda link: -link.confidence):
        found.setdefault(node_of(link), []).append(link)
    return found


def _sort_of(line: str, name: str) -> str:
    """What a line does with a setting."""
    if name in environment_names(line):
        return "environment"
    if _IMPORTING.match(line):
        return "imported"
    if re.search(rf"(?<![\w$]){re.escape(name)}['\"]?\]?\s*(?::(?![:\w])|=(?!=)|:=)", line):
        return "set"
    return "read"


def _as_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def _numbers(lines: Iterable[int]) -> str:
    return ",".join(str(line) for line in sorted({*lines})[:5])


def _shortened(text: str, characters: int = LONGEST_TOLD) -> str:
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}…"


def _first_sentence(doc: str) -> str:
    line = _shortened(doc.strip().split("\n\n", 1)[0])
    sentence = re.match(r"(.+?)[.!?](?:\s|$)", line)
    return (sentence[1] if sentence else line).strip()


def _is_part(kind: SymbolKind, parts: str) -> bool:
    match parts:
        case "methods" | "functions":
            return kind in _RUNNING or kind is SymbolKind.SIGNATURE
        case "fields" | "attributes" | "properties":
            return kind in _VALUES
        case "classes" | "types":
            return kind in TYPES
        case _:
            return True


def _article(kind: SymbolKind) -> str:
    noun = "entry" if kind is SymbolKind.SECTION else kind.value
    return f"an {noun}" if noun[:1] in "aeiou" else f"a {noun}"
