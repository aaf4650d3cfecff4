"""Candidate episodes of a query, with the values that ranking needs.

This module imports numpy, which is slow: load it with `core.lazy`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.db.damage_report import report_damage
from scrubjay.db.sqlite.columns import json_text
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.fts_terms import match_all
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.episodes.rows import filter_values
from scrubjay.features.episodes.store import EpisodeQuery
from scrubjay.features.memory.candidates import CandidatePool
from scrubjay.features.memory.models import Wording
from scrubjay.search_index.neighbourhood import REACH
from scrubjay.search_index.score_baseline import ScoreBaseline
from scrubjay.search_index.token_segments import MAX_PASSAGE_LENGTH, TokenSegments, idf_weights, match, tokens_of

_SQL = load_queries(__file__)

# Vectors compared per batch, so that not all of them are in memory at once.
BATCH = 4_096
# Episodes sampled to estimate the similarity of a random episode to a query.
SAMPLE = 512

Values = NDArray[np.float32]


class _Near(NamedTuple):
    """Vectors of the nearest episodes by seq, and a sample of all compared vectors."""

    vectors: Mapping[int, Values]
    sample: Values


def pool_of(connection: Connection, query: EpisodeQuery) -> CandidatePool:
    """Return the best episodes by words and by vector among those that match the filter."""
    values = filter_values(query.visibility, query.only)
    texts: int = connection.value(_SQL["count_completed"], values)
    frequencies = [_count(connection, values, term) for term in query.terms]
    near = _nearest(connection, query, values)
    seqs = sorted({*_by_words(connection, query, values), *near.vectors})
    found = connection.execute(_SQL["candidates"], {"seqs": json_text(seqs)})
    rows = [row for row in found if isinstance(row[-1], str)]
    for seq in {row[0] for row in found} - {row[0] for row in rows}:
        report_damage("episode_terms", seq)
    return _pool(rows, query, near, texts, frequencies)


def _count(connection: Connection, values: Mapping[str, Any], term: str) -> int:
    return connection.value(_SQL["frequency"], {**values, "expression": match_all([[Wording((term,))]])})


def _by_words(connection: Connection, query: EpisodeQuery, values: Mapping[str, Any]) -> list[int]:
    if not query.terms:
        return []
    expression = match_all([[Wording((term,)) for term in query.terms]])
    rows = connection.execute(_SQL["by_words"], {**values, "expression": expression, "limit": query.limit})
    return [seq for (seq,) in rows]


def _nearest(connection: Connection, query: EpisodeQuery, values: Mapping[str, Any]) -> _Near:
    if not query.vector:
        return _Near({}, np.empty((0, 1), dtype=np.float32))
    question = np.frombuffer(query.vector, dtype="<f2").astype(np.float32)
    best: list[tuple[float, int, Values]] = []
    sample = np.empty((0, len(question)), dtype=np.float32)
    rows = connection.stream(_SQL["vectors"], {**values, "model": query.model, "length": len(query.vector)})
    while batch := list(islice(rows, BATCH)):
        vectors = np.frombuffer(b"".join(row[1] for row in batch), dtype="<f2").astype(np.float32)
        vectors = vectors.reshape(len(batch), len(question))
        cosines = vectors @ question
        for index in (-cosines).argsort(kind="stable")[: query.limit].tolist():
            best.append((float(cosines[index]), batch[index][0], vectors[index]))
        best = sorted(best, key=lambda one: -one[0])[: query.limit]
        if len(sample) < SAMPLE:
            sample = np.concatenate([sample, vectors[:: max(1, len(vectors) // SAMPLE)]])[:SAMPLE]
    return _Near({seq: vector for _, seq, vector in best}, sample)


def _pool(
    rows: Sequence[Any], query: EpisodeQuery, near: _Near, texts: int, frequencies: Sequence[int]
) -> CandidatePool:
    words = TokenSegments()
    words.append([tokens_of(terms) for *_, terms in rows])
    worth = idf_weights(texts, frequencies)
    average = float(np.minimum(words.lengths, MAX_PASSAGE_LENGTH).mean()) if rows else 0.0
    indexes = np.arange(len(rows))
    matched = match(words.gather(indexes), len(rows), query.terms, worth, average)
    cosines, z_scores, vectors = _compare(rows, query, near)
    zeros, times = np.zeros(len(rows), dtype=np.float32), np.array([row[1] for row in rows], dtype=np.int64)
    neighbours = np.full((len(rows), 2 * REACH + 1), -1, dtype=np.intp)
    neighbours[:, REACH] = indexes
    none = np.full(len(rows), -1, dtype=np.int32)
    return CandidatePool(
        handles=np.array([row[0] for row in rows], dtype=np.int64),
        neighbours=neighbours,
        text_occurrences=matched[0],
        text_bm25=matched[1],
        # Traits describe conversation; episodes have none.
        text_traits=np.zeros(len(rows), dtype=np.int32),
        text_speakers=none,
        pairs=matched[2],
        lengths=np.asarray(words.lengths, dtype=np.float32),
        cosines=cosines,
        z_scores=z_scores,
        vectors=vectors,
        sessions=none,
        times=times,
        recorded_at=times,
        importance=zeros,
        confidence=zeros,
        uses=np.zeros(len(rows), dtype=np.int64),
        last_used=times,
        speaker_names=(),
        terms=query.terms,
        text_count=texts,
        frequencies=frequencies,
        term_weights=worth,
    )


def _compare(rows: Sequence[Any], query: EpisodeQuery, near: _Near) -> tuple[Values, Values, Values]:
    """Return the cosine, its z-score against the sample, and the vector of each row; NaN where unknown."""
    if not len(near.sample):
        unknown = np.full(len(rows), np.nan, dtype=np.float32)
        return unknown, unknown, unknown[:, np.newaxis]
    question = np.frombuffer(query.vector, dtype="<f2").astype(np.float32)
    unknown = np.full(len(question), np.nan, dtype=np.float32)
    vectors = np.array(list(_vectors(rows, near, unknown)), dtype=np.float32)
    return *ScoreBaseline(near.sample).compare(question, vectors), vectors


def _vectors(rows: Sequence[Any], near: _Near, unknown: Values) -> Iterator[Values]:
    for seq, *_ in rows:
        yield near.vectors.get(seq, unknown)
