"""Granger causality: direction, lag and false positives."""

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.features.analysis.causality import MIN_POINTS, find_causations
from scrubjay.features.analysis.models import Causation

Values = NDArray[np.float64]


def causations(series: dict[str, Values], related: dict[frozenset[str], bool] | None = None) -> dict[str, Causation]:
    return {f"{one.cause}>{one.effect}": one for one in find_causations(series, related or {}, 0.05)}


def follower(driver: Values, lag: int, seed: int, strength: float = 0.8) -> Values:
    values = 0.5 * np.random.default_rng(1000 + seed).normal(size=len(driver))
    values[lag:] += strength * driver[:-lag]
    return values


def noise(seed: int, n: int = 100) -> Values:
    return np.random.default_rng(seed).normal(size=n)


@pytest.mark.parametrize("lag", [1, 2, 4])
def test_083_the_driving_series_is_the_cause(lag: int) -> None:
    false_positives = 0
    for seed in range(20):
        x = noise(seed)
        result = causations({"y": follower(x, lag, seed), "x": x})
        assert (result["x>y"].significant, result["x>y"].lag, result["x>y"].relationship_type) == (True, lag, "Direct")
        false_positives += result["y>x"].significant
    assert false_positives <= 3


def test_083_swapping_the_names_swaps_the_result() -> None:
    x = noise(1)
    y = follower(x, 2, 1)
    one, other = causations({"a": x, "b": y}), causations({"a": y, "b": x})
    assert (one["a>b"].significant, one["b>a"].significant) == (True, False)
    assert (other["a>b"].significant, other["b>a"].significant) == (False, True)


def test_083_an_inhibiting_cause_has_a_negative_strength_within_its_interval() -> None:
    x = noise(2)
    result = causations({"x": x, "y": follower(x, 1, 2, strength=-0.8)})["x>y"]
    assert result.strength < -0.5
    assert result.confidence_interval is not None
    low, high = result.confidence_interval
    assert low < result.strength < high < 0


@pytest.mark.parametrize("n", [20, 60])
def test_083_independent_noise_is_not_causal(n: int) -> None:
    tried = 100
    series = [{"x": noise(seed, n), "y": noise(500 + seed, n)} for seed in range(tried)]
    assert sum(any(one.significant for one in causations(pair).values()) for pair in series) <= 0.08 * tried


def test_083_independent_random_walks_are_not_causal() -> None:
    tried = 100
    series = [{"x": np.cumsum(noise(seed)), "y": np.cumsum(noise(500 + seed))} for seed in range(tried)]
    assert sum(any(one.significant for one in causations(pair).values()) for pair in series) <= 0.1 * tried


def test_083_a_chain_is_indirect_and_a_common_cause_is_spurious() -> None:
    x = noise(3, 300)
    middle = follower(x, 1, 3, 1.0)
    end = follower(middle, 1, 4, 1.0)
    chain = causations({"x": x, "middle": middle, "end": end})
    kinds = {pair: one.relationship_type for pair, one in chain.items() if one.significant}
    assert kinds == {"x>middle": "Direct", "middle>end": "Direct", "x>end": "Indirect"}
    early, late = follower(x, 1, 5, 1.0), follower(x, 2, 6, 1.0)
    common = causations({"x": x, "early": early, "late": late})
    assert (common["early>late"].significant, common["early>late"].relationship_type) == (True, "Spurious")
    assert common["x>late"].relationship_type == "Direct"


def test_083_a_correlation_without_a_lead_is_spurious() -> None:
    x = noise(6)
    y = x + 0.3 * noise(7)
    result = causations({"x": x, "y": y}, {frozenset({"x", "y"}): True})
    assert {one.relationship_type for one in result.values()} == {"Spurious"}
    assert {one.relationship_type for one in causations({"x": x, "y": noise(8)}).values()} == {"None"}


def test_083_few_points_and_constant_series_are_not_tested() -> None:
    assert find_causations({"x": noise(1, MIN_POINTS - 1), "y": noise(2, MIN_POINTS - 1)}, {}, 0.05) == []
    assert find_causations({"x": noise(1), "y": np.full(100, 2.0)}, {}, 0.05) == []
    assert causations({"x": noise(1, MIN_POINTS), "y": noise(2, MIN_POINTS)}).keys() == {"x>y", "y>x"}


def test_083_a_delayed_copy_is_caused_by_its_original() -> None:
    x = noise(9)
    result = causations({"x": x, "y": np.concatenate([[0.0], x[:-1]])})
    assert result["x>y"].significant
    assert result["x>y"].lag == 1
    assert not result["y>x"].significant
