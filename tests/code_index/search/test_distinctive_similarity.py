"""Similar in what sets a file apart."""

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.code_index.search.corpus import Corpus, turned
from scrubjay.code_index.search.distinctive_similarity import FEW, Distinct
from scrubjay.search_index.vector_codes import Codes

ROWS = 200


def vectors(common: float) -> NDArray[np.float32]:
    """Random ones that have so much in common."""
    random = np.random.default_rng(7)
    made = random.normal(size=(ROWS, 64)) / 8
    made[:, 0] += common
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def codes_of(rows: NDArray[np.float32]) -> Codes:
    directions = np.rint(rows * (127 / np.abs(rows).max(axis=1, keepdims=True))).astype(np.int8)
    return Codes(directions, (1 / np.linalg.norm(directions.astype(np.float32), axis=1)).astype(np.float32))


def test_what_all_have_in_common_makes_none_similar() -> None:
    rows = vectors(common=3.0)
    distinct = Distinct(codes_of(rows), np.ones(ROWS, dtype=np.bool_))
    question = rows[5]
    whole = rows @ question
    left = distinct.cosines(question, whole.astype(np.float32))
    others = np.arange(ROWS) != 5
    assert whole[others].min() > 0.7
    assert left[5] == pytest.approx(1, abs=0.02)
    assert left[others].max() < 0.6


def test_it_is_the_cosine_of_the_differences_from_the_middle() -> None:
    rows = vectors(common=1.0)
    alive = np.arange(ROWS) % 2 == 0
    codes = codes_of(rows)
    unit = codes.directions * codes.scales[:, np.newaxis]
    middle = unit[alive].sum(axis=0) / (alive.sum() + FEW)
    question = rows[3]
    told = Distinct(codes, alive).cosines(question, (unit @ question).astype(np.float32))
    rest, asked = unit - middle, question - middle
    expected = rest @ asked / np.linalg.norm(rest, axis=1) / np.linalg.norm(asked)
    assert told == pytest.approx(expected, abs=1e-4)


def test_rows_without_a_meaning_and_no_rows_at_all_do_not_fail() -> None:
    rows = codes_of(vectors(common=1.0))
    rows.scales[7] = np.nan
    told = Distinct(rows, np.ones(ROWS, dtype=np.bool_)).cosines(vectors(1.0)[0], np.zeros(ROWS, dtype=np.float32))
    assert np.isfinite(told).all()
    empty = Distinct(Codes(np.empty((0, 64), np.int8), np.empty(0, np.float32)), np.empty(0, dtype=np.bool_))
    assert len(empty.cosines(vectors(1.0)[0], np.empty(0, dtype=np.float32))) == 0


def test_a_question_is_turned_as_the_vectors_are() -> None:
    from scrubjay.code_index.term_counts.counter import vectors_of

    abouts = Corpus().abouts
    made = vectors_of(["reading cookies of a request", "colour of the sky"])
    abouts.add(made)
    question = abouts.encoded(made[:1])
    cosines = abouts.only(np.ones(2, dtype=np.bool_)).cosines(question)
    rows = abouts.codes.directions * abouts.codes.scales[:, np.newaxis]
    assert rows @ turned(question) == pytest.approx(cosines, abs=1e-3)
    assert not turned(abouts.encoded(np.zeros_like(made[:1]))).any()


def test_rows_that_are_left_out_and_questions_without_a_meaning_are_similar_to_none() -> None:
    from scrubjay.code_index.term_counts.counter import vectors_of

    abouts = Corpus().abouts
    made = vectors_of(["reading cookies of a request", "", "reading cookies of a request"])
    abouts.add(made)
    compared = abouts.only(np.array([True, True, False]))
    assert np.round(compared.cosines(abouts.encoded(made[:1])), 3).tolist() == [1.0, 0.0, 0.0]
    assert compared.cosines(abouts.encoded(np.zeros_like(made[:1]))).tolist() == [0.0, 0.0, 0.0]
