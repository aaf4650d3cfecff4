"""One search over several indexes, whose answers are weighed by how much of the question each has.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import anyio.to_thread
import numpy as np

from scrubjay.code_index.facts.words import query_words, words_of
from scrubjay.code_index.search.idf import rarity
from scrubjay.code_index.service import CodeHit, CodeService, Hits, Loaded
from scrubjay.code_index.term_counts.counter import vectors_of
from scrubjay.search_index.token_segments import token

if TYPE_CHECKING:
    from scrubjay.code_index.search.ranker import Toggles

# Within a repository an answer is compared with the best one there, however little that one fits. So much of its score
# is left to it for that; the rest is for how it fits compared with the best of all repositories.
BY_RANK = 0.4
# What the words of the question count of how an answer fits; the rest is its meaning.
BY_WORDS = 0.6


class HitOf(NamedTuple):
    """A part of a file of one of the repositories."""

    loaded: Loaded
    hit: CodeHit
    score: float
    """From 0 to 1, comparable with those of the other repositories."""


async def search_all(
    code: CodeService, loaded: Sequence[Loaded], query: str, *, limit: int, toggles: "Toggles", context_lines: int
) -> Hits[HitOf]:
    """The parts of files that answer best, best first, of whichever repository."""
    found: list[tuple[Loaded, CodeHit]] = []
    degraded, more = None, False
    hearing = code.hearing(query, toggles)
    for one in loaded:
        hits = await code.search(
            one.record.id, query, limit=limit, toggles=toggles, context_lines=context_lines, hearing=hearing
        )
        found += [(one, hit) for hit in hits]
        degraded, more = degraded or hits.degraded, more or hits.more
    merged = await anyio.to_thread.run_sync(_merged, loaded, found, query, limit)
    return Hits(merged, degraded, more=more or len(merged) < len(found))


def _merged(loaded: Sequence[Loaded], found: Sequence[tuple[Loaded, CodeHit]], query: str, limit: int) -> list[HitOf]:
    if not found:
        return []
    worths = _worths(loaded, query)
    texts = [f"{hit.file.path}\n{hit.extract.text}" for _, hit in found]
    question, *meanings = vectors_of([query, *texts]).astype(np.float32)
    fits = [
        BY_WORDS * _share(worths, text) + (1 - BY_WORDS) * max(0.0, _cosine(question, meaning))
        for text, meaning in zip(texts, meanings, strict=True)
    ]
    best = max(fits) or 1.0
    merged = [
        HitOf(one, hit, round(hit.score * (BY_RANK + (1 - BY_RANK) * fit / best), 4))
        for (one, hit), fit in zip(found, fits, strict=True)
    ]
    merged.sort(key=lambda one: (-one.score, one.loaded.record.root, one.hit.file.path))
    return merged[:limit]


def _worths(loaded: Sequence[Loaded], query: str) -> Mapping[str, float]:
    """What each word of the question tells, by how rare it is in all repositories together."""
    total = max(1, sum(len(one.corpus.chunks.files) for one in loaded))
    return {
        word: weight * rarity(total, sum(len(one.corpus.words.having(token(word)).rows) for one in loaded))
        for word, weight in query_words(query)
    }


def _share(worths: Mapping[str, float], text: str) -> float:
    """Which share of the question the text has."""
    own = {*words_of(text)}
    return sum(worth for word, worth in worths.items() if word in own) / (sum(worths.values()) or 1.0)


def _cosine(first: np.ndarray, second: np.ndarray) -> float:
    size = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / size if size else 0.0
