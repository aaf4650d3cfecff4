"""Pearson correlation; expected values are from scipy.stats.pearsonr 1.17.1 and its confidence_interval()."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.features.analysis.correlation import correlate
from scrubjay.features.analysis.models import Correlation


def nearly(value: float) -> Any:
    """Return `approx` typed for use inside a compared dataclass."""
    return pytest.approx(value)


def series(**variables: list[float]) -> dict[str, NDArray[np.float64]]:
    return {name: np.array(values, dtype=np.float64) for name, values in variables.items()}


def test_080_three_points_have_an_exact_p_value_and_no_interval() -> None:
    (found,) = correlate(series(a=[1, 2, 3], b=[1, 3, 2]), 0.05)
    assert found == Correlation(
        variables=("a", "b"),
        points=3,
        coefficient=nearly(0.5),
        p_value=nearly(2 / 3),
        corrected_p_value=nearly(2 / 3),
        significant=False,
        confidence_interval=None,
    )


@pytest.mark.parametrize(
    ("a", "b", "r", "p", "bounds"),
    [
        ([1, 2, 3, 4, 5], [2, 1, 4, 3, 7], 0.824163383692134, 0.08613863131395952, (-0.2129343655851, 0.9880137261480)),
        (
            [3, 1, 4, 1, 5, 9, 2, 6],
            [2, 7, 1, 8, 2, 8, 1, 8],
            0.2096553190730121,
            0.6182637176162882,
            (-0.5808282637922, 0.7966346908663),
        ),
    ],
)
def test_080_few_points_have_exact_p_values(
    a: list[float], b: list[float], r: float, p: float, bounds: tuple[float, float]
) -> None:
    (found,) = correlate(series(a=a, b=b), 0.05)
    assert (found.coefficient, found.p_value) == pytest.approx((r, p), rel=1e-10)
    assert found.confidence_interval == pytest.approx(bounds, rel=1e-10)


def test_080_a_constant_series_has_no_correlation() -> None:
    (found,) = correlate(series(a=[1, 2, 3, 4], b=[0.1, 0.1, 0.1, 0.1]), 0.05)
    assert (found.coefficient, found.p_value, found.confidence_interval, found.significant) == (None, None, None, False)


def test_080_a_perfect_line_is_significant_even_with_extreme_numbers() -> None:
    (found,) = correlate(series(a=[1e90, 2e90, 3e90, 4e90], b=[-1e-90, -2e-90, -3e-90, -4e-90]), 0.05)
    assert found.coefficient == pytest.approx(-1)
    assert found.p_value == pytest.approx(0, abs=1e-12)
    assert found.significant


def test_080_series_of_unequal_length_are_compared_over_their_common_length() -> None:
    (found,) = correlate(series(a=[1, 2, 3, 4, 5, -90], b=[1, 2, 3, 4, 5]), 0.05)
    assert found.points == 5
    assert found.coefficient == pytest.approx(1)


def test_080_the_correction_prevents_false_positives_among_many_noise_series() -> None:
    tried = 40
    found_any = plain_any = 0
    for seed in range(tried):
        noise = np.random.default_rng(seed).normal(size=(10, 20))
        found = correlate({str(number): row for number, row in enumerate(noise)}, 0.05)
        found_any += any(one.significant for one in found)
        plain_any += any(one.p_value is not None and one.p_value <= 0.05 for one in found)
    assert found_any <= 5
    assert plain_any >= 30, "without the correction, nearly every set of 45 pairs would have one"
