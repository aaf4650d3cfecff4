"""Statistics and patterns, on every surface. Numbers are rows of the feature table."""

import pytest

from tests.surfaces.callers import Caller, CallFailed


async def test_077_to_084_patterns_and_statistics(call: Caller, project: str) -> None:
    about = {"task_description": "Fix the login", "domain": "doors", "task_type": "debugging"}
    episode_id = (await call("create_episode", **about, project=project))["episode_id"]
    for number, tool in enumerate(("grep", "edit"), 1):
        step = {"step_number": number, "tool": tool, "action": f"step {number}", "result": {"type": "success"}}
        await call("add_episode_step", episode_id=episode_id, **step, project=project)
    await call("complete_episode", episode_id=episode_id, outcome_type="success", verdict="Done", project=project)
    task = {"task_description": "Fix the login", "domain": "doors", "project": project}
    recommended = await call("recommend_patterns", **task)
    assert "Use grep, then edit" in [hit["description"] for hit in recommended["results"]]
    series = {"a": [1.0, 2.0, 3.0, 4.0], "b": [4.0, 3.0, 2.0, 1.0]}
    analysis = await call("advanced_pattern_analysis", analysis_type="statistical", time_series_data=series)
    assert analysis["statistical_results"]["correlations"][0]["coefficient"] == pytest.approx(-1)
    assert (await call("get_metrics", metric_type="system"))["system"]["version"]
    with pytest.raises(CallFailed) as refused:
        await call("advanced_pattern_analysis", analysis_type="statistical", time_series_data={"a": [1.0]})
    assert refused.value.code == "invalid_request"
