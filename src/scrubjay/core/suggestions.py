"""Suggestions for mistyped names."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest_names(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Return the known names most similar to this one, best first; empty when none is close."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    matches = get_close_matches(name.casefold(), by_folded, n=limit, cutoff=0.55)
    return [by_folded[match] for match in matches]
