"""Working memory, on every surface. Numbers are rows of the feature table."""

from tests.surfaces.callers import Caller, Json


async def test_046_working_memory_is_found_only_in_its_session(call: Caller, project: str) -> None:
    scope: Json = {"project": project, "session_id": "s1"}
    stored = await call("working_put", content="The parser fails on unicode names.", ttl_seconds=600, **scope)
    assert (stored["item"]["consolidation_candidate"], stored["evicted"]) == (True, [])
    (found,) = (await call("working_search", query="unicode", **scope))["items"]
    assert (found["id"], found["score"], found["access_count"]) == (stored["item"]["id"], 1.0, 1)
    assert (await call("working_recent", project=project, session_id="s2"))["items"] == []


async def test_047_similar_items_are_consolidated_to_one_memory(call: Caller, project: str) -> None:
    scope: Json = {"project": project, "session_id": "s1"}
    first = await call("working_put", content="The build runs on Otto.", **scope)
    second = await call("working_put", content="the build runs on otto", **scope)
    result = await call("consolidate", force=True, **scope)
    (moved,) = result["moved"]
    assert (sorted(moved["items"]), result["merged"]) == (sorted([first["item"]["id"], second["item"]["id"]]), 1)
    (memory,) = (await call("recall", query="where does the build run?", project=project, scope="project"))["memories"]
    assert (memory["id"], memory["session_id"]) == (moved["memory_id"], "s1")
