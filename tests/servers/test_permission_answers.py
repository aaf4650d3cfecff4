"""A permission call over HTTP has a decision, whatever was sent: an agent makes the call after any failure."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from scrubjay.app.http_server import build_http
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.features.hooks.service import HookService
from scrubjay.features.keys.issuer import KeyIssuer

PERMISSION = "/v1/hooks/permission"
MAX_BODY_BYTES = 100_000
CALL = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": "/"}


@asynccontextmanager
async def served(home: Path, scopes: str = "*", **settings: Any) -> AsyncGenerator[httpx2.AsyncClient]:
    chosen = Settings.model_validate({"home": home, "max_body_bytes": MAX_BODY_BYTES, **settings})
    async with running(chosen) as application:
        keys = KeyIssuer((await application.services.get(Store)).keys, application.registry.families)
        headers = {"Authorization": f"Bearer {(await keys.create('agent', scopes, None)).text}"}
        transport = httpx2.ASGITransport(build_http(application), raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as http:
            yield http


def asked_about(response: httpx2.Response) -> str:
    """Return the reason of an answer that asks the user."""
    decided = response.json()["hookSpecificOutput"]
    assert (response.status_code, decided["hookEventName"], decided["permissionDecision"]) == (200, "PreToolUse", "ask")
    return decided["permissionDecisionReason"]


async def test_16_every_body_that_cannot_be_read_is_answered_with_ask(tmp_path: Path) -> None:
    bodies = {
        b"": "tool_name",
        b"{": "not JSON",
        b"\xff\xfe": "not JSON",
        b"[" * 50_000: "not JSON",
        b'{"tool_name": NaN}': "not JSON",
        b'{"tool_name": "Bash"} x': "not JSON",
        b"[1]": "not a JSON object",
        b'"x"': "not a JSON object",
        b"{}": "tool_name",
        b'{"tool_name": 5}': "tool_name must be a string",
        b'{"tool_name": "Bash", "cwd": 7}': "cwd must be a string",
        b'{"tool_name": "Bash", "session_id": []}': "session_id must be a string",
        b'{"tool_name": "Bash", "hook_event_name": "Stop"}': "does not handle the event",
        b'{"tool_name": "Bash", "x": "' + b"x" * MAX_BODY_BYTES + b'"}': "larger than",
    }
    async with served(tmp_path) as http:
        for body, reason in bodies.items():
            assert reason in asked_about(await http.post(PERMISSION, content=body)), body[:60]
        # The agent is already asking, and this event has no such answer.
        known = await http.post(PERMISSION, content=b'{"hook_event_name": "PermissionRequest", "tool_name": 5}')
        assert (known.status_code, known.json()) == (200, {})
        # Other hooks decide nothing, so a failure is a failure.
        assert (await http.post("/v1/hooks/stop", content=b"{")).status_code == 400
        assert (await http.post("/v1/hooks/stop", content=b"x" * (MAX_BODY_BYTES + 1))).status_code == 413


async def test_16_a_permission_call_that_the_server_refuses_or_fails_to_answer_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("a bug with the text of the request")

    async with served(tmp_path, limits={"per_key": 2}) as http:
        monkeypatch.setattr(HookService, "answer", fail)
        assert asked_about(await http.post(PERMISSION, json=CALL)).endswith("failed unexpectedly (RuntimeError)")
        assert (await http.post("/v1/hooks/stop", json={})).status_code == 500
        limited = await http.post(PERMISSION, json=CALL)
        assert "requests" in asked_about(limited)
        assert limited.headers["Retry-After"]
        assert (await http.post("/v1/hooks/stop", json={})).status_code == 429


async def test_16_a_permission_call_without_the_right_to_ask_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, "memory:read") as http:
        assert (await http.post(PERMISSION, content=b"{")).status_code == 403
        assert (await http.post(PERMISSION, content=b"{", headers={"Authorization": "Bearer none"})).status_code == 401
        assert (await http.post(PERMISSION, content=b"{", headers={"Host": "evil.example"})).status_code == 403
