"""`python -m models.kindred`: write anew which words of code are near in meaning, by the bundled table.

To be run when the table or the stemming changes; it takes half a minute.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from models import table
from models.bags import Floats
from scrubjay.code_index.facts.words import words_of
from scrubjay.code_index.search.related_words import FILE
from scrubjay.search_index.terms import STOP_WORDS

_SOURCE = Path(__file__).parents[1] / "src" / "scrubjay"
BUNDLED = _SOURCE / "models" / "static_v1"
KEPT = _SOURCE / "code_index" / "search"
# From here on words are forms of one word, its short form, or used for each other. Below it they are of one subject, as
# opposites are.
LEAST_LIKENESS = 0.6
MOST_KINDRED = 8
_SHORTEST = 3
_AT_ONCE = 1024


class Words:
    """The whole words of a vocabulary that a question may have, with their directions."""

    def __init__(self, vocabulary: Sequence[str], rows: Floats) -> None:
        left_out = set(words_of(" ".join(STOP_WORDS)))
        stems = {place: stem for place, word in enumerate(vocabulary) if (stem := _stem(word, left_out)) is not None}
        self.stems = sorted(set(stems.values()))
        number_of = {stem: number for number, stem in enumerate(self.stems)}
        self._owners = np.array([number_of[stem] for stem in stems.values()], dtype=np.int64)
        directions = rows[list(stems)]
        self._directions = directions / np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-9)

    def near(self) -> Iterator[tuple[str, list[tuple[str, float]]]]:
        """Every stem that has any with those near it, nearest first: as near as the nearest two of their forms."""
        found: dict[tuple[int, int], float] = {}
        for first in range(0, len(self._owners), _AT_ONCE):
            likeness = self._directions[first : first + _AT_ONCE] @ self._directions.T
            forms, others = np.nonzero(likeness >= LEAST_LIKENESS)
            owners = zip(self._owners[forms + first].tolist(), self._owners[others].tolist(), strict=True)
            for pair, value in zip(owners, likeness[forms, others].tolist(), strict=True):
                if pair[0] != pair[1]:
                    found[pair] = max(value, found.get(pair, 0.0))
        ordered = sorted((own, -value, other) for (own, other), value in found.items())
        for own, group in groupby(ordered, itemgetter(0)):
            yield self.stems[own], [(self.stems[other], -value) for _, value, other in group][:MOST_KINDRED]


def lines(words: Words) -> list[str]:
    """A line for each word: the word, and then one after the other those near it with hundredths of likeness."""
    return [" ".join([word, *(f"{other} {value * 100:.0f}" for other, value in near)]) for word, near in words.near()]


def _stem(word: str, left_out: set[str]) -> str | None:
    """As what a word is looked for; None for parts of words, short ones and those that are not looked for."""
    if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()):
        return None
    (stem,) = words_of(word)
    return None if stem in left_out else stem


def main() -> None:
    vocabulary = (BUNDLED / "vocabulary.txt").read_text("utf-8").split("\n")[:-1]
    made = lines(Words(vocabulary, table.load(BUNDLED)))
    (KEPT / FILE).write_text("".join(f"{line}\n" for line in made), "utf-8")
    print(f"{len(made)} words")


if __name__ == "__main__":
    main()
