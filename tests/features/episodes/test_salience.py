"""Salient features of episodes. Numbers are rows of the feature table."""

import pytest

from scrubjay.features.episodes.models import FailureOutcome, PartialSuccessOutcome, Reflection, SalientFeatures
from scrubjay.features.episodes.salience import salient_features
from tests.contracts.samples import NOW
from tests.features.episodes.samples import ended, episode, step


@pytest.mark.parametrize(
    ("action", "is_decision"),
    [
        ("Choose the smaller index", True),
        ("We chose it", True),
        ("decided to wait", True),
        ("Select a driver", True),
        ("opted for cursors", True),
        ("Read the selection of files", False),
        ("Look at the options for it", False),
        ("indecisive", False),
    ],
)
def test_072_decisions_are_recognized_by_whole_words(action: str, is_decision: bool) -> None:
    decisions = salient_features(ended(steps=(step(3, action=action),))).critical_decisions
    assert decisions == (("Success: It works", f"Step 3: {action}") if is_decision else ("Success: It works",))


def test_072_parameters_and_outcomes_are_decisions_and_are_limited_to_ten() -> None:
    chosen = step(1, parameters={"strategy": "cursor", "approach": 3, "method": None, "file": "a.py"})
    partly, failed = PartialSuccessOutcome(verdict="half"), FailureOutcome(reason="no")
    assert salient_features(ended(steps=(chosen,), outcome=partly)).critical_decisions == (
        "Partial success: half",
        "Step 1: strategy cursor",
        "Step 1: approach 3",
    )
    many = tuple(step(number, action="decide") for number in range(1, 20))
    decisions = salient_features(ended(steps=many, outcome=failed)).critical_decisions
    assert (len(decisions), decisions[0]) == (10, "Failure: no")


def test_072_consecutive_successful_tools_form_a_combination() -> None:
    salient = salient_features(ended("++-+?+++-++", tools=["a", "b", "c"]))
    assert salient.tool_combinations == (("a", "b"), ("c", "a", "b"), ("a", "b"))[:2]
    separate = salient_features(ended("++-" * 20, tools=[f"t{number}" for number in range(60)]))
    assert len(separate.tool_combinations) == 5


def test_072_a_recovery_names_the_error_and_the_solution() -> None:
    steps = (step(1, "-"), step(2, tool="edit", action="make the file"), step(3, "t"), step(4, tool="b", action="ask"))
    recoveries = salient_features(ended(steps=steps)).error_recovery_patterns
    assert recoveries == ("no such file → make the file (edit)", "timeout → ask (b)")
    assert len(salient_features(ended("-+" * 20)).error_recovery_patterns) == 10


def test_072_at_most_fifteen_insights_come_from_the_reflection() -> None:
    reflection = Reflection(successes=("s",) * 9, improvements=("m",) * 5, insights=("i",) * 5, generated_at=NOW)
    salient = salient_features(ended(reflection=reflection))
    assert salient.key_insights == ("i",) * 5 + ("m",) * 5 + ("s",) * 5
    assert salient_features(episode()) == SalientFeatures()
