"""Pairs of a description and the code it describes, the unit harvested from every language."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

_SUMMARY_CHARACTERS = 300
_DOCUMENTATION_CHARACTERS = 1_500
_CODE_CHARACTERS = {"function": 3_000, "type": 1_500}
_MIN_CODE_CHARACTERS = 60
# A summary with one of these is a tool directive, a legal notice, a note to the author or a link, not a description.
_IRRELEVANT_MARKS = ("eslint", "nolint", "@ts-", "copyright", "licen", "todo", "fixme", "http")

DeclarationKind = Literal["function", "type"]


@dataclass(frozen=True, slots=True)
class DescribedCode:
    """A documented declaration. `lead` is the descriptive part of its documentation, before tags and parameters."""

    name: str
    kind: DeclarationKind
    lead: str
    documentation: str
    code: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A summary and the code it describes, from one package."""

    package: str
    language: str
    kind: DeclarationKind
    name: str
    summary: str
    documentation: str
    code: str


class DescriptionReader(Protocol):
    """Yields the documented declarations of one source file."""

    def __call__(self, source: str, /) -> Iterator[DescribedCode]: ...


def first_sentence(text: str) -> str:
    """Return the first sentence of the first paragraph; a period, `!` or `?` ends it only before white space."""
    words = text.strip().partition("\n\n")[0].split()
    last = next((number for number, word in enumerate(words) if word.endswith((".", "!", "?"))), len(words))
    return " ".join(words[: last + 1])[:_SUMMARY_CHARACTERS]


def make_pair(package: str, language: str, found: DescribedCode) -> Pair | None:
    """Return the training pair of a declaration, or None when the summary or the code is unsuitable."""
    summary = first_sentence(found.lead)
    suitable = 3 <= len(summary.split()) <= 60 and summary.isascii() and not summary.startswith("#")
    if (
        not suitable
        or any(mark in summary.lower() for mark in _IRRELEVANT_MARKS)
        or len(found.code) < _MIN_CODE_CHARACTERS
    ):
        return None
    return Pair(
        package,
        language,
        found.kind,
        found.name,
        summary,
        found.documentation[:_DOCUMENTATION_CHARACTERS],
        found.code[: _CODE_CHARACTERS[found.kind]],
    )


def without_name(described: Pair) -> str:
    """Return the summary without a leading declaration name (a Go convention), which a search query would not have."""
    first, _, rest = described.summary.partition(" ")
    return rest if first.lower() == described.name.lower() and len(rest.split()) >= 3 else described.summary
