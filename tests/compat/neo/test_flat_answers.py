"""With `--profile neo` tools answer in Neo's shapes: results without jobs, the connection's session, Neo's times."""

import json
import subprocess
import time
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import pytest

from tests.surfaces.callers import PROGRAM, environment

Json = dict[str, Any]
Call = Callable[..., Json]


class Server(NamedTuple):
    """A server in the profile, and when it had answered its first request."""

    send: Call
    ready_at: float


SUMMARY: Json = {
    "id": "summary_session-1",
    "embedding": None,
    "metadata": {
        "sessionId": "session-1",
        "timestamp": "2025-10-08T11:00:00.000Z",
        "title": "Deploying",
        "category": "feature",
        "memoryCount": 4,
        "quality": 80,
        "productivity": 70,
        "impact": 60,
        "complexity": 20,
        "technologies": "fly.io, docker",
    },
    "document": "We deployed with Fly.",
}


@pytest.fixture(scope="module")
def neo(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """Return a server with a function that sends one MCP request and waits for its answer."""
    home = tmp_path_factory.mktemp("home")
    (home / "backups").mkdir(mode=0o700)
    (home / "backups" / "summaries-backup.jsonl").write_text(json.dumps(SUMMARY) + "\n")
    with subprocess.Popen(
        [*PROGRAM, "mcp", "--profile", "neo"],
        env=environment(home),
        cwd=home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        source, sink = process.stdout, process.stdin
        number = 0

        def send(method: str, **params: Any) -> Json:
            nonlocal number
            number += 1
            sink.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
            sink.flush()
            while (answer := json.loads(source.readline())).get("id") != number:
                pass
            return answer["result"]

        capabilities: Json = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        send("initialize", **capabilities)
        sink.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        yield Server(send, time.monotonic())
        sink.close()
        assert process.wait(30) == 0


@pytest.fixture
def call(neo: Server) -> Call:
    def call(tool: str, **arguments: Any) -> Json:
        result = neo.send("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    return call


TURN: Json = {
    "prompt": "Can you please fix the login bug?",
    "thought": "The header is split at every colon.",
    "response": "The root cause is in src/auth.py: it splits at every colon. I fixed it. All tests pass.",
}


def test_a_turn_without_a_session_id_belongs_to_the_session_of_the_connection(call: Call) -> None:
    first, second = call("add_memory", **TURN), call("add_memory", **TURN)
    assert first["sessionId"] == second["sessionId"]
    assert call("get_session_memories", sessionId=first["sessionId"])["total"] >= 2


def test_summarize_sessions_answers_with_its_result_alone(call: Call) -> None:
    session = call("add_memory", **TURN)["sessionId"]
    answer = call("summarize_sessions", sessionId=session)
    (summarised,) = answer["sessions"]
    assert answer["processed"] == 1
    assert {name: summarised[name] for name in ("sessionId", "summaryId", "title")} == {
        "sessionId": session,
        "summaryId": f"summary_{session}",
        "title": "Fix the login bug",
    }
    assert summarised["memoryCount"] >= 1
    assert "job_id" not in answer


def test_backups_are_exported_and_imported_without_a_job(call: Call) -> None:
    call("add_memory", **TURN)
    exported = call("export_database", include=["memories", "summaries"])
    assert exported["message"].startswith("Export complete. Exported ")
    imported = call("import_database", file=exported["path"], mode="merge")
    assert (imported["imported"], imported["mode"], imported["skipped"]) == (
        0,
        "merge",
        exported["memories"] + exported["summaries"],
    )


def test_an_imported_summary_keeps_its_time(call: Call) -> None:
    assert call("import_database", file="summaries-backup.jsonl", mode="merge")["imported"] == 1
    found = {summary["id"]: summary for summary in call("get_all_summaries")["summaries"]}
    assert found["summary_session-1"]["timestamp"] == "2025-10-08T11:00:00Z"
    (hit,) = [hit for hit in call("query_summaries", query="deploying")["results"] if hit["id"] == "summary_session-1"]
    assert hit["timestamp"] == "2025-10-08T11:00:00Z"


def test_the_listed_schemas_are_those_of_the_answers(neo: Server) -> None:
    tools = {tool["name"]: tool for tool in neo.send("tools/list")["tools"]}
    expected = {"summarize_sessions": "processed", "export_database": "message", "import_database": "imported"}
    for name, field in expected.items():
        properties = tools[name]["outputSchema"]["properties"]
        assert field in properties
        assert "job_id" not in properties


def test_the_uptime_is_that_of_the_server(call: Call, neo: Server) -> None:
    elapsed = time.monotonic() - neo.ready_at
    assert call("healthcheck")["uptime"] >= elapsed


def test_a_failed_job_is_an_error(neo: Server) -> None:
    result = neo.send("tools/call", name="summarize_sessions", arguments={"sessionId": "no-such-session"})
    assert result["isError"] is True
    assert "has no turns here" in result["content"][0]["text"]
