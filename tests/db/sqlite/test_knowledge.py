"""Triples in the files of a SQLite store: deletion leaves no trace and follows the project."""

import json
import signal
import subprocess
from pathlib import Path

import httpx2

from scrubjay.app.sqlite_store import DATABASE, SqliteStore
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.knowledge.models import GraphScope, Inference, Triple
from scrubjay.features.knowledge.names import index_words, indexed_entity, name_keys, new_entity
from tests.contracts.samples import NOW
from tests.surfaces.callers import PROGRAM, environment, server

WORDS = ("zanzibarquux", "betelgeusefnord", "xylophonewomble", "narwhalocelot", "ocarinaplover")
TABLES = ("entity", "entity_name", "entity_word", "triple", "inferred", "inferred_rest", "knowledge_graph")


def words_in_files(home: Path) -> set[str]:
    files = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    return {word for word in WORDS if any(word.encode() in content for content in files)}


async def fill(store: SqliteStore, scope: GraphScope) -> None:
    subject, object_ = new_entity(WORDS[0]), new_entity(WORDS[1])
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
    await store.knowledge.store_triples([triple], [indexed_entity(subject), indexed_entity(object_)], replace=True)
    await store.knowledge.add_alias(scope, subject.id, WORDS[4], name_keys(WORDS[4]), index_words(WORDS[4]), NOW)
    inference = Inference(
        subject=object_.id,
        predicate="inverse",
        object=subject.id,
        confidence=1.0,
        source="inference:test",
        rests_on=["tri_1"],
    )
    generation = (await store.knowledge.state(scope, NOW)).generation
    assert await store.knowledge.replace_inferred(scope, generation, [inference], None, NOW)


async def test_086_no_trace_of_forgotten_triples_remains(store: SqliteStore, home: Path) -> None:
    await fill(store, GraphScope())
    assert words_in_files(home) == set(WORDS), "otherwise the test proves nothing"
    await store.knowledge.forget_triple(GraphScope(), "tri_1")
    assert words_in_files(home) == set()
    assert (await store.check()).problems == []


async def test_086_triples_and_entities_are_deleted_with_their_project(store: SqliteStore, home: Path) -> None:
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


def test_086_acknowledged_triples_survive_kill_9(tmp_path: Path) -> None:
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
    initialize = {"protocolVersion": "2024-11-05", "clientInfo": {"name": "test", "version": "1"}, "capabilities": {}}
    teach = {"name": "teach_mimo", "arguments": {"text": "Ann reports to Bob. Bob reports to Carol."}}
    for message in (
        {"id": 0, "method": "initialize", "params": initialize},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/call", "params": teach},
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
    answer = next(answer_body for line in process.stdout if (answer_body := json.loads(line)).get("id") == 1)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    learned = answer["result"]["structuredContent"]
    assert learned["status"] == "learned"
    with server(tmp_path) as url, httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        request = {"tool": "knowledge", "arguments": {"entity": "Ann", "predicate": "reports_to"}}
        answer_body = http.post("/v1/mimo/tool", json=request).json()
    assert answer_body["status"] == "success"
    cited = {triple for one in answer_body["data"]["results"] for triple in one["triples"]}
    assert cited == {triple["id"] for triple in learned["triples"]}
    assert "operation" not in answer_body["data"]
