"""The options of recall, on every surface."""

from typing import Any

import pytest

from tests.surfaces.callers import Caller, Json

DEPLOY = "We deploy on Thursdays."
BLUE_GREEN = "The deployment is blue and green, and Ada watches it for an hour."
MIGRATION = "One migration is run before."


async def store_memories(call: Caller, project: str) -> list[str]:
    await call("set_project", path=project)
    memories = [{"content": DEPLOY, "importance": 0.1}, {"content": BLUE_GREEN, "importance": 1}]
    stored = await call("remember_many", memories=[*memories, {"content": MIGRATION}], project=project)
    return [memory["id"] for memory in stored["memories"]]


async def ask(call: Caller, project: str, **options: Any) -> Json:
    return await call("recall", **{"query": "when do we deploy?", "project": project, "scope": "project", **options})


def contents(answer: Json) -> list[str]:
    return [memory["content"] for memory in answer["memories"]]


async def test_060_a_preset_changes_the_order_and_explains_it(call: Caller, project: str) -> None:
    await store_memories(call, project)
    assert contents(await ask(call, project, threshold=0.3)) == [DEPLOY, BLUE_GREEN]
    answer = await ask(call, project, threshold=0.3, preset="important", explain=True)
    assert contents(answer) == [BLUE_GREEN, DEPLOY]
    weights = answer["explanation"]["weights"]
    assert weights == {"relevance": 0.3, "recency": 0.15, "use": 0.1, "importance": 0.4, "confidence": 0.05}
    for memory in answer["memories"]:
        signals = {signal["signal"]: signal for signal in memory["explanation"]["signals"]}
        assert signals["importance"]["contribution"] == pytest.approx(0.4 * memory["importance"])
        assert memory["score"] == pytest.approx(sum(signal["contribution"] for signal in signals.values()), abs=1e-4)
        assert memory["explanation"]["relevance"] >= 0.3


async def test_060_budget_duplicates_and_timeline_are_reported(call: Caller, project: str) -> None:
    ids = await store_memories(call, project)
    again = await call("remember", content="We deploy on Thursday", project=project)
    answer = await ask(call, project, threshold=0.3, token_budget=10)
    assert contents(answer)[0].startswith("We deploy on Thursday")
    assert {answer["memories"][0]["id"], *answer["memories"][0]["duplicates"]} == {ids[0], again["id"]}
    assert (len(answer["memories"]), answer["tokens"], answer["over_budget"], answer["order"]) == (1, 6, 1, "score")
    timeline = await ask(call, project, query="a timeline of how we deploy", threshold=0.3)
    assert timeline["order"] == "time"
    assert contents(timeline) == [DEPLOY, BLUE_GREEN, "We deploy on Thursday"]


async def test_065_only_memories_with_the_exact_wording_are_found(call: Caller, project: str) -> None:
    await store_memories(call, project)
    assert contents(await ask(call, project, containing='deploy* "blue green"')) == [BLUE_GREEN]
    assert contents(await ask(call, project, containing="migrations*", threshold=0)) == [MIGRATION]
    assert contents(await ask(call, project, containing="deploys unheard")) == []
