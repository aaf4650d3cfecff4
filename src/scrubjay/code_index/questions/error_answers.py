"""Answer questions about raised and caught errors.

This module imports numpy, which is slow to load.
"""

from collections.abc import Sequence

from scrubjay.code_index.models import UseKind
from scrubjay.code_index.questions.answer_builder import (
    CALLABLE_KINDS,
    MAX_DEFINITIONS,
    VERBS,
    AnswerBuilder,
    IntentAnswers,
)
from scrubjay.code_index.questions.definition_answers import DefinitionAnswers
from scrubjay.code_index.questions.evidence import Item
from scrubjay.code_index.questions.intents import Intent
from scrubjay.code_index.questions.parser import CodeQuestion
from scrubjay.code_index.questions.traversal import GUESS_THRESHOLD
from scrubjay.code_index.questions.use_answers import UseAnswers


class ErrorAnswers(IntentAnswers):
    """Answers where an error is raised or caught, and which errors a definition raises or catches."""

    def __init__(self, builder: AnswerBuilder, definitions: DefinitionAnswers, uses: UseAnswers) -> None:
        super().__init__(builder)
        self._definitions = definitions
        self._uses = uses

    async def errors(self, parsed: CodeQuestion) -> None:
        intent, subject = parsed.intent, parsed.subject
        kind, done = (UseKind.RAISE, "raised") if intent is Intent.RAISE else (UseKind.CATCH, "caught")
        rows = self._builder.find(subject)
        if not rows:
            if parsed.incoming and self._uses.external_uses(subject, intent, {kind}, done):
                return
            if parsed.incoming and self._uses.is_external(subject.name):
                self._builder.add_sentence(f"No place where `{subject.name}` is {done} is known in this repository.")
                self._uses.external_uses(subject, Intent.USAGE, None, "used")
                return
            await self._definitions.missing_or_search(subject)
            return
        called = self._builder.display_name(rows)
        if not parsed.incoming:
            self._errors_of(called, rows, kind)
            return
        if intent is Intent.CATCH and not self._is_error(rows):
            # "Where is login handled" asks for the code that does it.
            await self._definitions.define(rows)
            return
        links = [link for row in rows for link in self._walker.users(self._walker.node(row), {kind})]
        self._builder.add_step(intent, called, len(links))
        self._builder.list_users(f"`{called}` is {done} in", links)
        if not links:
            self._builder.add_sentence(f"No place where `{called}` is {done} is known in this repository.")
            made = [link for row in rows for link in self._walker.users(self._walker.node(row), {UseKind.NEW})]
            if intent is Intent.RAISE:
                self._builder.list_users("It is only instantiated in", made)
        self._errors_around(rows, intent, kind, done)
        for row in rows[:MAX_DEFINITIONS]:
            self._pool.symbol(row, 0.6)

    def _errors_around(self, rows: Sequence[int], intent: Intent, kind: UseKind, done: str) -> None:
        """List where subtypes of the error are raised, or where its base types are caught."""
        for row in self._kin(rows, derived=intent is Intent.RAISE):
            links = self._walker.users(self._walker.node(row), {kind})
            relation = "subtype" if intent is Intent.RAISE else "base type"
            if links:
                name = self._names.qualified(row)
                self._builder.add_step(intent, name, len(links))
                self._builder.list_users(f"Its {relation} `{name}` is {done} in", links)

    def _kin(self, rows: Sequence[int], *, derived: bool) -> list[int]:
        """Return all direct and indirect subtypes or base types."""
        known = dict.fromkeys(rows)
        queue = [*rows]
        while queue:
            node = self._walker.node(queue.pop(0))
            walk = self._walker.users if derived else self._walker.uses
            for link in walk(node, {UseKind.INHERIT}):
                other = link.source if derived else link.target
                if other >= 0 and other not in known and link.confidence >= GUESS_THRESHOLD:
                    known[other] = None
                    queue.append(other)
        return [row for row in known if row not in rows]

    def _is_error(self, rows: Sequence[int]) -> bool:
        return any(
            self._walker.kind(row) not in CALLABLE_KINDS
            or self._walker.users(self._walker.node(row), {UseKind.RAISE, UseKind.CATCH})
            for row in rows
        )

    def _errors_of(self, called: str, rows: Sequence[int], kind: UseKind) -> None:
        verb = VERBS[kind]
        nodes = self._walker.with_members(rows)
        links = [link for node in nodes for link in self._walker.uses(node, {kind})]
        items: dict[str, Item] = {}
        for node in nodes:
            own = node.symbol - int(self._corpus.first_symbols[node.file])
            for one in self._links.unresolved.get(node.file, ()):
                if one.source == own and one.kind is kind:
                    items[one.use] = Item(f"`{one.use}`", (self._pool.use(node.file, node.symbol, one.line, 0.9),))
        self._builder.add_step(Intent.RAISE if kind is UseKind.RAISE else Intent.CATCH, called, len(links) + len(items))
        self._builder.list_targets(f"`{called}` {verb}", links)
        if items:
            self._builder.add_sentence(f"From outside this repository, `{called}` {verb}", items.values())
        if not links and not items:
            self._builder.add_sentence(f"No error that `{called}` itself {verb} is known.")
