"""The knowledge graph, on every surface. Numbers are rows of the feature table."""

import pytest

from tests.surfaces.callers import Caller, CallFailed


async def test_086_088_089_triples_are_added_queried_proved_and_deleted(call: Caller, project: str) -> None:
    project_id = (await call("set_project", path=project))["project"]["id"]
    learned = await call("teach_mimo", text="Ann reports to Bob. Bob reports to Carol.", project=project_id)
    assert (learned["status"], learned["triples_created"], learned["method"]) == ("learned", 2, "rules")
    one = await call(
        "knowledge",
        operation="teach",
        subject="Carol",
        predicate="reports_to",
        object="Dora",
        ttl=3600,
        project=project_id,
    )
    assert (one["status"], one["triples"][0]["id"], one["triples"][0]["ttl"]) == ("learned", one["triple_id"], 3600)
    reached = await call("consult_graph", entity="Ann", predicate="reports_to", depth=3, project=project_id)
    assert [(entry["id"], entry["depth"]) for entry in reached["results"]] == [
        ("entity:bob", 1),
        ("entity:carol", 2),
        ("entity:dora", 3),
    ]
    proof = await call(
        "knowledge", operation="prove", subject="Ann", predicate="reports_to", object="Carol", project=project_id
    )
    assert [step["triple_id"] for step in proof["steps"]] == [entry["id"] for entry in learned["triples"]]
    patterns = [{"predicate": "reports_to", "object": "Bob"}]
    matched = await call("knowledge", operation="match", patterns=patterns, project=project_id)
    assert matched["subjects"] == ["entity:ann"]
    forgotten = await call("knowledge", operation="forget", entity="Bob", project=project_id)
    assert forgotten["count"] == 2
    unmatched = await call("knowledge", operation="query", query="Ann", project=project_id)
    assert (unmatched["results"], unmatched["message"]) == ([], "No matching entities")
    with pytest.raises(CallFailed) as refused:
        await call("teach_mimo", text="Nothing of this can be read.", project=project_id)
    assert (refused.value.code, refused.value.details["method"]) == ("invalid_request", "rules")
    with pytest.raises(CallFailed) as missing:
        await call("knowledge", operation="path", subject="Ann", object="Dora", project=project_id)
    assert missing.value.code == "not_found"
