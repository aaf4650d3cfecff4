"""What a word is worth."""

import math


def rarity(texts: int, having: int) -> float:
    """What a word is worth that so many of these texts have, as BM25 has it."""
    return math.log1p((texts - having + 0.5) / (having + 0.5))
