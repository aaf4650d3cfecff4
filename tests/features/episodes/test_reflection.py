"""Rule-based reflection on episodes. Numbers are rows of the feature table."""

from dataclasses import replace
from datetime import timedelta
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
    TaskEffort,
    TaskType,
    TypicalEffort,
    typical_effort,
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
        (ended("?" * 2), "similar tasks"),
        (ended("?" * 90), "similar tasks"),
        (ended("-++"), "success rate rose"),
        (ended("++--"), "success rate rose"),
        (ended("+-"), "strategy"),
        (ended("+++-"), "prioritise"),
    ],
)
def test_076_unsupported_insights_are_not_listed(episode: Episode, word: str) -> None:
    assert not [line for line in insight_lines(episode) if word in line]


# Tasks of a kind took 10 steps and 120 s in the median.
TYPICAL = TypicalEffort(episodes=4, steps=10, seconds=120)


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        (4, "Took 4 steps, less than half of the 10 steps of similar tasks (median of 4)"),
        (5, None),
        (20, None),
        (21, "Took 21 steps, more than twice the 10 steps of similar tasks (median of 4)"),
    ],
)
def test_076_steps_are_compared_with_those_of_similar_tasks(steps: int, line: str | None) -> None:
    found = insights(whole := ended("?" * steps), StepCounts.of(whole.steps), TYPICAL)
    assert [one for one in found if "similar" in one] == ([line] if line else [])


def test_076_the_time_is_compared_with_that_of_similar_tasks() -> None:
    def lines(seconds: float, typical: TypicalEffort) -> list[str]:
        whole = ended("+" * 4, tools=["a", "b"], seconds=seconds)
        return [*improvements(whole, StepCounts.of(whole.steps), typical)]

    assert lines(241, TYPICAL) == ["Took 241 s, similar tasks 120 s (median of 4): look for unnecessary steps"]
    assert lines(240, TYPICAL) == []
    assert lines(900, TypicalEffort(episodes=4, steps=10, seconds=600)) == [], "such tasks take long"
    many = ended("?" * 60, tools=[f"t{number}" for number in range(20)], seconds=100)
    assert [*improvements(many, StepCounts.of(many.steps), TypicalEffort(episodes=3, steps=40, seconds=None))] == []


def test_076_times_are_measured_ones() -> None:
    recorded_afterwards = slow(400_000, 500_000, 300_000)
    recorded_afterwards = replace(recorded_afterwards, end_time=recorded_afterwards.start_time + timedelta(seconds=0.2))
    assert "Took 1200 s: look for unnecessary steps" in improvement_lines(recorded_afterwards)
    assert not [line for line in success_lines(recorded_afterwards) if " in " in line or "Direct" in line]
    without_times = ended("+" * 5, seconds=0.2)
    assert not [line for line in success_lines(without_times) if "Finished" in line or "Efficient" in line]
    assert "Finished in 6.0 s" in success_lines(ended("+" * 5, seconds=6)), "it was recorded while it happened"


def test_076_what_is_typical_needs_three_tasks() -> None:
    efforts = [TaskEffort(4, 0, 60.0), TaskEffort(12, 90_000, 1.0)]
    assert typical_effort(efforts) is None
    assert typical_effort([*efforts, TaskEffort(8, 0, 0.1)]) == TypicalEffort(episodes=3, steps=8, seconds=None)
    assert typical_effort([*efforts, TaskEffort(8, 1, 70.0)]) == TypicalEffort(episodes=3, steps=8, seconds=70.0)


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
