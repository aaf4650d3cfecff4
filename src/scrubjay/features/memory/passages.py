"""Find the passage of a long text that answers a question, and its place.

A long text is searched as passages (`search_index.terms.passages`), but stored as one text, so it is written, corrected
and erased as a whole. Answers quote one passage of it; `read_memory` returns the rest.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.search_index.terms import irregular_forms, significant_terms

# Longer texts are quoted, not returned: about 2,000 tokens.
MAX_WHOLE_CHARACTERS = 8_000
# Length of a passage: about 300 tokens.
PASSAGE_CHARACTERS = 1_200
# The text is searched in blocks of this length; the best ones are analysed exactly.
_BLOCK = 300
_EXAMINED_BLOCKS = 12
# Words are found by their first characters, because a stem is not always the beginning of the word.
_STEM_PREFIX = 5
# Of a word that is in every sentence, the first occurrences do; it says little about the place.
_MAX_OCCURRENCES = 5_000
# The end of a sentence or line, where a passage may begin or end.
_BREAK = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text and its place."""

    text: str
    start: int
    """Number of characters before it."""
    end: int
    first_line: int
    """Number of its first line; the text begins with line 1."""
    last_line: int
    length: int
    """Characters of the whole text."""


def find_passage(text: str, terms: Sequence[str], weights: Sequence[float]) -> Passage:
    """Return the passage that contains most of the terms, by weight; the beginning of the text if it has none.

    Takes a few milliseconds for a million characters.
    """
    place = _best_place(text, terms, weights)
    return _passage_around(text, *place) if place else _passage(text, 0, _end_near(text, PASSAGE_CHARACTERS))


def beginning(text: str) -> Passage:
    """Return the beginning of a text as a passage."""
    return _passage(text, 0, _end_near(text, PASSAGE_CHARACTERS))


def part_of(text: str, start: int, length: int) -> Passage:
    """Return these characters of a text; as many as there are."""
    first = min(start, len(text))
    return _passage(text, first, min(first + length, len(text)))


def _best_place(text: str, terms: Sequence[str], weights: Sequence[float]) -> tuple[int, int] | None:
    """Return the span of the blocks that contain most of the terms."""
    lower = text.lower()
    if len(lower) != len(text):  # some capital letters have two small ones
        lower = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    scores: defaultdict[int, float] = defaultdict(float)
    for term, weight in zip(terms, weights, strict=True):
        blocks = {at // _BLOCK for beginning in _beginnings(term) for at in _occurrences(lower, beginning)}
        # A passage spans three blocks, so a word in one of them counts half for the blocks beside it.
        for block in blocks | {block + 1 for block in blocks} | {block - 1 for block in blocks if block}:
            scores[block] += weight if block in blocks else weight / 2
    if not scores:
        return None
    promising = sorted(scores, key=lambda block: (-scores[block], block))[:_EXAMINED_BLOCKS]
    worth = dict(zip(terms, weights, strict=True))

    def exact_score(block: int) -> float:
        inner = set(significant_terms(text[block * _BLOCK : (block + 1) * _BLOCK]))
        outer = set(significant_terms(text[max(0, (block - 1) * _BLOCK) : (block + 2) * _BLOCK]))
        return sum(weight * (1 + (term in inner)) for term, weight in worth.items() if term in outer)

    best = max(promising, key=lambda block: (exact_score(block), -block))
    return (best * _BLOCK, min((best + 1) * _BLOCK, len(text))) if exact_score(best) else None


def _beginnings(term: str) -> list[str]:
    forms = [term, *irregular_forms(term)]
    return [form[:_STEM_PREFIX] if form.isascii() else form for form in forms]


def _occurrences(text: str, beginning: str) -> list[int]:
    found: list[int] = []
    at = text.find(beginning)
    while at >= 0 and len(found) < _MAX_OCCURRENCES:
        found.append(at)
        at = text.find(beginning, at + _BLOCK // 4)
    return found


def _passage_around(text: str, start: int, end: int) -> Passage:
    """Return a passage around this span that begins and ends with a sentence or line where possible."""
    slack = (PASSAGE_CHARACTERS - (end - start)) // 2
    earliest, latest = max(0, start - slack), min(len(text), end + slack)
    first = earliest
    if earliest and (breaks := [found.end() for found in _BREAK.finditer(text, earliest, start)]):
        first = breaks[0]
    last = latest
    if latest < len(text) and (breaks := [found.start() for found in _BREAK.finditer(text, end, latest)]):
        last = breaks[-1]
    return _passage(text, first, last)


def _end_near(text: str, at: int) -> int:
    if at >= len(text):
        return len(text)
    breaks = [found.start() for found in _BREAK.finditer(text, at // 2, at)]
    return breaks[-1] if breaks else at


def _passage(text: str, start: int, end: int) -> Passage:
    first_line = text.count("\n", 0, start) + 1
    return Passage(
        text[start:end], start, end, first_line, first_line + text.count("\n", start, max(start, end - 1)), len(text)
    )
