"""API keys: the real command and a real server in another process."""

import asyncio
import json
import signal
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
from scrubjay.db.sqlite.columns import microseconds
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.keys.issuer import KeyIssuer
from tests.surfaces.callers import PROGRAM, environment, server
from tests.surfaces.commands import CommandResult, run_command_sync

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)


def command(home: Path, *words: str) -> CommandResult:
    return run_command_sync(["keys", *words], b"", environment(home), home)


def run_json(home: Path, *words: str) -> dict[str, Any]:
    process = command(home, *words, "--json")
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def code_beside(home: Path) -> Path:
    """Return the folder whose code the server may index; the store itself is never indexed."""
    return home.with_name(f"{home.name}-code")


@pytest.fixture(scope="module")
def http(home: Path) -> Generator[httpx2.Client]:
    """A server that trusts the proxy on this machine and has low limits for clients without a key."""
    with (
        server(
            home,
            SCRUBJAY_TRUSTED_PROXIES='["127.0.0.1"]',
            SCRUBJAY_LIMITS_PER_ADDRESS="5",
            SCRUBJAY_LIMITS_WRONG_KEYS="3",
            SCRUBJAY_CODE_ROOTS=json.dumps([str(code_beside(home))]),
            SCRUBJAY_ALLOWED_ORIGINS='["https://app.example", "http://localhost:5173"]',
        ) as url,
        httpx2.Client(base_url=url, timeout=30, trust_env=False) as client,
    ):
        yield client


def test_013_the_first_key_closes_a_running_server_to_all_calls_outside_its_scopes(
    http: httpx2.Client, home: Path
) -> None:
    assert http.post("/v1/tools/recall", json={"query": "x"}).status_code == 200
    # A wrong key is refused even if the server has no keys.
    assert http.get("/v1/tools", headers=bearer("anything")).status_code == 401
    # A client behind the proxy is not the local owner, whatever address the proxy reports.
    for forwarded_for in ("203.0.113.50", "203.0.113.50:4711", "unknown", "127.0.0.1, [2001:db8::1]:443"):
        assert http.get("/v1/tools", headers={"X-Forwarded-For": forwarded_for}).status_code == 401
    assert _join_reply(http, {"X-Forwarded-For": "203.0.113.51"})["response"] == {"reason": "api_key required"}
    assert _join_reply(http, {})["status"] == "ok"

    key = run_json(home, "create", "--name", "reader", "--scopes", "memory:read,projects", "--expires", "90d")["key"]
    assert http.post("/v1/tools/recall", json={"query": "x"}).status_code == 401
    headers = bearer(key)
    assert http.post("/v1/tools/recall", json={"query": "x"}, headers=headers).status_code == 200
    refused = http.post("/v1/tools/remember", json={"content": "x"}, headers=headers)
    assert (refused.status_code, refused.json()["error"]["details"]["scope"]) == (403, "memory")
    call = {"name": "remember", "arguments": {"content": "x"}}
    assert http.post("/v1/tools/call_tool", json=call, headers=headers).status_code == 403
    assert http.get("/v1/resources", headers=headers).json()["resources"] == []
    assert http.get("/v1/resources", params={"uri": "repo://status"}, headers=headers).status_code == 403


def test_013_a_wrong_key_gets_mimos_error_body_on_mimos_routes(http: httpx2.Client, home: Path) -> None:
    run_json(home, "create", "--name", "mimo")
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


def test_015_jobs_of_other_families_are_hidden_from_a_key(http: httpx2.Client, home: Path) -> None:
    full_key = run_json(home, "create", "--name", "jobs-all")["key"]
    memory_key = run_json(home, "create", "--name", "jobs-memory", "--scopes", "memory")["key"]
    repository = code_beside(home) / "repository"
    repository.mkdir(parents=True, exist_ok=True)
    (repository / "a.py").write_text("x = 1\n")
    job = http.post("/v1/tools/build_repo_index", json={"path": str(repository)}, headers=bearer(full_key)).json()
    assert "job_id" in job, job
    path = f"/v1/jobs/{job['job_id']}"
    assert http.get(path, headers=bearer(full_key)).status_code == 200
    assert http.get(path, headers=bearer(memory_key)).status_code == 404
    assert http.get(f"{path}/events", headers=bearer(memory_key)).status_code == 404
    for tool in ("get_job", "cancel_job"):
        assert (
            http.post(f"/v1/tools/{tool}", json={"job_id": job["job_id"]}, headers=bearer(memory_key)).status_code
            == 404
        )
    listed = [
        http.post("/v1/tools/list_jobs", json={}, headers=bearer(key)).json()["jobs"] for key in (full_key, memory_key)
    ]
    assert job["job_id"] in [entry["job_id"] for entry in listed[0]]
    assert job["job_id"] not in [entry["job_id"] for entry in listed[1]]


def test_015_a_key_for_sessions_cannot_read_memories_through_them(http: httpx2.Client, home: Path) -> None:
    full_key = run_json(home, "create", "--name", "confiding")["key"]
    session_key = run_json(home, "create", "--name", "looking", "--scopes", "sessions,projects:read")["key"]
    folder = home / "confidence"
    folder.mkdir()
    secret = "The vault opens at heliotrope."

    def call(tool: str, key: str, **arguments: Any) -> str:
        headers = {**bearer(key), "Scrubjay-Client": "confidant"}
        answer = http.post(f"/v1/tools/{tool}", json=arguments, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.text

    session = json.loads(call("session_start", full_key, project_path=str(folder)))["session"]["id"]
    call("remember", full_key, content=secret, session_id=session)
    target = {"project": str(folder), "session_id": session}
    for tool, arguments in (
        ("session_history", {"action": "get_history", **target}),
        ("export_session", target),
        ("session_start", {"project_path": str(folder), "session_id": session}),
    ):
        assert secret in call(tool, full_key, **arguments)
        response = call(tool, session_key, **arguments)
        assert "heliotrope" not in response
        assert ('"withheld":true' in response) == (tool != "session_start")


def test_015_hooks_over_http_require_the_scopes_of_their_tools(http: httpx2.Client, home: Path) -> None:
    keys = {
        scopes: run_json(home, "create", "--name", f"hooks-{number}", "--scopes", scopes)["key"]
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


def test_013_a_revoked_key_is_refused_at_once_on_rest_and_mcp(http: httpx2.Client, home: Path) -> None:
    key = run_json(home, "create", "--name", "short")["key"]

    async def over_mcp(key: str) -> None:
        async with (
            httpx2.AsyncClient(headers=bearer(key), timeout=30, trust_env=False) as client,
            Client(streamable_http_client(f"{http.base_url}/mcp", http_client=client)) as agent,
        ):
            result = await agent.call_tool("recall", {"query": "x"})
            assert not result.is_error

    asyncio.run(over_mcp(key))
    assert http.get("/v1/tools", headers=bearer(key)).status_code == 200
    assert command(home, "revoke", "short").returncode == 0
    refused = http.get("/v1/tools", headers=bearer(key))
    assert (refused.status_code, refused.json()["error"]["message"]) == (401, "this key was revoked")
    assert http.post("/mcp", json={}, headers=bearer(key)).status_code == 401
    assert command(home, "revoke", "short").returncode == 3


def test_015_an_mcp_session_belongs_to_the_key_that_opened_it(http: httpx2.Client, home: Path) -> None:
    ours, theirs = (run_json(home, "create", "--name", name)["key"] for name in ("mcp-ours", "mcp-theirs"))
    accepted = {"Accept": "application/json, text/event-stream"}
    client_info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    initialized = http.post(
        "/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client_info},
        headers={**accepted, **bearer(ours)},
    )
    session = {
        **accepted,
        "Mcp-Session-Id": initialized.headers["mcp-session-id"],
        "Mcp-Protocol-Version": "2025-06-18",
    }
    request = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    for key, status in ((theirs, 404), (ours, 200)):
        assert http.post("/mcp", json=request, headers={**session, **bearer(key)}).status_code == status
    assert http.delete("/mcp", headers={**session, **bearer(theirs)}).status_code == 404
    assert http.post("/mcp", json=request, headers={**session, **bearer(ours)}).status_code == 200


def test_013_an_expired_key_is_refused_with_its_expiry_time(http: httpx2.Client, home: Path) -> None:
    key = run_json(home, "create", "--name", "past", "--expires", "90d")["key"]
    values = {"time": microseconds(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))}
    with closing(Connection(home / "scrubjay.db", 5)) as database:
        database.execute("UPDATE access_key SET expires_at = :time WHERE name = 'past'", values)
    refused = http.get("/v1/tools", headers=bearer(key))
    error = refused.json()["error"]
    assert (refused.status_code, error["message"]) == (401, "this key expired at 2026-01-02T03:04:05+00:00")
    assert error["details"]["reason"] == "API key has expired"
    mimo_response = http.post("/v1/mimo/ask", json={"query": "x"}, headers=bearer(key))
    assert (mimo_response.status_code, mimo_response.json()["reason"]) == (401, "API key has expired")


def test_013_revoking_a_key_closes_its_sockets_and_refuses_new_ones(http: httpx2.Client, home: Path) -> None:
    key = run_json(home, "create", "--name", "socket")["key"]
    repository = code_beside(home) / "kept"
    repository.mkdir(parents=True)
    (repository / "a.py").write_text("x = 1\n")

    async def over_socket() -> ConnectionClosed:
        url = f"{http.base_url}/cortex/websocket?vsn=2.0.0".replace("http", "ws", 1)
        async with connect(url, proxy=None, additional_headers=bearer(key)) as socket:

            async def receive(event: str) -> Any:
                while (frame := json.loads(await socket.recv()))[3] != event:
                    pass
                return frame[4]

            await socket.send(json.dumps(["1", "1", "cortex:one", "phx_join", {}]))
            assert (await receive("phx_reply"))["status"] == "ok"
            # A job tool is called like any other; its progress is reported.
            call = {"tool": "build_repo_index", "arguments": {"path": str(repository)}, "ref": "c1"}
            await socket.send(json.dumps(["1", "2", "cortex:one", "call", call]))
            result = await receive("result")
            assert (result["ref"], result["status"]) == ("c1", "success"), result
            assert result["data"]["state"] == "completed", result
            await asyncio.to_thread(command, home, "revoke", "socket")
            try:
                while True:
                    await socket.recv()
            except ConnectionClosed as closed:
                return closed

    assert asyncio.run(asyncio.wait_for(over_socket(), 60)).rcvd is not None
    refused = asyncio.run(_refused_socket(f"{http.base_url}/cortex/websocket?vsn=2.0.0", key))
    assert refused.response.status_code == 401
    assert json.loads(refused.response.body)["error"]["message"] == "this key was revoked"
    assert refused.response.headers["x-content-type-options"] == "nosniff"
    assert refused.response.headers["x-request-id"].startswith("req_")


def _join_reply(http: httpx2.Client, headers: dict[str, str], *keys: str) -> Any:
    """Join over one socket with each of these keys in turn; return the last reply."""

    async def join() -> Any:
        url = f"{http.base_url}/cortex/websocket?vsn=2.0.0".replace("http", "ws", 1)
        async with connect(url, proxy=None, additional_headers=headers) as socket:
            reply: Any = None
            for key in keys or (None,):
                await socket.send(json.dumps(["1", "1", "cortex:one", "phx_join", {"api_key": key} if key else {}]))
                reply = json.loads(await socket.recv())[4]
            return reply

    return asyncio.run(asyncio.wait_for(join(), 30))


def test_014_guessing_keys_over_a_socket_blocks_the_address_and_is_audited(http: httpx2.Client, home: Path) -> None:
    key = run_json(home, "create", "--name", "honest")["key"]
    guesser = {"X-Forwarded-For": "203.0.113.60"}
    assert _join_reply(http, guesser, "guess-1", "guess-2")["response"] == {"reason": "unauthorized"}
    assert _join_reply(http, guesser, "guess-3", key)["response"]["reason"] == "rate_limited"
    blocked = http.get("/v1/tools", headers={**guesser, **bearer(key)})
    assert (blocked.status_code, int(blocked.headers["retry-after"]) > 3000) == (429, True)
    query = {"address": "203.0.113.60"}
    events = http.post("/v1/tools/audit_log", json=query, headers=bearer(key)).json()["entries"]
    assert [(event["event"], event["path"], event["reason"]) for event in reversed(events)] == [
        *[("unauthenticated", "/cortex/websocket", "Invalid API key")] * 2,
        ("blocked", None, "too many wrong keys"),
        ("unauthenticated", "/cortex/websocket", "Invalid API key"),
        ("blocked", "/cortex/websocket", "this address is blocked after too many refused requests"),
        ("blocked", "/v1/tools", "this address is blocked after too many refused requests"),
    ]


def test_014_calls_over_a_socket_count_against_the_rate_limit(http: httpx2.Client, home: Path) -> None:
    key = run_json(home, "create", "--name", "busy")["key"]

    async def call_six_times() -> tuple[dict[str, str], list[Any]]:
        url = f"{http.base_url}/cortex/websocket?vsn=2.0.0".replace("http", "ws", 1)
        headers = {"X-Forwarded-For": "203.0.113.61", "X-Request-Id": "socket-1"}
        replies: list[Any] = []
        async with connect(url, proxy=None, additional_headers=headers) as socket:
            assert socket.response is not None
            await socket.send(json.dumps(["1", "0", "cortex:one", "phx_join", {"api_key": key}]))
            for ref in "123456":
                call = {"tool": "recall", "arguments": {"query": "x"}, "ref": ref}
                await socket.send(json.dumps(["1", ref, "cortex:one", "call", call]))
            while len(replies) < 7:
                if (frame := json.loads(await socket.recv()))[3] == "phx_reply":
                    replies.append(frame[4])
            return dict(socket.response.headers), replies

    headers, replies = asyncio.run(asyncio.wait_for(call_six_times(), 30))
    assert (headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]) == ("5", "4")
    assert headers["x-request-id"] == "socket-1"
    assert [reply["status"] for reply in replies] == ["ok"] * 4 + ["error"] * 3
    refused = replies[-1]["response"]
    assert (refused["reason"], refused["limit"], refused["retry_after_seconds"]) == ("rate_limited", 5, 12)


def test_022_a_sandboxed_socket_may_only_read(http: httpx2.Client, home: Path) -> None:
    key = run_json(home, "create", "--name", "sand-socket")["key"]

    async def call_tool(tool: str, arguments: dict[str, Any]) -> Any:
        url = f"{http.base_url}/cortex/websocket?vsn=2.0.0".replace("http", "ws", 1)
        async with connect(url, proxy=None, additional_headers={"X-Mimo-Sandbox": "1"}) as socket:
            await socket.send(json.dumps(["1", "1", "cortex:one", "phx_join", {"api_key": key}]))
            call = {"tool": tool, "arguments": arguments, "ref": "c"}
            await socket.send(json.dumps(["1", "2", "cortex:one", "call", call]))
            while (frame := json.loads(await socket.recv()))[3] != "result":
                pass
            return frame[4]

    assert asyncio.run(asyncio.wait_for(call_tool("recall", {"query": "x"}), 30))["status"] == "success"
    refused = asyncio.run(asyncio.wait_for(call_tool("remember", {"content": "x"}), 30))
    assert refused["data"]["error"]["code"] == "forbidden"


async def _refused_socket(url: str, key: str) -> InvalidStatus:
    with pytest.raises(InvalidStatus) as refused:
        await connect(url.replace("http", "ws", 1), proxy=None, additional_headers=bearer(key))
    return refused.value


def test_013_revoking_a_key_ends_its_event_stream(http: httpx2.Client, home: Path) -> None:
    key = run_json(home, "create", "--name", "watcher")["key"]
    repository = code_beside(home) / "watched"
    repository.mkdir(parents=True)
    (repository / "a.py").write_text("x = 1\n")
    job = http.post("/v1/tools/keep_repo_index", json={"path": str(repository)}, headers=bearer(key)).json()
    assert "job_id" in job, job
    with http.stream("GET", f"/v1/jobs/{job['job_id']}/events", headers=bearer(key)) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: job"
        assert command(home, "revoke", "watcher").returncode == 0
        other = run_json(home, "create", "--name", "stopper")["key"]
        stopped = threading.Thread(
            target=lambda: http.post("/v1/tools/cancel_job", json={"job_id": job["job_id"]}, headers=bearer(other))
        )
        stopped.start()
        rest = "\n".join(lines)
        stopped.join()
    assert "cancelled" not in rest


def test_013_a_rotated_key_expires_at_once_or_after_its_grace_period(http: httpx2.Client, home: Path) -> None:
    first = run_json(home, "create", "--name", "turning", "--scopes", "memory")["key"]
    second = run_json(home, "rotate", "turning", "--grace", "1h")
    assert second["scopes"] == ["memory"]
    assert [http.get("/v1/tools", headers=bearer(key)).status_code for key in (first, second["key"])] == [200, 200]
    third = run_json(home, "rotate", "turning")["key"]
    statuses = [http.get("/v1/tools", headers=bearer(key)).status_code for key in (first, second["key"], third)]
    assert statuses == [200, 401, 200]
    run_json(home, "revoke", "turning")
    assert http.get("/v1/tools", headers=bearer(first)).status_code == 401


def test_022_a_sandboxed_request_may_only_read(http: httpx2.Client, home: Path) -> None:
    headers = {**bearer(run_json(home, "create", "--name", "sand")["key"]), "X-Mimo-Sandbox": "1"}
    assert http.post("/v1/tools/recall", json={"query": "x"}, headers=headers).status_code == 200
    assert http.post("/v1/tools/remember", json={"content": "x"}, headers=headers).status_code == 403


def test_014_rate_limits_are_reported_and_repeated_violations_block_the_address(
    http: httpx2.Client, home: Path
) -> None:
    key = run_json(home, "create", "--name", "far")["key"]
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


def test_014_cors_headers_name_the_allowed_origins(http: httpx2.Client) -> None:
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    for origin in ("https://app.example", "http://localhost:5173"):
        answer = http.options("/v1/tools/recall", headers={"Origin": origin, **preflight})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (204, origin)
        assert "Authorization" in answer.headers["access-control-allow-headers"]
        assert {"x-ratelimit-limit", "x-request-id", "x-content-type-options"} <= {*answer.headers}
        assert "access-control-allow-credentials" not in answer.headers
    # OpenAI's client in a page requests headers of its own; an invalid header name is not echoed.
    with_extra_names = {
        **preflight,
        "Access-Control-Request-Headers": "authorization,x-stainless-os,x-stainless-os,ev il, openai-beta",
    }
    answer = http.options("/v1/chat/completions", headers={"Origin": "http://localhost:5173", **with_extra_names})
    assert answer.headers["access-control-allow-headers"].endswith("Last-Event-Id, x-stainless-os, openai-beta")
    for origin in ("https://evil.example", "http://localhost:5174"):
        answer = http.options("/v1/tools/recall", headers={"Origin": origin, **preflight})
        assert (answer.status_code, "access-control-allow-origin" in answer.headers) == (403, False)


def test_013_uses_of_keys_are_counted_and_stored_at_shutdown(tmp_path: Path) -> None:
    key = run_json(tmp_path, "create", "--name", "counted")["key"]
    with server(tmp_path) as url, httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        for _ in range(3):
            assert http.get("/v1/tools", headers=bearer(key)).status_code == 200
    (entry,) = run_json(tmp_path, "list")["keys"]
    assert (entry["name"], entry["uses"], entry["state"], entry["last_used_at"] is None) == (
        "counted",
        3,
        "active",
        False,
    )
    assert key not in json.dumps(entry)
    assert all(key.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_013_a_printed_key_survives_kill_9(tmp_path: Path) -> None:
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


def test_021_the_audit_log_records_every_change_of_a_key_but_never_the_key(tmp_path: Path) -> None:
    created = run_json(tmp_path, "create", "--name", "audited", "--scopes", "memory,code:read")
    rotated = run_json(tmp_path, "rotate", "audited")
    run_json(tmp_path, "revoke", "audited")
    run_json(tmp_path, "forget", "audited")
    lines = (tmp_path / "audit.jsonl").read_text("utf-8")
    entries = [json.loads(line) for line in lines.splitlines()]
    names = ("kind", "decision", "caller", "surface", "event", "key_id", "reason")
    assert [tuple(entry.get(name) for name in names) for entry in entries] == [
        ("security", "allowed", "owner", "cli", "key_created", created["id"], "audited may use code:read,memory"),
        ("security", "allowed", "owner", "cli", "key_rotated", rotated["id"], "audited may use code:read,memory"),
        ("security", "allowed", "owner", "cli", "key_revoked", None, "audited"),
        ("security", "allowed", "owner", "cli", "key_forgotten", None, "audited"),
    ]
    for key in (created["key"], rotated["key"]):
        assert key.removeprefix("sjk_")[:12] not in lines
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert set(modes.values()) == {0o600}, modes


@pytest.mark.parametrize(
    ("expires", "ends"),
    [
        ("2w", NOW + timedelta(days=14)),
        (" 90 D ", NOW + timedelta(days=90)),
        ("2027-01-31", datetime(2027, 1, 31, tzinfo=UTC)),
        ("2027-01-31T12:00:00+02:00", datetime(2027, 1, 31, 10, tzinfo=UTC)),
        ("never", None),
        ("2026-01-01", "is in the past"),
        ("9999-01-01", "is in the past"),
        ("0d", "is not a duration"),
        ("-1d", "is not a duration"),
        ("", "is not a duration"),
        ("40000d", "is not a duration"),
    ],
)
async def test_013_a_key_expires_at_the_requested_time(
    tmp_path: Path, expires: str, ends: datetime | str | None
) -> None:
    store = await SqliteStore.open(tmp_path)
    try:
        issuer = KeyIssuer(store.keys, ["memory"], lambda: NOW)
        if isinstance(ends, str):
            with pytest.raises(InvalidRequest, match=ends):
                await issuer.create("x", "*", expires)
        else:
            assert (await issuer.create("x", "*", expires)).stored.expires_at == ends
    finally:
        await store.close()


def test_013_invalid_arguments_create_no_key(tmp_path: Path) -> None:
    for words, hint in (
        (("create", "--name", "x", "--scopes", "memry"), "did you mean memory?"),
        (("create", "--name", "x", "--scopes", "memory:write"), "did you mean memory:read or memory?"),
        (("create", "--name", "x", "--expires", "soon"), "a number and s, m, h, d or w"),
        (("create", "--name", "no spaces"), "1 to 64 letters"),
    ):
        process = command(tmp_path, *words)
        assert (process.returncode, hint in process.stderr.decode()) == (2, True), process.stderr
    assert run_json(tmp_path, "list") == {"keys": []}
