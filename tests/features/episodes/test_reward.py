"""Rewards, compared with values calculated by hand. Numbers are rows of the feature table."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    FailureOutcome,
    Outcome,
    PartialSuccessOutcome,
    Reward,
    SuccessOutcome,
)
from scrubjay.features.episodes.reward import reward_of
from tests.contracts.samples import NOW
from tests.features.episodes.samples import ended


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (SuccessOutcome(verdict="v"), 1.0),
        (PartialSuccessOutcome(verdict="v", completed=("a", "b", "c"), failed=("d",)), 0.75),
        (PartialSuccessOutcome(verdict="v", failed=("d",)), 0.0),
        (PartialSuccessOutcome(verdict="v"), 0.5),
        (FailureOutcome(reason="r"), 0.0),
    ],
)
def test_075_the_base_is_the_share_of_completed_work(outcome: Outcome, expected: float) -> None:
    assert reward_of(ended(outcome=outcome)).base == expected


@pytest.mark.parametrize(
    ("seconds", "steps", "expected"),
    [
        (0, 0, 1.0),  # .5 * 1.5 + .5 * .5
        (-1, 0, 1.0),
        (120, 0, 0.68394),  # .5 * (.5 + e^-1) + .25
        (120, 20, 0.867879),  # both .5 + e^-1
        (60, 10, 1.106531),  # both .5 + e^-.5
        (0, 1, 1.475615),  # .75 + .5 * (.5 + e^-.05)
        (10**6, 1_000, 0.5),
    ],
)
def test_075_fast_and_short_episodes_are_efficient(seconds: float, steps: int, expected: float) -> None:
    assert reward_of(ended("?" * steps, seconds=seconds)).efficiency == pytest.approx(expected, abs=1e-6)


def test_075_an_unknown_duration_is_neutral() -> None:
    without = replace(ended("?" * 10), end_time=None)
    assert reward_of(without).efficiency == pytest.approx(1.053265, abs=1e-6)  # .5 * 1 + .5 * (.5 + e^-.5)


@pytest.mark.parametrize(("complexity", "expected"), [("simple", 1.0), ("moderate", 1.1), ("complex", 1.2)])
def test_075_complex_tasks_have_a_bonus(complexity: str, expected: float) -> None:
    assert reward_of(ended(complexity=Complexity(complexity))).complexity_bonus == expected


def with_artifacts(*names: str) -> Episode:
    return ended(outcome=SuccessOutcome(verdict="v", artifacts=names))


@pytest.mark.parametrize(
    ("episode", "expected"),
    [
        (ended(), 1.0),
        (with_artifacts("a.py"), 1.0),
        (with_artifacts("Test_a.py"), 1.1),
        (with_artifacts("COVERAGE.xml"), 1.1),
        (with_artifacts("a", "b", "c"), 1.05),
        (with_artifacts("tests", "b", "coverage"), 1.15),
        (ended(metadata={"test_coverage": "60"}), 1.0),
        (ended(metadata={"test_coverage": "60.5"}), 1.1),
        (ended(metadata={"test_coverage": "80%"}), 1.1),
        (ended(metadata={"test_coverage": " 81 %"}), 1.15),
        (ended(metadata={"test_coverage": "inf"}), 1.0),
        (ended(metadata={"test_coverage": "good"}), 1.0),
        (ended(metadata={"clippy_warnings": "0"}), 1.05),
        (ended(metadata={"clippy_warnings": "1"}), 1.0),
        (ended("+" * 5), 1.1),
        (ended("+" * 9 + "-"), 1.0),  # exactly one in ten
        (ended("+" * 8 + "-"), 0.9),
        (ended("+" * 7 + "---"), 0.9),  # exactly three in ten
        (ended("++-"), 0.8),
        (
            replace(
                ended("+", outcome=SuccessOutcome(verdict="v", artifacts=("test", "b", "c"))),
                metadata={"test_coverage": "99", "clippy_warnings": "0"},
            ),
            1.45,
        ),
    ],
)
def test_075_indicators_of_quality_raise_the_multiplier_and_errors_lower_it(episode: Episode, expected: float) -> None:
    assert reward_of(episode).quality_multiplier == pytest.approx(expected)


FOUR, FIVE = "a b c d".split(), "a b c d e".split()  # noqa: SIM905 - read as words


@pytest.mark.parametrize(
    ("episode", "expected"),
    [
        (ended("??"), 0.0),
        (ended(patterns=("p",)), 0.1),
        (ended(patterns=("p",) * 4), 0.3),
        (ended("???", tools=["a", "b", "c"]), 0.1),
        (ended("??", tools=["a", "b"]), 0.0),
        (ended("????", tools=FOUR), 0.1),
        (ended("?????", tools=FIVE), 0.15),
        (ended("++"), 0.0),
        (ended("+++"), 0.15),
        (ended("++++"), 0.15),
        (ended("+++++"), 0.2),
        (ended("+" * 10 + "-"), 0.2),  # 10 of 11 are more than .9
        (ended("+" * 9 + "-"), 0.0),  # exactly .9
        (ended("-+"), 0.15),
        (ended("-?+"), 0.0),
        (ended("t+"), 0.15),
        (ended("?", seconds=29.9), 0.1),
        (ended("?", seconds=30), 0.0),
        (ended("?" * 10, seconds=1), 0.0),
        (ended("-+" + "+" * 18, tools=FIVE, patterns=("p", "q", "r")), 0.5),  # .3 + .15 + .2 + .15, and no more
    ],
)
def test_075_the_learning_bonus_is_limited(episode: Episode, expected: float) -> None:
    assert reward_of(episode).learning_bonus == pytest.approx(expected)


def test_075_a_success_with_applied_patterns_has_a_bonus() -> None:
    for applied, bonus in ((1, 0.1), (3, 0.3), (5, 0.3)):
        assert reward_of(ended(applied_patterns=("p",) * applied)).learning_bonus == bonus
    assert reward_of(ended(applied_patterns=("p",), outcome=FailureOutcome(reason="r"))).learning_bonus == 0


def test_075_the_total_is_the_product_plus_the_bonus_and_can_exceed_one() -> None:
    # 120 s, 4 successes with 2 tools: 1 * (.5 * (.5 + e^-1) + .5 * (.5 + e^-.2)) * 1.2 * 1.1 + .15
    whole = reward_of(ended("++++", seconds=120, tools=["a", "b"], complexity=Complexity.COMPLEX))
    assert whole == Reward(
        total=1.593163,
        base=1.0,
        efficiency=1.093305,
        complexity_bonus=1.2,
        quality_multiplier=1.1,
        learning_bonus=0.15,
    )


@given(
    outcomes=st.text("+-t?", max_size=40),
    seconds=st.floats(-10, 1e7),
    patterns=st.integers(0, 20),
    outcome=st.sampled_from(
        [SuccessOutcome(verdict="v"), PartialSuccessOutcome(verdict="v"), FailureOutcome(reason="r")]
    ),
)
def test_075_every_component_stays_within_its_bounds(
    outcomes: str, seconds: float, patterns: int, outcome: Outcome
) -> None:
    whole = ended(outcomes, outcome=outcome, patterns=("p",) * patterns, end_time=NOW + timedelta(seconds=seconds))
    reward = reward_of(whole)
    assert 0 <= reward.base <= 1
    assert 0.5 <= reward.efficiency <= 1.5
    assert 0.5 <= reward.quality_multiplier <= 1.5
    assert 0 <= reward.learning_bonus <= 0.5
    assert 0 <= reward.total <= 1.5 * 1.2 * 1.5 + 0.5
    product = reward.base * reward.efficiency * reward.complexity_bonus * reward.quality_multiplier
    assert reward.total == pytest.approx(product + reward.learning_bonus, abs=1e-5)
