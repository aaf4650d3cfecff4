"""Vector similarity for callers: one cosine, many cosines, the nearest of many (features 58 and 68)."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from scrubjay.core.errors import InvalidRequest
from scrubjay.search_index.vectors import cosine, cosines, top_k

ROOT_HALF = math.sqrt(0.5)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 0], [2, 0], 1.0),
        ([1, 0], [0, 3], 0.0),
        ([1, 0], [-5, 0], -1.0),
        ([1, 0], [1, 1], ROOT_HALF),
        ([1e200, 1e200], [1e-200, 0], ROOT_HALF),
        ([5e-324], [1e308], 1.0),
        ([True, False], (0.5, 0.5), ROOT_HALF),
    ],
)
def test_the_cosine_does_not_depend_on_the_lengths(first: list[float], second: list[float], expected: float) -> None:
    assert cosine(first, second) == pytest.approx(expected, abs=1e-15)


def test_many_cosines_equal_single_ones() -> None:
    rng = random.Random(1)
    many = [[rng.gauss() for _ in range(37)] for _ in range(101)]
    query = [rng.gauss() for _ in range(37)]
    assert cosines(query, many) == [cosine(query, vector) for vector in many]
    by_hand = [
        math.fsum(a * b for a, b in zip(query, vector, strict=True)) / math.hypot(*query) / math.hypot(*vector)
        for vector in many
    ]
    assert cosines(query, many) == pytest.approx(by_hand, abs=1e-14)


def test_the_nearest_come_first_and_ties_keep_their_order() -> None:
    many = [[1, 1], [0, 1], [2, 0], [3, 3], [1, 0], [-1, 0]]
    assert top_k([1, 0], many, 4) == [(2, 1.0), (4, 1.0), (0, cosine([1, 0], [1, 1])), (3, cosine([1, 0], [1, 1]))]
    assert [index for index, _ in top_k([1, 0], many, 100)] == [2, 4, 0, 3, 1, 5]
    assert top_k([1, 0], [], 3) == []
    assert cosines([1, 0], []) == []


def test_a_cosine_is_never_above_one() -> None:
    rng = random.Random(2)
    vectors = [[rng.gauss() for _ in range(7)] for _ in range(500)]
    assert max(cosine(vector, vector) for vector in vectors) <= 1.0


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (lambda: cosine([], []), "the query is empty", "give it at least one number"),
        (lambda: cosine([], [1]), "the query is empty", "give it at least one number"),
        (lambda: cosine([1], []), "vector 0 has 0 dimensions, and the query 1", "compare vectors of one model"),
        (lambda: cosine([1, 2], [1]), "vector 0 has 1 dimensions, and the query 2", "compare vectors of one model"),
        (
            lambda: cosines([1, 2], [[1, 2], [1, 2, 3]]),
            "vector 1 has 3 dimensions, and the query 2",
            "compare vectors of one model",
        ),
        (lambda: cosine([0, 0], [1, 1]), "the query is all zero, so it has no direction", "leave it out"),
        (lambda: cosines([1], [[1], [0]]), "vector 1 is all zero, so it has no direction", "leave it out"),
        (lambda: cosine([math.nan], [1]), "the query is not finite", "replace NaN and infinite numbers"),
        (lambda: cosines([1], [[1], [math.inf]]), "vector 1 is not finite", "replace NaN and infinite numbers"),
        (lambda: top_k([1], [[1]], 0), "cannot select 0 vectors", "ask for at least one"),
        (lambda: cosine("ab", "cd"), "a vector must contain only numbers", "give sequences of numbers"),  # pyright: ignore[reportArgumentType]
        (lambda: cosine([[1], 2], [1, 2]), "a vector must contain only numbers", "give sequences of numbers"),  # pyright: ignore[reportArgumentType]
        (lambda: cosine([None], [1]), "a vector must contain only numbers", "give sequences of numbers"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_invalid_vectors_are_rejected_with_a_reason(call: Callable[[], Any], message: str, hint: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        call()
    assert (refused.value.message, refused.value.hint) == (message, hint)
