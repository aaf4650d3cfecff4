"""Bars are judged as they are written."""

import pytest

from benchmarks.report import Row


@pytest.mark.parametrize(
    ("row", "reached"),
    [
        (Row("no bar", 5.0), True),
        (Row("at the bar", 5.0, at_most=5.0), True),
        (Row("above the bar", 5.1, at_most=5.0), False),
        (Row("at the floor", 0.82, at_least=0.82), True),
        (Row("below the floor", 0.81, at_least=0.82), False),
        (Row("within the ratio", 1.2, {"bare": 1.0, "other": None}, ratio_at_most=1.25), True),
        (Row("beyond the ratio", 1.3, {"bare": 1.0}, ratio_at_most=1.25), False),
        (Row("nothing to compare with", 1.3, {"bare": None}, ratio_at_most=1.25), False),
        (Row("one of two bars", 7.0, at_most=8.0, at_least=7.5), False),
    ],
    ids=lambda value: value.name if isinstance(value, Row) else None,
)
def test_a_bar_is_reached_or_missed(row: Row, reached: bool) -> None:
    assert row.reached is reached


@pytest.mark.parametrize("bars", [{"at_most": 1.0}, {"at_least": 1.0}, {"ratio_at_most": 1.0}])
def test_what_could_not_be_measured_misses_its_bar(bars: dict[str, float]) -> None:
    assert not Row("unknown", None, {"bare": 1.0}, **bars).reached
