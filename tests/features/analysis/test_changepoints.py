"""Detection of planted changepoints, and few false positives in clean series."""

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.features.analysis.changepoints import MIN_POINTS, find_changepoints

Values = NDArray[np.float64]


def noise(seed: int, n: int) -> Values:
    return np.random.default_rng(seed).normal(size=n)


@pytest.mark.parametrize("n", [10, 25, 60, 200])
def test_081_noise_has_no_changes(n: int) -> None:
    tried = 300
    assert sum(bool(find_changepoints("a", noise(seed, n), 0.05)) for seed in range(tried)) <= 0.05 * tried


def test_081_a_noisy_line_has_no_changes() -> None:
    tried = 200
    assert (
        sum(bool(find_changepoints("a", 0.3 * np.arange(60) + noise(seed, 60), 0.05)) for seed in range(tried))
        <= 0.05 * tried
    )


def test_081_heavy_tailed_noise_has_hardly_any_changes() -> None:
    tried = 200
    heavy = [np.random.default_rng(seed).standard_t(4, size=100) for seed in range(tried)]
    assert sum(bool(find_changepoints("a", one, 0.05)) for one in heavy) <= 0.1 * tried


def test_081_a_shift_of_the_level_is_found_within_two_points() -> None:
    for seed in range(100):
        values = noise(seed, 60)
        values[30:] += 6
        near = [one for one in find_changepoints("a", values, 0.05) if abs(one.index - 30) <= 2]
        assert [one.change_type for one in near] == ["MeanShift"], seed
        assert near[0].confidence > 0.95


def test_081_two_opposite_shifts_are_both_found() -> None:
    found = 0
    for seed in range(50):
        values = noise(seed, 90)
        values[30:50] += 5
        indices = [one.index for one in find_changepoints("a", values, 0.05)]
        found += len(indices) == 2 and abs(indices[0] - 30) <= 2 and abs(indices[1] - 50) <= 2
    assert found >= 48


def test_081_a_change_of_the_variance_is_found() -> None:
    found = 0
    for seed in range(50):
        values = noise(seed, 120)
        values[60:] *= 5
        found_changes = find_changepoints("a", values, 0.05)
        found += [one.change_type for one in found_changes] == ["VarianceChange"] and abs(
            found_changes[0].index - 60
        ) <= 8
    assert found >= 45


def test_081_a_single_outlier_is_not_a_change() -> None:
    tried = found = 0
    for seed in range(100):
        values = noise(seed, 80)
        values[20] = 30
        tried += 1
        found += bool(find_changepoints("a", values, 0.05))
    assert found <= 0.05 * tried


def test_081_a_bend_is_a_trend_change() -> None:
    found = 0
    for seed in range(50):
        values = noise(seed, 120)
        values[60:] += 0.5 * np.arange(60)
        found_changes = find_changepoints("a", values, 0.05)
        found += [one.change_type for one in found_changes] == ["TrendChange"] and abs(found_changes[0].index - 60) <= 5
    assert found >= 48


def test_081_a_step_without_noise_is_located_exactly() -> None:
    (found,) = find_changepoints("a", np.array([1.0] * 8 + [2.0] * 8), 0.05)
    assert (found.variable, found.index, found.change_type) == ("a", 8, "MeanShift")
    assert found.confidence == pytest.approx(1)


def test_081_a_stricter_level_reports_fewer_changes() -> None:
    values = noise(4, 60)
    values[30:] += 1.6
    assert find_changepoints("a", values, 0.2)
    assert not find_changepoints("a", values, 1e-6)


def test_081_short_and_constant_series_have_no_changes() -> None:
    assert find_changepoints("a", np.array([0.0] * 4 + [9.0] * (MIN_POINTS - 5)), 0.05) == []
    assert find_changepoints("a", np.full(50, 3.0), 0.05) == []


def test_081_all_changes_of_a_frequently_changing_series_are_found() -> None:
    values = np.repeat(np.arange(100) % 2 * 10.0, 20) + 0.01 * noise(1, 2_000)
    assert [one.index for one in find_changepoints("a", values, 0.05)] == list(range(20, 2_000, 20))


def test_081_one_step_is_not_reported_as_two_bends() -> None:
    values = noise(27, 60)
    values[30:] += 6
    assert [(one.index, one.change_type) for one in find_changepoints("a", values, 0.05)] == [(30, "MeanShift")]
