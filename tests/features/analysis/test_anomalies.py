"""Detection of planted outliers, and few false positives in clean series."""

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.features.analysis.anomalies import Anomalies, find_anomalies

NOTHING = Anomalies(variable="a", indices=(), scores=(), confidence=None)


def noise(seed: int, n: int = 100) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=n)


@pytest.mark.parametrize("seed", range(20))
def test_083_planted_outliers_are_found_at_their_positions(seed: int) -> None:
    values = noise(seed)
    values[[20, 70]] = [12, -15]
    found = find_anomalies("a", values, 0.5)
    assert list(found.indices) == [20, 70]
    assert min(found.scores) > 2
    assert found.confidence is not None
    assert found.confidence > 0.99


def test_083_normal_noise_has_hardly_any_outliers() -> None:
    assert sum(len(find_anomalies("a", noise(seed), 0.5).indices) for seed in range(100)) <= 10


def test_083_higher_sensitivity_finds_more_outliers() -> None:
    counts = [
        sum(len(find_anomalies("a", noise(seed), level).indices) for seed in range(40)) for level in (0, 0.5, 0.9, 1)
    ]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] > 40
    values = noise(3)
    values[50] = 5
    assert 50 not in find_anomalies("a", values, 0).indices
    assert 50 in find_anomalies("a", values, 0.9).indices


def test_083_an_outlier_of_a_linear_trend_is_found() -> None:
    values = 0.5 * np.arange(200) + noise(1, 200)
    values[100] -= 15
    assert list(find_anomalies("a", values, 0.5).indices) == [100]


def test_083_a_new_level_is_not_an_outlier() -> None:
    values = noise(2, 200)
    values[100:] += 20
    assert find_anomalies("a", values, 0.5) == NOTHING


def test_083_a_different_value_among_equal_ones_is_found() -> None:
    assert list(find_anomalies("a", np.array([1.0, 1, 1, 1, 1, 100, 1, 1, 1, 1, 1, 1, 1, 1]), 0.5).indices) == [5]


@pytest.mark.parametrize("values", [[1.0, 1, 1, 1, 1, 1], [0.0] * 9, [1.0, 9, 1]])
def test_083_constant_and_very_short_series_have_no_outliers(values: list[float]) -> None:
    assert find_anomalies("a", np.array(values), 0.5) == NOTHING
