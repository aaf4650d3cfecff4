"""Calls are counted as they end. Numbers are rows of the feature table."""

from scrubjay.tooling.call_stats import CallStats, ToolStats


def test_084_calls_are_counted_by_tool_with_their_times() -> None:
    now = [100.0]
    stats = CallStats(seconds=lambda: now[0])
    assert (stats.total, stats.total.success_rate, stats.total.average_ms) == (ToolStats(), None, None)
    for tool, milliseconds, succeeded in (("a", 10.0, True), ("b", 1.0, False), ("a", 4.0, True), ("a", 16.0, False)):
        stats.begins()
        stats.ends(tool, milliseconds, succeeded=succeeded)
    assert stats.tools == {
        "a": ToolStats(total=3, succeeded=2, total_ms=30.0, min_ms=4.0, max_ms=16.0),
        "b": ToolStats(total=1, succeeded=0, total_ms=1.0, min_ms=1.0, max_ms=1.0),
    }
    both = stats.total
    assert both == ToolStats(total=4, succeeded=2, total_ms=31.0, min_ms=1.0, max_ms=16.0)
    assert (both.failed, both.success_rate, both.average_ms) == (2, 0.5, 7.75)
    now[0] = 107.5
    assert stats.uptime_seconds == 7.5


def test_084_running_calls_are_counted() -> None:
    stats = CallStats()
    stats.begins()
    stats.begins()
    stats.ends("a", 1.0, succeeded=True)
    assert stats.active == 1
