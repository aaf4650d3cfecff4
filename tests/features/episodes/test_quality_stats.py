"""Trend of the quality of episodes. Numbers are rows of the feature table."""

import pytest

from scrubjay.features.episodes.quality_stats import QualityTrend, quality_trend


@pytest.mark.parametrize("scores", [[], [0.5], [0.5, 0.9]])
def test_084_fewer_than_three_episodes_have_no_trend(scores: list[float]) -> None:
    average = sum(scores) / len(scores) if scores else None
    assert quality_trend(scores) == QualityTrend(
        direction="Unknown", recent_scores=scores, moving_average=average, confidence=None, change_rate=None
    )


@pytest.mark.parametrize(
    ("step", "direction"),
    [(0.03, "Improving"), (-0.03, "Declining"), (0.005, "Stable"), (0.015, "Stable"), (-0.015, "Stable")],
)
def test_084_the_slope_of_the_last_episodes_is_the_trend(step: float, direction: str) -> None:
    trend = quality_trend([0.5 + step * place for place in range(10)])
    assert trend.direction == direction
    assert trend.change_rate == pytest.approx(step)
    assert trend.confidence == 1
    assert trend.recent_scores == pytest.approx([0.5 + step * place for place in (7, 8, 9)])


def test_084_only_the_last_30_percent_of_the_episodes_count() -> None:
    trend = quality_trend([0.9 - 0.05 * place for place in range(14)] + [0.5] * 6)
    assert (trend.direction, trend.change_rate, trend.moving_average) == ("Stable", 0.0, 0.5)
    assert trend.confidence == 0


def test_084_a_noisy_slope_has_low_confidence() -> None:
    # 1 - scipy.stats.linregress([0, 1, 2], [.8, .3, .7]).pvalue, of SciPy 1.17.1
    trend = quality_trend([0.4, 0.8, 0.3, 0.7])
    assert trend.recent_scores == [0.8, 0.3, 0.7]
    assert trend.confidence == pytest.approx(0.12103771832367693)
