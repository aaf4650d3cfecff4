"""Keys as their owner and their holders meet them: the real command, the real server, two processes."""

import asyncio
import json
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Generator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import InvalidRequest
from scrubjay.db.sqlite.rows import microseconds
from scrubjay.features.keys.issuer import KeyIssuer
from tests.surfaces.callers import PROGRAM, environment, server

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)


def command(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, "keys", *words], env=environment(home), cwd=home, capture_output=True, text=True, timeout=60
    )


def told(home: Path, *words: str) -> dict[str, Any]:
    done = command(home, *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def http(home: Path) -> Generator[httpx2.Client]:
    """A server that believes the proxy on this machine, and bears little of strangers."""
    with (
        server(
            home,
            SCRUBJAY_TRUSTED_PROXIES='["127.0.0.1"]',
            SCRUBJAY_LIMITS_PER_ADDRESS="5",
            SCRUBJAY_LIMITS_WRONG_KEYS="3",
            SCRUBJAY_ALLOWED_ORIGINS='["https://app.example"]',
        ) as url,
        httpx2.Client(base_url=url, timeout=30, trust_env=False) as client,
    ):
        yield client


def test_013_a_key_made_while_the_server_runs_closes_it_and_opens_what_its_scopes_say(
    http: httpx2.Client, home: Path
) -> None:
    assert http.post("/v1/tools/recall", json={"query": "x"}).status_code == 200
    # A header without any key configured is wrong, as it would be with one.
    assert http.get("/v1/tools", headers=bearer("anything")).status_code == 401
    # Whoever comes through the proxy is not the owner of this machine, whatever the proxy calls them.
    for told_by_proxy in ("203.0.113.50", "203.0.113.50:4711", "unknown", "127.0.0.1, [2001:db8::1]:443"):
        assert http.get("/v1/tools", headers={"X-Forwarded-For": told_by_proxy}).status_code == 401
    assert _joined(http, {"X-Forwarded-For": "203.0.113.51"})["response"] == {"reason": "api_key required"}
    assert _joined(http, {})["status"] == "ok"

    key = told(home, "create", "--name", "reader", "--scopes", "memory:read,projects", "--expires", "90d")["key"]
    assert http.post("/v1/tools/recall", json={"query": "x"}).status_code == 401
    mine = bearer(key)
    assert http.post("/v1/tools/recall", json={"query": "x"}, headers=mine).status_code == 200
    refused = http.post("/v1/tools/remember", json={"content": "x"}, headers=mine)
    assert (refused.status_code, refused.json()["error"]["details"]["scope"]) == (403, "memory")
    through = {"name": "remember", "arguments": {"content": "x"}}
    assert http.post("/v1/tools/call_tool", json=through, headers=mine).status_code == 403
    assert http.get("/v1/resources", headers=mine).json()["resources"] == []
    assert http.get("/v1/resources", params={"uri": "repo://status"}, headers=mine).status_code == 403


def test_013_a_wrong_key_is_answered_in_mimos_words_at_mimos_addresses(http: httpx2.Client, home: Path) -> None:
    told(home, "create", "--name", "mimo")
    for headers, reason in (
        ({}, "Missing Authorization header"),
        ({"Authorization": "Basic x"}, "Malformed Authorization header"),
        ({"Authorization": "Bearer"}, "Malformed Authorization header"),
        (bearer("sjk_wrong"), "Invalid API key"),
    ):
        for path in ("/v1/mimo/ask", "/v1/mimo/tool"):
            refused = http.post(path, json={"query": "x"}, headers=headers)
            body = refused.json()
            assert refused.status_code == 401
            event = body.pop("security_event_id")
            assert body == {"error": "Authentication required", "reason": reason}
            assert len(event) == 36


def test_015_another_familys_jobs_are_not_there_for_a_key(http: httpx2.Client, home: Path) -> None:
    every = told(home, "create", "--name", "jobs-all")["key"]
    some = told(home, "create", "--name", "jobs-memory", "--scopes", "memory")["key"]
    repository = home / "repository"
    repository.mkdir(exist_ok=True)
    (repository / "a.py").write_text("x = 1\n")
    job = http.post("/v1/tools/build_repo_index", json={"path": str(repository)}, headers=bearer(every)).json()
    assert "job_id" in job, job
    place = f"/v1/jobs/{job['job_id']}"
    assert http.get(place, headers=bearer(every)).status_code == 200
    assert http.get(place, headers=bearer(some)).status_code == 404
    assert http.get(f"{place}/events", headers=bearer(some)).status_code == 404
    for tool in ("get_job", "cancel_job"):
        assert http.post(f"/v1/tools/{tool}", json={"job_id": job["job_id"]}, headers=bearer(some)).status_code == 404
    listed = [http.post("/v1/tools/list_jobs", json={}, headers=bearer(key)).json()["jobs"] for key in (every, some)]
    assert job["job_id"] in [found["job_id"] for found in listed[0]]
    assert job["job_id"] not in [found["job_id"] for found in listed[1]]


def test_015_a_key_reads_no_memories_by_way_of_sessions(http: httpx2.Client, home: Path) -> None:
    every = told(home, "create", "--name", "confiding")["key"]
    some = told(home, "create", "--name", "looking", "--scopes", "sessions,projects:read")["key"]
    folder = home / "confidence"
    folder.mkdir()
    confided = "The vault opens at heliotrope."

    def call(tool: str, key: str, **arguments: Any) -> str:
        headers = {**bearer(key), "Scrubjay-Client": "confidant"}
        answer = http.post(f"/v1/tools/{tool}", json=arguments, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.text

    session = json.loads(call("session_start", every, project_path=str(folder)))["session"]["id"]
    call("remember", every, content=confided, session_id=session)
    looks = {"project": str(folder), "session_id": session}
    for tool, arguments in (
        ("session_history", {"action": "get_history", **looks}),
        ("export_session", looks),
        ("session_start", {"project_path": str(folder), "session_id": session}),
    ):
        assert confided in call(tool, every, **arguments)
        seen = call(tool, some, **arguments)
        assert "heliotrope" not in seen
        assert ('"withheld":true' in seen) == (tool != "session_start")


def test_015_hooks_over_http_need_what_their_tools_need(http: httpx2.Client, home: Path) -> None:
    keys = {
        scopes: told(home, "create", "--name", f"hooks-{number}", "--scopes", scopes)["key"]
        for number, scopes in enumerate(("sessions", "sessions,memory:read", "permissions:read", "memory:read,turns"))
    }

    def status(event: str, scopes: str) -> int:
        call = {"session_id": "s", "cwd": str(home), "prompt": "x", "tool_name": "Bash", "tool_input": {"command": "x"}}
        return http.post(f"/v1/hooks/{event}", json=call, headers=bearer(keys[scopes])).status_code

    assert [status("session-start", scopes) for scopes in keys] == [403, 200, 403, 403]
    assert [status("permission", scopes) for scopes in keys] == [403, 403, 200, 403]
    assert [status("user-prompt-submit", scopes) for scopes in keys] == [403, 403, 403, 200]
    assert [status("post-tool-use", scopes) for scopes in keys] == [200, 200, 403, 403]
    assert [status("stop", scopes) for scopes in keys] == [403, 403, 403, 200]


def test_013_a_revoked_key_stops_at_once_on_rest_and_on_mcp(http: httpx2.Client, home: Path) -> None:
    key = told(home, "create", "--name", "short")["key"]

    async def over_mcp(key: str) -> None:
        async with (
            httpx2.AsyncClient(headers=bearer(key), timeout=30, trust_env=False) as client,
            Client(streamable_http_client(f"{http.base_url}/mcp", http_client=client)) as agent,
        ):
            found = await agent.call_tool("recall", {"query": "x"})
            assert not found.is_error

    asyncio.run(over_mcp(key))
    assert http.get("/v1/tools", headers=bearer(key)).status_code == 200
    assert command(home, "revoke", "short").returncode == 0
    refused = http.get("/v1/tools", headers=bearer(key))
    assert (refused.status_code, refused.json()["error"]["message"]) == (401, "this key was revoked")
    assert http.post("/mcp", json={}, headers=bearer(key)).status_code == 401
    assert command(home, "revoke", "short").returncode == 3


def test_015_a_session_of_mcp_is_for_the_key_that_it_was_begun_with(http: httpx2.Client, home: Path) -> None:
    ours, theirs = (told(home, "create", "--name", name)["key"] for name in ("mcp-ours", "mcp-theirs"))
    accepted = {"Accept": "application/json, text/event-stream"}
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    began = http.post(
        "/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about},
        headers={**accepted, **bearer(ours)},
    )
    session = {**accepted, "Mcp-Session-Id": began.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-06-18"}
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    for key, status in ((theirs, 404), (ours, 200)):
        assert http.post("/mcp", json=asked, headers={**session, **bearer(key)}).status_code == status
    assert http.delete("/mcp", headers={**session, **bearer(theirs)}).status_code == 404
    assert http.post("/mcp", json=asked, headers={**session, **bearer(ours)}).status_code == 200


def test_013_an_expired_key_is_told_when_it_ended(http: httpx2.Client, home: Path) -> None:
    key = told(home, "create", "--name", "past", "--expires", "90d")["key"]
    database = sqlite3.connect(home / "scrubjay.db")
    with closing(database), database:
        database.execute(
            "UPDATE access_key SET expires_at = ? WHERE name = 'past'",
            [microseconds(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))],
        )
    refused = http.get("/v1/tools", headers=bearer(key))
    error = refused.json()["error"]
    assert (refused.status_code, error["message"]) == (401, "this key expired at 2026-01-02T03:04:05+00:00")
    assert error["details"]["reason"] == "API key has expired"
    at_mimos = http.post("/v1/mimo/ask", json={"query": "x"}, headers=bearer(key))
    assert (at_mimos.status_code, at_mimos.json()["reason"]) == (401, "API key has expired")


def test_013_a_revoked_key_ends_its_sockets_and_what_is_asked_over_them(http: httpx2.Client, home: Path) -> None:
    key = told(home, "create", "--name", "socket")["key"]
    repository = home / "kept"
    repository.mkdir()
    (repository / "a.py").write_text("x = 1\n")

    async def over_socket() -> ConnectionClosed:
        url = f"{http.base_url}/cortex/websocket?vsn=2.0.0".replace("http", "ws", 1)
        async with connect(url, proxy=None, additional_headers=bearer(key)) as line:

            async def heard(event: str) -> Any:
                while (frame := json.loads(await line.recv()))[3] != event:
                    pass
                return frame[4]

            await line.send(json.dumps(["1", "1", "cortex:one", "phx_join", {}]))
            assert (await heard("phx_reply"))["status"] == "ok"
            # A tool whose work is a job is called as any other: its progress is told.
            call = {"tool": "build_repo_index", "arguments": {"path": str(repository)}, "ref": "c1"}
            await line.send(json.dumps(["1", "2", "cortex:one", "call", call]))
            result = await heard("result")
            assert (result["ref"], result["status"]) == ("c1", "success"), result
            assert result["data"]["state"] == "completed", result
            await asyncio.to_thread(command, home, "revoke", "socket")
            try:
                while True:
                    await line.recv()
            except ConnectionClosed as closed:
                return closed

    assert asyncio.run(asyncio.wait_for(over_socket(), 60)).rcvd is not None
    refused = asyncio.run(_refused_socket(f"{http.base_url}/cortex/websocket?vsn=2.0.0", key))
    assert refused.response.status_code == 401
    assert json.loads(refused.response.body)["error"]["message"] == "this key was revoked"
    assert refused.response.headers["x-content-type-options"] == "nosniff"
    assert refused.response.headers["x-request-id"].startswith("req_")


def _joined(http: httpx2.Client, headers: dict[str, str], *keys: str) -> Any:
    """What the last join is answered over one socket, with these keys one after the other."""

    async def join() -> Any:
        url = f"{http.base_url}/cortex/websocket?vsn=2.0.0".replace("http", "ws", 1)
        async with connect(url, proxy=None, additional_headers=headers) as line:
            reply: Any = None
            for key in keys or (None,):
                await line.send(json.dumps(["1", "1", "cortex:one", "phx_join", {"api_key": key} if key else {}]))
                reply = json.loads(await line.recv())[4]
            return reply

    return asyncio.run(asyncio.wait_for(join(), 30))


def test_014_keys_that_are_guessed_over_a_socket_block_their_address_and_are_told(
    http: httpx2.Client, home: Path
) -> None:
    key = told(home, "create", "--name", "honest")["key"]
    guesser = {"X-Forwarded-For": "203.0.113.60"}
    assert _joined(http, guesser, "guess-1", "guess-2")["response"] == {"reason": "unauthorized"}
    assert _joined(http, guesser, "guess-3", key)["response"]["reason"] == "rate_limited"
    blocked = http.get("/v1/tools", headers={**guesser, **bearer(key)})
    assert (blocked.status_code, int(blocked.headers["retry-after"]) > 3000) == (429, True)
    asked = {"address": "203.0.113.60"}
    events = http.post("/v1/tools/audit_log", json=asked, headers=bearer(key)).json()["entries"]
    assert [(event["event"], event["path"], event["reason"]) for event in reversed(events)] == [
        *[("unauthenticated", "/cortex/websocket", "Invalid API key")] * 2,
        ("blocked", None, "too many wrong keys"),
        ("unauthenticated", "/cortex/websocket", "Invalid API key"),
        ("blocked", "/cortex/websocket", "there were too many refused requests from this address"),
        ("blocked", "/v1/tools", "there were too many refused requests from this address"),
    ]


def test_014_what_is_asked_over_a_socket_counts_as_requests_do(http: httpx2.Client, home: Path) -> None:
    key = told(home, "create", "--name", "busy")["key"]

    async def asked() -> tuple[dict[str, str], list[Any]]:
        url = f"{http.base_url}/cortex/websocket?vsn=2.0.0".replace("http", "ws", 1)
        headers = {"X-Forwarded-For": "203.0.113.61", "X-Request-Id": "socket-1"}
        replies: list[Any] = []
        async with connect(url, proxy=None, additional_headers=headers) as line:
            assert line.response is not None
            await line.send(json.dumps(["1", "0", "cortex:one", "phx_join", {"api_key": key}]))
            for ref in "123456":
                call = {"tool": "recall", "arguments": {"query": "x"}, "ref": ref}
                await line.send(json.dumps(["1", ref, "cortex:one", "call", call]))
            while len(replies) < 7:
                if (frame := json.loads(await line.recv()))[3] == "phx_reply":
                    replies.append(frame[4])
            return dict(line.response.headers), replies

    headers, replies = asyncio.run(asyncio.wait_for(asked(), 30))
    assert (headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]) == ("5", "4")
    assert headers["x-request-id"] == "socket-1"
    assert [reply["status"] for reply in replies] == ["ok"] * 4 + ["error"] * 3
    refused = replies[-1]["response"]
    assert (refused["reason"], refused["limit"], refused["retry_after_seconds"]) == ("rate_limited", 5, 12)


def test_022_a_sandboxed_socket_may_only_read(http: httpx2.Client, home: Path) -> None:
    key = told(home, "create", "--name", "sand-socket")["key"]

    async def called(tool: str, arguments: dict[str, Any]) -> Any:
        url = f"{http.base_url}/cortex/websocket?vsn=2.0.0".replace("http", "ws", 1)
        async with connect(url, proxy=None, additional_headers={"X-Mimo-Sandbox": "1"}) as line:
            await line.send(json.dumps(["1", "1", "cortex:one", "phx_join", {"api_key": key}]))
            call = {"tool": tool, "arguments": arguments, "ref": "c"}
            await line.send(json.dumps(["1", "2", "cortex:one", "call", call]))
            while (frame := json.loads(await line.recv()))[3] != "result":
                pass
            return frame[4]

    assert asyncio.run(asyncio.wait_for(called("recall", {"query": "x"}), 30))["status"] == "success"
    refused = asyncio.run(asyncio.wait_for(called("remember", {"content": "x"}), 30))
    assert refused["data"]["error"]["code"] == "forbidden"


async def _refused_socket(url: str, key: str) -> InvalidStatus:
    with pytest.raises(InvalidStatus) as refused:
        await connect(url.replace("http", "ws", 1), proxy=None, additional_headers=bearer(key))
    return refused.value


def test_013_a_stream_of_a_revoked_key_is_cut_off(http: httpx2.Client, home: Path) -> None:
    key = told(home, "create", "--name", "watcher")["key"]
    repository = home / "watched"
    repository.mkdir()
    (repository / "a.py").write_text("x = 1\n")
    job = http.post("/v1/tools/keep_repo_index", json={"path": str(repository)}, headers=bearer(key)).json()
    assert "job_id" in job, job
    with http.stream("GET", f"/v1/jobs/{job['job_id']}/events", headers=bearer(key)) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: job"
        assert command(home, "revoke", "watcher").returncode == 0
        other = told(home, "create", "--name", "stopper")["key"]
        stopped = threading.Thread(
            target=lambda: http.post("/v1/tools/cancel_job", json={"job_id": job["job_id"]}, headers=bearer(other))
        )
        stopped.start()
        rest = "\n".join(lines)
        stopped.join()
    assert "cancelled" not in rest


def test_013_a_rotated_key_dies_at_once_or_after_its_grace(http: httpx2.Client, home: Path) -> None:
    first = told(home, "create", "--name", "turning", "--scopes", "memory")["key"]
    second = told(home, "rotate", "turning", "--grace", "1h")
    assert second["scopes"] == ["memory"]
    assert [http.get("/v1/tools", headers=bearer(key)).status_code for key in (first, second["key"])] == [200, 200]
    third = told(home, "rotate", "turning")["key"]
    statuses = [http.get("/v1/tools", headers=bearer(key)).status_code for key in (first, second["key"], third)]
    assert statuses == [200, 401, 200]
    told(home, "revoke", "turning")
    assert http.get("/v1/tools", headers=bearer(first)).status_code == 401


def test_022_a_sandboxed_request_may_only_read(http: httpx2.Client, home: Path) -> None:
    headers = {**bearer(told(home, "create", "--name", "sand")["key"]), "X-Mimo-Sandbox": "1"}
    assert http.post("/v1/tools/recall", json={"query": "x"}, headers=headers).status_code == 200
    assert http.post("/v1/tools/remember", json={"content": "x"}, headers=headers).status_code == 403


def test_014_limits_are_told_and_kept_and_the_stubborn_are_blocked(http: httpx2.Client, home: Path) -> None:
    key = told(home, "create", "--name", "far")["key"]
    far = {**bearer(key), "X-Forwarded-For": "203.0.113.7"}
    answers = [http.get("/v1/tools", headers=far) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert [answer.headers["x-ratelimit-remaining"] for answer in answers] == ["4", "3", "2", "1", "0", "0"]
    assert answers[0].headers["x-ratelimit-limit"] == "5"
    assert (answers[-1].headers["retry-after"], answers[-1].json()["error"]["code"]) == ("12", "rate_limited")
    refused = http.post("/v1/mimo/ask", json={"query": "x"}, headers=far)
    assert refused.status_code == 429
    assert {**refused.json(), "retry_after_seconds": 12} == {
        "error": "Rate limit exceeded",
        "limit": 5,
        "window_seconds": 60,
        "retry_after_seconds": 12,
    }
    assert http.post("/mcp", json={}, headers=far).status_code == 429

    guesser = {"X-Forwarded-For": "203.0.113.9"}
    for _ in range(3):
        assert http.get("/v1/tools", headers={**guesser, **bearer("sjk_guess")}).status_code == 401
    blocked = http.get("/v1/tools", headers={**guesser, **bearer(key)})
    assert (blocked.status_code, int(blocked.headers["retry-after"]) > 3000) == (429, True)
    assert http.get("/v1/tools", headers=bearer(key)).status_code == 200


def test_014_browsers_are_told_which_pages_may_use_the_server(http: httpx2.Client) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    for origin in ("https://app.example", "http://localhost:5173"):
        answer = http.options("/v1/tools/recall", headers={"Origin": origin, **asked})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (204, origin)
        assert "Authorization" in answer.headers["access-control-allow-headers"]
        assert {"x-ratelimit-limit", "x-request-id", "x-content-type-options"} <= {*answer.headers}
        assert "access-control-allow-credentials" not in answer.headers
    # OpenAI's client in a page names some of its own; what is no name is not repeated.
    own = {**asked, "Access-Control-Request-Headers": "authorization,x-stainless-os,x-stainless-os,ev il, openai-beta"}
    answer = http.options("/v1/chat/completions", headers={"Origin": "http://localhost:5173", **own})
    assert answer.headers["access-control-allow-headers"].endswith("Last-Event-Id, x-stainless-os, openai-beta")
    answer = http.options("/v1/tools/recall", headers={"Origin": "https://evil.example", **asked})
    assert (answer.status_code, "access-control-allow-origin" in answer.headers) == (403, False)


def test_013_uses_are_counted_and_kept_when_the_server_ends(tmp_path: Path) -> None:
    key = told(tmp_path, "create", "--name", "counted")["key"]
    with server(tmp_path) as url, httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        for _ in range(3):
            assert http.get("/v1/tools", headers=bearer(key)).status_code == 200
    (found,) = told(tmp_path, "list")["keys"]
    assert (found["name"], found["uses"], found["state"], found["last_used_at"] is None) == (
        "counted",
        3,
        "active",
        False,
    )
    assert key not in json.dumps(found)
    assert all(key.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_013_a_key_that_was_told_survives_a_kill(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "keys", "create", "--name", "hard"],
        env=environment(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout
    key = process.stdout.readline().strip()
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    with server(tmp_path, SCRUBJAY_ENVIRONMENT="production") as url:
        assert httpx2.get(f"{url}/v1/tools", headers=bearer(key), trust_env=False).status_code == 200


def test_021_the_audit_log_tells_of_every_change_of_a_key_and_never_the_key(tmp_path: Path) -> None:
    made = told(tmp_path, "create", "--name", "told", "--scopes", "memory,code:read")
    turned = told(tmp_path, "rotate", "told")
    told(tmp_path, "revoke", "told")
    told(tmp_path, "forget", "told")
    lines = (tmp_path / "audit.jsonl").read_text("utf-8")
    entries = [json.loads(line) for line in lines.splitlines()]
    names = ("kind", "decision", "caller", "surface", "event", "key_id", "reason")
    assert [tuple(entry.get(name) for name in names) for entry in entries] == [
        ("security", "allowed", "owner", "cli", "key_created", made["id"], "told opens code:read,memory"),
        ("security", "allowed", "owner", "cli", "key_rotated", turned["id"], "told opens code:read,memory"),
        ("security", "allowed", "owner", "cli", "key_revoked", None, "told"),
        ("security", "allowed", "owner", "cli", "key_forgotten", None, "told"),
    ]
    for key in (made["key"], turned["key"]):
        assert key.removeprefix("sjk_")[:12] not in lines
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert set(modes.values()) == {0o600}, modes


@pytest.mark.parametrize(
    ("given", "ends"),
    [
        ("2w", NOW + timedelta(days=14)),
        (" 90 D ", NOW + timedelta(days=90)),
        ("2027-01-31", datetime(2027, 1, 31, tzinfo=UTC)),
        ("2027-01-31T12:00:00+02:00", datetime(2027, 1, 31, 10, tzinfo=UTC)),
        ("never", None),
        ("2026-01-01", "is not to come"),
        ("9999-01-01", "is not to come"),
        ("0d", "is no time"),
        ("-1d", "is no time"),
        ("", "is no time"),
        ("40000d", "is no time"),
    ],
)
async def test_013_a_key_ends_when_it_is_said(tmp_path: Path, given: str, ends: datetime | str | None) -> None:
    store = await SqliteStore.open(tmp_path)
    try:
        issuer = KeyIssuer(store.keys, ["memory"], lambda: NOW)
        if isinstance(ends, str):
            with pytest.raises(InvalidRequest, match=ends):
                await issuer.create("x", "*", given)
        else:
            assert (await issuer.create("x", "*", given)).kept.expires_at == ends
    finally:
        await store.close()


def test_013_nothing_is_made_of_wrong_words(tmp_path: Path) -> None:
    for words, hint in (
        (("create", "--name", "x", "--scopes", "memry"), "did you mean memory?"),
        (("create", "--name", "x", "--scopes", "memory:write"), "did you mean memory:read or memory?"),
        (("create", "--name", "x", "--expires", "soon"), "a number and s, m, h, d or w"),
        (("create", "--name", "no spaces"), "1 to 64 letters"),
    ):
        done = command(tmp_path, *words)
        assert (done.returncode, hint in done.stderr) == (2, True), done.stderr
    assert told(tmp_path, "list") == {"keys": []}
