"""Triples in the files of a SQLite store: what is forgotten is gone from them, and goes with its project."""

import json
import signal
import subprocess
from pathlib import Path

import httpx2

from scrubjay.app.sqlite_store import DATABASE, SqliteStore
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.knowledge.models import GraphScope, Inference, Triple
from scrubjay.features.knowledge.names import entity_of, keys_of, named, words_of
from tests.contracts.samples import NOW
from tests.surfaces.callers import PROGRAM, environment, server

WORDS = ("zanzibarquux", "betelgeusefnord", "xylophonewomble", "narwhalocelot", "ocarinaplover")
TABLES = ("entity", "entity_name", "entity_word", "triple", "inferred", "inferred_rest", "knowledge_graph")


def found(home: Path) -> set[str]:
    files = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    return {word for word in WORDS if any(word.encode() in content for content in files)}


async def fill(store: SqliteStore, scope: GraphScope) -> None:
    subject, object_ = entity_of(WORDS[0]), entity_of(WORDS[1])
    triple = Triple(
        id="tri_1",
        project_id=scope.project_id,
        subject=subject,
        predicate=WORDS[2],
        object=object_,
        source="test",
        context=WORDS[3],
        created_at=NOW,
        updated_at=NOW,
    )
    await store.knowledge.keep([triple], [named(subject), named(object_)], replace=True)
    await store.knowledge.add_alias(scope, subject.id, WORDS[4], keys_of(WORDS[4]), words_of(WORDS[4]), NOW)
    follows = Inference(
        subject=object_.id,
        predicate="inverse",
        object=subject.id,
        confidence=1.0,
        source="inference:test",
        rests_on=["tri_1"],
    )
    generation = (await store.knowledge.state(scope, NOW)).generation
    assert await store.knowledge.keep_inferred(scope, generation, [follows], None, NOW)


async def test_086_nothing_can_be_found_of_what_was_forgotten(store: SqliteStore, home: Path) -> None:
    await fill(store, GraphScope())
    assert found(home) == set(WORDS), "else the test would prove nothing"
    await store.knowledge.forget_triple(GraphScope(), "tri_1")
    assert found(home) == set()
    assert (await store.check()).problems == []


async def test_086_triples_and_entities_go_with_their_project(store: SqliteStore, home: Path) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    await fill(store, GraphScope(project.id))
    connection = Connection(home / DATABASE, 5.0)
    counts = {table: connection.value(f"SELECT count(*) FROM {table}") for table in TABLES}
    assert all(counts.values()), counts
    connection.execute("DELETE FROM project WHERE id = :id", {"id": project.id})
    left = {table: connection.value(f"SELECT count(*) FROM {table}") for table in TABLES}
    connection.close()
    assert left == dict.fromkeys(TABLES, 0)
    assert (await store.check()).problems == []


def test_086_what_was_said_to_be_learned_survives_a_kill(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "mcp"],
        env=environment(tmp_path),
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    greeting = {"protocolVersion": "2024-11-05", "clientInfo": {"name": "test", "version": "1"}, "capabilities": {}}
    taught = {"name": "teach_mimo", "arguments": {"text": "Ann reports to Bob. Bob reports to Carol."}}
    for message in (
        {"id": 0, "method": "initialize", "params": greeting},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/call", "params": taught},
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
    answer = next(told for line in process.stdout if (told := json.loads(line)).get("id") == 1)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    learned = answer["result"]["structuredContent"]
    assert learned["status"] == "learned"
    with server(tmp_path) as url, httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        asked = {"tool": "knowledge", "arguments": {"entity": "Ann", "predicate": "reports_to"}}
        told = http.post("/v1/mimo/tool", json=asked).json()
    assert told["status"] == "success"
    cited = {triple for one in told["data"]["results"] for triple in one["triples"]}
    assert cited == {triple["id"] for triple in learned["triples"]}
    assert "operation" not in told["data"]
