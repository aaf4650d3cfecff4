"""A description and the code it describes: what is harvested from every language."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

_SUMMARY_CHARACTERS = 300
_DOCUMENTATION_CHARACTERS = 1_500
_CODE_CHARACTERS = {"function": 3_000, "type": 1_500}
_SHORTEST_CODE = 60
# A summary with one of these speaks to a tool, a lawyer or its own author, or points elsewhere.
_FOR_OTHERS = ("eslint", "nolint", "@ts-", "copyright", "licen", "todo", "fixme", "http")

Kind = Literal["function", "type"]


@dataclass(frozen=True, slots=True)
class Described:
    """One declaration: `lead` is the part of the documentation that describes, before tags and parameters."""

    name: str
    kind: Kind
    lead: str
    documentation: str
    code: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A summary and its code, from one package."""

    package: str
    language: str
    kind: Kind
    name: str
    summary: str
    documentation: str
    code: str


class Reader(Protocol):
    """Finds what is described in one file of source text."""

    def __call__(self, source: str, /) -> Iterator[Described]: ...


def first_sentence(text: str) -> str:
    """The first sentence of the first paragraph: a mark ends it where a space or nothing follows."""
    words = text.strip().partition("\n\n")[0].split()
    last = next((number for number, word in enumerate(words) if word.endswith((".", "!", "?"))), len(words))
    return " ".join(words[: last + 1])[:_SUMMARY_CHARACTERS]


def pair(package: str, language: str, found: Described) -> Pair | None:
    """The pair of a declaration, or None when it says too little to learn from."""
    summary = first_sentence(found.lead)
    telling = 3 <= len(summary.split()) <= 60 and summary.isascii() and not summary.startswith("#")
    if not telling or any(mark in summary.lower() for mark in _FOR_OTHERS) or len(found.code) < _SHORTEST_CODE:
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
    """The summary as someone would ask who does not know the name: Go's begin with it."""
    first, _, rest = described.summary.partition(" ")
    return rest if first.lower() == described.name.lower() and len(rest.split()) >= 3 else described.summary
