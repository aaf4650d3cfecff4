"""What stands out in an episode. Numbers are rows of the feature table."""

import pytest

from scrubjay.features.episodes.models import Failure, PartialSuccess, Reflection, SalientFeatures
from scrubjay.features.episodes.salience import salient_features
from tests.contracts.samples import NOW
from tests.features.episodes.samples import ended, episode, step


@pytest.mark.parametrize(
    ("action", "decides"),
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
def test_072_decisions_are_known_by_whole_words(action: str, decides: bool) -> None:
    found = salient_features(ended(steps=(step(3, action=action),))).critical_decisions
    assert found == (("Success: It works", f"Step 3: {action}") if decides else ("Success: It works",))


def test_072_parameters_and_every_outcome_are_decisions_and_there_are_at_most_ten() -> None:
    chosen = step(1, parameters={"strategy": "cursor", "approach": 3, "method": None, "file": "a.py"})
    partly, failed = PartialSuccess(verdict="half"), Failure(reason="no")
    assert salient_features(ended(steps=(chosen,), outcome=partly)).critical_decisions == (
        "Partial success: half",
        "Step 1: strategy cursor",
        "Step 1: approach 3",
    )
    many = tuple(step(number, action="decide") for number in range(1, 20))
    decisions = salient_features(ended(steps=many, outcome=failed)).critical_decisions
    assert (len(decisions), decisions[0]) == (10, "Failure: no")


def test_072_tools_that_succeeded_one_after_the_other_belong_together() -> None:
    found = salient_features(ended("++-+?+++-++", tools=["a", "b", "c"]))
    assert found.tool_combinations == (("a", "b"), ("c", "a", "b"), ("a", "b"))[:2]
    apart = salient_features(ended("++-" * 20, tools=[f"t{number}" for number in range(60)]))
    assert len(apart.tool_combinations) == 5


def test_072_a_recovery_says_what_went_wrong_and_what_helped() -> None:
    steps = (step(1, "-"), step(2, tool="edit", action="make the file"), step(3, "t"), step(4, tool="b", action="ask"))
    found = salient_features(ended(steps=steps)).error_recovery_patterns
    assert found == ("no such file → make the file (edit)", "timeout → ask (b)")
    assert len(salient_features(ended("-+" * 20)).error_recovery_patterns) == 10


def test_072_insights_are_those_of_the_reflection_and_at_most_fifteen() -> None:
    looked_back = Reflection(successes=("s",) * 9, improvements=("m",) * 5, insights=("i",) * 5, generated_at=NOW)
    found = salient_features(ended(reflection=looked_back))
    assert found.key_insights == ("i",) * 5 + ("m",) * 5 + ("s",) * 5
    assert salient_features(episode()) == SalientFeatures()
