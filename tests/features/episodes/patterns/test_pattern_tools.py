"""The tools for patterns, quality and metrics: visibility, persistence and counts."""

from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.callers import OWNER, Caller
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound
from scrubjay.tooling.context import CallContext

STEPS = (("grep", "find the token"), ("read", "check whether it is stored"), ("edit", "write the fix"))
UNKNOWN_ID = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"


async def call_as(app: Application, caller: Caller, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    context = CallContext(surface="python", client="me", caller=caller)
    return (await app.dispatcher.call(name, arguments, context)).model_dump(mode="json")


async def call(app: Application, name: str, /, **arguments: Any) -> dict[str, Any]:
    return await call_as(app, OWNER, name, arguments)


async def episode(app: Application, task: str = "Fix the login", outcome: str = "success", **fields: Any) -> str:
    description = {"task_description": task, "domain": "web-api", "task_type": "debugging"} | fields
    where = {"project": fields["project"]} if "project" in fields else {}
    episode_id: str = (await call(app, "create_episode", **description))["episode_id"]
    for number, (tool, action) in enumerate(STEPS, 1):
        step = {"step_number": number, "tool": tool, "action": action, "result": {"type": "success"}}
        await call(app, "add_episode_step", episode_id=episode_id, **step, **where)
    outcome_fields = {"verdict": "It works", "reason": "no"}
    await call(app, "complete_episode", episode_id=episode_id, outcome_type=outcome, **outcome_fields, **where)
    return episode_id


async def test_078_pattern_statistics_are_computed_and_persist(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as app:
        for outcome in ("success", "success", "success", "failure"):
            await episode(app, outcome=outcome)
        await episode(app, "Write a test", task_type="testing")
    async with running(Settings(home=tmp_path)) as app:
        found = await call(app, "analyze_patterns", task_type="debugging", min_success_rate=0.5, limit=1)
        assert found["statistics"] == {
            "total_patterns": 3,
            "avg_success_rate": 0.75,
            "most_common_tools": ["edit", "grep", "read"],
        }
        assert len(found["patterns"]) == 1
        none = await call(app, "analyze_patterns", task_type="debugging", min_success_rate=0.8)
        assert none == {
            "patterns": [],
            "statistics": {"total_patterns": 0, "avg_success_rate": None, "most_common_tools": []},
        }


async def test_077_patterns_have_the_documented_fields(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as app:
        ids = [await episode(app) for _ in range(2)]
        found = (await call(app, "analyze_patterns", task_type="debugging"))["patterns"]
        by_type = {pattern["type"]: pattern for pattern in found}
        decision = by_type["decision_point"]
        assert decision == decision | {
            "description": "check whether it is stored; then edit: write the fix",
            "condition": "check whether it is stored",
            "action": "edit: write the fix",
            "outcome_stats": {"success_count": 2, "failure_count": 0, "total_count": 2, "avg_duration_secs": 0.0},
            "success_rate": 1.0,
            "occurrence_count": 2,
            "evidence": ids,
        }
        assert decision["heuristic"]["confidence"] == 0.75
        assert decision["effectiveness"].keys() >= {
            *("times_retrieved", "times_applied", "success_when_applied", "failure_when_applied"),
            *("avg_reward_delta", "last_used", "created_at"),
        }
        assert by_type["tool_sequence"]["tools"] == ["grep", "read", "edit"]
        assert by_type["context_pattern"]["context_features"][0] == "task: debugging"


async def test_079_a_followed_recommendation_is_credited(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as app:
        await episode(app)
        created = await call(app, "create_episode", task_description="Fix it", domain="web-api", task_type="debugging")
        arguments = {"task_description": "Fix the login", "domain": "web-api", "episode_id": created["episode_id"]}
        found = await call(app, "recommend_patterns", **arguments)
        assert (len(found["results"]), found["total_searched"], found["query"]) == (3, 3, "Fix the login")
        assert all(hit["relevance_score"] >= 0.4 and hit["times_applied"] == 0 for hit in found["results"])
        step = {"step_number": 1, "tool": "grep", "action": "find it", "result": {"type": "success"}}
        await call(app, "add_episode_step", episode_id=created["episode_id"], **step)
        for number, (tool, action) in enumerate(STEPS, 2):
            step = {"step_number": number, "tool": tool, "action": action, "result": {"type": "success"}}
            await call(app, "add_episode_step", episode_id=created["episode_id"], **step)
        await call(app, "complete_episode", episode_id=created["episode_id"], outcome_type="success", verdict="Done")
        found = await call(app, "search_patterns", query="Fix the login", domain="web-api")
        assert {hit["times_applied"] for hit in found["results"]} == {1}
        with pytest.raises(NotFound):
            await call(app, "recommend_patterns", **(arguments | {"episode_id": UNKNOWN_ID}))


async def test_079_patterns_of_other_domains_are_found_but_not_recommended(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as app:
        await episode(app)
        elsewhere = {"domain": "games"}
        assert (await call(app, "recommend_patterns", task_description="Fix the login", **elsewhere))["results"] == []
        found = await call(app, "search_patterns", query="Fix the login", **elsewhere)
        assert found["total_searched"] == 3
        assert found["results"][0]["score_breakdown"]["context_match"] == 0
        only = await call(app, "search_patterns", query="Fix the login", filter_by_domain=True, **elsewhere)
        assert (only["results"], only["total_searched"]) == ([], 0)


async def test_079_patterns_are_visible_only_in_their_project(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    async with running(Settings(home=tmp_path / "home")) as app:
        await call(app, "set_project", path=two)
        await episode(app, project=one)
        query = {"query": "Fix the login", "domain": "web-api", "min_relevance": 0.0}
        assert (await call(app, "search_patterns", **query, project=one))["total_searched"] == 3
        assert (await call(app, "search_patterns", **query, project=two))["total_searched"] == 0
        assert (await call(app, "quality_metrics", project=two))["total_episodes_attempted"] == 0
        assert (await call(app, "quality_metrics", project=one))["total_episodes_attempted"] == 1
        metrics = await call(app, "get_metrics", metric_type="episodes", project=two)
        assert metrics["episode_metrics"]["total_episodes"] == 0
        patterns = await call(app, "analyze_patterns", task_type="debugging", project=two)
        assert patterns["statistics"]["total_patterns"] == 0


async def test_074_a_deleted_episode_leaves_no_words_in_patterns(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as app:
        deleted = await episode(app, "Fix the zebra")
        await call(app, "delete_episode", episode_id=deleted, confirm=True)
        found = await call(app, "search_patterns", query="zebra", domain="web-api", min_relevance=0.0)
        assert (found["results"], found["total_searched"]) == ([], 0)


async def test_084_quality_metrics_are_computed_from_stored_episodes(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as app:
        empty = await call(app, "quality_metrics")
        assert (empty["average_quality_score"], empty["noise_reduction_rate"]) == (None, None)
        assert empty["quality_trend"]["direction"] == "Unknown"
        scores: list[float] = []
        for _ in range(4):
            shown = await call(app, "get_episode", episode_id=await episode(app), fields=["quality.score"])
            scores.append(shown["episode"]["quality"]["score"])
        found = await call(app, "quality_metrics", quality_threshold=max(scores))
        accepted = sum(score == max(scores) for score in scores)
        assert found["average_quality_score"] == pytest.approx(sum(scores) / 4)
        assert (found["episodes_accepted"], found["episodes_rejected"]) == (accepted, 4 - accepted)
        assert found["noise_reduction_rate"] == pytest.approx(100 * (4 - accepted) / 4)
        assert sum(found["quality_score_distribution"].values()) == 4
        assert found["quality_trend"]["recent_scores"] == pytest.approx(scores[-3:])
        assert (await call(app, "quality_metrics", include_trends=False))["quality_trend"] is None


async def test_084_metrics_are_counted_and_unknown_values_are_null(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as app:
        await episode(app)
        await episode(app, outcome="failure")
        with pytest.raises(InvalidRequest):
            await call(app, "analyze_patterns", task_type="cooking")
        first = await call(app, "get_metrics")
        stats, tools = first["monitoring_stats"], first["performance_metrics"]["tool_metrics"]
        assert (stats["total_requests"], stats["successful_requests"], stats["failed_requests"]) == (11, 10, 1)
        assert (stats["last_health_check"], stats["health_status"]) == (None, None)
        assert tools["add_episode_step"]["total_calls"] == 6
        failed = tools["analyze_patterns"]
        assert (failed["total_calls"], failed["failed_calls"], failed["success_rate"]) == (1, 1, 0.0)
        for one in tools.values():
            assert 0 <= one["min_duration_ms"] <= one["avg_duration_ms"] <= one["max_duration_ms"]
        assert stats["episode_metrics"]["episode_success_rate"] == 50.0
        assert stats["episode_metrics"]["total_steps"] == 6
        assert first["active_requests"] == 1
        assert first["system"]["memory_usage_mb"] is None or first["system"]["memory_usage_mb"] > 10
        await call(app, "health_check")
        second = await call(app, "get_metrics")
        assert second["monitoring_stats"]["health_status"] == "healthy"
        assert second["monitoring_stats"]["total_requests"] == 13
        assert second["monitoring_stats"]["uptime_seconds"] > stats["uptime_seconds"]


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("all", {"monitoring_stats", "performance_metrics", "system"}),
        ("performance", {"performance_metrics"}),
        ("episodes", {"episode_metrics"}),
        ("system", {"system"}),
    ],
)
async def test_084_only_the_requested_metrics_are_returned(tmp_path: Path, kind: str, parts: set[str]) -> None:
    async with running(Settings(home=tmp_path)) as app:
        found = await call(app, "get_metrics", metric_type=kind)
        assert found.keys() == parts | {"active_requests", "timestamp"}
        if kind == "episodes":
            assert found["episode_metrics"]["episode_success_rate"] is None


async def test_079_a_read_only_key_can_search_patterns_but_not_request_recommendations(tmp_path: Path) -> None:
    reader = Caller(name="reader", key_id="key_1", scopes=frozenset({"episodes:read"}))
    async with running(Settings(home=tmp_path)) as app:
        await episode(app)
        query = {"query": "Fix the login", "domain": "web-api"}
        assert (await call_as(app, reader, "search_patterns", query))["results"]
        with pytest.raises(Forbidden):
            await call_as(app, reader, "recommend_patterns", {"task_description": "Fix", "domain": "web-api"})
        with pytest.raises(Forbidden):
            await call_as(app, reader, "get_metrics", {})
