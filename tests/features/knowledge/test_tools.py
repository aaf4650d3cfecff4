"""The tools `knowledge`, `consult_graph` and `teach_mimo`. Numbers are rows of the feature table."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app import maintenance
from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.core.callers import OWNER, Caller
from scrubjay.core.errors import Conflict, Forbidden, InvalidRequest, NotFound, QuotaExceeded, Unavailable
from scrubjay.features.knowledge.auto_inference import BackgroundInference
from scrubjay.features.knowledge.models import GraphScope
from scrubjay.tooling.context import CallContext
from tests.contracts.samples import ManualClock
from tests.models.service import running_service

Call = Callable[..., Awaitable[dict[str, Any]]]
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def caller_of(application: Application) -> Call:
    async def call(
        tool: str, /, client: str | None = "ada", caller: Caller = OWNER, **arguments: Any
    ) -> dict[str, Any]:
        context = CallContext(surface="python", client=client, caller=caller)
        return (await application.dispatcher.call(tool, arguments, context)).model_dump(mode="json")

    return call


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def app(tmp_path: Path, clock: ManualClock) -> AsyncGenerator[Application]:
    async with running(Settings(home=tmp_path), clock=clock) as application:
        yield application


@pytest.fixture
def call(app: Application) -> Call:
    return caller_of(app)


async def run_inference(app: Application) -> None:
    await (await app.services.get(BackgroundInference)).catch_up()


async def test_086_triples_survive_a_restart(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as application:
        result = await caller_of(application)("teach_mimo", subject="Ann", predicate="reports to", object="Bob")
    assert (result["status"], result["triples_created"]) == ("learned", 1)
    async with running(Settings(home=tmp_path)) as application:
        answer = await caller_of(application)("consult_graph", query="ann")
    (known,) = answer["relationships"]["outgoing"]
    assert (known["id"], known["predicate"], known["object_id"]) == (result["triple_id"], "reports_to", "entity:bob")
    assert (answer["entity"], answer["resolved_by"], answer["relationships"]["incoming"]) == ("entity:ann", "name", [])


async def test_086_all_fields_of_a_triple_are_stored_and_teaching_it_again_replaces_them(call: Call) -> None:
    arguments = {
        "operation": "teach",
        "subject": "Ann",
        "predicate": "member_of",
        "object": "Team Blue",
        "subject_type": "Person",
        "object_type": "team",
        "confidence": 0.8,
        "source": "the wiki",
        "ttl": 60,
        "context": "as of May",
        "metadata": {"page": 7},
        "graph_id": "people",
    }
    (triple,) = (first := await call("knowledge", **arguments))["triples"]
    expected = {name: arguments[name] for name in ("predicate", "confidence", "source", "ttl", "context", "metadata")}
    assert expected.items() <= triple.items()
    assert (triple["subject_id"], triple["object_id"]) == ("person:ann", "team:team-blue")
    assert (triple["scope"], triple["graph_id"]) == ("global", "people")
    again = await call("knowledge", **arguments | {"confidence": 0.9, "ttl": None, "context": None, "metadata": {}})
    assert (again["triple_id"], again["status"], again["triples_created"]) == (first["triple_id"], "learned", 0)
    (changed,) = again["triples"]
    assert (changed["confidence"], changed["context"]) == (0.9, "as of May")
    assert "expires_at" not in changed
    assert (await call("knowledge", query="Ann"))["message"] == "No matching entities", "the triple is in another graph"


async def test_086_a_batch_is_stored_and_known_triples_stay_unchanged(call: Call) -> None:
    first = await call("knowledge", operation="teach", subject="a1", predicate="uses", object="b1", confidence=0.5)
    many = [{"subject": "a1", "predicate": "uses", "object": name} for name in ("b1", "c1", "d1")]
    result = await call("knowledge", operation="teach", triples=many, source="a list")
    assert (result["triples_created"], result["triples_known"]) == (2, 1)
    assert (result["triples"][0]["id"], result["triples"][0]["confidence"]) == (first["triple_id"], 0.5)
    again = await call("knowledge", operation="teach", triples=many)
    assert (again["status"], again["triples_created"]) == ("already_known", 0)


async def test_086_expired_triples_are_not_returned(call: Call, clock: ManualClock) -> None:
    await call("knowledge", operation="teach", subject="Ann", predicate="located_in", object="Rome", ttl=60)
    clock.advance(59)
    assert (await call("consult_graph", entity="Ann", predicate="located_in"))["count"] == 1
    clock.advance(1)
    assert (await call("consult_graph", query="Ann"))["message"] == "No matching entities"


@pytest.mark.parametrize(
    "invalid",
    [
        {"operation": "query"},
        {"operation": "query", "entity": "Ann"},
        {"operation": "teach"},
        {"operation": "teach", "subject": "a", "predicate": "b"},
        {"operation": "teach", "subject": "a", "predicate": "b", "object": "c", "text": "A uses B."},
        {"operation": "teach", "subject": "...", "predicate": "b", "object": "c"},
        {"operation": "teach", "subject": "a", "predicate": "!!", "object": "c"},
        {"operation": "teach", "subject": "a", "predicate": "b", "object": "c", "confidence": 1.1},
        {"operation": "teach", "subject": "a", "predicate": "b", "object": "c", "confidence": "NaN"},
        {"operation": "teach", "subject": "a", "predicate": "b", "object": "c", "ttl": 0},
        {"operation": "teach", "subject": "a", "predicate": "b", "object": "c", "metadata": {"x": "y" * 10_001}},
        {"operation": "teach", "text": "Nothing of this can be read."},
        {"operation": "teach", "triples": []},
        {"operation": "path", "subject": "a"},
        {"operation": "forget"},
        {"operation": "forget", "triple_id": "t", "entity": "e"},
        {"operation": "dream"},
        {"query": "a", "depth": 0},
    ],
)
async def test_086_invalid_requests_are_refused_and_change_nothing(call: Call, invalid: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        await call("knowledge", **invalid)
    assert (await call("knowledge", operation="status"))["graph"]["triples"] == 0


async def test_087_a_query_creates_no_entity(app: Application, call: Call) -> None:
    await call("teach_mimo", text="The billing service depends on PostgreSQL.")
    await run_inference(app)  # otherwise the background run changes the status between the two reads
    before = (await call("knowledge", operation="status"))["graph"]
    for arguments in ({"query": "payments"}, {"entity": "payments", "predicate": "depends_on"}):
        answer = await call("knowledge", **arguments)
        assert (answer["results"], answer["message"]) == ([], "No matching entities")
    for operation in ("path", "prove"):
        with pytest.raises(NotFound):
            await call("knowledge", operation=operation, subject="payments", predicate="uses", object="PostgreSQL")
    await call("ask_mimo", query="What is the relationship between payments and the ledger?")
    assert (await call("knowledge", operation="status"))["graph"] == before


async def test_087_names_are_resolved_by_name_then_by_embedding_and_never_guessed(call: Call) -> None:
    await call("teach_mimo", text="The billing service uses prod-db-1. Ann knows Anna. PostgreSQL is a database.")
    for name, entity, resolved_by in (
        ("Billing_Service", "entity:billing-service", "name"),
        ("entity:ann", "entity:ann", "id"),
        ("anna", "entity:anna", "name"),
        ("the billing services", "entity:billing-service", "meaning"),
    ):
        answer = await call("consult_graph", query=name)
        assert (answer["entity"], answer["resolved_by"]) == (entity, resolved_by), name
    for name in ("prod-db-2", "Anne", "postgres"):
        answer = await call("consult_graph", query=name)
        assert answer["message"] == "No matching entities", name
    assert [one["id"] for one in answer["similar"]] == ["entity:postgresql"], "it is only reported as similar"


async def test_087_a_name_of_several_entities_is_ambiguous(call: Call) -> None:
    for kind in ("person", "city"):
        await call("knowledge", operation="teach", subject="Paris", subject_type=kind, predicate="is_a", object=kind)
    answer = await call("consult_graph", query="paris")
    assert (answer["ambiguous"], sorted(answer["candidates"])) == (True, ["city:paris", "person:paris"])
    with pytest.raises(Conflict) as refused:
        await call("teach_mimo", subject="Paris", predicate="knows", object="Helen")
    assert sorted(refused.value.details["candidates"]) == ["city:paris", "person:paris"]
    result = await call("teach_mimo", text="Paris knows Helen. Helen knows Hector.")
    assert [one["name"] for one in result["ambiguous_facts"]] == ["Paris"]
    assert [one["subject"] for one in result["triples"]] == ["Helen"]
    with pytest.raises(Conflict):
        await call("teach_mimo", text="Paris owns Helen.")
    by_id = await call("teach_mimo", subject="person:paris", predicate="knows", object="Helen")
    assert by_id["triples"][0]["subject_id"] == "person:paris"
    typed = await call("teach_mimo", subject="Paris", subject_type="city", predicate="located_in", object="France")
    assert typed["triples"][0]["subject_id"] == "city:paris"


async def test_087_a_likely_duplicate_is_reported_and_resolved_with_an_alias(call: Call) -> None:
    await call("teach_mimo", text="PostgreSQL is a database.")
    result = await call("teach_mimo", text="Billing uses postgres.")
    assert [one["id"] for one in result["possible_duplicates"]["entity:postgres"]] == ["entity:postgresql"]
    with pytest.raises(Conflict):
        await call("knowledge", operation="alias", entity="PostgreSQL", alias="postgres")
    await call("knowledge", operation="forget", entity="entity:postgres")
    named = await call("knowledge", operation="alias", entity="PostgreSQL", alias="Postgres")
    assert named["aliases"] == ["Postgres"]
    result = await call("teach_mimo", text="Billing uses postgres.")
    assert (result["triples"][0]["object_id"], result["entities_created"]) == ("entity:postgresql", ["entity:billing"])


async def test_087_a_text_is_parsed_by_rules_and_other_sentences_are_reported(call: Call) -> None:
    result = await call("teach_mimo", text="Ann and Dan report to Bob. They are nice.", source="minutes")
    assert (result["status"], result["method"], result["triples_created"]) == ("learned", "rules", 2)
    assert result["not_understood"] == ["They are nice."]
    assert {one["source"] for one in result["triples"]} == {"minutes"}
    assert result["triples"][0]["context"] == "Ann and Dan report to Bob."
    with pytest.raises(InvalidRequest) as refused:
        await call("teach_mimo", text="They are nice.")
    assert refused.value.details == {"method": "rules", "not_understood": ["They are nice."]}


TEXT = "Ann, who leads payments, answers to Bob these days. Bob does not lead payments."


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            json.dumps({"triples": [
                {"subject": "Ann", "predicate": "reports_to", "object": "Bob", "quote": "answers to Bob"},
                {"subject": "Ann", "predicate": "knows", "object": "Carol", "quote": "answers to Bob"},
                {"subject": "Ann", "predicate": "leads", "object": "payments", "quote": "not in the text"},
                {"subject": "Bob", "predicate": "leads", "object": "payments", "quote": "Bob does not lead payments"},
                "nonsense",
            ]}),
            "learned",
        ),
        ("I cannot.", "json_parse_failed"),
        ('{"facts": []}', "invalid_extraction_format"),
        (None, "llm_extraction_failed"),
    ],
)  # fmt: skip
async def test_087_relations_of_a_language_model_must_be_supported_by_the_text(
    tmp_path: Path, reply: str | None, expected: str
) -> None:
    with running_service() as service:
        service.reply = lambda body: reply or ""
        url = service.url if reply is not None else "http://127.0.0.1:9"
        llm = {"base_url": url, "model": "a-model"}
        async with running(Settings.model_validate({"home": tmp_path, "llm": llm})) as application:
            call = caller_of(application)
            if expected == "learned":
                result = await call("teach_mimo", text=TEXT)
                assert (result["status"], result["method"], result["model"]) == ("learned", "llm", "a-model-0613")
                assert [(one["subject"], one["object"]) for one in result["triples"]] == [("Ann", "Bob")]
                assert result["notes"] == ["4 relations that the text does not support were dropped"]
                return
            with pytest.raises(Unavailable) as failed:
                await call("teach_mimo", text=TEXT)
            assert failed.value.details["error"] == expected
            plain = await call("teach_mimo", text="Ann reports to Bob.")
            assert (plain["method"], plain["triples_created"]) == ("rules", 1)
            assert plain["notes"][0].startswith("the text was parsed by rules: no relations could be extracted")


async def test_088_reachable_entities_paths_and_patterns_are_found(call: Call) -> None:
    await call("teach_mimo", text="Alpha depends on Beta. Beta depends on Gamma. Gamma depends on Alpha.")
    await call("knowledge", operation="teach", subject="Gamma", predicate="depends_on", object="Delta", confidence=0.8)
    answer = await call("consult_graph", entity="Alpha", predicate="depends on")
    assert [(one["id"], one["type"], one["depth"], one["confidence"]) for one in answer["results"]] == [
        ("entity:beta", "entity", 1, 1.0),
        ("entity:gamma", "entity", 2, 1.0),
        ("entity:delta", "entity", 3, 0.8),
    ]
    assert answer["results"][1]["path"] == ["entity:alpha", "entity:beta", "entity:gamma"]
    assert (answer["count"], answer["total"], answer["complete"]) == (3, 3, True)
    assert (await call("consult_graph", entity="Alpha", predicate="depends_on", min_confidence=0.9))["count"] == 2
    assert (await call("consult_graph", entity="Alpha", predicate="depends_on", depth=1))["count"] == 1
    assert (await call("consult_graph", entity="Alpha", predicate="depends_on", limit=1))["total"] == 3
    back = await call("consult_graph", entity="Delta", predicate="depends_on", direction="backward", depth=1)
    assert [one["id"] for one in back["results"]] == ["entity:gamma"]
    path = await call("knowledge", operation="path", subject="Alpha", object="Delta")
    assert (path["found"], path["count"], path["confidence"]) == (True, 3, 0.8)
    assert path["path"] == ["entity:alpha", "entity:beta", "entity:gamma", "entity:delta"]
    none = await call("knowledge", operation="path", subject="Delta", object="Alpha")
    assert (none["found"], none["message"]) == (False, "no_path")
    short = await call("knowledge", operation="path", subject="Alpha", object="Delta", depth=2)
    assert short["message"] == "no_path"
    same = await call("knowledge", operation="path", subject="Alpha", object="Alpha")
    assert (same["found"], same["path"]) == (True, ["entity:alpha"])
    matched = await call("knowledge", operation="match", patterns=[{"predicate": "depends_on", "object": "Delta"}])
    assert (matched["subjects"], matched["count"]) == (["entity:gamma"], 2)
    found = await call("knowledge", operation="search", query="delt")
    assert (found["count"], found["triples"][0]["object"]) == (1, "Delta")


async def test_089_triples_are_inferred_in_the_background_and_deleted_with_their_premises(
    app: Application, call: Call
) -> None:
    result = await call("teach_mimo", text="Ann reports to Bob. Bob reports to Carol.")
    first, second = (one["id"] for one in result["triples"])
    with anyio.fail_after(30):  # inference starts half a second after the write
        while not (await call("knowledge", operation="status"))["graph"]["up_to_date"]:
            await anyio.lowlevel.checkpoint()
    answer = await call("consult_graph", query="Ann")
    inferred = {one["object_id"]: one for one in answer["relationships"]["outgoing"] if "rests_on" in one}
    assert (inferred["entity:carol"]["rests_on"], inferred["entity:carol"]["confidence"]) == ([first, second], 0.9)
    assert inferred["entity:carol"]["source"] == "inference:transitive:depth=2"
    with pytest.raises(Conflict) as refused:
        await call("knowledge", operation="forget", triple_id=inferred["entity:carol"]["id"])
    assert refused.value.details["rests_on"] == [first, second]
    forgotten = await call("knowledge", operation="forget", triple_id=second)
    assert (forgotten["status"], forgotten["forgotten"], forgotten["entities_forgotten"]) == (
        "forgotten",
        [second],
        ["entity:carol"],
    )
    answer = await call("consult_graph", query="Ann")
    assert [one["object_id"] for one in answer["relationships"]["outgoing"]] == ["entity:bob"]
    with pytest.raises(NotFound):
        await call("knowledge", operation="forget", triple_id=second)


async def test_089_infer_returns_triples_without_storing_them_unless_persist_is_set(call: Call) -> None:
    await call("teach_mimo", text="The hall is next to the kitchen.")
    preview = await call("knowledge", operation="infer", predicate="adjacent_to")
    assert [(one["subject_id"], one["object_id"]) for one in preview["inferences"]] == [
        ("entity:kitchen", "entity:hall")
    ]
    assert (preview["persisted"], (await call("knowledge", operation="status"))["graph"]["inferred"]) == (False, 0)
    stored = await call("knowledge", operation="infer", persist=True)
    assert (stored["persisted"], stored["graph"]["inferred"], stored["graph"]["up_to_date"]) == (True, 1, True)


async def test_089_a_proof_cites_stored_triples(call: Call) -> None:
    result = await call("teach_mimo", text="Ann reports to Bob. Carol manages Bob.")
    proof = await call("knowledge", operation="prove", subject="Ann", predicate="reports_to", object="Carol")
    assert (proof["proved"], proof["proof"], proof["confidence"]) == (True, "transitive", 0.9)
    assert [step["rule"] for step in proof["steps"]] == ["stated", "inverse"]
    assert [one["id"] for one in proof["triples"]] == [one["id"] for one in result["triples"]]
    unproved = await call("knowledge", operation="prove", subject="Carol", predicate="reports_to", object="Ann")
    assert (unproved["proved"], unproved["message"], unproved["complete"]) == (False, "unprovable", True)


async def test_089_reliable_facts_about_mentioned_entities_are_suggested_two_at_a_time(
    call: Call, clock: ManualClock
) -> None:
    for number in range(4):
        await call("teach_mimo", client="bob", subject="Redis", predicate="provides", object=f"queue {number}")
    await call("teach_mimo", client="bob", subject="Redis", predicate="likes", object="memory", confidence=0.89)
    assert (await call("knowledge", client="bob", operation="suggest", text="Redis"))["count"] == 0, (
        "bob stored them all"
    )
    assert (await call("knowledge", operation="suggest"))["suggestions"] == [], "no entity was mentioned"
    first = await call("knowledge", operation="suggest", text="How is Redis doing?")
    assert first["suggestions"] == ["Redis provides queue 0.", "Redis provides queue 1."]
    second = await call("knowledge", operation="suggest")
    assert second["suggestions"] == ["Redis provides queue 2.", "Redis provides queue 3."]
    assert (await call("knowledge", operation="suggest"))["suggestions"] == []
    await call("knowledge", client="carol", operation="suggest", text="Redis")
    clock.advance(300)
    assert (await call("knowledge", client="carol", operation="suggest"))["suggestions"] == [], "the mention is too old"


async def test_086_a_project_sees_its_own_triples_and_global_ones_only(call: Call, tmp_path: Path) -> None:
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    global_triple = await call("teach_mimo", text="Ann reports to Bob.")
    own = await call("teach_mimo", text="Bob reports to Carol.", project=here)
    await call("teach_mimo", text="Bob reports to Zed.", project=there)
    assert (global_triple["triples"][0]["scope"], own["triples"][0]["scope"]) == ("global", "project")

    async def managers(**where: str) -> list[str]:
        answer = await call("consult_graph", entity="Ann", predicate="reports_to", **where)
        return [one["id"] for one in answer["results"]]

    assert await managers(project=here) == ["entity:bob", "entity:carol"]
    assert await managers(project=there) == ["entity:bob", "entity:zed"]
    assert await managers() == ["entity:bob"]
    with pytest.raises(NotFound):
        await call("knowledge", operation="forget", triple_id=own["triples"][0]["id"], project=there)
    assert (await call("consult_graph", query="Carol", project=there))["message"] == "No matching entities"
    assert (await call("knowledge", operation="search", query="carol", project=there))["count"] == 0


async def test_086_a_read_only_key_can_neither_teach_nor_forget(call: Call) -> None:
    result = await call("teach_mimo", text="Ann reports to Bob.")
    reader = Caller("reader", frozenset({"knowledge:read"}), "k1")
    for operation in ({"query": "Ann", "operation": "query"}, {"operation": "status"}):
        await call("knowledge", caller=reader, **operation)
    await call("consult_graph", caller=reader, query="Ann")
    for tool, forbidden in (
        ("knowledge", {"operation": "forget", "triple_id": result["triples"][0]["id"]}),
        ("knowledge", {"operation": "infer", "persist": True}),
        ("knowledge", {"operation": "alias", "entity": "Ann", "alias": "A."}),
        ("teach_mimo", {"text": "A uses B."}),
    ):
        with pytest.raises(Forbidden):
            await call(tool, caller=reader, **forbidden)
    with pytest.raises(Forbidden):
        await call("consult_graph", caller=Caller("other", frozenset({"memory"}), "k2"), query="Ann")


async def test_086_secrets_are_masked_and_quotas_apply(tmp_path: Path) -> None:
    settings = {"home": tmp_path, "quota": {"memories_per_client": 2}}
    async with running(Settings.model_validate(settings)) as application:
        call = caller_of(application)
        secret = {"context": f"it is {TOKEN}", "metadata": {"k": TOKEN}}
        result = await call("teach_mimo", subject="the bot", predicate="uses", object=TOKEN, **secret)
        assert TOKEN not in json.dumps(result)
        assert result["masked"]
        await call("teach_mimo", text="Ann knows Bob.")
        with pytest.raises(QuotaExceeded):
            await call("teach_mimo", text="Ann knows Carol.")
        await call("teach_mimo", client="bob", text="Ann knows Carol.")
        assert (await call("knowledge", operation="status"))["graph"]["triples"] == 3


async def test_086_forget_needs_the_exact_name_of_an_entity(call: Call) -> None:
    await call("teach_mimo", text="The billing service uses Redis.")
    with pytest.raises(NotFound) as refused:
        await call("knowledge", operation="forget", entity="billing services")
    assert refused.value.details == {"similar": ["entity:billing-service"]}
    forgotten = await call("knowledge", operation="forget", entity="Billing Service")
    assert sorted(forgotten["entities_forgotten"]) == ["entity:billing-service", "entity:redis"]


async def test_089_inference_runs_once_per_change(app: Application, call: Call) -> None:
    await call("teach_mimo", text="Ann reports to Bob.")
    await run_inference(app)
    assert (await call("knowledge", operation="status"))["graph"]["inferred"] == 1
    assert await (await app.services.get(BackgroundInference)).catch_up() == 0, "nothing has changed"


async def test_086_089_a_server_deletes_expired_triples_and_runs_missing_inference(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "KNOWLEDGE_SECONDS", 0.01)
    async with running(Settings(home=tmp_path), clock=clock) as application:
        call, store = caller_of(application), await application.services.get(Store)
        monkeypatch.setattr(BackgroundInference, "wake", lambda self: woken.append(self))  # pyright: ignore
        woken: list[BackgroundInference] = []
        result = await call("teach_mimo", text="Ann reports to Bob.", ttl=60)
        with anyio.fail_after(30):
            while len(woken) < 2:  # once for the write, then because the graph is outdated
                await anyio.lowlevel.checkpoint()
        clock.advance(60)
        scope, past = GraphScope(), clock.now - timedelta(seconds=30)
        with anyio.fail_after(30):
            while await store.knowledge.triples(scope, [result["triples"][0]["id"]], past):
                await anyio.lowlevel.checkpoint()
