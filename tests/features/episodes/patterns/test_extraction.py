"""Extraction of patterns from one episode. Numbers are rows of the feature table."""

from dataclasses import replace
from typing import Any, TypeVar

import pytest

from scrubjay.features.episodes.models import FailureOutcome, PartialSuccessOutcome, ResultType, StepResult, TaskContext
from scrubjay.features.episodes.patterns.extraction import error_type, extract_patterns, shorten_line
from scrubjay.features.episodes.patterns.models import ContextPattern, DecisionPoint, ErrorRecovery, Form, ToolSequence
from tests.features.episodes.samples import ended, episode, step, steps


def forms(*recorded: Any, **fields: Any) -> list[Form]:
    return [pattern.form for pattern in extract_patterns(ended(steps=recorded, **fields))]


Kind = TypeVar("Kind", ToolSequence, DecisionPoint)


def of_kind(kind: type[Kind], found: list[Form]) -> list[Kind]:
    return [form for form in found if isinstance(form, kind)]


def test_077_consecutive_successful_tools_are_a_sequence() -> None:
    recorded = [step(n, tool=tool, latency_ms=100 * n) for n, tool in enumerate(("grep", "grep", "read", "edit"), 1)]
    assert of_kind(ToolSequence, forms(*recorded)) == [
        ToolSequence(tools=("grep", "read", "edit"), avg_latency_ms=250.0)
    ]


def test_077_a_sequence_has_at_most_five_tools_and_no_failure_within() -> None:
    many = [step(n, tool=f"t{n}") for n in range(1, 13)]
    assert [form.tools for form in of_kind(ToolSequence, forms(*many))] == [
        ("t1", "t2", "t3", "t4", "t5"),
        ("t6", "t7", "t8", "t9", "t10"),
        ("t11", "t12"),
    ]
    broken = [step(n, "-" if n == 3 else "+", tool=f"t{n}") for n in range(1, 6)]
    assert [form.tools for form in of_kind(ToolSequence, forms(*broken))] == [("t1", "t2"), ("t4", "t5")]


@pytest.mark.parametrize(
    ("action", "is_decision"),
    [
        ("Check that the file exists", True),
        ("verify the checksum", True),
        ("Validated the schema", True),
        ("see whether it was there", True),
        ("select the index", True),
        ("see if it is there", False),
        ("find out what it has", False),
        ("check out the release branch", False),
        ("run SELECT count(*) FROM users", False),
        ("run the analysis", False),
        ("list this history", False),
        ("hash the checklist", False),
        ("invalidate caches", False),
    ],
)
def test_077_decision_words_are_whole_words(action: str, is_decision: bool) -> None:
    found = of_kind(DecisionPoint, forms(step(1, action=action), step(2, tool="edit", action="go on", latency_ms=500)))
    expected = DecisionPoint(
        condition=action, action="edit: go on", success_count=1, failure_count=0, avg_duration_secs=0.5
    )
    assert found == ([expected] if is_decision else [])


def test_077_a_failure_and_its_solution_are_a_recovery() -> None:
    missing = StepResult(type=ResultType.ERROR, message="Traceback\nModuleNotFoundError: No module named 'x'")
    recorded = (
        step(1),
        step(2, tool="pytest", result=missing),
        step(3, "-", tool="pip", action="install x"),
        step(4, tool="pip", action="install x from the mirror"),
        step(5, tool="pytest"),
    )
    (pattern,) = [one for one in extract_patterns(ended(steps=recorded)) if isinstance(one.form, ErrorRecovery)]
    assert pattern.form == ErrorRecovery(
        error_type="ModuleNotFoundError", recovery_steps=("pip: install x", "pip: install x from the mirror")
    )
    assert pattern.success_rate == 1
    again = (*recorded, step(6, tool="pytest", result=missing))
    (pattern,) = [one for one in extract_patterns(ended(steps=again)) if isinstance(one.form, ErrorRecovery)]
    assert pattern.success_rate == 0, "the same step failed again"


def test_077_the_context_is_a_pattern_with_its_approach() -> None:
    context = TaskContext(domain="web-api", language="python", tags=("auth",))
    found = extract_patterns(ended("++", tools=("grep", "edit"), context=context))
    (pattern,) = [one for one in found if isinstance(one.form, ContextPattern)]
    assert pattern.form == ContextPattern(
        context_features=("task: debugging", "domain: web-api", "language: python", "complexity: moderate"),
        recommended_approach="Work with grep, edit",
    )
    assert (pattern.evidence, pattern.context, pattern.sample) == ((ended().episode_id,), context, 1)


def test_077_seven_of_ten_steps_must_have_succeeded_and_three_for_a_recovery() -> None:
    tools = ("a", "b")
    good = {type(form) for form in forms(*steps("+++++++---", tools))}
    assert good == {ToolSequence, ContextPattern}
    assert {type(form) for form in forms(*steps("++++-+---+", tools))} == {ErrorRecovery}, "six of ten"
    assert {type(form) for form in forms(*steps("+-+-+-----", tools))} == {ErrorRecovery}, "three of ten"
    assert forms(*steps("+-+-------", tools)) == [], "two of ten"


def test_077_steps_without_a_result_are_ignored() -> None:
    assert forms(*steps("????")) == []
    assert extract_patterns(episode(steps=steps("++", ("a", "b")))) == [], "the episode is open"
    assert ToolSequence(tools=("a", "b"), avg_latency_ms=0.0) in forms(*steps("+?+?", ("a", "x", "b", "x")))


def test_077_the_outcome_of_the_episode_is_the_success_of_its_patterns() -> None:
    for outcome, rate in (
        (FailureOutcome(reason="no"), 0.0),
        (PartialSuccessOutcome(verdict="half", completed=("a",), failed=("b",)), 0.5),
    ):
        found = extract_patterns(ended("++", tools=("a", "b"), outcome=outcome))
        assert {pattern.success_rate for pattern in found} == {rate}


def test_077_equal_patterns_have_the_same_id_within_a_project() -> None:
    one, other = (extract_patterns(ended("++", tools=("a", "b"), number=number)) for number in (1, 2))
    assert [pattern.id for pattern in one] == [pattern.id for pattern in other]
    elsewhere = extract_patterns(ended("++", tools=("a", "b"), project_id="proj_1"))
    assert {pattern.id for pattern in elsewhere}.isdisjoint(pattern.id for pattern in one)


def test_077_an_episode_yields_each_pattern_once_and_at_most_five_of_a_type() -> None:
    recorded = [step(n, tool=f"t{n % 2}", action="check it") for n in range(1, 400)]
    found = extract_patterns(ended(steps=tuple(recorded)))
    assert len({pattern.id for pattern in found}) == len(found)
    assert len(found) <= 12


def test_077_errors_are_distinguished_by_their_names() -> None:
    def failed(message: str | None, kind: ResultType = ResultType.ERROR) -> str:
        return error_type(step(1, tool="cargo", result=StepResult(type=kind, message=message)))

    assert failed("error[E0502]: cannot borrow") == "E0502"
    assert failed("open: ENOENT, no such file") == "ENOENT"
    assert failed("src/a.ts: error TS2345: wrong") == "TS2345"
    assert failed("connection refused: try later") == "connection refused"
    assert failed("") == failed(None) == "error of cargo"
    assert failed("whatever", ResultType.TIMEOUT) == "timeout of cargo"


def test_077_long_texts_are_cut() -> None:
    text = shorten_line("a  b\n" * 400)
    assert len(text) <= 300
    assert text.startswith("a b a b")
    huge = replace(step(1, action="check " + "x" * 9_000), tool="t" * 500)
    for form in forms(huge, step(2, action="y" * 9_000)):
        assert len(str(form)) < 2_000
