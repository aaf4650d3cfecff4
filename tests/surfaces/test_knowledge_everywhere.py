"""Knowledge behaves alike through every door. Numbers are rows of the feature table."""

import pytest

from tests.surfaces.callers import Caller, CallFailed


async def test_086_088_089_what_is_taught_is_asked_proved_and_forgotten(call: Caller, project: str) -> None:
    here = (await call("set_project", path=project))["project"]["id"]
    taught = await call("teach_mimo", text="Ann reports to Bob. Bob reports to Carol.", project=here)
    assert (taught["status"], taught["triples_created"], taught["method"]) == ("learned", 2, "rules")
    one = await call(
        "knowledge", operation="teach", subject="Carol", predicate="reports_to", object="Dora", ttl=3600, project=here
    )
    assert (one["status"], one["triples"][0]["id"], one["triples"][0]["ttl"]) == ("learned", one["triple_id"], 3600)
    reached = await call("consult_graph", entity="Ann", predicate="reports_to", depth=3, project=here)
    assert [(found["id"], found["depth"]) for found in reached["results"]] == [
        ("entity:bob", 1),
        ("entity:carol", 2),
        ("entity:dora", 3),
    ]
    proof = await call(
        "knowledge", operation="prove", subject="Ann", predicate="reports_to", object="Carol", project=here
    )
    assert [step["triple_id"] for step in proof["steps"]] == [found["id"] for found in taught["triples"]]
    patterns = [{"predicate": "reports_to", "object": "Bob"}]
    matched = await call("knowledge", operation="match", patterns=patterns, project=here)
    assert matched["subjects"] == ["entity:ann"]
    gone = await call("knowledge", operation="forget", entity="Bob", project=here)
    assert gone["count"] == 2
    nobody = await call("knowledge", operation="query", query="Ann", project=here)
    assert (nobody["results"], nobody["message"]) == ([], "No matching entities")
    with pytest.raises(CallFailed) as refused:
        await call("teach_mimo", text="Nothing of this can be read.", project=here)
    assert (refused.value.code, refused.value.details["method"]) == ("invalid_request", "rules")
    with pytest.raises(CallFailed) as missing:
        await call("knowledge", operation="path", subject="Ann", object="Dora", project=here)
    assert missing.value.code == "not_found"
