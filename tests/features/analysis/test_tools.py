"""The tool `advanced_pattern_analysis`. Numbers are rows of the feature table."""

import threading
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.errors import InvalidRequest, TooLarge
from scrubjay.features.analysis.service import AnalysisChoices, SeriesAnalyzer
from scrubjay.tooling.context import CallContext


async def analyse(home: Path, kind: str, series: dict[str, list[float]], **config: Any) -> dict[str, Any]:
    async with running(Settings(home=home)) as app:
        arguments = {"analysis_type": kind, "time_series_data": series, "config": config}
        context = CallContext(surface="python")
        return (await app.dispatcher.call("advanced_pattern_analysis", arguments, context)).model_dump(mode="json")


def noise(seed: int, n: int = 60) -> list[float]:
    return np.random.default_rng(seed).normal(size=n).tolist()


async def test_080_only_the_requested_parts_are_returned(tmp_path: Path) -> None:
    series = {"a": noise(1), "b": noise(2)}
    statistical = await analyse(tmp_path / "1", "statistical", series)
    assert statistical["predictive_results"] is None
    assert statistical["statistical_results"].keys() == {"correlations", "changepoints", "trends", "metadata"}
    predictive = await analyse(tmp_path / "2", "predictive", series, enable_causal_inference=False)
    assert predictive["statistical_results"] is None
    assert predictive["predictive_results"].keys() == {"forecasts", "anomalies", "causal_relationships", "metadata"}
    assert predictive["predictive_results"]["causal_relationships"] is None
    both = await analyse(tmp_path / "3", "comprehensive", series, forecast_horizon=4)
    assert both["statistical_results"] is not None
    (first, second) = both["predictive_results"]["forecasts"]
    assert (len(first["point_forecasts"]), second["variable"], second["method"]) == (4, "b", "ETS-AAN")
    assert len(both["predictive_results"]["causal_relationships"]) == 2
    assert both["summary"] == {
        "variables_analyzed": 2,
        "key_findings": [],
        "recommendations": both["summary"]["recommendations"],
        "confidence_level": 0.95,
        "notes": [],
    }


async def test_080_findings_are_returned_as_sentences(tmp_path: Path) -> None:
    shifted = noise(1, 40) + [value + 9 for value in noise(2, 40)]
    shifted[20] = 30.0
    answer = await analyse(tmp_path, "comprehensive", {"latency": shifted, "other": noise(3, 80)})
    findings = answer["summary"]["key_findings"]
    assert "latency: the level changes at point 40" in findings
    assert "latency: 1 outlier(s), at point(s) 20" in findings
    (change,) = answer["statistical_results"]["changepoints"]
    assert (change["variable"], change["index"], change["change_type"]) == ("latency", 40, "MeanShift")


async def test_080_three_points_are_accepted_and_nothing_is_significant(tmp_path: Path) -> None:
    answer = await analyse(tmp_path, "comprehensive", {"a": [1, 2, 3], "b": [1, 3, 2]})
    (correlation,) = answer["statistical_results"]["correlations"]
    assert correlation["p_value"] == pytest.approx(2 / 3)
    assert (correlation["confidence_interval"], correlation["significant"]) == (None, False)
    (forecast, _) = answer["predictive_results"]["forecasts"]
    assert (forecast["point_forecasts"], forecast["fit_quality"]) == ([], None)
    assert "8 are needed" in forecast["note"]
    assert len(answer["summary"]["notes"]) == 3


async def test_080_a_long_series_is_truncated_to_its_last_points_with_a_note(tmp_path: Path) -> None:
    rising = [float(value) for value in range(500)]
    answer = await analyse(tmp_path, "predictive", {"a": rising}, max_data_points=20, forecast_horizon=1)
    assert answer["predictive_results"]["metadata"]["data_points"] == 20
    assert answer["predictive_results"]["forecasts"][0]["point_forecasts"] == pytest.approx([500], abs=1e-3)
    assert "only the last 20 of 500 points of 'a' were used" in answer["summary"]["notes"]


@pytest.mark.parametrize(
    "invalid",
    [
        {"time_series_data": {}},
        {"time_series_data": {"a": [1, 2]}},
        {"time_series_data": {"a": [1, 2, float("nan")]}},
        {"time_series_data": {"a": [1, 2, float("inf")]}},
        {"time_series_data": {"a": [1, 2, 1e200]}},
        {"time_series_data": {"a": [1, 2, "x"]}},
        {"time_series_data": {str(number): [1, 2, 3] for number in range(33)}},
        {"config": {"forecast_horizon": 0}},
        {"config": {"forecast_horizon": 101}},
        {"config": {"significance_level": 0}},
        {"config": {"anomaly_sensitivity": 1.1}},
        {"config": {"max_data_points": 2}},
        {"config": {"horizon": 2}},
        {"analysis_type": "magical"},
    ],
)
async def test_080_invalid_series_and_options_are_refused(tmp_path: Path, invalid: dict[str, Any]) -> None:
    valid: dict[str, Any] = {"analysis_type": "statistical", "time_series_data": {"a": [1.0, 2.0, 3.0]}}
    async with running(Settings(home=tmp_path)) as app:
        with pytest.raises(InvalidRequest):
            await app.dispatcher.call("advanced_pattern_analysis", valid | invalid, CallContext(surface="python"))


async def test_080_too_many_points_in_total_are_refused() -> None:
    series = {str(number): [0.0] * 10_000 for number in range(11)}
    with pytest.raises(TooLarge, match="110000 points") as refused:
        await SeriesAnalyzer().analyse(series, "statistical", AnalysisChoices())
    assert "max_data_points" in (refused.value.hint or "")


async def test_080_an_analysis_does_not_block_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    import scrubjay.features.analysis.service as module

    entered, proceed = anyio.Event(), threading.Event()
    original = module._analyse  # pyright: ignore[reportPrivateUsage]

    def wait_and_analyse(*arguments: Any) -> Any:
        anyio.from_thread.run_sync(entered.set)
        assert proceed.wait(5)
        return original(*arguments)

    monkeypatch.setattr(module, "_analyse", wait_and_analyse)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(SeriesAnalyzer().analyse, {"a": [1.0, 2.0, 3.0]}, "statistical", AnalysisChoices())
        with anyio.fail_after(5):
            await entered.wait()  # the loop runs while the analysis waits
        proceed.set()


async def test_080_resource_use_is_measured() -> None:
    small = await SeriesAnalyzer().analyse({"a": noise(1)}, "comprehensive", AnalysisChoices())
    large = await SeriesAnalyzer().analyse({"a": noise(1, 10_000)}, "comprehensive", AnalysisChoices())
    assert small.statistical is not None
    assert large.statistical is not None
    assert (small.statistical.measurement.data_points, large.statistical.measurement.data_points) == (60, 10_000)
    assert 0 < small.statistical.measurement.duration_ms < large.statistical.measurement.duration_ms < large.total_ms
    assert large.memory_bytes is None or large.memory_bytes > 10_000_000


async def test_082_a_forecast_uses_the_season_that_the_same_answer_reports(tmp_path: Path) -> None:
    week = [820, 905, 911, 890, 860, 310, 240]  # requests a day; fewer at the weekend
    days = [float(week[day % 7] + (day * 37) % 23) for day in range(7 * 8)]
    answer = await analyse(tmp_path, "comprehensive", {"requests": days}, forecast_horizon=7)
    (trend,) = answer["statistical_results"]["trends"]
    (forecast,) = answer["predictive_results"]["forecasts"]
    assert (trend["direction"], trend["period"], forecast["season"]) == ("Oscillating", 7, 7)
    assert forecast["point_forecasts"] == pytest.approx([value + 11 for value in week], abs=30)
    assert forecast["fit_quality"] > 0.9
    alone = await analyse(tmp_path / "2", "predictive", {"requests": days}, forecast_horizon=7)
    assert alone["predictive_results"]["forecasts"] == [forecast], "also when the trend is not part of the answer"
