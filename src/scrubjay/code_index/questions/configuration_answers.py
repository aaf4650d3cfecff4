"""Answer questions about settings and environment variables.

This module imports numpy, which is slow to load.
"""

import re
from collections.abc import Mapping

from scrubjay.code_index.questions.answer_builder import (
    MAX_USES,
    VALUE_KINDS,
    AnswerBuilder,
    IntentAnswers,
    word_pattern,
)
from scrubjay.code_index.questions.definition_answers import DefinitionAnswers
from scrubjay.code_index.questions.evidence import Item
from scrubjay.code_index.questions.intents import Intent
from scrubjay.code_index.questions.locations import (
    ENVIRONMENT,
    ENVIRONMENT_WORDS,
    TextOccurrence,
    environment_names,
    find_occurrences,
)
from scrubjay.code_index.questions.parser import Subject

_IMPORTING = re.compile(r"^\s*(?:import|from|use|using|require|#include|export\s+\{|const .*=\s*require)\b")
_USE_KINDS: Mapping[str, tuple[str, float]] = {
    "environment": ("`{}` is read from the environment at", 0.95),
    "set": ("`{}` is set at", 0.9),
    "read": ("`{}` is read at", 0.7),
    "imported": ("`{}` is imported at", 0.4),
}


class ConfigurationAnswers(IntentAnswers):
    """Answers where a setting is set and read, and which environment variables are read."""

    def __init__(self, builder: AnswerBuilder, definitions: DefinitionAnswers) -> None:
        super().__init__(builder)
        self._definitions = definitions

    async def configuration(self, subject: Subject) -> None:
        if not subject.name:
            await self._environment()
            return
        rows = self._builder.find(subject)
        last = re.split(r"::|[.#/]|->", subject.name)[-1]
        found = await find_occurrences(word_pattern(last), [last], self._code, self._loaded)
        self._builder.unread += found.unread
        self._builder.add_step(Intent.CONFIGURATION, subject.name, len(found.found))
        if not rows and not found.found:
            await self._definitions.missing_or_search(subject)
            return
        if "." in subject.name and not rows:
            self._builder.report_missing(subject.name)
            return
        if rows:
            await self._definitions.define([row for row in rows if self._walker.kind(row) in VALUE_KINDS] or rows)
        sorts: dict[str, list[TextOccurrence]] = {}
        own = {(int(self._corpus.symbols.files[row]), int(self._corpus.symbols.lines[row])) for row in rows}
        for one in found.found:
            sort = _use_kind(one.text, last)
            if (one.file, one.line) not in own or sort == "environment":
                sorts.setdefault(sort, []).append(one)
        for sort, (begin, relevance) in _USE_KINDS.items():
            if here := sorts.get(sort):
                self._builder.add_sentence(
                    begin.format(last), self._builder.occurrence_items(here, relevance), max(0, len(here) - MAX_USES)
                )

    async def _environment(self) -> None:
        found = await find_occurrences(ENVIRONMENT, ENVIRONMENT_WORDS, self._code, self._loaded)
        self._builder.unread += found.unread
        variables: dict[str, list[TextOccurrence]] = {}
        for one in found.found:
            for name in environment_names(one.text):
                variables.setdefault(name, []).append(one)
        self._builder.add_step(Intent.CONFIGURATION, "environment variables", len(variables))
        items = [
            Item(f"`{name}` ({item.text})", item.pieces)
            for name, own in variables.items()
            for item in self._builder.occurrence_items(own[:1], 0.9)
        ]
        if items:
            self._builder.add_sentence("These environment variables are read:", items)
        else:
            self._builder.add_sentence("No read of an environment variable was found.")


def _use_kind(line: str, name: str) -> str:
    """Classify how a line uses a setting."""
    if name in environment_names(line):
        return "environment"
    if _IMPORTING.match(line):
        return "imported"
    if re.search(rf"(?<![\w$]){re.escape(name)}['\"]?\]?\s*(?::(?![:\w])|=(?!=)|:=)", line):
        return "set"
    return "read"
