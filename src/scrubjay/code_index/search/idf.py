"""Inverse document frequency."""

import math


def idf(texts: int, having: int) -> float:
    """Return the BM25 weight of a word that `having` of `texts` texts contain."""
    return math.log1p((texts - having + 0.5) / (having + 0.5))
