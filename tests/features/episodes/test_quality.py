"""Quality scores, compared with values calculated by hand. Numbers are rows of the feature table."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.episodes.models import Quality, Reflection
from scrubjay.features.episodes.quality import quality_of
from tests.contracts.samples import NOW
from tests.features.episodes.samples import ended, step


def reflection(items: int) -> Reflection:
    return Reflection(successes=("x",) * items, improvements=(), insights=(), generated_at=NOW)


@pytest.mark.parametrize(
    ("count", "tools", "expected"),
    [
        (0, 1, 0.2),
        (1, 1, 0.2),
        (2, 1, 0.2),
        (3, 1, 0.35),
        (3, 2, 0.5),
        (5, 3, 0.5),
        (6, 3, 0.6),
        (10, 4, 0.7),
        (10, 6, 0.7),
        (11, 6, 0.8),
        (11, 7, 0.9),
        (20, 10, 0.9),
        (21, 10, 0.95),
        (21, 11, 1.0),
    ],
)
def test_072_complexity_increases_with_steps_and_tools(count: int, tools: int, expected: float) -> None:
    quality = quality_of(ended("+" * count, tools=[f"tool {number}" for number in range(tools)]))
    assert quality.complexity == pytest.approx(expected)


@pytest.mark.parametrize(
    ("outcomes", "actions", "expected"),
    [
        ("", [], 0.0),
        ("++", ["a", "b"], 0.72),  # .6 * 2/2 + .4 * .3
        ("--", ["a", "b"], 0.72),
        ("+-", ["a", "b"], 0.8),  # .6 + .4 * .5
        ("+-", ["a", "a"], 0.5),  # .6 * 1/2 + .4 * .5
        ("??", ["a", "b"], 0.6),
        ("++++", ["a", "a", "a", "b"], 0.42),
    ],
)
def test_072_diversity_counts_actions_and_results(outcomes: str, actions: list[str], expected: float) -> None:
    steps = tuple(step(n, o, action=a) for n, (o, a) in enumerate(zip(outcomes, actions, strict=True), 1))
    assert quality_of(ended(steps=steps)).diversity == pytest.approx(expected)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ("", 0.5),
        ("+", 0.9),
        ("??", 0.9),
        ("+++++-", 1.0),  # 1/6
        ("++++-", 0.6),  # exactly .2
        ("?????-", 0.6),  # few errors, but not more successes than errors
        ("++-", 0.6),  # 1/3
        ("+++--", 0.4),  # exactly .4
        ("+-", 0.4),
        ("?-", 0.2),  # half of the steps failed and none succeeded
        ("++---", 0.2),  # exactly .6
        ("-", 0.2),
        ("t", 0.2),
    ],
)
def test_072_a_few_errors_score_highest(outcomes: str, expected: float) -> None:
    assert quality_of(ended(outcomes)).error == expected


@pytest.mark.parametrize(
    ("items", "expected"), [(0, 0), (1, 0.3), (2, 0.3), (3, 0.6), (5, 0.6), (6, 0.8), (10, 0.8), (11, 1)]
)
def test_072_a_longer_reflection_counts_more(items: int, expected: float) -> None:
    assert quality_of(replace(ended(), reflection=reflection(items))).reflection == expected


@pytest.mark.parametrize(
    ("patterns", "heuristics", "expected"),
    [(0, 0, 0.2), (1, 0, 0.5), (1, 1, 0.5), (3, 0, 0.75), (2, 3, 0.75), (6, 0, 1.0), (3, 3, 1.0)],
)
def test_072_novelty_counts_patterns_and_heuristics(patterns: int, heuristics: int, expected: float) -> None:
    learned = replace(ended(), patterns=("p",) * patterns, heuristics=("h",) * heuristics)
    assert quality_of(learned).novelty == expected


def test_072_the_score_is_a_weighted_sum_and_low_below_the_threshold() -> None:
    # .25 * .5 + .2 * .72 + .2 * .9 + .2 * .6 + .15 * .2
    plain = replace(ended("+++", tools=["a", "b"]), reflection=reflection(5))
    assert quality_of(plain) == Quality(
        score=0.599, complexity=0.5, diversity=0.72, error=0.9, reflection=0.6, novelty=0.2, threshold=0.7
    )
    assert quality_of(plain).low
    # With more patterns, and one failure in six steps: .25 * .6 + .2 * .8 + .2 * 1 + .2 * .8 + .15 * .75
    rich = replace(ended("+++-++", tools=["a", "b"]), reflection=reflection(6), patterns=("p",) * 3)
    assert (quality_of(rich).score, quality_of(rich).low) == (0.7825, False)
    assert quality_of(rich, threshold=0.8).low


@given(outcomes=st.text("+-t?", max_size=60), items=st.integers(0, 30), learned=st.integers(0, 30))
def test_072_all_components_and_the_score_are_between_0_and_1(outcomes: str, items: int, learned: int) -> None:
    quality = quality_of(replace(ended(outcomes), reflection=reflection(items), patterns=("p",) * learned))
    for part in ("score", "complexity", "diversity", "error", "reflection", "novelty"):
        assert 0 <= getattr(quality, part) <= 1
