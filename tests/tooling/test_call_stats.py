"""Calls are counted as they end. Numbers are rows of the feature table."""

from scrubjay.tooling.call_stats import CallTally, ToolTally


def test_084_calls_are_counted_by_tool_with_their_times() -> None:
    now = [100.0]
    tally = CallTally(seconds=lambda: now[0])
    assert (tally.together, tally.together.success_rate, tally.together.average_ms) == (ToolTally(), None, None)
    for tool, milliseconds, succeeded in (("a", 10.0, True), ("b", 1.0, False), ("a", 4.0, True), ("a", 16.0, False)):
        tally.begins()
        tally.ends(tool, milliseconds, succeeded=succeeded)
    assert tally.tools == {
        "a": ToolTally(total=3, succeeded=2, total_ms=30.0, least_ms=4.0, most_ms=16.0),
        "b": ToolTally(total=1, succeeded=0, total_ms=1.0, least_ms=1.0, most_ms=1.0),
    }
    both = tally.together
    assert both == ToolTally(total=4, succeeded=2, total_ms=31.0, least_ms=1.0, most_ms=16.0)
    assert (both.failed, both.success_rate, both.average_ms) == (2, 0.5, 7.75)
    now[0] = 107.5
    assert tally.uptime_seconds == 7.5


def test_084_calls_under_way_are_known() -> None:
    tally = CallTally()
    tally.begins()
    tally.begins()
    tally.ends("a", 1.0, succeeded=True)
    assert tally.active == 1
