"""A hook over HTTP answers with what the key may read."""

import json
from typing import Any

import pytest
from starlette.types import Message

from scrubjay.core.callers import Caller
from scrubjay.features.hooks.models import HookAnswer, HookCall
from scrubjay.servers.hooks.http import HookEndpoint


@pytest.mark.parametrize(
    ("scopes", "status", "with_plans"),
    [
        ("sessions memory:read", 200, False),
        ("sessions memory:read planning:read", 200, True),
        ("*", 200, True),
        ("sessions planning", 403, None),
        ("memory planning", 403, None),
    ],
)
async def test_15_a_briefing_has_tasks_only_for_a_key_that_may_read_them(
    scopes: str, status: int, with_plans: bool | None
) -> None:
    calls: list[HookCall] = []
    sent: list[Message] = []

    async def answer(call: HookCall) -> HookAnswer:
        calls.append(call)
        return HookAnswer()

    async def receive() -> Message:
        return {"type": "http.request", "body": json.dumps({"session_id": "s", "cwd": "/tmp"}).encode()}

    async def send(message: Message) -> None:
        sent.append(message)

    caller = Caller("key", frozenset(scopes.split()), "key_1")
    scope: dict[str, Any] = {
        "type": "http",
        "headers": [],
        "path_params": {"event": "session-start"},
        "state": {"caller": caller},
    }
    await HookEndpoint(answer)(scope, receive, send)
    assert sent[0]["status"] == status
    assert [call.with_plans for call in calls] == ([] if with_plans is None else [with_plans])
    assert [call.code_reader for call in calls] == [caller] * len(calls)
