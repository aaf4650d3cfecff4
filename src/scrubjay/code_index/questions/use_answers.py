"""Answer questions about calls, tests and other uses of a definition.

This module imports numpy, which is slow to load.
"""

import re
from collections.abc import Collection, Mapping, Sequence

import anyio.to_thread

from scrubjay.code_index.models import UseKind
from scrubjay.code_index.questions.answer_builder import (
    MAX_DEFINITIONS,
    MAX_USES,
    TEST_FACTOR,
    VALUE_KINDS,
    AnswerBuilder,
    IntentAnswers,
    word_pattern,
)
from scrubjay.code_index.questions.definition_answers import DefinitionAnswers
from scrubjay.code_index.questions.evidence import Item
from scrubjay.code_index.questions.impact import impact_of_rows
from scrubjay.code_index.questions.intents import Intent
from scrubjay.code_index.questions.locations import (
    TextOccurrence,
    find_occurrences,
)
from scrubjay.code_index.questions.parser import Subject
from scrubjay.code_index.questions.traversal import CALL_KINDS, GraphNode

# Hops from a definition to the tests that reach it.
TEST_HOPS = 3
TEXT_MATCH_RELEVANCE = 0.45
_USED_BY: Mapping[UseKind, str] = {
    UseKind.CALL: "called by",
    UseKind.NEW: "instantiated by",
    UseKind.INHERIT: "inherited from by",
    UseKind.DECORATE: "applied as a decorator to",
    UseKind.RAISE: "raised in",
    UseKind.CATCH: "caught in",
    UseKind.TYPE: "used as a type in",
    UseKind.READ: "read in",
    UseKind.WRITE: "written in",
}


class UseAnswers(IntentAnswers):
    """Answers who calls or uses something, what it calls, and which tests reach it."""

    def __init__(self, builder: AnswerBuilder, definitions: DefinitionAnswers) -> None:
        super().__init__(builder)
        self._definitions = definitions

    async def calls(self, subject: Subject, *, incoming: bool) -> None:
        rows = self._builder.find(subject)
        if not rows:
            if not (incoming and self.external_uses(subject, Intent.CALLGRAPH, CALL_KINDS, "called")):
                await self._definitions.missing_or_search(subject)
            return
        called = self._builder.display_name(rows)
        if incoming:
            links = [link for row in rows for link in self._walker.callers(row)]
            self._builder.add_step(Intent.CALLGRAPH, called, len({(link.source_file, link.source) for link in links}))
            self._builder.list_users(f"`{called}` is called by", links)
            if not links:
                self._builder.add_sentence(f"No call of `{called}` is known in this repository.")
        else:
            nodes = self._walker.with_members(rows)
            links = [link for node in nodes for link in self._walker.callees(node)]
            self._builder.add_step(Intent.CALLGRAPH, called, len({(link.target_file, link.target) for link in links}))
            self._builder.list_targets(f"`{called}` calls", links)
            outside = self._calls_outside(nodes)
            if outside:
                self._builder.add_sentence("External or unresolved names that it calls are", outside)
            if not links and not outside:
                self._builder.add_sentence(f"No calls by `{called}` are known.")
        for row in rows[:MAX_DEFINITIONS]:
            self._pool.symbol(row, 0.6)

    async def tests(self, subject: Subject) -> None:
        """List the tests that reach a definition, directly or indirectly."""
        rows = self._builder.find(subject)
        if not rows:
            await self._definitions.missing_or_search(subject)
            return
        called = self._builder.display_name(rows)
        found = await anyio.to_thread.run_sync(impact_of_rows, rows, self._loaded, self._links, TEST_HOPS)
        self._builder.add_step(Intent.CALLGRAPH, called, len(found.tests))
        tests = sorted(found.tests, key=lambda one: (one.hops, -one.path.confidence))
        items = [
            Item(
                f"{self._builder.name_of(one.node)} ({self._builder.path(link.source_file)}:{link.line}"
                f"{f', via {one.hops - 1} more' if one.hops > 1 else ''})",
                (
                    self._pool.use(
                        link.source_file, link.source, link.line, self._builder.relevance(link, one.node, one.hops)
                    ),
                ),
            )
            for one in tests[:MAX_USES]
            if (link := one.path.links[-1])
        ]
        if items:
            self._builder.add_sentence(f"`{called}` is reached by the tests", items, len(tests) - len(items))
        else:
            self._builder.add_sentence(f"No test is known to reach `{called}`.")
        for row in rows[:MAX_DEFINITIONS]:
            self._pool.symbol(row, 0.5)

    def _calls_outside(self, nodes: Sequence[GraphNode]) -> list[Item]:
        items: dict[str, Item] = {}
        for node in nodes:
            own = node.symbol - int(self._corpus.first_symbols[node.file])
            for one in self._links.unresolved.get(node.file, ()):
                if one.source == own and one.kind in CALL_KINDS and one.use not in items:
                    items[one.use] = Item(f"`{one.use}`", (self._pool.use(node.file, node.symbol, one.line, 0.5),))
        return [*items.values()]

    def external_uses(self, subject: Subject, intent: Intent, kinds: Collection[UseKind] | None, verb: str) -> bool:
        """Add the uses of a name that the repository does not define; return whether there are any."""
        name = subject.name.replace("::", ".")
        items: list[Item] = []
        libraries: dict[str, None] = {}
        for file, unresolved in self._links.unresolved.items():
            for one in unresolved:
                if (one.use == name or one.use.endswith(f".{name}")) and (kinds is None or one.kind in kinds):
                    symbol = int(self._corpus.first_symbols[file]) + one.source if one.source >= 0 else -1
                    node = GraphNode(file, symbol)
                    weight = TEST_FACTOR if self._walker.is_supporting(node) else 1.0
                    piece = self._pool.use(file, symbol, one.line, 0.9 * weight)
                    items.append(
                        Item(f"{self._builder.name_of(node)} ({self._builder.path(file)}:{one.line})", (piece,))
                    )
                    libraries.update({one.external: None} if one.external else {})
        self._builder.add_step(intent, subject.name, len(items))
        if items:
            source = f" (from {', '.join(libraries)})" if libraries else ""
            self._builder.add_sentence(
                f"`{subject.name}` is not defined in this repository{source}; it is {verb} in", items
            )
        return bool(items)

    def is_external(self, name: str) -> bool:
        """Return whether the repository uses this name without defining it."""
        dotted = f".{name.replace('::', '.')}"
        return any(f".{one.use}".endswith(dotted) for own in self._links.unresolved.values() for one in own)

    async def usage(self, subject: Subject) -> None:
        rows = self._builder.find(subject)
        if not rows:
            if not self.external_uses(subject, Intent.USAGE, None, "used"):
                await self._definitions.missing_or_search(subject)
            return
        called = self._builder.display_name(rows)
        links = [link for row in rows for link in self._walker.users(self._walker.node(row))]
        # An instantiation that is recorded only as a use of the constructor is a use of the type too.
        known = {(link.source_file, link.source, link.line) for link in links if link.kind in CALL_KINDS}
        made = [link for row in rows for link in self._walker.callers(row)]
        links += [link for link in made if (link.source_file, link.source, link.line) not in known]
        count = len({(link.source_file, link.source) for link in links})
        mentioned: list[TextOccurrence] = []
        if not links or all(self._walker.kind(row) in VALUE_KINDS for row in rows):
            mentioned = await self._occurrences(subject.name, rows)
        self._builder.add_step(Intent.USAGE, called, count or len(mentioned))
        for kind, verb in _USED_BY.items():
            own = [link for link in links if link.kind is kind]
            self._builder.list_users(f"`{called}` is {verb}", own)
        if mentioned:
            more = max(0, len(mentioned) - MAX_USES)
            self._builder.add_sentence(
                f"`{called}` occurs as text at",
                self._builder.occurrence_items(mentioned, TEXT_MATCH_RELEVANCE),
                more,
            )
        if not links and not mentioned:
            self._builder.add_sentence(f"No use of `{called}` is known in this repository.")
        for row in rows[:MAX_DEFINITIONS]:
            self._pool.symbol(row, 0.6)

    async def _occurrences(self, name: str, rows: Sequence[int]) -> list[TextOccurrence]:
        """Return the lines that contain a name and do not define it."""
        last = re.split(r"::|[.#/]|->", name)[-1]
        found = await find_occurrences(word_pattern(last), [last], self._code, self._loaded)
        self._builder.unread += found.unread
        own = {(int(self._corpus.symbols.files[row]), int(self._corpus.symbols.lines[row])) for row in rows}
        return [one for one in found.found if (one.file, one.line) not in own]
