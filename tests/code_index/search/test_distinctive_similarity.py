"""Similarity without the component that all rows share."""

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.code_index.search.corpus import Corpus, rotated_vector
from scrubjay.code_index.search.distinctive_similarity import SMOOTHING_ROWS, DistinctiveSimilarity
from scrubjay.search_index.vector_codes import Codes

ROWS = 200


def vectors(common: float) -> NDArray[np.float32]:
    """Return random unit vectors that share a component of this size."""
    random = np.random.default_rng(7)
    rows = random.normal(size=(ROWS, 64)) / 8
    rows[:, 0] += common
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def codes_of(rows: NDArray[np.float32]) -> Codes:
    directions = np.rint(rows * (127 / np.abs(rows).max(axis=1, keepdims=True))).astype(np.int8)
    return Codes(directions, (1 / np.linalg.norm(directions.astype(np.float32), axis=1)).astype(np.float32))


def test_a_component_shared_by_all_rows_does_not_make_them_similar() -> None:
    rows = vectors(common=3.0)
    distinct = DistinctiveSimilarity(codes_of(rows), np.ones(ROWS, dtype=np.bool_))
    question = rows[5]
    plain = rows @ question
    distinctive = distinct.cosines(question, plain.astype(np.float32))
    others = np.arange(ROWS) != 5
    assert plain[others].min() > 0.7
    assert distinctive[5] == pytest.approx(1, abs=0.02)
    assert distinctive[others].max() < 0.6


def test_the_result_is_the_cosine_of_the_differences_from_the_mean() -> None:
    rows = vectors(common=1.0)
    alive = np.arange(ROWS) % 2 == 0
    codes = codes_of(rows)
    unit = codes.directions * codes.scales[:, np.newaxis]
    mean = unit[alive].sum(axis=0) / (alive.sum() + SMOOTHING_ROWS)
    question = rows[3]
    cosines = DistinctiveSimilarity(codes, alive).cosines(question, (unit @ question).astype(np.float32))
    centered, query = unit - mean, question - mean
    expected = centered @ query / np.linalg.norm(centered, axis=1) / np.linalg.norm(query)
    assert cosines == pytest.approx(expected, abs=1e-4)


def test_rows_without_a_vector_and_an_empty_index_are_supported() -> None:
    rows = codes_of(vectors(common=1.0))
    rows.scales[7] = np.nan
    cosines = DistinctiveSimilarity(rows, np.ones(ROWS, dtype=np.bool_)).cosines(
        vectors(1.0)[0], np.zeros(ROWS, dtype=np.float32)
    )
    assert np.isfinite(cosines).all()
    empty = DistinctiveSimilarity(
        Codes(np.empty((0, 64), np.int8), np.empty(0, np.float32)), np.empty(0, dtype=np.bool_)
    )
    assert len(empty.cosines(vectors(1.0)[0], np.empty(0, dtype=np.float32))) == 0


def test_a_query_is_rotated_like_the_stored_vectors() -> None:
    from scrubjay.code_index.term_counts.counter import embed_texts

    file_vectors = Corpus().file_vectors
    embedded = embed_texts(["reading cookies of a request", "colour of the sky"])
    file_vectors.add(embedded)
    question = file_vectors.to_codes(embedded[:1])
    cosines = file_vectors.searchable(np.ones(2, dtype=np.bool_)).cosines(question)
    rows = file_vectors.codes.directions * file_vectors.codes.scales[:, np.newaxis]
    assert rows @ rotated_vector(question) == pytest.approx(cosines, abs=1e-3)
    assert not rotated_vector(file_vectors.to_codes(np.zeros_like(embedded[:1]))).any()


def test_excluded_rows_and_zero_queries_have_similarity_zero() -> None:
    from scrubjay.code_index.term_counts.counter import embed_texts

    file_vectors = Corpus().file_vectors
    embedded = embed_texts(["reading cookies of a request", "", "reading cookies of a request"])
    file_vectors.add(embedded)
    searchable = file_vectors.searchable(np.array([True, True, False]))
    assert np.round(searchable.cosines(file_vectors.to_codes(embedded[:1])), 3).tolist() == [1.0, 0.0, 0.0]
    assert searchable.cosines(file_vectors.to_codes(np.zeros_like(embedded[:1]))).tolist() == [0.0, 0.0, 0.0]
