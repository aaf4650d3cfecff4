"""Limits of figures are evaluated."""

import pytest

from benchmarks.report import ReportRow


@pytest.mark.parametrize(
    ("row", "reached"),
    [
        (ReportRow("no bar", 5.0), True),
        (ReportRow("at the bar", 5.0, at_most=5.0), True),
        (ReportRow("above the bar", 5.1, at_most=5.0), False),
        (ReportRow("at the floor", 0.82, at_least=0.82), True),
        (ReportRow("below the floor", 0.81, at_least=0.82), False),
        (ReportRow("within the ratio", 1.2, {"bare": 1.0, "other": None}, ratio_at_most=1.25), True),
        (ReportRow("beyond the ratio", 1.3, {"bare": 1.0}, ratio_at_most=1.25), False),
        (ReportRow("nothing to compare with", 1.3, {"bare": None}, ratio_at_most=1.25), False),
        (ReportRow("one of two bars", 7.0, at_most=8.0, at_least=7.5), False),
    ],
    ids=lambda value: value.name if isinstance(value, ReportRow) else None,
)
def test_a_limit_is_met_or_missed(row: ReportRow, reached: bool) -> None:
    assert row.reached is reached


@pytest.mark.parametrize("bars", [{"at_most": 1.0}, {"at_least": 1.0}, {"ratio_at_most": 1.0}])
def test_a_figure_that_could_not_be_measured_misses_its_limit(bars: dict[str, float]) -> None:
    assert not ReportRow("unknown", None, {"bare": 1.0}, **bars).reached
