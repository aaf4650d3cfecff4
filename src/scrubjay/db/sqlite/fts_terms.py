"""How analysed terms are written for the text index, so that each stays whole and none is syntax."""

from collections.abc import Iterable
from typing import Protocol

# The index splits at spaces and stops at NUL. Nobody's terms should have either, or other control characters; in those
# that do, the characters that Unicode has for showing them stand for them.
_SHOWN = {code: 0x2400 + code for code in range(33)} | {0x7F: 0x2421}

# The index keeps at most 32 kB of a term; nobody looks for more of one.
_LONGEST = 1000


class Phrase(Protocol):
    """Terms that follow one another in a text."""

    @property
    def terms(self) -> tuple[str, ...]: ...

    @property
    def open_ended(self) -> bool:
        """True when the last term is a prefix."""
        ...


def indexed(passages: Iterable[Iterable[str]]) -> str:
    """The text that is put into the index for these terms: words between spaces, passages between line ends."""
    return "\n".join(_joined(list(terms)) for terms in passages)


def _joined(terms: list[str]) -> str:
    joined = " ".join(terms).lower()
    plain = (
        joined.isascii() and joined.isprintable() and joined.count(" ") == len(terms) - 1 and len(joined) <= _LONGEST
    )
    return joined if plain else " ".join(map(token, terms))


def token(term: str) -> str:
    """The term as the index knows it."""
    return term[:_LONGEST].lower().translate(_SHOWN)


def match_all(required: Iterable[Iterable[Phrase]]) -> str:
    """Return the expression for texts with one phrase of each group. Every term is quoted, so none is syntax."""
    return " AND ".join(f"({' OR '.join(map(_quoted, phrases))})" for phrases in required)


def _quoted(phrase: Phrase) -> str:
    text = " ".join(map(token, phrase.terms)).replace('"', '""')
    return f'"{text}"' + " *" * phrase.open_ended
