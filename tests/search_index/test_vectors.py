"""Vector maths for callers (features 58 and 68): cosine, many cosines, the best of many."""

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
def test_the_cosine_tells_the_angle_whatever_the_lengths(
    first: list[float], second: list[float], expected: float
) -> None:
    assert cosine(first, second) == pytest.approx(expected, abs=1e-15)


def test_many_at_once_are_the_same_as_each_by_itself() -> None:
    dice = random.Random(1)
    many = [[dice.gauss() for _ in range(37)] for _ in range(101)]
    query = [dice.gauss() for _ in range(37)]
    assert cosines(query, many) == [cosine(query, vector) for vector in many]
    by_hand = [
        math.fsum(a * b for a, b in zip(query, vector, strict=True)) / math.hypot(*query) / math.hypot(*vector)
        for vector in many
    ]
    assert cosines(query, many) == pytest.approx(by_hand, abs=1e-14)


def test_the_best_come_first_and_of_equals_the_earlier() -> None:
    many = [[1, 1], [0, 1], [2, 0], [3, 3], [1, 0], [-1, 0]]
    assert top_k([1, 0], many, 4) == [(2, 1.0), (4, 1.0), (0, cosine([1, 0], [1, 1])), (3, cosine([1, 0], [1, 1]))]
    assert [place for place, _ in top_k([1, 0], many, 100)] == [2, 4, 0, 3, 1, 5]
    assert top_k([1, 0], [], 3) == []
    assert cosines([1, 0], []) == []


def test_no_cosine_leaves_its_range() -> None:
    dice = random.Random(2)
    vectors = [[dice.gauss() for _ in range(7)] for _ in range(500)]
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
        (lambda: cosine([0, 0], [1, 1]), "the query is all zero and points nowhere", "leave it out"),
        (lambda: cosines([1], [[1], [0]]), "vector 1 is all zero and points nowhere", "leave it out"),
        (lambda: cosine([math.nan], [1]), "the query is not finite", "replace NaN and infinite numbers"),
        (lambda: cosines([1], [[1], [math.inf]]), "vector 1 is not finite", "replace NaN and infinite numbers"),
        (lambda: top_k([1], [[1]], 0), "0 vectors cannot be chosen", "ask for at least one"),
        (lambda: cosine("ab", "cd"), "a vector does not consist of numbers", "give sequences of numbers"),  # pyright: ignore[reportArgumentType]
        (lambda: cosine([[1], 2], [1, 2]), "a vector does not consist of numbers", "give sequences of numbers"),  # pyright: ignore[reportArgumentType]
        (lambda: cosine([None], [1]), "a vector does not consist of numbers", "give sequences of numbers"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_reason(call: Callable[[], Any], message: str, hint: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        call()
    assert (refused.value.message, refused.value.hint) == (message, hint)
