"""The documented formula of decay and its consequences."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.memory.ranking.decay import StrengthBand, days_until_faded, strength, strength_band

shares = st.floats(0, 1)
days = st.floats(0, 10_000)
counts = st.integers(0, 10**9)


@given(shares, days, counts)
def test_048_strength_is_importance_times_decay_times_use(importance: float, age: float, uses: int) -> None:
    expected = importance * math.exp(-0.1 * age) * (1 + math.log(1 + uses) * 0.1)
    assert strength(importance, age, uses) == pytest.approx(min(expected, 1.0), rel=1e-12)


def test_048_an_unused_memory_has_half_its_strength_after_a_week() -> None:
    assert strength(0.8, math.log(2) / 0.1, 0) == pytest.approx(0.4)
    assert round(math.log(2) / 0.1, 2) == 6.93
    assert strength(0.5, 0, 0) == 0.5
    assert strength(0.5, 3, 9) == pytest.approx(0.5 * math.exp(-0.3) * (1 + math.log(10) * 0.1))
    assert strength(1, 0, 1000) == 1.0
    assert strength(0.5, -1, 0) == 0.5


@given(shares, days, days, counts, counts)
def test_048_strength_falls_with_age_and_rises_with_use(
    importance: float, first: float, second: float, few: int, many: int
) -> None:
    assert strength(importance, max(first, second), few) <= strength(importance, min(first, second), few)
    assert strength(importance, first, min(few, many)) <= strength(importance, first, max(few, many))
    assert 0 <= strength(importance, first, few) <= 1


@pytest.mark.parametrize(
    ("value", "band"),
    [
        (0.0, StrengthBand.FORGET),
        (0.0999, StrengthBand.FORGET),
        (0.1, StrengthBand.AT_RISK),
        (0.2999, StrengthBand.AT_RISK),
        (0.3, StrengthBand.HEALTHY),
        (0.7, StrengthBand.HEALTHY),
        (0.7001, StrengthBand.STRONG),
        (1.0, StrengthBand.STRONG),
    ],
)
def test_048_each_strength_has_its_band(value: float, band: StrengthBand) -> None:
    assert strength_band(value) is band


@given(shares.filter(lambda importance: importance < 0.95), counts, st.floats(0.01, 0.5), st.floats(0.01, 2))
def test_048_strength_reaches_the_threshold_on_the_predicted_day(
    importance: float, uses: int, threshold: float, rate: float
) -> None:
    predicted = days_until_faded(importance, uses, threshold=threshold, decay_rate=rate)
    assert predicted is not None
    if predicted > 0:
        assert strength(importance, predicted, uses, decay_rate=rate) == pytest.approx(threshold, rel=1e-6)
        assert strength(importance, predicted + 0.01, uses, decay_rate=rate) < threshold
    else:
        assert strength(importance, 0, uses, decay_rate=rate) <= threshold * (1 + 1e-9)


def test_048_the_most_important_memories_never_fade() -> None:
    assert days_until_faded(0.95, 0) is None
    assert days_until_faded(0.5, 0) == pytest.approx(-math.log(0.1 / 0.5) / 0.1)
    assert days_until_faded(0.0, 5) == 0.0
