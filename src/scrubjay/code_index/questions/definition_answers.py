"""Answer questions about definitions and files, and search by words.

This module imports numpy, which is slow to load.
"""

from collections.abc import Sequence
from posixpath import dirname

import anyio.to_thread

from scrubjay.code_index.models import SymbolKind
from scrubjay.code_index.questions.answer_builder import (
    CALLABLE_KINDS,
    MAX_DEFINITIONS,
    MAX_HITS,
    MAX_USES,
    VALUE_KINDS,
    IntentAnswers,
    first_sentence,
    shorten,
)
from scrubjay.code_index.questions.evidence import Item
from scrubjay.code_index.questions.intents import Intent
from scrubjay.code_index.questions.locations import (
    files_named,
)
from scrubjay.code_index.questions.parser import Subject
from scrubjay.code_index.questions.traversal import TYPES
from scrubjay.code_index.service import MAX_SIGNAL_SUM

# Hits below this share of the best score are dropped.
MIN_SCORE_SHARE = 0.35


class DefinitionAnswers(IntentAnswers):
    """Answers where something is defined, what it contains, and which file it is."""

    async def missing_or_search(self, subject: Subject) -> None:
        """Report an unknown name; search for the text too if it may be an ordinary word."""
        self._builder.report_missing(subject.name)
        if not subject.certain:
            await self.search(subject.text)

    async def symbol(self, subject: Subject) -> None:
        rows = self._builder.find(subject)
        if not rows:
            if files := files_named(subject.name, self._corpus):
                await self._list_files(subject.name, files)
                return
            await self.missing_or_search(subject)
            return
        await self.define(rows)

    async def define(self, rows: Sequence[int]) -> None:
        for place, row in enumerate(rows[:MAX_DEFINITIONS]):
            file = int(self._corpus.symbols.files[row])
            facts = await self._code.facts(self._loaded, self._corpus.files[file].path)
            symbol = facts.symbols[row - int(self._corpus.first_symbols[file])]
            where = f"{self._builder.path(file)}:{symbol.line}"
            signature = f", `{shorten(symbol.signature)}`" if symbol.signature else ""
            doc = first_sentence(symbol.doc)
            piece = self._pool.symbol(row, 1.0 - 0.05 * place)
            text = f"{_article(symbol.kind)} at {where}{signature}{f' ({doc})' if doc else ''}"
            self._builder.add_sentence(f"`{self._names.qualified(row)}` is", [Item(text, (piece,))])
        if len(rows) > MAX_DEFINITIONS:
            self._builder.add_sentence(f"{len(rows) - MAX_DEFINITIONS} more definitions have this name.")

    async def members(self, subject: Subject, parts: str) -> None:
        """List the members of a kind in a definition or file."""
        rows = self._builder.find(subject)
        files = [] if rows else files_named(subject.name, self._corpus)
        if not rows and not files:
            await self.missing_or_search(subject)
            return
        containers = self._corpus.symbols.containers
        own = [(row, self._walker.members(row)) for row in rows[:MAX_DEFINITIONS]]
        own += [(-1, list(self._walker.symbols_of(file))) for file in files[:MAX_DEFINITIONS]]
        for holder, inner in own:
            members = [
                row
                for row in [*(row for row in inner if int(containers[row]) == holder), *self._outer_members(holder)]
                if _is_part(self._walker.kind(row), parts)
            ]
            name = self._names.qualified(holder) if holder >= 0 else subject.name
            self._builder.add_step(Intent.SYMBOL, name, len(members))
            items = [self._member(row) for row in members[:MAX_USES]]
            if items:
                self._builder.add_sentence(f"`{name}` has", items, len(members) - len(items))
            else:
                self._builder.add_sentence(f"No {parts} are known to be defined in `{name}`.")

    def _outer_members(self, holder: int) -> list[int]:
        """Return members defined outside of a type's body in files of the same folder, such as Go methods."""
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
        text = f"the {self._walker.kind(row).value} `{self._corpus.names[row]}` ({self._builder.path(file)}:{line})"
        return Item(text, (self._pool.lines(file, line, line, 0.8, row),))

    async def _list_files(self, name: str, files: Sequence[int]) -> None:
        self._builder.add_step(Intent.FILE, name, len(files))
        items: list[Item] = []
        for file in files[:MAX_HITS]:
            facts = await self._code.facts(self._loaded, self._corpus.files[file].path)
            doc = first_sentence(facts.doc)
            piece = self._pool.lines(file, 1, min(max(1, facts.lines), 20), 0.9)
            items.append(Item(f"{self._builder.path(file)}{f' ({doc})' if doc else ''}", (piece,)))
        self._builder.add_sentence(
            f"`{name}` is" if len(files) == 1 else f"`{name}` may be", items, len(files) - len(items)
        )

    async def file(self, subject: Subject) -> None:
        rows = self._names.find(subject.name) if subject.name else []
        if subject.certain and rows:
            self._builder.add_step(
                Intent.FILE, subject.name, len({int(self._corpus.symbols.files[row]) for row in rows})
            )
            await self.define(rows)
            return
        if subject.name and (files := files_named(subject.name, self._corpus)):
            await self._list_files(subject.name, files)
            if subject.certain:
                return
        elif subject.certain:
            self._builder.add_step(Intent.FILE, subject.name, 0)
            self._builder.report_missing(subject.name)
            return
        await self.search(subject.text, Intent.FILE)

    async def search(self, text: str, intent: Intent = Intent.SEARCH) -> None:
        found = await anyio.to_thread.run_sync(self._loaded.ranker.rank, text, MAX_HITS)
        hits = [hit for hit in found if hit.chunk >= 0 and hit.score >= MIN_SCORE_SHARE * found[0].score]
        self._builder.add_step(intent, text, len(hits))
        items: list[Item] = []
        chunks = self._corpus.chunks
        for hit in hits:
            first, last = chunks.spans[hit.chunk][2:].tolist()
            symbol = int(chunks.symbols[hit.chunk])
            piece = self._pool.lines(hit.file, first, last, min(1.0, hit.score / MAX_SIGNAL_SUM), symbol)
            of = f" (`{self._names.qualified(symbol)}`)" if symbol >= 0 else ""
            items.append(Item(f"{self._builder.path(hit.file)}:{first}-{last}{of}", (piece,)))
        if items:
            self._builder.add_sentence("The best text matches are", items)
        else:
            self._builder.add_sentence(f"No code in this repository matches “{shorten(text)}”.")


def _is_part(kind: SymbolKind, parts: str) -> bool:
    match parts:
        case "methods" | "functions":
            return kind in CALLABLE_KINDS or kind is SymbolKind.SIGNATURE
        case "fields" | "attributes" | "properties":
            return kind in VALUE_KINDS
        case "classes" | "types":
            return kind in TYPES
        case _:
            return True


def _article(kind: SymbolKind) -> str:
    noun = "entry" if kind is SymbolKind.SECTION else kind.value
    return f"an {noun}" if noun[:1] in "aeiou" else f"a {noun}"
