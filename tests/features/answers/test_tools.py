"""The tools `ask_mimo` and `explain_routing`: results, fallbacks and refused arguments."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.errors import InvalidRequest, Unavailable
from scrubjay.tooling.context import CallContext
from tests.models.service import running_service

Call = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
async def call(tmp_path: Path) -> AsyncGenerator[Call]:
    async with running(Settings.model_validate({"home": tmp_path})) as application:

        async def call(tool: str, /, client: str | None = "ada", **arguments: Any) -> dict[str, Any]:
            answer = await application.dispatcher.call(tool, arguments, CallContext(surface="python", client=client))
            return answer.model_dump(mode="json")

        yield call


def store_status(store: str, **fields: Any) -> dict[str, Any]:
    status = {"store": store, "role": None, "status": "not_asked", "found": 0, "milliseconds": 0, "reason": None}
    return {**status, "hint": None, **fields}


async def test_064_an_answer_has_mimos_shape_with_citations_and_the_status_of_each_store(call: Call) -> None:
    content = "User prefers dark mode themes"
    fact = await call("store_fact", content=content, category="observation", importance=0.8)
    answer = await call("ask_mimo", query="Which themes does the user prefer?", context_id="c1", timeout_ms=60_000)
    assert UUID(answer.pop("query_id")).version == 4
    assert answer.pop("latency_ms") > 0
    (found,) = answer["results"]["episodic"]
    assert 0 < found["similarity"] <= 1
    working, episodic, *_ = answer["stores"]
    assert episodic["milliseconds"] > 0
    assert answer == {
        "router_decision": {
            "primary_store": "episodic",
            "secondary_stores": [],
            "confidence": 0.99,
            "reasoning": "Episodic store selected as default for general query",
            "requires_synthesis": False,
            "scores": {"episodic": 0.9901, "procedural": 0.0, "semantic": 0.0},
            "decided_by": "rules",
        },
        "results": {
            "working": [],
            "episodic": [
                {
                    "id": fact["id"],
                    "content": content,
                    "category": "observation",
                    "importance": 0.8,
                    "metadata": {},
                    "similarity": found["similarity"],
                    "score": found["score"],
                    "confirmed": True,
                    "kind": "general",
                    "recorded_at": found["recorded_at"],
                }
            ],
            "semantic": None,
            "procedural": None,
        },
        "synthesis": f"{content} [1]",
        "citations": [
            {
                "number": 1,
                "id": fact["id"],
                "store": "episodic",
                "excerpt": content,
                "at": found["recorded_at"],
                "score": found["score"],
            }
        ],
        "method": "extractive",
        "model": None,
        "notes": [],
        "stores": [
            store_status("working", role="joined", status="answered", milliseconds=working["milliseconds"]),
            store_status("episodic", role="primary", status="answered", found=1, milliseconds=episodic["milliseconds"]),
            store_status("semantic"),
            store_status("procedural"),
        ],
        "context_id": "c1",
    }


async def test_061_working_memory_is_selected_by_client_or_context_id(call: Call) -> None:
    put = await call("working_put", content="Build number 4711")
    item = put["item"]
    own = await call("ask_mimo", query="What did I note just now?")
    assert own["results"]["working"] == [
        {
            **{name: item[name] for name in ("id", "content", "importance", "created_at", "expires_at", "memory_id")},
            "score": 1.0,
        }
    ]
    assert [cited["id"] for cited in own["citations"]] == [item["id"]]
    named = await call("ask_mimo", client="bob", query="What did I note just now?", context_id="ada")
    assert named["results"]["working"] == own["results"]["working"]
    assert (await call("ask_mimo", client="bob", query="What did I note just now?"))["results"]["working"] == []
    anonymous = await call("ask_mimo", client=None, query="What did I note just now?")
    assert (anonymous["results"]["working"], anonymous["stores"][0]["status"]) == (None, "unavailable")
    assert anonymous["stores"][0]["hint"] == "pass context_id, or send a Scrubjay-Client header"


async def test_061_an_answer_uses_only_memories_of_the_project(call: Call, tmp_path: Path) -> None:
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    await call("remember", content="We deploy on Thursdays.", project=here)
    await call("remember", content="Somebody deploys on Mondays.", project=there)
    answer = await call("ask_mimo", query="When do we deploy?", project=here)
    assert answer["synthesis"] == "We deploy on Thursdays. [1]"


async def test_061_a_store_that_does_not_exist_is_null_and_unavailable_and_not_empty(call: Call) -> None:
    await call("remember", content="We fix a bug by writing a test for the error.")
    answer = await call("ask_mimo", query="How do we fix a bug or an error?")
    assert (answer["router_decision"]["primary_store"], answer["results"]["procedural"]) == ("procedural", None)
    reason = "this server has no procedural memory yet"
    assert answer["stores"][3] == store_status(
        "procedural", role="primary", status="unavailable", reason=reason, hint="episodic memory was queried instead"
    )
    assert answer["notes"] == [f"procedural memory: {reason}"]
    assert answer["synthesis"] == "We fix a bug by writing a test for the error. [1]"


async def test_061_089_a_question_about_relations_is_answered_from_triples_and_cites_them(
    call: Call, tmp_path: Path
) -> None:
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    taught = await call("teach_mimo", text="The gateway depends on the session service.", project=here)
    await call("teach_mimo", text="The secret plan depends on the session service.", project=there)
    await call("teach_mimo", text="Ada works on the gateway.", project=here)
    answer = await call("ask_mimo", query="What depends on the session service?", project=here)
    (triple,) = taught["triples"]
    assert answer["results"]["semantic"] == [
        {
            "id": triple["id"],
            "subject": "gateway",
            "predicate": "depends_on",
            "object": "session service",
            "text": "gateway depends on session service.",
            "confidence": 1.0,
            "source": "user_input",
            "rests_on": [],
            "score": 1.0,
        }
    ]
    assert answer["synthesis"] == "gateway depends on session service. [1]"
    assert [(one["id"], one["store"]) for one in answer["citations"]] == [(triple["id"], "semantic")]
    path = await call("ask_mimo", query="What is the relationship between Ada and the session service?", project=here)
    assert path["synthesis"].splitlines() == ["Ada works on gateway. [1]", "gateway depends on session service. [2]"]
    nothing = await call("ask_mimo", query="What is the relationship between tea and coffee?", project=here)
    assert (nothing["results"]["semantic"], nothing["synthesis"]) == ([], None)


async def test_061_a_disabled_semantic_store_is_not_queried_and_is_reported(tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": tmp_path, "features": {"semantic_store": False}})
    async with running(settings) as application:
        arguments = {"query": "What depends on the session service?"}
        result = await application.dispatcher.call("ask_mimo", arguments, CallContext(surface="python"))
    answer = result.model_dump(mode="json")
    assert answer["results"]["semantic"] is None
    assert answer["notes"][-1] == "semantic memory: semantic memory is switched off"


async def test_064_without_a_matching_memory_there_is_no_answer(call: Call) -> None:
    await call("remember", content="We deploy on Thursdays.")
    answer = await call("ask_mimo", query="Who is the minister of fisheries?")
    assert (answer["synthesis"], answer["citations"], answer["method"]) == (None, [], "none")
    assert answer["notes"] == ["no memory matches the question"]


@pytest.mark.parametrize(
    "arguments", [{}, {"query": ""}, {"query": "x" * 10_001}, {"query": "x", "timeout_ms": 0}, {"query": "x", "a": 1}]
)
async def test_061_invalid_arguments_are_refused(call: Call, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        await call("ask_mimo", **arguments)


async def test_066_routing_is_explained_without_querying_a_store(call: Call) -> None:
    query = "How is the class linked to the graph structure?"
    assert await call("explain_routing", query=query) == {
        "query": query,
        "selected_type": "procedural",
        "confidence": 0.4,
        "type_scores": {"relational": 0.0, "temporal": 0.0, "procedural": 0.4, "factual": 0.4},
        "matched_indicators": {"relational": [], "temporal": [], "procedural": ["how"], "factual": ["is"]},
        "strategy": "procedures",
        "recommended_stores": ["procedural", "vector"],
        "router_decision": {
            "primary_store": "semantic",
            "secondary_stores": ["procedural"],
            "confidence": 0.67,
            "reasoning": "Semantic store selected; keywords detected: linked, graph, structure",
            "requires_synthesis": True,
            "scores": {"episodic": 0.074, "procedural": 0.2591, "semantic": 0.6662},
            "decided_by": "rules",
        },
        "matched_keywords": {"episodic": [], "procedural": ["class"], "semantic": ["linked", "graph", "structure"]},
        "is_sure": False,
    }


async def test_064_the_configured_language_model_writes_the_answer(tmp_path: Path) -> None:
    context = CallContext(surface="python")
    with running_service() as service:
        service.reply = lambda body: "On Thursdays [1], and on Mondays [4]."
        llm = {"base_url": service.url, "model": "a-model"}
        async with running(Settings.model_validate({"home": tmp_path, "llm": llm})) as application:
            call = application.dispatcher.call
            memory: Any = await call("remember", {"content": "We deploy on Thursdays."}, context)
            arguments = {"query": "On which days do we deploy?", "timeout_ms": 60_000}
            answer: Any = await call("ask_mimo", arguments, context)
    assert (answer.synthesis, answer.method) == ("On Thursdays [1], and on Mondays.", "llm")
    assert ([cited.id for cited in answer.citations], answer.model) == ([memory.id], "a-model-0613")
    assert answer.notes == ["the language model cited [4], which does not exist and was removed"]


async def test_061_a_closed_store_is_an_error_and_not_an_empty_answer(tmp_path: Path) -> None:
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        context = CallContext(surface="python", client="ada")
        await application.dispatcher.call("ask_mimo", {"query": "anything"}, context)
        await (await application.open()).close()
        with pytest.raises(Unavailable, match="closed"):
            await application.dispatcher.call("ask_mimo", {"query": "anything"}, context)
