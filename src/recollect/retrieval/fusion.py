"""One score from what the text index and the vectors say; each signal is calibrated, so a score means something."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recollect.domain.memories import Candidate, CandidatePool

# Of two measures neither may drown the other: on conversations the words are the better witness.
# See docs/decisions/0006-fusion-by-calibrated-scores.md.
MEANING_WEIGHT = 0.35
# static-v1 on 1,333 docstrings of Python's standard library: of a first line and the rest of another docstring, two in
# three have a cosine below the first; of those that belong together, one in twenty reaches the second.
UNRELATED_COSINE = 0.10
SAME_COSINE = 0.70


@dataclass(frozen=True, slots=True)
class Signal:
    """What one witness says of a candidate."""

    name: str
    raw: float | None
    value: float
    """The raw score brought to 0..1."""
    weight: float

    @property
    def contribution(self) -> float:
        return self.weight * self.value


class Ranked(NamedTuple):
    """A candidate with its final score and where that came from."""

    score: float
    handle: int
    candidate: Candidate
    words: float
    meaning: float

    @property
    def signals(self) -> tuple[Signal, Signal]:
        return (
            Signal("words", self.candidate.bm25, self.words, 1 - MEANING_WEIGHT),
            Signal("meaning", self.candidate.cosine, self.meaning, MEANING_WEIGHT),
        )


def fuse(pool: CandidatePool, terms: Sequence[str]) -> list[Ranked]:
    """All candidates, best first; ties go to what was remembered later."""
    attainable = sum(_rarity(pool.texts, pool.frequencies.get(term, 0)) for term in terms)
    ranked: list[Ranked] = []
    for candidate in pool.candidates:
        words = min(1.0, candidate.bm25 / attainable) if attainable else 0.0
        meaning = _similarity(candidate.cosine)
        score = (1 - MEANING_WEIGHT) * words + MEANING_WEIGHT * meaning
        ranked.append(Ranked(score, candidate.handle, candidate, words, meaning))
    ranked.sort(reverse=True)  # by score, then by handle: their order in `Ranked`
    return ranked


def _rarity(texts: int, occurrences: int) -> float:
    """What a term is worth to the text index: SQLite's own BM25 gives an average text this much for having it once."""
    return max(1e-6, math.log((texts - occurrences + 0.5) / (occurrences + 0.5)))


def _similarity(cosine: float | None) -> float:
    if cosine is None:
        return 0.0
    return min(1.0, max(0.0, (cosine - UNRELATED_COSINE) / (SAME_COSINE - UNRELATED_COSINE)))
