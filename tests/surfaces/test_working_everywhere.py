"""Working memory behaves alike through every door. Numbers are rows of the feature table."""

from tests.surfaces.callers import Caller, Json


async def test_046_what_is_in_mind_is_found_in_its_session_alone(call: Caller, project: str) -> None:
    here: Json = {"project": project, "session_id": "s1"}
    put = await call("working_put", content="The parser fails on unicode names.", ttl_seconds=600, **here)
    assert (put["item"]["consolidation_candidate"], put["evicted"]) == (True, [])
    (found,) = (await call("working_search", query="unicode", **here))["items"]
    assert (found["id"], found["score"], found["access_count"]) == (put["item"]["id"], 1.0, 1)
    assert (await call("working_recent", project=project, session_id="s2"))["items"] == []


async def test_047_what_says_the_same_becomes_one_memory(call: Caller, project: str) -> None:
    here: Json = {"project": project, "session_id": "s1"}
    first = await call("working_put", content="The build runs on Otto.", **here)
    second = await call("working_put", content="the build runs on otto", **here)
    done = await call("consolidate", force=True, **here)
    (moved,) = done["moved"]
    assert (sorted(moved["items"]), done["merged"]) == (sorted([first["item"]["id"], second["item"]["id"]]), 1)
    (memory,) = (await call("recall", query="where does the build run?", project=project, scope="project"))["memories"]
    assert (memory["id"], memory["session_id"]) == (moved["memory_id"], "s1")
