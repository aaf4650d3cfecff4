"""Compute which words have similar vectors in the bundled table, and write them as the table of related words.

Run `python -m models.related_words` when the model or the stemming changes; it takes half a minute.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from models import table
from models.bags import Floats
from scrubjay.code_index.facts.tokenizer import tokenize
from scrubjay.code_index.search.related_words import FILE
from scrubjay.search_index.terms import STOP_WORDS

_SOURCE = Path(__file__).parents[1] / "src" / "scrubjay"
BUNDLED_MODEL = _SOURCE / "models" / "static_v1"
OUTPUT_FOLDER = _SOURCE / "code_index" / "search"
# Cosine similarity. At or above this value, words are forms, abbreviations or synonyms of each other; below it, they
# merely share a subject, as antonyms do.
MIN_SIMILARITY = 0.6
MAX_RELATED = 8
_MIN_LETTERS = 3
_BATCH = 1024


class WordVectors:
    """Unit vectors of the whole words of a vocabulary that a search query may contain, grouped by stem."""

    def __init__(self, vocabulary: Sequence[str], rows: Floats) -> None:
        stop_stems = set(tokenize(" ".join(STOP_WORDS)))
        stems = {index: stem for index, word in enumerate(vocabulary) if (stem := _stem(word, stop_stems)) is not None}
        self.stems = sorted(set(stems.values()))
        number_of = {stem: number for number, stem in enumerate(self.stems)}
        self._owners = np.array([number_of[stem] for stem in stems.values()], dtype=np.int64)
        directions = rows[list(stems)]
        self._directions = directions / np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-9)

    def related(self) -> Iterator[tuple[str, list[tuple[str, float]]]]:
        """Yield each stem that has related stems, with those, most similar first.

        The similarity of two stems is that of their two most similar forms.
        """
        found: dict[tuple[int, int], float] = {}
        for first in range(0, len(self._owners), _BATCH):
            similarity = self._directions[first : first + _BATCH] @ self._directions.T
            forms, others = np.nonzero(similarity >= MIN_SIMILARITY)
            owners = zip(self._owners[forms + first].tolist(), self._owners[others].tolist(), strict=True)
            for pair, value in zip(owners, similarity[forms, others].tolist(), strict=True):
                if pair[0] != pair[1]:
                    found[pair] = max(value, found.get(pair, 0.0))
        ordered = sorted((own, -value, other) for (own, other), value in found.items())
        for own, group in groupby(ordered, itemgetter(0)):
            yield self.stems[own], [(self.stems[other], -value) for _, value, other in group][:MAX_RELATED]


def format_lines(words: WordVectors) -> list[str]:
    """Return a line per word: the word, then each related word followed by its similarity in hundredths."""
    return [
        " ".join([word, *(f"{other} {value * 100:.0f}" for other, value in near)]) for word, near in words.related()
    ]


def _stem(word: str, stop_stems: set[str]) -> str | None:
    """Return the stem of a word, or None for word pieces, short words and stop words, which search ignores."""
    if len(word) < _MIN_LETTERS or not (word.isascii() and word.isalpha()):
        return None
    (stem,) = tokenize(word)
    return None if stem in stop_stems else stem


def main() -> None:
    vocabulary = (BUNDLED_MODEL / "vocabulary.txt").read_text("utf-8").split("\n")[:-1]
    made = format_lines(WordVectors(vocabulary, table.load(BUNDLED_MODEL)))
    (OUTPUT_FOLDER / FILE).write_text("".join(f"{line}\n" for line in made), "utf-8")
    print(f"{len(made)} words")


if __name__ == "__main__":
    main()
