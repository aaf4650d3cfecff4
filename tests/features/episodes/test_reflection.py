"""Rule-based reflection on episodes. Numbers are rows of the feature table."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    FailureOutcome,
    PartialSuccessOutcome,
    Reflection,
    SuccessOutcome,
    TaskType,
)
from scrubjay.features.episodes.reflection import MAX_ITEMS, reflect
from scrubjay.features.episodes.reflection.improvements import improvements
from scrubjay.features.episodes.reflection.insights import insights
from scrubjay.features.episodes.reflection.successes import successes
from scrubjay.features.episodes.step_stats import StepCounts
from tests.contracts.samples import NOW
from tests.features.episodes.samples import ended, step

PARTLY = PartialSuccessOutcome(verdict="half of it", completed=("a", "b"), failed=("c",))
BROKEN = FailureOutcome(reason="no such host")


def success_lines(episode: Episode) -> list[str]:
    return [*successes(episode, StepCounts.of(episode.steps))]


def improvement_lines(episode: Episode) -> list[str]:
    return [*improvements(episode, StepCounts.of(episode.steps))]


def insight_lines(episode: Episode) -> list[str]:
    return [*insights(episode, StepCounts.of(episode.steps))]


@pytest.mark.parametrize(
    ("episode", "line"),
    [
        (ended(), "Completed: It works"),
        (ended(outcome=SuccessOutcome(verdict="v", artifacts=("a",))), "Produced 1 artifact"),
        (ended(outcome=SuccessOutcome(verdict="v", artifacts=("a", "b"))), "Produced 2 artifacts"),
        (ended(outcome=PARTLY), "Partly completed: half of it"),
        (ended(outcome=PARTLY), "2 of 3 subtasks completed"),
        (ended("++++-"), "4 of 5 steps succeeded (80 %)"),
        (ended("++++", tools=["a", "b", "c", "d"]), "Successful tools: a, b, c"),
        (ended(seconds=29), "Finished in 29 s"),
        (ended("???", tools=["a", "b", "c"]), "A diverse strategy: 3 tools over 3 steps"),
        (ended("???", tools=["a", "b"]), "A focused strategy: 2 tools over 3 steps"),
        (ended("+" * 10 + "-"), "A smooth flow: few steps failed"),
        (ended("-+-+"), "Recovered from errors 2 times"),
        (ended("+", complexity=Complexity.COMPLEX), "Handled a complex task in web-api"),
        (ended("+" * 14, seconds=59), "Efficient: 14 steps in 59 s"),
        (ended("+" * 4, seconds=119), "Direct: needed only 4 steps"),
    ],
)
def test_076_successes_are_listed(episode: Episode, line: str) -> None:
    assert line in success_lines(episode)


@pytest.mark.parametrize(
    ("episode", "word"),
    [
        (ended(outcome=BROKEN), "ompleted"),
        (ended("+++--"), "steps succeeded"),
        (ended("--"), "Successful tools"),
        (ended(seconds=30), "Finished in"),
        (ended("?", tools=["a"]), "strategy"),
        (ended("+" * 9 + "-"), "smooth"),
        (ended("-+"), "Recovered"),
        (ended("+" * 15, seconds=59), "Efficient"),
        (ended("+" * 5, seconds=60), "Direct"),
        (ended("+" * 3, seconds=120), "Direct"),
        (ended("+++", outcome=BROKEN, seconds=10), "strategy"),
        (ended("+", outcome=BROKEN, complexity=Complexity.COMPLEX), "Handled"),
    ],
)
def test_076_failures_are_not_listed_as_successes(episode: Episode, word: str) -> None:
    assert not [line for line in success_lines(episode) if word in line]


def slow(*latencies: int, **fields: Any) -> Episode:
    return ended(steps=tuple(step(n, latency_ms=latency, **fields) for n, latency in enumerate(latencies, 1)))


@pytest.mark.parametrize(
    ("episode", "line"),
    [
        (ended(outcome=BROKEN), "Failed: no such host"),
        (ended(outcome=PARTLY), "1 subtask failed: c"),
        (ended("+-"), "1 of 2 steps failed"),
        (ended("--"), "grep failed 2 times: check its arguments, or use another tool"),
        (ended(seconds=301), "Took 301 s: look for unnecessary steps"),
        (ended("?" * 51), "Took 51 steps: split such tasks"),
        (ended("-+-"), "The same error occurred 2 times: no such file"),
        (slow(10, 10, 10, 1_001), "Step 4 (grep) was a bottleneck: 1.0 s"),
        (ended("?" * 5), "grep was used 5 times: consider combining calls"),
        (ended("---"), "All 3 errors came from grep: look for a systematic cause"),
        (ended("---", tools=["a", "b"]), "3 errors came from 2 tools: look for a common cause"),
        (ended("???"), "Consecutive steps used the same tool 2 times: consider combining them"),
        (slow(1, 1, tokens_used=5_001), "The steps used 10002 tokens: request less output per step"),
    ],
)
def test_076_improvements_are_listed(episode: Episode, line: str) -> None:
    assert line in improvement_lines(episode)


@pytest.mark.parametrize(
    "episode",
    [
        ended("+" * 4, tools=["a", "b"], seconds=300),
        ended("?" * 50, tools=[f"t{number}" for number in range(13)], seconds=1),
        slow(300, 1_000),
        slow(1_000, 3_000),
        slow(1, 1, tokens_used=5_000),
        ended(outcome=PartialSuccessOutcome(verdict="v", completed=("a",))),
    ],
)
def test_076_a_flawless_episode_has_no_improvements(episode: Episode) -> None:
    assert improvement_lines(episode) == []


@pytest.mark.parametrize(
    ("episode", "line"),
    [
        (ended("++"), "Every step succeeded: the approach is reliable"),
        (ended("++++-"), "80 % of the steps succeeded: the approach is mostly reliable"),
        (ended("+--"), "Only 33 % of the steps succeeded: the approach is not reliable"),
        (ended("-+", tools=["a", "b"]), "b recovered from an error of a"),
        (ended("++"), "A moderate task in web-api took 2 steps and 1 tool"),
        (ended("?" * 6, tools="abcdef"), "Used many tools: 6"),
        (ended("????"), "Used only one tool: grep"),
        (slow(5_001, 5_001), "Steps took 5.0 s on average"),
        (ended("?" * 7), "Took less than half of the 15 steps expected for a moderate task"),
        (ended("?" * 31), "Took more than twice the 15 steps expected for a moderate task"),
        (ended("?" * 2, complexity=Complexity.SIMPLE), "Took less than half of the 5 steps expected for a simple task"),
        (
            ended("?" * 61, complexity=Complexity.COMPLEX),
            "Took more than twice the 30 steps expected for a complex task",
        ),
        (ended("-+++"), "The success rate rose from 50 % in the first half to 100 % in the second"),
        (ended("++", task_type=TaskType.CODE_GENERATION), "The strategy works for code generation tasks"),
        (ended("++", outcome=BROKEN), "Try another strategy for debugging tasks like this"),
        (ended("++-", tools=["a", "a", "b"]), "Tools to prioritise: a"),
    ],
)
def test_076_insights_are_listed(episode: Episode, line: str) -> None:
    assert line in insight_lines(episode)


@pytest.mark.parametrize(
    ("episode", "word"),
    [
        (ended("+"), ""),
        (ended("++-"), "of the steps succeeded"),
        (ended("+-"), "of the steps succeeded"),
        (ended("???"), "only one tool"),
        (ended("?" * 5, tools="abcde"), "many tools"),
        (slow(5_000, 5_000), "on average"),
        (ended("?" * 8), "steps expected"),
        (ended("?" * 30), "steps expected"),
        (ended("-++"), "success rate rose"),
        (ended("++--"), "success rate rose"),
        (ended("+-"), "strategy"),
        (ended("+++-"), "prioritise"),
    ],
)
def test_076_unsupported_insights_are_not_listed(episode: Episode, word: str) -> None:
    assert not [line for line in insight_lines(episode) if word in line]


def test_076_a_reflection_has_at_most_five_items_of_each_kind_and_the_outcome_first() -> None:
    whole = ended("-+-+---" + "?" * 50, outcome=BROKEN, seconds=400)
    reflection = reflect(whole, NOW)
    assert reflection == Reflection(
        successes=tuple(success_lines(whole)[:5]),
        improvements=tuple(improvement_lines(whole)[:5]),
        insights=tuple(insight_lines(whole)[:5]),
        generated_at=NOW,
    )
    assert (reflection.improvements[0], len(reflection.improvements)) == ("Failed: no such host", 5)
    assert reflect(ended(), NOW).items == 1


@given(outcomes=st.text("+-t?", max_size=60), seconds=st.floats(0, 1e6), verdict=st.text(min_size=1, max_size=500))
def test_076_the_length_of_a_reflection_is_limited(outcomes: str, seconds: float, verdict: str) -> None:
    reflection = reflect(ended(outcomes, seconds=seconds, outcome=SuccessOutcome(verdict=verdict)), NOW)
    for lines in (reflection.successes, reflection.improvements, reflection.insights):
        assert len(lines) <= MAX_ITEMS
        assert all(len(line) < 300 and "\n" not in line for line in lines)
