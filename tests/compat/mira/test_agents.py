"""Coding agents, messages between agents and personas over Mira's HTTP API (features 36, 37 and 129)."""

import os
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.compat.mira.conftest import SERVER_KEY, key_of
from tests.compat.mira.event_client import Listener, listening
from tests.features.delegation.scripted_agent import is_alive, make_agent, read_pid, until
from tests.servers.openai.upstream import Upstream
from tests.surfaces.callers import PROGRAM, environment, server

Json = dict[str, Any]


@pytest.fixture(scope="module")
def agents_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mira-agents")


@pytest.fixture(scope="module")
def agents_url(agents_home: Path) -> Generator[str]:
    """A server with keys, and a coding agent in its PATH that key holders may start."""
    program = make_agent(agents_home / "bin")
    settings = {
        "SCRUBJAY_API_KEY": SERVER_KEY,
        "SCRUBJAY_DELEGATION_ALLOW": "keys",
        "PATH": f"{program.parent}:{os.environ['PATH']}",
    }
    with server(agents_home, **settings) as url:
        yield url


def client(url: str, key: str | None = SERVER_KEY) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx2.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False)


async def data(http: httpx2.AsyncClient, method: str, path: str, body: Json | None = None) -> Any:
    answer = (await http.request(method, f"/api/{path}", json=body)).json()
    assert answer["success"], answer
    return answer["data"]


async def test_36_an_agent_is_started_listed_and_stopped_and_its_terminal_output_is_sent(
    agents_url: str, tmp_path: Path
) -> None:
    async with client(agents_url) as http, listening(agents_url, SERVER_KEY) as listener:
        await data(http, "POST", "project/set", {"path": str(tmp_path)})
        assert await data(http, "GET", "claude/instances") == []
        assert (await data(http, "GET", "claude/project"))["running"] is False
        task = await data(http, "POST", "claude/task", {"task": "look around"})
        spawned = await listener.receive("claude_spawned")
        expected = {"type": "claude_spawned", "instance_id": task["instance_id"], "project": str(tmp_path)}
        assert expected.items() <= spawned.items()
        assert "done: look around" in await read_terminal(listener, task["instance_id"], "done: look around")
        [instance] = await data(http, "GET", "claude/instances")
        assert await data(http, "GET", f"claude/{task['instance_id']}") == instance
        assert (await data(http, "GET", "claude/project"))["instance"] == instance
        assert (await data(http, "POST", "claude/task", {"task": "go on"}))["spawned"] is False
        assert (await data(http, "DELETE", "claude/project"))["closed"] is True
        stopped = await listener.receive("claude_stopped")
        assert (stopped["instance_id"], stopped["exit_status"]) == (task["instance_id"], 143)
        assert not is_alive(task["pid"])
        for number, path in enumerate(("close", f"{task['instance_id']}")):
            again = await data(http, "POST", "claude/task", {"task": f"{number}"})
            assert again["spawned"]
            last = path.replace(task["instance_id"], again["instance_id"])
            assert (await data(http, "POST" if path == "close" else "DELETE", f"claude/{last}"))["closed"]
            assert not is_alive(again["pid"])
        unknown = (await http.get("/api/claude/agent_none")).json()
        assert unknown["success"] is False


async def read_terminal(listener: Listener, instance_id: str, words: str) -> str:
    """Return the terminal output up to this text."""
    screen = ""
    while words not in screen:
        event = await listener.receive("terminal_output")
        assert (event["instance_id"], event["is_stderr"]) == (instance_id, False)
        screen += event["content"]
    return screen


async def test_36_a_server_without_keys_starts_no_agent(plain: httpx2.Client, tmp_path: Path) -> None:
    plain.post("/api/project/set", json={"path": str(tmp_path)})
    answer = plain.post("/api/claude/task", json={"task": "x"})
    assert (answer.status_code, answer.headers["Scrubjay-Error"]) == (403, "forbidden")
    assert plain.get("/api/claude/instances").json()["data"] == []


async def test_36_an_agent_ends_with_its_server_even_after_kill_9(tmp_path: Path) -> None:
    program = make_agent(tmp_path / "bin")
    settings = {"SCRUBJAY_DELEGATION_ALLOW": "all", "SCRUBJAY_DELEGATION_COMMAND": str(program)}
    command, environ = [*PROGRAM, "serve", "--port", "0"], {**environment(tmp_path), **settings}
    async with await anyio.open_process(command, env=environ, cwd=tmp_path, stdin=None, stderr=None) as process:
        assert process.stdout
        lines, line = BufferedByteReceiveStream(process.stdout), b""
        try:
            with anyio.fail_after(30):
                while not (match := re.search(rb"http://127\.0\.0\.1:\d+", line)):
                    line = await lines.receive_until(b"\n", 10_000)
            async with client(match[0].decode(), key=None) as http:
                await data(http, "POST", "project/set", {"path": str(tmp_path)})
                task = await data(http, "POST", "claude/task", {"task": "child"})
                child = await read_pid(program.parent)
        finally:
            process.kill()
    await until(lambda: not (is_alive(task["pid"]) or is_alive(child)))


async def test_37_messages_and_replies_are_sent_to_their_recipients_only(agents_url: str, agents_home: Path) -> None:
    ada, bob = (key_of(agents_home, name, "agents") for name in ("ada", "bob"))
    answers: list[Json] = []

    async def ask(http: httpx2.AsyncClient) -> None:
        answers.append((await http.post("/v1/tools/discuss", json={"message": "which one?"})).json())

    async with (
        client(agents_url, ada) as http,
        client(agents_url, bob) as foreign,
        listening(agents_url, ada) as listener,
        listening(agents_url, bob) as outsider,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(ask, http)  # this key may not start a coding agent, so the message waits for a reply
        message = await listener.receive("agent_message")
        assert set(message) == {"type", "event_id", "message_id", "from", "to", "content", "thread_id"}
        assert (message["content"], message["to"]) == ("which one?", "claude")
        reply = {"in_reply_to": message["message_id"], "content": "the second"}
        refused = await foreign.post("/v1/tools/reply_to_mira", json=reply)
        assert refused.json()["error"]["code"] == "not_found"
        await http.post("/v1/tools/reply_to_mira", json={**reply, "content": "I think", "complete": False})
        await http.post("/v1/tools/reply_to_mira", json=reply)
        first, second = await listener.receive("agent_response"), await listener.receive("agent_response")
        assert set(first) == {"type", "event_id", "in_reply_to", "from", "content", "complete"}
        assert [(one["content"], one["complete"]) for one in (first, second)] == [
            ("I think", False),
            ("the second", True),
        ]
        await foreign.post("/v1/tools/agent_messages", json={})
        await outsider.receive("tool_result", "agent_messages")
        assert not [event for event in outsider.received if event["type"].startswith("agent_")]
        assert "which one?" not in str(outsider.received)
    assert answers[0]["content"] == "I think\nthe second"


async def test_37_a_coding_agent_replies_over_http(agents_url: str) -> None:
    async with client(agents_url) as http, listening(agents_url, SERVER_KEY) as listener:
        answer = (await http.post("/v1/tools/discuss", json={"message": "say the cache"})).json()
        assert (answer["status"], answer["content"]) == ("answered", "the cache")
        assert (await listener.receive("agent_response"))["content"] == "the cache"
        assert (await listener.receive("tool_result", "discuss"))["result"] == ""


def test_129_the_persona_is_the_first_message_to_the_model(http: httpx2.Client, upstream: Upstream) -> None:
    def system_prompt(session: str | None = None) -> str:
        body = {"message": "Hello there.", **({"session_id": session} if session else {})}
        assert http.post("/api/chat", json=body).json()["success"]
        return upstream.bodies[-1]["messages"][0]["content"]

    base = http.get("/api/persona").json()["data"]
    assert (base["project"], base["session"], base["text"]) == (None, None, base["base"])
    assert system_prompt().startswith(base["base"])
    changed = http.post("/api/persona/session", json={"content": "Answer in Italian."}).json()["data"]
    assert changed["text"] == f"{base['base']}\n\nAnswer in Italian."
    assert system_prompt().startswith(changed["text"])
    assert "Italian" not in system_prompt("another session")
    own = {"action": "set_project", "content": "Be formal.", "project": "/persona/project"}
    http.post("/api/project/set", json={"path": "/persona/project"})
    http.post("/v1/tools/persona", json={**own, "session_id": "x"})
    assert system_prompt().startswith(f"{base['base']}\n\nBe formal.\n\nAnswer in Italian.")
    http.post("/api/project/set", json={"path": "/persona/other"})
    assert "formal" not in system_prompt()
    assert http.post("/api/persona/session", json={"content": None}).json()["data"]["session"] is None
    assert "Italian" not in system_prompt()


def test_129_a_persona_is_limited_in_length_and_private_to_its_key(http: httpx2.Client, url: str, home: Path) -> None:
    for body in ({}, {"content": "x" * 8_001}, {"content": 3}, {"content": "x", "action": "get"}):
        assert http.post("/api/persona/session", json=body).json()["success"] is False
    http.post("/api/persona/session", json={"content": "Mine alone.", "session_id": "shared"})
    other = {"Authorization": f"Bearer {key_of(home, 'persona', 'persona')}"}
    seen = httpx2.get(f"{url}/api/persona", params={"session_id": "shared"}, headers=other, trust_env=False).json()
    assert seen["data"]["session"] is None
    reader = {"Authorization": f"Bearer {key_of(home, 'looks', 'persona:read')}"}
    for headers, path in ((reader, "/api/persona/session"), (reader, "/api/claude/close")):
        refused = httpx2.post(url + path, json={"content": "x"}, headers=headers, trust_env=False)
        assert refused.status_code == 403


def test_095_tasks_and_goals_are_listed_in_pages(plain: httpx2.Client) -> None:
    for kind in ("tasks", "goals"):
        for number in range(5):
            plain.post(f"/api/{kind}", json={"title": f"page {number}", "priority": "low"})
        complete = plain.get(f"/api/{kind}", params={"limit": 200}).json()["data"]
        paged = [
            one
            for offset in range(0, len(complete), 2)
            for one in plain.get(f"/api/{kind}", params={"limit": 2, "offset": offset}).json()["data"]
        ]
        assert paged == complete
        assert plain.get(f"/api/{kind}", params={"offset": 1000}).json()["data"] == []
