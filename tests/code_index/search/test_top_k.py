import numpy as np

from scrubjay.code_index.search.top_k import best


def found(scores: list[float], count: int) -> list[int]:
    return best(np.array(scores, dtype=np.float32), count).tolist()


def test_the_greatest_come_first_and_of_equal_ones_the_first():
    assert found([0.1, 0.5, 0.0, 0.5, 0.3, -1.0], 3) == [1, 3, 4]
    assert found([0.2] * 5, 2) == [0, 1]


def test_what_is_not_above_nothing_is_never_among_them():
    assert found([0.0, -0.5, 0.0], 2) == []
    assert found([0.0, 0.4, 0.0], 5) == [1]
    assert found([], 3) == []
    assert found([0.4, 0.2], 0) == []


def test_it_is_the_same_as_putting_all_in_order():
    scores = np.random.default_rng(1).integers(-5, 20, 500).astype(np.float32)
    order = [place for place in np.argsort(-scores, kind="stable").tolist() if scores[place] > 0]
    assert [best(scores, count).tolist() for count in (1, 7, 60, 499, 1000)] == [
        order[:count] for count in (1, 7, 60, 499, 1000)
    ]
