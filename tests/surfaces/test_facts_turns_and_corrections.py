"""Facts, turns and corrections are views of one record, on every surface. Numbers are rows of the feature table."""

from tests.surfaces.callers import Caller


async def test_043_store_fact_and_search_vibes_store_and_find_by_meaning(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    stored = await call(
        "store_fact", content="The sky over Oslo is blue today.", category="observation", importance=0.8
    )
    assert stored == {"stored": True, "id": stored["id"]}
    results = await call("search_vibes", query="blue sky over Oslo")
    (vibe,) = [one for one in results["results"] if one["id"] == stored["id"]]
    similarity = vibe.pop("similarity")
    assert 0.3 <= similarity <= 1
    assert vibe == {
        "id": stored["id"],
        "content": "The sky over Oslo is blue today.",
        "category": "observation",
        "importance": 0.8,
        "metadata": {},
    }


async def test_044_reusing_a_key_replaces_the_fact_and_keeps_its_history(call: Caller, project: str) -> None:
    first = await call("remember", content="We deploy by hand.", key="deploy", fact_type="decision", project=project)
    second = await call("remember", content="We deploy by a pipeline.", key="deploy", confidence=0.9, project=project)
    assert (second["id"], second["outcome"], len(second["superseded"])) == (first["id"], "updated", 1)
    history = await call("memory_history", key="deploy", project=project)
    assert [(one["content"], one["kind"], one["confidence"]) for one in history["versions"]] == [
        ("We deploy by hand.", "decision", 1.0),
        ("We deploy by a pipeline.", "decision", 0.9),
    ]
    results = await call("recall", query="how do we deploy?", fact_type="decision", project=project, scope="project")
    assert [one["content"] for one in results["memories"]] == ["We deploy by a pipeline."]


async def test_051_a_repeated_write_is_done_once(call: Caller, project: str) -> None:
    sent = {"content": "Only once.", "idempotency_key": f"key of {project}", "project": project}
    first, second = await call("remember", **sent), await call("remember", **sent)
    assert second == {**first, "repeated": True}


async def test_052_053_097_turns_get_a_session_and_are_returned_in_order(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    first = await call("add_memory", prompt="Why is it slow?", thought="No index.", response="Add an index on email.")
    session = first["sessionId"]
    second = await call("add_memory", prompt="Done?", thought="Yes.", response="It is fast now.", sessionId=session)
    assert {first["message"], second["message"]} == {"Memory successfully added"}
    listed = await call("get_session_memories", sessionId=session, limit=1, offset=1)
    assert (listed["count"], listed["total"], [one["id"] for one in listed["memories"]]) == (1, 2, [second["id"]])
    results = await call("query_raw_memories", query="what made it slow: an index?", sessionId=session, nResults=1)
    (best,) = results["results"]
    assert (best["id"], best["response"], best["type"]) == (
        first["id"],
        "Add an index on email.",
        "agent-interaction",
    )
    assert best["relevanceScore"] == round(1 / (1 + best["distance"]), 6) != 1


async def test_056_a_correction_changes_what_recall_returns(call: Caller, project: str) -> None:
    stored = await call("remember", content="The release is on Friday at noon.", project=project)
    corrected = await call("correct", what_was_wrong="on friday", what_is_right="on Thursday", project=project)
    assert [one["id"] for one in corrected["corrected"]] == [stored["id"]]
    recalled = await call("recall", query="when is the release?", project=project, scope="project")
    assert (stored["id"], "The release is on Thursday at noon.") in [
        (one["id"], one["content"]) for one in recalled["memories"]
    ]
