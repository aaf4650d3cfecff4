"""Small programs in TypeScript, Go and Rust, and the calls that must be resolved in them."""

from pathlib import Path

import pytest

from tests.code_index.graph.cases import Case, calls_found, cases_in

_HERE = Path(__file__).parent
_ALL = [(folder.name, case) for folder in sorted(_HERE.glob("cases_*")) for case in cases_in(folder)]


@pytest.mark.parametrize("case", [case for _, case in _ALL], ids=[f"{name}: {case.name}" for name, case in _ALL])
def test_exactly_the_calls_of_a_small_program_are_resolved(case: Case):
    assert calls_found(case.sources) == case.calls


def test_each_language_has_at_least_forty_cases():
    counts = {folder.name: len(cases_in(folder)) for folder in _HERE.glob("cases_*")}
    assert {name for name, count in counts.items() if count >= 40} >= {"cases_go", "cases_rust", "cases_typescript"}
