"""Putting what a search found into the order that a service's meanings say.

Vectors of two models are never compared. The bundled model ranks all files, and the service only speaks of those that
were found: of each whose part it knows, its cosine takes the place of the bundled model's. The part that is nearest to
the question counts as much as the nearest file counted before, the farthest one nothing. What the service does not know
keeps what the bundled model said of it.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from scrubjay.code_index.search.ranker import WEIGHTS, Found

MEANING = "meaning"


def cosines_of(question: bytes, vectors: Mapping[int, bytes]) -> dict[int, float]:
    """How similar each of these is to the question; all are of length one, and those without a meaning are left out."""
    rows = [row for row, vector in vectors.items() if len(vector) == len(question) > 0]
    if not rows:
        return {}
    known = np.frombuffer(b"".join(vectors[row] for row in rows), "<f2").reshape(len(rows), -1).astype(np.float32)
    asked = np.frombuffer(question, "<f2").astype(np.float32)
    return dict(zip(rows, (known @ asked).tolist(), strict=True))


def reranked(found: Sequence[Found], cosines: Mapping[int, float]) -> list[Found]:
    """What was found, best first, by these cosines of its chunks."""
    known = [cosines[one.chunk] for one in found if one.chunk in cosines]
    lowest, highest = min(known, default=0.0), max(known, default=0.0)
    if lowest == highest:  # one alone, or all alike: that says nothing for any of them
        return [*found]

    def again(one: Found) -> Found:
        if one.chunk not in cosines:
            return one
        share = (cosines[one.chunk] - lowest) / (highest - lowest)
        meaning = WEIGHTS[MEANING] * share * one.lowered
        score = one.score - one.signals.get(MEANING, 0.0) + meaning
        return one._replace(score=score, signals={**one.signals, MEANING: meaning})

    return sorted(map(again, found), key=lambda one: -one.score)
