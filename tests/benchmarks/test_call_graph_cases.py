"""Resolved calls are written in the notation of the cases, and each case is complete."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.call_graph_cases import (
    CASES,
    CallGraphCase,
    Outcome,
    Score,
    is_held_out,
    read_cases,
    report_rows,
    resolve_case,
    sum_scores,
)

LANGUAGES = ("TypeScript", "Go", "Rust")
_CALL = re.compile(r"(?P<path>\S+):(?P<line>\d+) (?P<caller>\S+) -> (?P<target>\S+) (?P<name>\S+?)(@\d+)?")

BELL = b"export class Bell {\n  ring(): void {}\n}\nexport function rap(): void {}\n"
MAIN = b"""import { Bell, rap } from './bell';

function press(bell: Bell): void {
  bell.ring();
  [1].forEach(() => rap());
}
"""
CALLS = frozenset({"main.ts:4 press -> bell.ts Bell.ring", "main.ts:5 press -> bell.ts rap"})


def test_calls_have_location_and_name_and_an_anonymous_function_counts_for_the_enclosing_one():
    case = CallGraphCase("bells", "classes", {"bell.ts": BELL, "main.ts": MAIN}, CALLS)
    assert resolve_case(case) == Outcome(case, CALLS)


def test_missed_and_wrong_calls_are_listed():
    case = CallGraphCase("bells", "classes", {}, frozenset({"a", "b"}))
    outcome = Outcome(case, frozenset({"b", "c"}))
    assert (outcome.score, outcome.differences) == (Score(1, 2, 2), ["bells: missed a", "bells: wrong c"])


def test_the_score_of_a_language_weighs_calls_not_cases():
    one = Outcome(CallGraphCase("one", "classes", {}, frozenset("abc")), frozenset("ab"))
    two = Outcome(CallGraphCase("two", "closures", {}, frozenset("d")), frozenset("de"))
    assert sum_scores(outcome.score for outcome in (one, two)) == Score(3, 4, 4)
    rows = {row.name: row.ours for row in report_rows("Go", [one, two])}
    assert rows["Go: F1"] == 0.75
    assert rows["Go: F1 in classes"] == 0.8
    assert rows["Go: F1 in closures"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_forty_complete_cases_and_holds_out_a_third(language: str):
    folder = CASES / language.lower()
    cases = read_cases(folder)
    assert len(cases) >= 40
    assert {case.name for case in cases} == {each.name for each in folder.iterdir() if each.is_dir()}
    held_out = sum(is_held_out(language, case.name) for case in cases)
    assert len(cases) / 5 < held_out < len(cases) / 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_expected_call_refers_to_existing_lines_and_names(language: str):
    for case in read_cases(CASES / language.lower()):
        assert case.calls, case.name
        for call in case.calls:
            parts = _CALL.fullmatch(call)
            assert parts is not None, (case.name, call)
            assert int(parts["line"]) <= case.sources[parts["path"]].count(b"\n") + 1, (case.name, call)
            last = parts["name"].rpartition(".")[2]
            assert last == "constructor" or last.encode() in case.sources[parts["target"]], (case.name, call)


def test_a_folder_without_a_case_is_an_error(tmp_path: Path):
    (tmp_path / "bells").mkdir()
    with pytest.raises(SystemExit):
        read_cases(tmp_path)
    (tmp_path / "bells" / "expected.json").write_text(json.dumps({"kind": "classes", "calls": []}))
    (tmp_path / "bells" / "bell.ts").write_bytes(BELL)
    assert read_cases(tmp_path) == [CallGraphCase("bells", "classes", {"bell.ts": BELL}, frozenset())]
