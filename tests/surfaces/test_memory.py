"""Memory, on every surface. Numbers are rows of the feature table."""

import random
from string import ascii_lowercase
from typing import Any

import pytest

from tests.surfaces.callers import Caller, CallFailed, Json


async def remember(call: Caller, project: str, content: str, **fields: Any) -> Json:
    await call("set_project", path=project)
    return await call("remember", content=content, project=project, **fields)


async def contents(call: Caller, **arguments: Any) -> list[str]:
    return [memory["content"] for memory in (await call("recall", **arguments))["memories"]]


async def test_043_a_fact_is_returned_with_all_its_fields(call: Caller, project: str) -> None:
    stored = await remember(
        call,
        project,
        "We chose PostgreSQL because the team knows it.",
        category="decision",
        importance=0.9,
        confidence=0.8,
        session_id="standup-1",
        occurred_at="2026-03-04T10:00:00+02:00",
        speaker="Ada",
        tags=["database", "architecture"],
        metadata={"ticket": 42, "links": ["a", "b"]},
    )
    assert stored["outcome"] == "stored"
    assert stored["scope"] == "project"
    answer = await call("recall", query="which database did we choose?", project=project, scope="project")
    (memory,) = answer["memories"]
    assert 0 < memory.pop("score") <= 1
    assert memory.pop("recorded_at") == memory.pop("updated_at")
    assert memory.pop("provenance")["tool"] == "remember"
    assert memory == {
        "id": stored["id"],
        "content": "We chose PostgreSQL because the team knows it.",
        "scope": "project",
        "project": stored["project"],
        "session_id": "standup-1",
        "key": None,
        "category": "decision",
        "importance": 0.9,
        "confidence": 0.8,
        "speaker": "Ada",
        "tags": ["database", "architecture"],
        "metadata": {"ticket": 42, "links": ["a", "b"]},
        "occurred_at": "2026-03-04T08:00:00Z",
        "kind": "general",
        "details": {},
        "subject": None,
        "valid_from": None,
        "valid_until": None,
        "superseded_by": None,
        "protected": False,
        "conflicts": [],
        "confirmed": True,
        "duplicates": [],
        "explanation": None,
    }


async def test_044_a_key_has_one_current_value_and_omitted_fields_are_kept(call: Caller, project: str) -> None:
    first = await remember(
        call, project, "We deploy on Heroku.", key="deploy-target", tags=["ops"], metadata={"by": "Ada"}
    )
    second = await remember(call, project, "We deploy on Fly.io now.", key="deploy-target", importance=0.7)
    assert second == {**first, "outcome": "updated", "superseded": second["superseded"]}
    (memory,) = (await call("recall", query="where do we deploy?", project=project, scope="project"))["memories"]
    assert (memory["content"], memory["importance"], memory["tags"], memory["metadata"]) == (
        "We deploy on Fly.io now.",
        0.7,
        ["ops"],
        {"by": "Ada"},
    )
    assert await contents(call, query="Heroku", project=project, threshold=0.4) == []
    assert await contents(call, query="ops", project=project, threshold=0.4) == ["We deploy on Fly.io now."]


async def test_045_a_forgotten_memory_is_gone(call: Caller, project: str) -> None:
    stored = await remember(call, project, "The wifi password is on the fridge.")
    deleted = await call("forget", id=stored["id"], project=project)
    assert deleted["forgotten"]["content"] == "The wifi password is on the fridge."
    assert await contents(call, query="wifi password", project=project, scope="project") == []
    with pytest.raises(CallFailed) as caught:
        await call("forget", id=stored["id"], project=project)
    assert caught.value.code == "not_found"


async def test_045_a_memory_can_be_forgotten_by_its_key(call: Caller, project: str) -> None:
    await remember(call, project, "Standup is at nine.", key="standup")
    assert (await call("forget", key="standup", project=project))["forgotten"]["key"] == "standup"
    with pytest.raises(CallFailed) as caught:
        await call("forget", key="standup", project=project)
    assert caught.value.code == "not_found"


async def test_051_a_batch_is_stored_completely_or_not_at_all(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    answer = await call(
        "remember_many",
        project=project,
        memories=[{"content": "The staging server is in Frankfurt."}, {"content": "Its name is Otto.", "key": "name"}],
    )
    assert (answer["stored"], answer["updated"], len(answer["memories"])) == (2, 0, 2)
    with pytest.raises(CallFailed) as caught:
        await call(
            "remember_many",
            project=project,
            memories=[{"content": "Half of a batch."}, {"content": "x", "scope": "session"}],
        )
    assert caught.value.code == "invalid_request"
    assert await contents(call, query="half of a batch", project=project, scope="project", threshold=0.2) == []
    assert len(await contents(call, query="the staging server's name", project=project, scope="project")) == 2


async def test_054_a_project_sees_its_own_and_global_memories_only(call: Caller, project: str) -> None:
    mark = "".join(random.choices(ascii_lowercase, k=16))  # a word that no other test uses
    here, there = f"{project}/here", f"{project}/there"
    await remember(call, there, f"Secret {mark} of the other project.")
    await remember(call, here, f"Fact {mark} of this project.")
    await remember(call, here, f"Rule {mark} for everybody.", scope="global")
    assert set(await contents(call, query=mark, project=here, threshold=0.4)) == {
        f"Fact {mark} of this project.",
        f"Rule {mark} for everybody.",
    }
    assert set(await contents(call, query=mark, project=there, threshold=0.4)) == {
        f"Secret {mark} of the other project.",
        f"Rule {mark} for everybody.",
    }


async def test_054_the_active_project_is_used_when_none_is_named(call: Caller, project: str) -> None:
    selected = await call("set_project", path=project, name=f"Apollo {project}")
    assert selected["active"] is True
    assert (await call("get_project"))["project"] == selected["project"]
    assert selected["project"] in (await call("list_projects"))["projects"]
    stored = await call("remember", content="Apollo flies on Mondays.")
    assert (stored["scope"], stored["project"]) == ("project", selected["project"]["id"])
    assert await contents(call, query="When does Apollo fly?", scope="project") == ["Apollo flies on Mondays."]
    assert await contents(call, query="When does Apollo fly?", project=f"Apollo {project}", scope="project") == [
        "Apollo flies on Mondays."
    ]


async def test_054_a_session_memory_is_visible_only_in_its_session(call: Caller, project: str) -> None:
    await remember(call, project, "The draft is called Hedgehog.", scope="session", session_id="s1")
    question: Json = {"query": "what is the draft called?", "project": project, "threshold": 0.2}
    assert await contents(call, **question) == []
    assert await contents(call, **question, session_id="s2") == []
    assert await contents(call, **question, session_id="s1") == ["The draft is called Hedgehog."]


async def test_058_059_recall_by_meaning_needs_no_shared_word_key_or_service(call: Caller, project: str) -> None:
    await remember(call, project, "The customer was furious about the late delivery.")
    await remember(call, project, "Rotate the backup tapes every Sunday.")
    assert (await contents(call, query="a client angry at slow shipping", project=project))[0].startswith(
        "The customer"
    )


async def test_058_nothing_below_the_threshold_is_returned(call: Caller, project: str) -> None:
    await remember(call, project, "The kitchen has a new coffee machine.")
    answer = await call("recall", query="quarterly tax filing deadline", project=project, scope="project")
    assert answer["memories"] == []
    assert answer["below_threshold"] == answer["considered"]


async def test_060_the_best_match_comes_first(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    await call(
        "remember_many",
        project=project,
        memories=[
            {"content": "We write all services in Go."},
            {"content": "The build runs on GitHub Actions and takes eight minutes."},
            {"content": "Marketing wants a new logo."},
        ],
    )
    results = await contents(call, query="how long does the build take?", project=project)
    assert results[0] == "The build runs on GitHub Actions and takes eight minutes."


async def test_065_filters_narrow_the_results(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    await call(
        "remember_many",
        project=project,
        memories=[
            {
                "content": "Meeting about the parser.",
                "category": "meeting",
                "tags": ["parser", "a"],
                "speaker": "Ada",
                "session_id": "one",
                "occurred_at": "2026-01-10T00:00:00Z",
            },
            {
                "content": "Another meeting about the parser.",
                "category": "call",
                "tags": ["parser"],
                "speaker": "Bob",
                "session_id": "two",
                "occurred_at": "2026-02-10T00:00:00Z",
            },
        ],
    )
    first, second = "Meeting about the parser.", "Another meeting about the parser."
    question: Json = {"query": "meeting about the parser", "project": project}
    assert set(await contents(call, **question)) == {first, second}
    assert await contents(call, **question, category="call") == [second]
    assert await contents(call, **question, tags=["parser", "a"]) == [first]
    assert await contents(call, **question, speaker="Bob") == [second]
    assert await contents(call, **question, from_session="one") == [first]
    assert await contents(call, **question, occurred_after="2026-02-01T00:00:00Z") == [second]
    assert await contents(call, **question, occurred_before="2026-02-01T00:00:00Z") == [first]
    assert await contents(call, **question, category="call", speaker="Ada") == []
    assert len(await contents(call, **question, limit=1)) == 1


async def test_066_a_score_is_explained(call: Caller, project: str) -> None:
    await remember(call, project, "The parser is written by hand.")
    question: Json = {"query": "hand-written parser", "project": project, "scope": "project", "explain": True}
    (memory,) = (await call("recall", **question))["memories"]
    explanation = memory["explanation"]
    signals = {signal["signal"]: signal for signal in explanation["signals"]}
    assert {"words", "coverage", "meaning", "similarity"} <= set(signals)
    assert memory["score"] == pytest.approx(sum(signal["contribution"] for signal in signals.values()), abs=1e-4)
    assert 0.2 < signals["similarity"]["value"] <= 1
    assert memory["confirmed"] is True
    assert signals["coverage"]["about"] in explanation["why"]


async def test_066_a_result_has_its_method_and_near_misses(call: Caller, project: str) -> None:
    await remember(call, project, "The parser is written by hand.")
    question: Json = {"query": "hand-written parser", "project": project, "scope": "project"}
    assert (await call("recall", **question))["explanation"] is None
    answer = await call("recall", **question, explain=True, threshold=1)
    assert answer["memories"] == []
    explanation = answer["explanation"]
    assert [miss["content"] for miss in explanation["near_misses"]] == ["The parser is written by hand."]
    assert explanation["threshold"] == 1
    assert explanation["searched"] >= 1
    assert "parser" in explanation["words"]
    stages = {"reading the question", "finding candidates", "ranking", "reading memories"}
    assert set(explanation["milliseconds"]) == stages
    assert all(milliseconds >= 0 for milliseconds in explanation["milliseconds"].values())
