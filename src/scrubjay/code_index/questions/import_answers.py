"""Answer questions about imports and dependencies.

This module imports numpy, which is slow to load.
"""

import re
from collections.abc import Collection, Sequence

from scrubjay.code_index.models import Import
from scrubjay.code_index.questions.answer_builder import (
    MAX_DEFINITIONS,
    MAX_HITS,
    MAX_USES,
    TEST_FACTOR,
    AnswerBuilder,
    IntentAnswers,
)
from scrubjay.code_index.questions.definition_answers import DefinitionAnswers
from scrubjay.code_index.questions.evidence import Item
from scrubjay.code_index.questions.intents import Intent
from scrubjay.code_index.questions.locations import (
    external_imports,
    files_named,
    files_with,
    import_lines,
)
from scrubjay.code_index.questions.parser import Subject
from scrubjay.code_index.questions.traversal import GraphNode
from scrubjay.code_index.questions.use_answers import UseAnswers


class ImportAnswers(IntentAnswers):
    """Answers what a file imports, who imports it, and what a definition depends on."""

    def __init__(self, builder: AnswerBuilder, definitions: DefinitionAnswers, uses: UseAnswers) -> None:
        super().__init__(builder)
        self._definitions = definitions
        self._uses = uses

    async def imports(self, subject: Subject, *, incoming: bool) -> None:
        files = files_named(subject.name, self._corpus)
        rows = [] if files else self._names.find(subject.name)
        if rows and not incoming:
            self._builder.find(subject)
            await self._dependencies(rows)
        elif files or rows:
            await self._imports_of(subject.name, files or [int(self._corpus.symbols.files[rows[0]])], incoming=incoming)
            if rows:
                await self._uses.usage(subject)
        elif incoming:
            await self._imports_of_library(subject)
        else:
            self._builder.add_step(Intent.IMPORT, subject.name, 0)
            await self._definitions.missing_or_search(subject)

    async def _dependencies(self, rows: Sequence[int]) -> None:
        """List what a definition and its members use outside of themselves."""
        nodes = self._walker.with_members(rows[:MAX_DEFINITIONS])
        inside = {*nodes}
        links = [
            link
            for node in nodes
            for link in self._walker.uses(node)
            if GraphNode(link.target_file, link.target) not in inside
        ]
        name = self._names.qualified(rows[0])
        self._builder.add_step(Intent.IMPORT, name, len({(link.target_file, link.target) for link in links}))
        self._builder.list_targets(f"`{name}` uses", links)
        if not links:
            self._builder.add_sentence(f"`{name}` is not known to use anything else in this repository.")

    async def _imports_of(self, name: str, files: Sequence[int], *, incoming: bool) -> None:
        inside = {*files}
        pairs = [
            (source, target)
            for source, targets in self._links.imports.items()
            for target in targets
            if (target in inside and source not in inside if incoming else source in inside and target not in inside)
        ]
        pairs.sort(
            key=lambda pair: (self._walker.is_supporting(GraphNode(pair[0], -1)), self._builder.path(pair[0]), pair[1])
        )
        found: dict[int, list[tuple[int, int]]] = {}
        for pair in pairs:
            found.setdefault(pair[0] if incoming else pair[1], []).append(pair)
        items = [
            Item(
                self._builder.path(file),
                tuple(dict.fromkeys([self._import_piece(*await self._import(*pair)) for pair in own])),
            )
            for file, own in [*found.items()][:MAX_USES]
        ]
        shown = self._builder.path(files[0]) if len(files) == 1 else f"`{name}`"
        libraries = await (self._importing(name, inside) if incoming else self._libraries(files))
        self._builder.add_step(Intent.IMPORT, name, len(found) + len(libraries))
        if items:
            self._builder.add_sentence(
                f"{shown} is imported by" if incoming else f"{shown} imports", items, len(found) - len(items)
            )
        if libraries and incoming:
            self._builder.add_sentence(f"A library named `{name}` is imported by", libraries)
        elif libraries:
            self._builder.add_sentence(f"From outside this repository, {shown} imports", libraries)
        if not items and not libraries:
            self._builder.add_sentence(
                f"No file of this repository imports {shown}." if incoming else f"{shown} imports nothing."
            )

    async def _import(self, source: int, target: int) -> tuple[int, Sequence[Import]]:
        facts = await self._code.facts(self._loaded, self._corpus.files[source].path)
        defined = [self._corpus.names[row] for row in self._walker.symbols_of(target)]
        return source, import_lines(facts, self._corpus.files[target].path, defined) or facts.imports[:1]

    def _import_piece(self, file: int, imports: Sequence[Import]) -> int:
        lines = [one.line for one in imports] or [1]
        weight = TEST_FACTOR if self._walker.is_supporting(GraphNode(file, -1)) else 1.0
        return self._pool.lines(file, min(lines), min(lines), 0.95 * weight)

    async def _libraries(self, files: Sequence[int]) -> list[Item]:
        """Return the libraries that these files import."""
        found: dict[str, list[int]] = {}
        for file in files[:MAX_HITS]:
            facts = await self._code.facts(self._loaded, self._corpus.files[file].path)
            inner = [
                one for target in self._links.imports.get(file, []) for one in (await self._import(file, target))[1]
            ]
            for one in facts.imports:
                if one.module and one not in inner and not one.module.startswith("."):
                    found.setdefault(one.module, []).append(self._import_piece(file, [one]))
        return [Item(f"`{module}`", tuple(dict.fromkeys(pieces))) for module, pieces in found.items()]

    async def _importing(self, name: str, inside: Collection[int] = ()) -> list[Item]:
        """Return the files that import a module of this name which is none of these files."""
        items: list[Item] = []
        for file in files_with([re.split(r"[./:]", name.strip("./@"))[-1]], self._corpus)[:MAX_USES]:
            facts = await self._code.facts(self._loaded, self._corpus.files[file].path)
            own = external_imports(facts, name)
            if own and not any(target in inside for target in self._links.imports.get(file, ())):
                items.append(Item(f"{self._builder.path(file)}:{own[0].line}", (self._import_piece(file, own),)))
        return items

    async def _imports_of_library(self, subject: Subject) -> None:
        items = await self._importing(subject.name)
        self._builder.add_step(Intent.IMPORT, subject.name, len(items))
        if items:
            self._builder.add_sentence(f"`{subject.name}` is not in this repository; it is imported by", items)
        else:
            await self._definitions.missing_or_search(subject)
