"""`docs/features.md` names code and tests that exist, and every numbered test has its row."""

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "src" / "scrubjay"
TABLE = (PROJECT / "docs" / "features.md").read_text("utf-8")
ROWS = 129


class Row(NamedTuple):
    """One feature of the table."""

    number: int
    code: str
    tests: str


def read_rows() -> list[Row]:
    cells = re.findall(r"^\| (\d+) \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", TABLE, re.MULTILINE)
    return [Row(int(number), code, tests) for number, code, tests in cells]


def numbered_tests() -> dict[int, list[str]]:
    """Return the tests of each row; a name such as `test_052_053_turns` counts for both."""
    tests: dict[int, list[str]] = defaultdict(list)
    for path in (PROJECT / "tests").rglob("test_*.py"):
        if "node_modules" not in path.parts:
            for name, numbers in re.findall(
                r"^\s*(?:async )?def (test_((?:\d{1,3}_)+)\w*)", path.read_text("utf-8"), re.M
            ):
                for number in re.findall(r"\d+", numbers):
                    tests[int(number)].append(f"{path.relative_to(PROJECT)}::{name}")
    return tests


TESTS = numbered_tests()


def test_the_table_has_every_row_once() -> None:
    assert [row.number for row in read_rows()] == [*range(1, ROWS + 1)]


def test_every_numbered_test_has_its_row() -> None:
    built = {row.number for row in read_rows() if not row.tests.startswith("not built yet")}
    assert {number: tests for number, tests in TESTS.items() if number not in built} == {}


@pytest.mark.parametrize("row", read_rows(), ids=lambda row: f"row {row.number}")
def test_a_row_names_code_and_tests_that_exist(row: Row) -> None:
    if row.tests.startswith("not built yet"):
        assert re.fullmatch(r"not built yet \(issue \d+\)", row.tests)
        return
    folders = re.findall(r"`([^`]+)`", row.code)
    assert folders
    assert [folder for folder in folders if not (PACKAGE / folder).is_dir()] == []
    tests = re.findall(r"`([^`]+)`", row.tests)
    assert tests
    for test in tests:
        if "::" in test:
            path, name = test.split("::")
            assert f"def {name}(" in (PROJECT / path).read_text("utf-8")
        else:
            assert test == f"test_{row.number:03d}"
            assert TESTS[row.number]
