"""The indices of the highest scores."""

import numpy as np

from scrubjay.code_index.search.top_k import top_k


def top(scores: list[float], count: int) -> list[int]:
    return top_k(np.array(scores, dtype=np.float32), count).tolist()


def test_the_highest_scores_are_first_and_ties_are_in_index_order():
    assert top([0.1, 0.5, 0.0, 0.5, 0.3, -1.0], 3) == [1, 3, 4]
    assert top([0.2] * 5, 2) == [0, 1]


def test_scores_of_zero_or_less_are_never_returned():
    assert top([0.0, -0.5, 0.0], 2) == []
    assert top([0.0, 0.4, 0.0], 5) == [1]
    assert top([], 3) == []
    assert top([0.4, 0.2], 0) == []


def test_the_result_is_the_start_of_a_full_sort():
    scores = np.random.default_rng(1).integers(-5, 20, 500).astype(np.float32)
    order = [index for index in np.argsort(-scores, kind="stable").tolist() if scores[index] > 0]
    assert [top_k(scores, count).tolist() for count in (1, 7, 60, 499, 1000)] == [
        order[:count] for count in (1, 7, 60, 499, 1000)
    ]
