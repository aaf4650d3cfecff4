"""What leads what: the right way round, at the right lag, and not by chance."""

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.features.analysis.causality import LEAST_POINTS, causations
from scrubjay.features.analysis.models import Causation

Values = NDArray[np.float64]


def found(series: dict[str, Values], related: dict[frozenset[str], bool] | None = None) -> dict[str, Causation]:
    return {f"{one.cause}>{one.effect}": one for one in causations(series, related or {}, 0.05)}


def driven(driver: Values, lag: int, seed: int, strength: float = 0.8) -> Values:
    values = 0.5 * np.random.default_rng(1000 + seed).normal(size=len(driver))
    values[lag:] += strength * driver[:-lag]
    return values


def noise(seed: int, n: int = 100) -> Values:
    return np.random.default_rng(seed).normal(size=n)


@pytest.mark.parametrize("lag", [1, 2, 4])
def test_083_the_driver_is_the_cause_and_the_follower_is_not(lag: int) -> None:
    backwards = 0
    for seed in range(20):
        x = noise(seed)
        told = found({"y": driven(x, lag, seed), "x": x})
        assert (told["x>y"].significant, told["x>y"].lag, told["x>y"].relationship_type) == (True, lag, "Direct")
        backwards += told["y>x"].significant
    assert backwards <= 3


def test_083_with_the_names_exchanged_the_answer_is_too() -> None:
    x = noise(1)
    y = driven(x, 2, 1)
    one, other = found({"a": x, "b": y}), found({"a": y, "b": x})
    assert (one["a>b"].significant, one["b>a"].significant) == (True, False)
    assert (other["a>b"].significant, other["b>a"].significant) == (False, True)


def test_083_a_cause_that_pushes_down_has_a_negative_strength_within_its_bounds() -> None:
    x = noise(2)
    told = found({"x": x, "y": driven(x, 1, 2, strength=-0.8)})["x>y"]
    assert told.strength < -0.5
    assert told.confidence_interval is not None
    low, high = told.confidence_interval
    assert low < told.strength < high < 0


@pytest.mark.parametrize("n", [20, 60])
def test_083_noise_causes_nothing(n: int) -> None:
    tried = 100
    series = [{"x": noise(seed, n), "y": noise(500 + seed, n)} for seed in range(tried)]
    assert sum(any(one.significant for one in found(pair).values()) for pair in series) <= 0.08 * tried


def test_083_walks_that_know_nothing_of_each_other_cause_nothing() -> None:
    tried = 100
    series = [{"x": np.cumsum(noise(seed)), "y": np.cumsum(noise(500 + seed))} for seed in range(tried)]
    assert sum(any(one.significant for one in found(pair).values()) for pair in series) <= 0.1 * tried


def test_083_a_chain_is_indirect_and_a_common_cause_is_spurious() -> None:
    x = noise(3, 300)
    middle = driven(x, 1, 3, 1.0)
    end = driven(middle, 1, 4, 1.0)
    chain = found({"x": x, "middle": middle, "end": end})
    kinds = {pair: one.relationship_type for pair, one in chain.items() if one.significant}
    assert kinds == {"x>middle": "Direct", "middle>end": "Direct", "x>end": "Indirect"}
    early, late = driven(x, 1, 5, 1.0), driven(x, 2, 6, 1.0)
    common = found({"x": x, "early": early, "late": late})
    assert (common["early>late"].significant, common["early>late"].relationship_type) == (True, "Spurious")
    assert common["x>late"].relationship_type == "Direct"


def test_083_what_goes_together_without_a_lead_is_spurious() -> None:
    x = noise(6)
    y = x + 0.3 * noise(7)
    told = found({"x": x, "y": y}, {frozenset({"x", "y"}): True})
    assert {one.relationship_type for one in told.values()} == {"Spurious"}
    assert {one.relationship_type for one in found({"x": x, "y": noise(8)}).values()} == {"None"}


def test_083_few_points_and_constant_series_are_not_tested() -> None:
    assert causations({"x": noise(1, LEAST_POINTS - 1), "y": noise(2, LEAST_POINTS - 1)}, {}, 0.05) == []
    assert causations({"x": noise(1), "y": np.full(100, 2.0)}, {}, 0.05) == []
    assert found({"x": noise(1, LEAST_POINTS), "y": noise(2, LEAST_POINTS)}).keys() == {"x>y", "y>x"}


def test_083_a_copy_that_lags_is_led_with_certainty() -> None:
    x = noise(9)
    told = found({"x": x, "y": np.concatenate([[0.0], x[:-1]])})
    assert told["x>y"].significant
    assert told["x>y"].lag == 1
    assert not told["y>x"].significant
