"""Encoding of analysed terms for the FTS5 index: each stays one token, and none is read as query syntax."""

from collections.abc import Iterable
from typing import Protocol

# The index splits at spaces and stops at NUL. Terms should not contain these or other control characters; if they do,
# the characters are replaced by the Unicode symbols that depict them.
_VISIBLE_CONTROLS = {code: 0x2400 + code for code in range(33)} | {0x7F: 0x2421}

# FTS5 indexes at most 32 kB of a term; no query needs that much.
MAX_TERM_CHARACTERS = 1000


class Phrase(Protocol):
    """Terms that follow one another in a text."""

    @property
    def terms(self) -> tuple[str, ...]: ...

    @property
    def open_ended(self) -> bool:
        """Return True if the last term is a prefix."""
        ...


def index_text(passages: Iterable[Iterable[str]]) -> str:
    """Return the text to index for these terms: terms separated by spaces, passages by line ends."""
    return "\n".join(_joined(list(terms)) for terms in passages)


def _joined(terms: list[str]) -> str:
    joined = " ".join(terms).lower()
    plain = (
        joined.isascii()
        and joined.isprintable()
        and joined.count(" ") == len(terms) - 1
        and len(joined) <= MAX_TERM_CHARACTERS
    )
    return joined if plain else " ".join(map(index_token, terms))


def index_token(term: str) -> str:
    """Return the term as the index stores it."""
    return term[:MAX_TERM_CHARACTERS].lower().translate(_VISIBLE_CONTROLS)


def match_all(required: Iterable[Iterable[Phrase]]) -> str:
    """Return the expression for texts with one phrase of each group. Every term is quoted, so none is syntax."""
    return " AND ".join(f"({' OR '.join(map(_quoted, phrases))})" for phrases in required)


def _quoted(phrase: Phrase) -> str:
    text = " ".join(map(index_token, phrase.terms)).replace('"', '""')
    return f'"{text}"' + " *" * phrase.open_ended
