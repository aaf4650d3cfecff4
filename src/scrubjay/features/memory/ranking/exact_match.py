"""Exact wording that somebody asks for: words, "phrases" and beginnings*, as the text index knows them."""

import re

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.memory.models import Wording
from scrubjay.search_index.terms import beginning, telling_terms

_PIECE = re.compile(r'(?:"([^"]*)"|([^\s"*]+))(\*?)')


def required_wordings(text: str) -> tuple[tuple[Wording, ...], ...]:
    """For each piece of the text the wordings that will do; all pieces are required.

    Nothing else is syntax: other signs only part words. Words that the index leaves out everywhere are left out here.
    `InvalidRequest` when nothing remains.
    """
    pieces = ((phrase or word, bool(star)) for phrase, word, star in _PIECE.findall(text))
    found = tuple(dict.fromkeys(wordings for piece, goes_on in pieces if (wordings := _wordings(piece, goes_on))))
    if not found:
        raise InvalidRequest(
            f"{text[:80]!r} has no word that could be looked for",
            hint='give words, "phrases" or beginnings*; words such as "the" and "is" are in no index',
        )
    return found


def _wordings(piece: str, goes_on: bool) -> tuple[Wording, ...]:
    whole = telling_terms(piece)
    exact = (Wording(whole),) if whole else ()
    if not goes_on or not (begun := beginning(piece)):
        return exact
    # The index holds stems: "migrations" is no beginning of one, but its own stem is what is meant.
    return (Wording(begun, open_ended=True), *exact)
