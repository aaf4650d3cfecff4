"""Gradients, optimizer and training runs."""

import numpy as np
import pytest

from models.bags import Floats, sparse, vectors
from models.training import LazyAdam, PairKind, TrainingPairs, TrainingRun, gradients, mean_table, train

QUESTIONS = sparse.csr_matrix(np.array([[1, 0, 0, 0, 0, 0], [0, 1.4, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0]], np.float32))
ANSWERS = sparse.csr_matrix(np.array([[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 1, 1.4, 0]], np.float32))


def loss(table: Floats) -> float:
    similarity = vectors(QUESTIONS, table) @ vectors(ANSWERS, table).T / 0.05
    exact = similarity.astype(np.float64)
    own = np.diag(exact)
    return float(np.mean([(np.log(np.exp(exact).sum(axis=axis)) - own).mean() for axis in (0, 1)]))


def start() -> Floats:
    return np.random.default_rng(1).normal(size=(6, 8)).astype(np.float32)


def test_the_gradient_matches_the_symmetric_loss():
    table = start()
    tokens, gradient = gradients(table, QUESTIONS, ANSWERS)

    assert tokens.tolist() == [0, 1, 2, 3, 4]
    for token, column in [(0, 0), (1, 3), (4, 7)]:
        losses: list[float] = []
        for change in (1e-3, -1e-3):
            changed = table.copy()
            changed[token, column] += change
            losses.append(loss(changed))
        assert gradient[token, column] == pytest.approx((losses[0] - losses[1]) / 2e-3, rel=0.02, abs=1e-3)


def test_training_lowers_the_loss_leaves_unseen_rows_and_is_reproducible():
    pairs = {"talk": TrainingPairs(QUESTIONS, ANSWERS, np.array([0, 0, 1]))}
    kinds = {"talk": PairKind(1, 1, 1)}

    tables = [train(start(), pairs, TrainingRun(0.05, 60, 7), kinds) for _ in range(2)]

    assert loss(tables[0]) < 0.5 * loss(start())
    assert tables[0][5].tolist() == start()[5].tolist()
    assert np.array_equal(tables[0], tables[1])


def test_small_gradients_move_a_row_in_proportion_and_large_ones_by_the_rate():
    gradient = np.array([[1e-7], [2e-7], [1e-2], [2e-2]], np.float32)

    change = LazyAdam((9, 1)).step(np.array([0, 3, 5, 8]), gradient, 0.01)[:, 0]

    assert change[1] == pytest.approx(2 * change[0], rel=0.01)
    assert change[1] < 1e-4
    assert change[2:] == pytest.approx([0.01, 0.01], rel=0.01)


def test_a_row_keeps_its_momentum_until_its_next_update():
    optimiser = LazyAdam((2, 1))
    up = np.array([[1.0]], np.float32)
    for token in (0, 1, 1, 1):
        optimiser.step(np.array([token]), up, 0.01)

    assert optimiser.step(np.array([0]), -up, 0.01)[0, 0] == pytest.approx(
        -0.01 * 0.01 / (1 - 0.9**5) / 0.6425, rel=0.01
    )


def test_the_mean_of_runs_is_elementwise():
    assert mean_table([np.zeros((2, 2), np.float32), np.ones((2, 2), np.float32)]).tolist() == [[0.5, 0.5], [0.5, 0.5]]
