"""Reorder search results by the vectors of the configured embedding model.

Vectors of two models are never compared. The bundled model ranks all files; for results whose chunk has a vector of the
configured model, its cosine replaces the bundled model's signal. Cosines are scaled so that the nearest chunk gets the
full weight of the signal and the farthest none. Results without a vector keep the bundled model's signal.

This module imports numpy, which is slow to load.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from scrubjay.code_index.search.ranker import WEIGHTS, RankedFile

EMBEDDING_SIGNAL = "embedding"


def cosines_of(question: bytes, vectors: Mapping[int, bytes]) -> dict[int, float]:
    """Return the cosine of each vector with the query's; vectors are unit length, and empty ones are left out."""
    rows = [row for row, vector in vectors.items() if len(vector) == len(question) > 0]
    if not rows:
        return {}
    known = np.frombuffer(b"".join(vectors[row] for row in rows), "<f2").reshape(len(rows), -1).astype(np.float32)
    asked = np.frombuffer(question, "<f2").astype(np.float32)
    return dict(zip(rows, (known @ asked).tolist(), strict=True))


def reranked(found: Sequence[RankedFile], cosines: Mapping[int, float]) -> list[RankedFile]:
    """Return the results sorted by score, with these cosines of their chunks as the embedding signal."""
    known = [cosines[one.chunk] for one in found if one.chunk in cosines]
    lowest, highest = min(known, default=0.0), max(known, default=0.0)
    if lowest == highest:  # a single or constant cosine carries no information
        return [*found]

    def again(one: RankedFile) -> RankedFile:
        if one.chunk not in cosines:
            return one
        share = (cosines[one.chunk] - lowest) / (highest - lowest)
        contribution = WEIGHTS[EMBEDDING_SIGNAL] * share * one.penalty
        score = one.score - one.signals.get(EMBEDDING_SIGNAL, 0.0) + contribution
        return one._replace(score=score, signals={**one.signals, EMBEDDING_SIGNAL: contribution})

    return sorted(map(again, found), key=lambda one: -one.score)
