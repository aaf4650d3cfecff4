"""The audit log covers every protocol, including requests that call no tool."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from scrubjay.app.application import Application
from scrubjay.app.http_server import build_http
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.features.keys.issuer import KeyIssuer
from scrubjay.tooling.context import CallContext

Json = dict[str, Any]
HOOK_EVENT = {"session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "ls"}}
EMBEDDING_REQUEST = {"model": "scrubjay", "input": "x"}
CHAT_REQUEST = {"messages": [{"role": "user", "content": "hi"}], "tool_choice": "none"}
BROADCAST = {"type": "agent_message", "content": "x"}


@asynccontextmanager
async def served(home: Path, scopes: str) -> AsyncGenerator[tuple[Application, httpx2.AsyncClient]]:
    async with running(Settings.model_validate({"home": home})) as application:
        keys = KeyIssuer((await application.services.get(Store)).keys, application.registry.families)
        issued = await keys.create("somebody", scopes, None)
        headers = {"Authorization": f"Bearer {issued.text}", "X-Request-Id": "mine"}
        transport = httpx2.ASGITransport(build_http(application))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as http:
            yield application, http


async def read_entries(application: Application, **filters: str) -> list[Json]:
    result = await application.dispatcher.call("audit_log", filters, CallContext(surface="python"))
    return result.model_dump(mode="json")["entries"]


@pytest.mark.parametrize(
    ("method", "path", "body", "surface"),
    [
        ("POST", "/v1/embeddings", EMBEDDING_REQUEST, "openai"),
        ("POST", "/v1/chat/completions", CHAT_REQUEST, "openai"),
        ("POST", "/v1/responses", {"model": "scrubjay", "input": "hi"}, "openai"),
        ("POST", "/v1/hooks/permission", HOOK_EVENT, "hook-http"),
        ("POST", "/api/chat", {"message": "hi"}, "mira"),
        ("POST", "/api/chat/stream", {"message": "hi"}, "mira"),
        ("POST", "/api/broadcast", BROADCAST, "mira"),
    ],
)
async def test_021_requests_without_a_tool_call_are_recorded_with_their_caller(
    tmp_path: Path, method: str, path: str, body: Json, surface: str
) -> None:
    async with served(tmp_path, "*") as (application, http):
        assert (await http.request(method, path, json=body)).status_code == 200
        (entry,) = await read_entries(application, kind="request")
    names = ("decision", "caller", "method", "path", "surface", "outcome", "request_id", "address")
    assert {name: entry[name] for name in names} == {
        "decision": "allowed",
        "caller": "somebody",
        "method": method,
        "path": path,
        "surface": surface,
        "outcome": "ok",
        "request_id": "mine",
        "address": "127.0.0.1",
    }
    assert entry["key_id"].startswith("key_")


async def test_021_resource_reads_and_job_reads_are_recorded(tmp_path: Path) -> None:
    async with served(tmp_path, "*") as (application, http):
        assert (await http.get("/v1/resources", params={"uri": "repo://status"})).status_code == 200
        assert (await http.get("/v1/jobs/job_1")).status_code == 404
        (read,) = await read_entries(application, kind="read")
        (request,) = await read_entries(application, kind="request")
    assert (read["resource"], read["caller"], read["decision"]) == ("repo://status", "somebody", "allowed")
    assert (request["path"], request["caller"], request["decision"]) == ("/v1/jobs/job_1", "somebody", "failed")


@pytest.mark.parametrize(
    ("method", "path", "body", "scope"),
    [
        ("GET", "/metrics", None, "server:read"),
        ("POST", "/v1/embeddings", EMBEDDING_REQUEST, "embeddings:read"),
        ("POST", "/v1/hooks/permission", HOOK_EVENT, "permissions:read"),
        ("POST", "/v1/hooks/post-tool-use", HOOK_EVENT, "sessions"),
        ("POST", "/api/broadcast", BROADCAST, "sessions"),
        ("GET", "/api/chat/test", None, "memory:read"),
        ("GET", "/v1/resources?uri=repo://status", None, "code:read"),
        ("POST", "/v1/tools/remember", {"content": "x"}, "memory"),
        ("POST", "/v1/tools/audit_log", {}, "server:read"),
    ],
)
async def test_021_a_missing_scope_is_a_security_event_on_every_protocol(
    tmp_path: Path, method: str, path: str, body: Json | None, scope: str
) -> None:
    async with served(tmp_path, "projects:read") as (application, http):
        response = await http.request(method, path, json=body)
        assert response.status_code == 403
        (event,) = await read_entries(application, kind="security")
    names = ("event", "decision", "caller", "request_id", "address")
    assert [event[name] for name in names] == ["forbidden", "refused", "somebody", "mine", "127.0.0.1"]
    assert event["reason"].endswith(f"needs the scope {scope}")
    assert event["key_id"].startswith("key_")
