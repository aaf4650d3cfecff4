"""Answers from all stores, on every surface. Numbers are rows of the feature table."""

from tests.surfaces.callers import Caller, Json

# Far more than an answer takes, so that a slow machine does not fail the tests.
TIMEOUT_MS = 60_000


async def test_061_a_question_is_routed_to_the_stores_that_can_answer_it(call: Caller, project: str) -> None:
    here: Json = {"project": project}
    stored = await call("working_put", content="Build number 4711", session_id="s1", **here)
    answer = await call("ask_mimo", query="What did I note just now?", context_id="s1", timeout_ms=TIMEOUT_MS, **here)
    assert [cited["id"] for cited in answer["citations"]] == [stored["item"]["id"]]
    assert answer["synthesis"] == "Build number 4711 [1]"
    assert [(one["store"], one["role"], one["status"]) for one in answer["stores"]] == [
        ("working", "primary", "answered"),
        ("episodic", "secondary", "answered"),
        ("semantic", None, "not_asked"),
        ("procedural", None, "not_asked"),
    ]


async def test_062_a_question_is_classified_by_its_words(call: Caller) -> None:
    explained = await call("explain_routing", query="Fix the null pointer bug in authenticate_user")
    assert explained["router_decision"] == {
        "primary_store": "procedural",
        "secondary_stores": [],
        "confidence": 0.87,
        "reasoning": "Procedural store selected; keywords detected: fix, bug",
        "requires_synthesis": False,
        "scores": {"episodic": 0.1248, "procedural": 0.8739, "semantic": 0.0},
        "decided_by": "rules",
    }


async def test_064_an_answer_cites_its_sources(call: Caller, project: str) -> None:
    stored = await call("remember", content="The owl server is restarted by Otto.", project=project)
    answer = await call("ask_mimo", query="Who restarts the owl server?", project=project, timeout_ms=TIMEOUT_MS)
    assert (answer["synthesis"], answer["method"]) == ("The owl server is restarted by Otto. [1]", "extractive")
    assert [(cited["number"], cited["id"]) for cited in answer["citations"]] == [(1, stored["id"])]
    assert (answer["results"]["semantic"], answer["notes"]) == (None, [])


async def test_066_routing_is_explained(call: Caller) -> None:
    explained = await call("explain_routing", query="What is the latest link between A and B?")
    assert (explained["selected_type"], explained["confidence"]) == ("relational", 0.6)
    assert explained["type_scores"] == {"relational": 0.6, "temporal": 0.4, "procedural": 0.0, "factual": 0.6}
    assert explained["matched_indicators"] == {
        "relational": ["link", "between"],
        "temporal": ["latest"],
        "procedural": [],
        "factual": ["what", "is"],
    }
    assert (explained["strategy"], explained["recommended_stores"]) == ("graph_heavy", ["graph", "vector"])
