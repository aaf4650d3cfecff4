"""Calls are told in the words of the cases, and each case is whole."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.call_graph_cases import CASES, Case, Outcome, Score, cases_in, is_held_out, outcome_of, rows_of, total

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


def test_calls_are_told_by_place_and_name_and_those_of_a_nameless_function_by_the_one_around_it():
    case = Case("bells", "classes", {"bell.ts": BELL, "main.ts": MAIN}, CALLS)
    assert outcome_of(case) == Outcome(case, CALLS)


def test_what_was_missed_and_what_was_said_wrongly_is_told():
    case = Case("bells", "classes", {}, frozenset({"a", "b"}))
    outcome = Outcome(case, frozenset({"b", "c"}))
    assert (outcome.score, outcome.differences) == (Score(1, 2, 2), ["bells: missed a", "bells: wrong c"])


def test_the_score_of_a_language_counts_calls_and_not_cases():
    one = Outcome(Case("one", "classes", {}, frozenset("abc")), frozenset("ab"))
    two = Outcome(Case("two", "closures", {}, frozenset("d")), frozenset("de"))
    assert total(outcome.score for outcome in (one, two)) == Score(3, 4, 4)
    rows = {row.name: row.ours for row in rows_of("Go", [one, two])}
    assert rows["Go: F1"] == 0.75
    assert rows["Go: F1 in classes"] == 0.8
    assert rows["Go: F1 in closures"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_forty_whole_cases_and_a_third_of_them_is_held_out(language: str):
    folder = CASES / language.lower()
    cases = cases_in(folder)
    assert len(cases) >= 40
    assert {case.name for case in cases} == {each.name for each in folder.iterdir() if each.is_dir()}
    held_out = sum(is_held_out(language, case.name) for case in cases)
    assert len(cases) / 5 < held_out < len(cases) / 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_expected_call_names_lines_that_are_there(language: str):
    for case in cases_in(CASES / language.lower()):
        assert case.calls, case.name
        for call in case.calls:
            told = _CALL.fullmatch(call)
            assert told is not None, (case.name, call)
            assert int(told["line"]) <= case.sources[told["path"]].count(b"\n") + 1, (case.name, call)
            last = told["name"].rpartition(".")[2]
            assert last == "constructor" or last.encode() in case.sources[told["target"]], (case.name, call)


def test_a_folder_without_a_case_is_an_error(tmp_path: Path):
    (tmp_path / "bells").mkdir()
    with pytest.raises(SystemExit):
        cases_in(tmp_path)
    (tmp_path / "bells" / "expected.json").write_text(json.dumps({"kind": "classes", "calls": []}))
    (tmp_path / "bells" / "bell.ts").write_bytes(BELL)
    assert cases_in(tmp_path) == [Case("bells", "classes", {"bell.ts": BELL}, frozenset())]
