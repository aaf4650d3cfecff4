"""Episodes, on every surface. Numbers are rows of the feature table."""

from typing import Any

import pytest

from scrubjay.features.episodes.models import TaskType
from tests.surfaces.callers import Caller, CallFailed, Json, sample_cases

UNKNOWN = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
TASK: Json = {"task_description": "Fix the login", "domain": "web-api", "task_type": "debugging"}


async def create(call: Caller, project: str, **fields: Any) -> str:
    return (await call("create_episode", **(TASK | {"project": project} | fields)))["episode_id"]


async def refusal(call: Caller, tool: str, /, **arguments: Any) -> tuple[str, str]:
    with pytest.raises(CallFailed) as refused:
        await call(tool, **arguments)
    return refused.value.code, refused.value.message


async def test_070_to_076_an_episode_from_start_to_end(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    created = await call(
        "create_episode",
        **TASK,
        language="python",
        framework="flask",
        tags=["Auth "],
        complexity="odd",
        project=project,
    )
    episode_id = created["episode_id"]
    assert created == {"success": True, "episode_id": episode_id, **TASK, "message": "Episode created"}
    here: Json = {"episode_id": episode_id, "project": project}
    first = {
        "step_number": 1,
        "tool": "grep",
        "action": "Look for the token",
        "parameters": {"pattern": "reset"},
        "result": {"type": "error", "message": "no such file"},
        "latency_ms": 120,
    }
    added = await call("add_episode_step", **here, **first)
    assert added == {"success": True, "episode_id": episode_id, "step_number": 1, "message": "Step added"}
    again = await call("add_episode_step", **here, **first)
    assert again["message"] == "An equal step already exists"
    assert (await refusal(call, "add_episode_step", **here, **{**first, "tool": "ls"}))[0] == "conflict"
    await call("add_episode_step", **here, step_number=2, tool="edit", action="Write it", result={"type": "success"})
    await call("add_episode_step", **here, step_number=3, tool="run", action="Try it")
    done = await call("complete_episode", **here, outcome_type="success", verdict="It works", artifacts=["a.py"])
    assert done == {
        "success": True,
        "episode_id": episode_id,
        "outcome_type": "success",
        "message": "Episode completed, with low quality",
        "reward": done["reward"],
        "quality_score": done["quality_score"],
        "low_quality": True,
        "patterns": 1,
    }
    episode = (await call("get_episode", **here))["episode"]
    assert (episode["id"], episode["reward_score"], episode["quality"]["score"]) == (
        episode_id,
        done["reward"],
        done["quality_score"],
    )
    assert episode["context"] == {
        "domain": "web-api",
        "language": "python",
        "framework": "flask",
        "complexity": "moderate",
        "tags": ["auth"],
    }
    assert episode["outcome"] == {"type": "success", "verdict": "It works", "artifacts": ["a.py"]}
    assert episode["steps"][0] == {
        **first,
        "timestamp": episode["steps"][0]["timestamp"],
        "result": {"type": "error", "output": None, "message": "no such file"},
        "tokens_used": None,
        "metadata": {},
    }
    assert episode["reflection"]["successes"][0] == "Completed: It works"
    timeline = await call("get_episode_timeline", **here)
    assert [(step["step_number"], step["result_type"], step["latency_ms"]) for step in timeline["timeline"]] == [
        (1, "error", 120),
        (2, "success", 0),
        (3, "pending", 0),
    ]
    expected = {
        name: episode[name] for name in ("task_description", "start_time", "end_time", "duration_seconds", "outcome")
    }
    assert timeline == {
        "success": True,
        "episode_id": episode_id,
        "step_count": 3,
        "timeline": timeline["timeline"],
        **expected,
    }
    projection = await call("get_episode", **here, fields=["context.tags", "steps.tool", "episode.reward.total"])
    assert projection == {
        "success": True,
        "episode": {
            "context": {"tags": ["auth"]},
            "steps": [{"tool": "grep"}, {"tool": "edit"}, {"tool": "run"}],
            "reward": {"total": done["reward"]},
        },
    }
    changed = await call(
        "update_episode",
        **here,
        description="Mend the login",
        add_tags=["B"],
        remove_tags=["AUTH"],
        metadata={"k": "v"},
    )
    assert changed == {
        "success": True,
        "episode_id": episode_id,
        "message": "Episode updated",
        "updated_fields": ["description", "add_tags", "remove_tags", "metadata"],
    }
    many = await call("bulk_episodes", episode_ids=f" {episode_id.upper()},{UNKNOWN}", project=project)
    assert (many["requested_count"], many["found_count"], many["missing_count"]) == (2, 1, 1)
    assert many["episodes"] == (await call("bulk_episodes", episode_ids=[episode_id], project=project))["episodes"]
    assert many["episodes"][0]["context"]["tags"] == ["b"]
    assert many["episodes"][0]["metadata"] == {"k": "v"}
    deleted = await call("delete_episode", **here, confirm=True)
    assert deleted == {"success": True, "episode_id": episode_id, "message": "Episode deleted"}
    assert (await refusal(call, "get_episode", **here))[0] == "not_found"


async def test_063_a_question_finds_an_episode_with_the_requested_parts(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    episode_id = await create(call, project, task_description="Speed up the image resize worker")
    ended = {"outcome_type": "partial_success", "verdict": "A bit faster", "completed": ["a"], "failed": ["b"]}
    done = await call("complete_episode", episode_id=episode_id, **ended, project=project)
    query: Json = {"query": "How did we make pictures faster?", "domain": "Web-Api", "project": project}
    found = await call("query_memory", **query)
    (episode,) = [one for one in found["episodes"] if one["episode_id"] == episode_id]
    assert 0 < episode.pop("relevance_score") <= 1
    assert episode == (await call("get_episode", episode_id=episode_id, project=project))["episode"]
    count, rewarding = len(found["episodes"]), sum(one["reward_score"] > 0.7 for one in found["episodes"])
    assert found["insights"] == {
        "total_episodes": count,
        "relevant_patterns": 0,
        "success_rate": pytest.approx(rewarding / count),
    }
    fields = ["outcome.verdict", "episodes.reward.total", "insights.total_episodes"]
    projection = await call("query_memory", **query, fields=fields, task_type="debugging", sort="newest", limit=1)
    assert projection == {
        "episodes": [{"outcome": {"verdict": "A bit faster"}, "reward": {"total": done["reward"]}}],
        "patterns": [],
        "insights": {"total_episodes": count},
    }
    assert (await refusal(call, "query_memory", **query, fields=["outcom"]))[0] == "invalid_request"
    near = await call("query_semantic_memory", query="pictures", similarity_threshold=0.1, project=project)
    (result,) = [one for one in near["results"] if one["episode_id"] == episode_id]
    assert result == {
        "episode_id": episode_id,
        "similarity_score": result["similarity_score"],
        "task_description": "Speed up the image resize worker",
        "domain": "web-api",
        "task_type": "debugging",
        "outcome": "Partial success: A bit faster",
        "timestamp": episode["start_time"],
    }
    assert 0.1 <= result["similarity_score"] < 0.7
    assert near["results_found"] == len(near["results"])
    assert (near["provider"], near["embedding_dimension"], near["model"]) == ("local", 256, "static-v1")
    by_default = await call("query_semantic_memory", query="pictures", project=project)
    assert (by_default["results"], by_default["nearest_score"]) == ([], near["nearest_score"])


async def test_070_to_074_invalid_calls_get_the_documented_errors_and_change_nothing(
    call: Caller, project: str
) -> None:
    await call("set_project", path=project)
    episode_id = await create(call, project)
    here: Json = {"episode_id": episode_id, "project": project}
    unknown: Json = {"episode_id": UNKNOWN, "project": project}
    step: Json = {"step_number": 1, "tool": "grep", "action": "look"}
    cases: list[tuple[str, Json, tuple[str, str]]] = [
        ("create_episode", {**TASK, "domain": None}, ("invalid_request", "Missing required field: domain")),
        ("create_episode", {}, ("invalid_request", "Missing required field: task_description")),
        ("create_episode", {**TASK, "task_type": "cooking"}, ("invalid_request", "Invalid task_type: cooking")),
        ("get_episode", {"episode_id": "7"}, ("invalid_request", "Invalid episode_id format: 7")),
        ("get_episode", {}, ("invalid_request", "Missing required field: episode_id")),
        ("get_episode", unknown, ("not_found", f"Failed to get episode: Episode not found: {UNKNOWN}")),
        ("get_episode_timeline", unknown, ("not_found", f"Failed to get episode: Episode not found: {UNKNOWN}")),
        ("bulk_episodes", {"episode_ids": f"{UNKNOWN},x"}, ("invalid_request", "Invalid episode_id format: x")),
        ("bulk_episodes", {"episode_ids": ", ,"}, ("invalid_request", "the request has 0 ids")),
        ("add_episode_step", {**unknown, **step}, ("not_found", f"Episode not found: {UNKNOWN}")),
        ("add_episode_step", {**here, "tool": "a"}, ("invalid_request", "Missing required field: step_number")),
        (
            "complete_episode",
            {**here, "outcome_type": "success"},
            ("invalid_request", "Missing required field for success: verdict"),
        ),
        (
            "complete_episode",
            {**here, "outcome_type": "partial_success", "verdict": "v", "completed": []},
            ("invalid_request", "Missing required field for partial_success: failed"),
        ),
        (
            "complete_episode",
            {**here, "outcome_type": "failure", "verdict": "v"},
            ("invalid_request", "Missing required field for failure: reason"),
        ),
        ("complete_episode", {**here, "outcome_type": "odd"}, ("invalid_request", "Invalid outcome_type: odd")),
        (
            "delete_episode",
            {**here, "confirm": False},
            ("invalid_request", "Deletion requires explicit confirmation. Set 'confirm' to true."),
        ),
        ("delete_episode", here, ("invalid_request", "Missing required field: confirm")),
        ("update_episode", here, ("invalid_request", "the request changes nothing")),
        ("query_memory", {"query": "login"}, ("invalid_request", "Missing required field: domain")),
    ]
    for tool, arguments, expected in sample_cases(call, cases):
        assert await refusal(call, tool, **arguments) == expected
    episode = (await call("get_episode", **here, fields=["steps", "end_time", "context.tags"]))["episode"]
    assert episode == {"steps": [], "end_time": None, "context": {"tags": []}}


async def test_070_every_documented_task_type_can_be_started(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    for kind in sample_cases(call, list(TaskType)):
        await create(call, project, task_type=kind.value)


async def test_063_070_episodes_are_visible_only_in_their_project(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    episode_id = await create(call, project, task_description="Paint the submarine")
    await call("complete_episode", episode_id=episode_id, outcome_type="failure", reason="no paint", project=project)
    other = f"{project}/other"
    await call("set_project", path=other)
    query: Json = {"query": "paint the submarine", "domain": "web-api"}
    elsewhere = await call("query_memory", **query, project=other)
    assert episode_id not in [one["episode_id"] for one in elsewhere["episodes"]]
    near = await call("query_semantic_memory", query="paint the submarine", similarity_threshold=-1, project=other)
    assert episode_id not in [one["episode_id"] for one in near["results"]]
    assert (await refusal(call, "get_episode", episode_id=episode_id, project=other))[0] == "not_found"
    here = await call("query_memory", **query, project=project)
    assert here["episodes"][0]["episode_id"] == episode_id


async def test_085_tags_are_added_removed_replaced_listed_and_searched(call: Caller, project: str) -> None:
    here = (await call("set_project", path=project))["project"]["id"]
    first, second = await create(call, here, tags=["Auth"]), await create(call, here)
    own: Json = {"episode_id": first, "project": here}
    added = await call("add_episode_tags", **own, tags=[" Slow", "auth"])
    assert added == {"success": True, "episode_id": first, "tags": ["auth", "slow"]}
    assert (await call("remove_episode_tags", **own, tags=["AUTH", "never"]))["tags"] == ["slow"]
    assert (await call("set_episode_tags", **own, tags=["One", "two"]))["tags"] == ["one", "two"]
    assert (await call("get_episode_tags", **own))["tags"] == ["one", "two"]
    await call("set_episode_tags", episode_id=second, tags=["TWO"], project=here)
    for options, expected in (({}, {first, second}), ({"require_all": True}, {first})):
        result = await call("search_episodes_by_tags", tags=["one", "Two"], project=here, **options)
        assert ({one["episode_id"] for one in result["episodes"]}, result["count"]) == (expected, len(expected))
    newest = await call("search_episodes_by_tags", tags=["two"], limit=1, project=here)
    assert [one["episode_id"] for one in newest["episodes"]] == [second]
    assert "steps" not in newest["episodes"][0]
    assert (await refusal(call, "add_episode_tags", **own, tags=[" "]))[0] == "invalid_request"
    unknown: Json = {"episode_id": UNKNOWN, "tags": ["x"], "project": here}
    assert (await refusal(call, "add_episode_tags", **unknown))[0] == "not_found"
    assert (await call("set_episode_tags", **own, tags=[]))["tags"] == []
