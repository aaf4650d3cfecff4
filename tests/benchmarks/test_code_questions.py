"""Answers about code are scored as the benchmark documents."""

import math

import pytest

from benchmarks.code_engine import Hit
from benchmarks.code_questions import score

WORDS = {"relevant": [{"path": "src/a.py"}], "secondary": [{"path": "src/b.py"}, {"path": "src/a.py"}]}
NAME = {"path": "src/a.py", "line": 20}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (["a.py", "b.py"], 1.0),
        (["b.py", "b.py", "a.py"], 1.0),
        (["a.py"], 1 / (1 + 1 / math.log2(3))),
        (["c.py", "a.py"], (1 / math.log2(3)) / (1 + 1 / math.log2(3))),
        ([*(f"{number}.py" for number in range(10)), "a.py", "b.py"], 0.0),
        ([], 0.0),
    ],
    ids=["all", "a file counts once", "one", "second", "beyond ten", "nothing"],
)
def test_files_score_more_the_earlier_they_are_ranked(found: list[str], expected: float) -> None:
    assert score("nl", WORDS, "src", [Hit(path, 1, 1) for path in found]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([Hit("src/a.py", 15, 25)], 1.0),
        ([Hit("src/a.py", 22, 30)], 1.0),
        ([Hit("src/a.py", 23, 30)], 0.0),
        ([Hit("src/a.py", 10, 18)], 1.0),
        ([Hit("src/a.py", 10, 17)], 0.0),
        ([Hit("src/b.py", 15, 25), Hit("src/a.py", 20, 20)], 0.0),
        ([], 0.0),
    ],
    ids=["around it", "two lines below", "three below", "two above", "three above", "second", "nothing"],
)
def test_only_the_first_hit_for_a_symbol_counts_and_it_must_be_the_definition(
    found: list[Hit], expected: float
) -> None:
    assert score("symbols", NAME, "", found) == expected
