"""What is said of an episode by looking back at it. Numbers are rows of the feature table."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    Failure,
    PartialSuccess,
    Reflection,
    Success,
    TaskType,
)
from scrubjay.features.episodes.reflection import MOST_OF_EACH, reflect
from scrubjay.features.episodes.reflection.improvements import improvements
from scrubjay.features.episodes.reflection.insights import insights
from scrubjay.features.episodes.reflection.successes import successes
from scrubjay.features.episodes.step_stats import Tally
from tests.contracts.samples import NOW
from tests.features.episodes.samples import ended, step

PARTLY = PartialSuccess(verdict="half of it", completed=("a", "b"), failed=("c",))
BROKEN = Failure(reason="no such host")


def went_well(episode: Episode) -> list[str]:
    return [*successes(episode, Tally.of(episode.steps))]


def to_improve(episode: Episode) -> list[str]:
    return [*improvements(episode, Tally.of(episode.steps))]


def shown(episode: Episode) -> list[str]:
    return [*insights(episode, Tally.of(episode.steps))]


@pytest.mark.parametrize(
    ("episode", "line"),
    [
        (ended(), "Completed: It works"),
        (ended(outcome=Success(verdict="v", artifacts=("a",))), "Produced 1 artifact"),
        (ended(outcome=Success(verdict="v", artifacts=("a", "b"))), "Produced 2 artifacts"),
        (ended(outcome=PARTLY), "Partly completed: half of it"),
        (ended(outcome=PARTLY), "2 of 3 subtasks completed"),
        (ended("++++-"), "4 of 5 steps succeeded (80 %)"),
        (ended("++++", tools=["a", "b", "c", "d"]), "Tools that worked: a, b, c"),
        (ended(seconds=29), "Done within 29 s"),
        (ended("???", tools=["a", "b", "c"]), "A diverse strategy: 3 tools over 3 steps"),
        (ended("???", tools=["a", "b"]), "A focused strategy: 2 tools over 3 steps"),
        (ended("+" * 10 + "-"), "A smooth flow: hardly a step failed"),
        (ended("-+-+"), "Recovered from errors 2 times"),
        (ended("+", complexity=Complexity.COMPLEX), "Mastered a complex task in web-api"),
        (ended("+" * 14, seconds=59), "Efficient: 14 steps in 59 s"),
        (ended("+" * 4, seconds=119), "Direct: 4 steps were enough"),
    ],
)
def test_076_what_went_well_is_said(episode: Episode, line: str) -> None:
    assert line in went_well(episode)


@pytest.mark.parametrize(
    ("episode", "word"),
    [
        (ended(outcome=BROKEN), "ompleted"),
        (ended("+++--"), "steps succeeded"),
        (ended("--"), "Tools that worked"),
        (ended(seconds=30), "Done within"),
        (ended("?", tools=["a"]), "strategy"),
        (ended("+" * 9 + "-"), "smooth"),
        (ended("-+"), "Recovered"),
        (ended("+" * 15, seconds=59), "Efficient"),
        (ended("+" * 5, seconds=60), "Direct"),
        (ended("+" * 3, seconds=120), "Direct"),
        (ended("+++", outcome=BROKEN, seconds=10), "strategy"),
        (ended("+", outcome=BROKEN, complexity=Complexity.COMPLEX), "Mastered"),
    ],
)
def test_076_what_did_not_go_well_is_not_said_to(episode: Episode, word: str) -> None:
    assert not [line for line in went_well(episode) if word in line]


def slow(*latencies: int, **fields: Any) -> Episode:
    return ended(steps=tuple(step(n, latency_ms=own, **fields) for n, own in enumerate(latencies, 1)))


@pytest.mark.parametrize(
    ("episode", "line"),
    [
        (ended(outcome=BROKEN), "It failed: no such host"),
        (ended(outcome=PARTLY), "1 subtask failed: c"),
        (ended("+-"), "1 of 2 steps failed"),
        (ended("--"), "grep failed 2 times: check how it is called, or use another tool"),
        (ended(seconds=301), "It took 301 s: look for steps that can be left out"),
        (ended("?" * 51), "It took 51 steps: divide such a task"),
        (ended("-+-"), "The same error came 2 times: no such file"),
        (slow(10, 10, 10, 1_001), "Step 4 (grep) was a bottleneck: 1.0 s"),
        (ended("?" * 5), "grep was used 5 times: one call for several of them may do"),
        (ended("---"), "All 3 errors came from grep: the cause is systematic"),
        (ended("---", tools=["a", "b"]), "3 errors came from 2 tools: check what they have in common"),
        (ended("???"), "The same tool followed itself 2 times: such steps may be joined"),
        (slow(1, 1, tokens_used=5_001), "The steps took 10002 tokens: ask for less at once"),
    ],
)
def test_076_what_could_be_better_is_said(episode: Episode, line: str) -> None:
    assert line in to_improve(episode)


@pytest.mark.parametrize(
    "episode",
    [
        ended("+" * 4, tools=["a", "b"], seconds=300),
        ended("?" * 50, tools=[f"t{number}" for number in range(13)], seconds=1),
        slow(300, 1_000),
        slow(1_000, 3_000),
        slow(1, 1, tokens_used=5_000),
        ended(outcome=PartialSuccess(verdict="v", completed=("a",))),
    ],
)
def test_076_nothing_to_improve_is_made_up(episode: Episode) -> None:
    assert to_improve(episode) == []


@pytest.mark.parametrize(
    ("episode", "line"),
    [
        (ended("++"), "Every step succeeded: the way it was done is reliable"),
        (ended("++++-"), "80 % of the steps succeeded: the way it was done is mostly reliable"),
        (ended("+--"), "Only 33 % of the steps succeeded: the way it was done is not reliable"),
        (ended("-+", tools=["a", "b"]), "b helped after an error of a"),
        (ended("++"), "A moderate task in web-api took 2 steps and 1 tool"),
        (ended("?" * 6, tools="abcdef"), "It needed many tools: 6"),
        (ended("????"), "One tool did all of it: grep"),
        (slow(5_001, 5_001), "A step took 5.0 s on average"),
        (ended("?" * 7), "It took less than half of the 15 steps that such tasks take"),
        (ended("?" * 31), "It took more than twice the 15 steps that such tasks take"),
        (ended("?" * 2, complexity=Complexity.SIMPLE), "It took less than half of the 5 steps that such tasks take"),
        (
            ended("?" * 61, complexity=Complexity.COMPLEX),
            "It took more than twice the 30 steps that such tasks take",
        ),
        (ended("-+++"), "Later steps went better: 50 %, then 100 %"),
        (ended("++", task_type=TaskType.CODE_GENERATION), "The strategy works for code generation tasks"),
        (ended("++", outcome=BROKEN), "Another strategy is worth trying for such debugging tasks"),
        (ended("++-", tools=["a", "a", "b"]), "Tools to prioritise: a"),
    ],
)
def test_076_what_it_shows_is_said(episode: Episode, line: str) -> None:
    assert line in shown(episode)


@pytest.mark.parametrize(
    ("episode", "word"),
    [
        (ended("+"), ""),
        (ended("++-"), "of the steps succeeded"),
        (ended("+-"), "of the steps succeeded"),
        (ended("???"), "One tool"),
        (ended("?" * 5, tools="abcde"), "many tools"),
        (slow(5_000, 5_000), "on average"),
        (ended("?" * 8), "such tasks take"),
        (ended("?" * 30), "such tasks take"),
        (ended("-++"), "Later steps"),
        (ended("++--"), "Later steps"),
        (ended("+-"), "strategy"),
        (ended("+++-"), "prioritise"),
    ],
)
def test_076_what_it_does_not_show_is_not_said(episode: Episode, word: str) -> None:
    assert not [line for line in shown(episode) if word in line]


def test_076_a_reflection_has_at_most_five_of_each_and_the_outcome_first() -> None:
    whole = ended("-+-+---" + "?" * 50, outcome=BROKEN, seconds=400)
    looked_back = reflect(whole, NOW)
    assert looked_back == Reflection(
        successes=tuple(went_well(whole)[:5]),
        improvements=tuple(to_improve(whole)[:5]),
        insights=tuple(shown(whole)[:5]),
        generated_at=NOW,
    )
    assert (looked_back.improvements[0], len(looked_back.improvements)) == ("It failed: no such host", 5)
    assert reflect(ended(), NOW).items == 1


@given(outcomes=st.text("+-t?", max_size=60), seconds=st.floats(0, 1e6), verdict=st.text(min_size=1, max_size=500))
def test_076_no_reflection_is_too_long(outcomes: str, seconds: float, verdict: str) -> None:
    looked_back = reflect(ended(outcomes, seconds=seconds, outcome=Success(verdict=verdict)), NOW)
    for lines in (looked_back.successes, looked_back.improvements, looked_back.insights):
        assert len(lines) <= MOST_OF_EACH
        assert all(len(line) < 300 and "\n" not in line for line in lines)
