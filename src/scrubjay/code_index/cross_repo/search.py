"""Search several indexes at once, and weight the hits by how much of the query each contains.

Imports numpy, which is slow to import: load this module late.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import anyio.to_thread
import numpy as np

from scrubjay.code_index.facts.tokenizer import query_words, tokenize
from scrubjay.code_index.search.idf import idf
from scrubjay.code_index.service import CodeHit, CodeService, LoadedIndex, SearchHits
from scrubjay.code_index.term_counts.counter import embed_texts
from scrubjay.search_index.token_segments import token

if TYPE_CHECKING:
    from scrubjay.code_index.search.ranker import SignalToggles

# A hit is scored relative to the best hit of its own repository, however poor that is. This share of the score is kept;
# the rest depends on how well it fits compared with the best hit of all repositories.
RANK_SHARE = 0.4
# Share of the query's words in how well a hit fits; the rest is vector similarity.
WORD_SHARE = 0.6


class RepositoryHit(NamedTuple):
    """A hit in one of the repositories."""

    loaded: LoadedIndex
    hit: CodeHit
    score: float
    """0 to 1, comparable across repositories."""


async def search_all(
    code: CodeService,
    loaded: Sequence[LoadedIndex],
    query: str,
    *,
    limit: int,
    toggles: "SignalToggles",
    context_lines: int,
) -> SearchHits[RepositoryHit]:
    """Return the best hits of all repositories, best first."""
    found: list[tuple[LoadedIndex, CodeHit]] = []
    degraded, more = None, False
    reranker = code.reranker(query, toggles)
    for one in loaded:
        hits = await code.search(
            one.record.id, query, limit=limit, toggles=toggles, context_lines=context_lines, reranker=reranker
        )
        found += [(one, hit) for hit in hits]
        degraded, more = degraded or hits.degraded, more or hits.more
    merged = await anyio.to_thread.run_sync(_merge, loaded, found, query, limit)
    return SearchHits(merged, degraded, more=more or len(merged) < len(found))


def _merge(
    loaded: Sequence[LoadedIndex], found: Sequence[tuple[LoadedIndex, CodeHit]], query: str, limit: int
) -> list[RepositoryHit]:
    if not found:
        return []
    weights = _word_weights(loaded, query)
    texts = [f"{hit.file.path}\n{hit.excerpt.text}" for _, hit in found]
    query_vector, *vectors = embed_texts([query, *texts]).astype(np.float32)
    fits = [
        WORD_SHARE * _matched_share(weights, text) + (1 - WORD_SHARE) * max(0.0, _cosine(query_vector, vector))
        for text, vector in zip(texts, vectors, strict=True)
    ]
    best = max(fits) or 1.0
    merged = [
        RepositoryHit(one, hit, round(hit.score * (RANK_SHARE + (1 - RANK_SHARE) * fit / best), 4))
        for (one, hit), fit in zip(found, fits, strict=True)
    ]
    merged.sort(key=lambda one: (-one.score, one.loaded.record.root, one.hit.file.path))
    return merged[:limit]


def _word_weights(loaded: Sequence[LoadedIndex], query: str) -> Mapping[str, float]:
    """Return the weight of each word of the query, by its idf in all repositories together."""
    total = max(1, sum(len(one.corpus.chunks.files) for one in loaded))
    return {
        word: weight * idf(total, sum(len(one.corpus.words.occurrences_of(token(word)).rows) for one in loaded))
        for word, weight in query_words(query)
    }


def _matched_share(weights: Mapping[str, float], text: str) -> float:
    """Return the weighted share of the query's words that the text contains."""
    own = {*tokenize(text)}
    return sum(weight for word, weight in weights.items() if word in own) / (sum(weights.values()) or 1.0)


def _cosine(first: np.ndarray, second: np.ndarray) -> float:
    size = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / size if size else 0.0
