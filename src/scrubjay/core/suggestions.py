"""Which known names a mistyped one was probably meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest_names(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The known names most like this one, best first; empty when none is close."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    matches = get_close_matches(name.casefold(), by_folded, n=limit, cutoff=0.55)
    return [by_folded[match] for match in matches]
