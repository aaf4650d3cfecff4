"""Tools about tools, jobs and health, on every surface."""

import pytest

from tests.surfaces.callers import Caller, CallFailed


async def test_041_a_tool_is_found_described_and_called_without_being_listed(call: Caller) -> None:
    result = await call("search_tools", query="remember many things at once")
    assert result["tools"][0]["name"] == "remember_many"
    described = await call("describe_tool", name="get_project")
    assert described["input_schema"] == {"additionalProperties": False, "properties": {}, "type": "object"}
    called = await call("call_tool", name="get_project", arguments={})
    assert called == {"tool": "get_project", "result": await call("get_project")}


async def test_041_call_tool_cannot_call_itself(call: Caller) -> None:
    with pytest.raises(CallFailed) as caught:
        await call("call_tool", name="call_tool", arguments={})
    assert caught.value.code == "invalid_request"


async def test_118_long_work_is_a_job_whose_result_can_be_read_again(call: Caller) -> None:
    await call("remember", content="there is something to rebuild")
    job = await call("rebuild_derived")
    assert job["state"] == "completed"
    assert job["tool"] == "rebuild_derived"
    assert job["progress"]["done"] == job["progress"]["total"]
    assert job["result"]["memories"] >= 0
    assert job["result"]["files"]
    assert await call("get_job", job_id=job["job_id"]) == job
    assert job in (await call("list_jobs", tool="rebuild_derived", states=["completed"], limit=200))["jobs"]
    assert await call("cancel_job", job_id=job["job_id"]) == job


async def test_068_the_index_can_be_compacted(call: Caller) -> None:
    await call("remember", content="there is something to compact")
    job = await call("compact_index")
    assert (job["state"], job["tool"]) == ("completed", "compact_index")
    assert all(file["rows"] > 0 and file["bytes"] > 0 for file in job["result"]["files"])
    assert job["result"]["files"]


async def test_118_an_unknown_job_is_not_found(call: Caller) -> None:
    with pytest.raises(CallFailed) as caught:
        await call("get_job", job_id="job_unknown")
    assert caught.value.code == "not_found"


async def test_127_the_health_check_exercises_every_component(call: Caller) -> None:
    answer = await call("health_check")
    assert answer["status"] == "healthy"
    assert set(answer["components"]) == {"store", "search", "embedding", "jobs", "disk"}
    for part in answer["components"].values():
        assert part["status"] == "healthy"
        assert part["milliseconds"] >= 0
        assert part["facts"]
        assert part["problem"] is None
