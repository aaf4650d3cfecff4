"""Parser for required wordings: words, "phrases" and prefixes*, normalized like the text index."""

import re

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.memory.models import Wording
from scrubjay.search_index.terms import prefix_terms, significant_terms

_PIECE = re.compile(r'(?:"([^"]*)"|([^\s"*]+))(\*?)')


def required_wordings(text: str) -> tuple[tuple[Wording, ...], ...]:
    """Return the alternative wordings of each piece of the text. A memory must match every piece.

    There is no other syntax: other characters only separate words. Stop words are ignored, as in the index. Raises
    `InvalidRequest` if nothing remains.
    """
    pieces = ((phrase or word, bool(star)) for phrase, word, star in _PIECE.findall(text))
    found = tuple(dict.fromkeys(wordings for piece, goes_on in pieces if (wordings := _wordings(piece, goes_on))))
    if not found:
        raise InvalidRequest(
            f"{text[:80]!r} contains no word to search for",
            hint='use words, "phrases" or prefixes*; stop words such as "the" and "is" are not indexed',
        )
    return found


def _wordings(piece: str, goes_on: bool) -> tuple[Wording, ...]:
    whole = significant_terms(piece)
    exact = (Wording(whole),) if whole else ()
    if not goes_on or not (begun := prefix_terms(piece)):
        return exact
    # The index contains stems: "migrations*" is no prefix of a stem, but its own stem is meant as well.
    return (Wording(begun, open_ended=True), *exact)
