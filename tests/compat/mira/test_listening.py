"""Listeners who do not read, and calls that are stopped: a server in this process, so that its parts can be seen."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from websockets.exceptions import InvalidStatus

from scrubjay.app.http_server import build_http
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.tool_catalog import ALL
from scrubjay.tooling.call_events import CallEvents
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from tests.compat.mira.listening import listening
from tests.servers.rest.serving import serving


class Nothing(Request):
    pass


class Waited(Result):
    pass


@tool("toys", core=False)
async def wait_for_ever(request: Nothing) -> Waited:
    """Wait until somebody stops it."""
    await anyio.sleep_forever()
    return Waited()


@asynccontextmanager
async def stage(home: Path, **mira: object) -> AsyncGenerator[tuple[str, CallEvents, Dispatcher]]:
    settings = Settings.model_validate({"home": home, "mira": mira})
    async with running(settings, tools=[*ALL, wait_for_ever]) as application:
        app = build_http(application)
        events = application.agent_events
        assert isinstance(events, CallEvents)
        async with serving(app) as port:
            yield f"http://127.0.0.1:{port}", events, application.dispatcher


async def test_6_cancel_stops_calls_and_only_those_of_the_session(tmp_path: Path) -> None:
    ended: dict[str, httpx2.Response] = {}
    async with (
        stage(tmp_path) as (url, events, _),
        httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False) as http,
        listening(url, client="me") as listener,
        anyio.create_task_group() as tasks,
    ):

        async def call(client: str) -> None:
            ended[client] = await http.post("/v1/tools/wait_for_ever", headers={"Scrubjay-Client": client})

        tasks.start_soon(call, "me")
        tasks.start_soon(call, "other")
        began = {(await listener.hear("tool_start"))["call_id"] for _ in range(2)}
        await listener.say("cancel", call_id="call_of_nobody")
        assert (await listener.hear("error"))["message"] == "no call of this id runs"
        await listener.say("cancel")
        stopped = await listener.hear("tool_result")
        assert (stopped["success"], stopped["result"]) == (False, "cancelled: the call was stopped by its client")
        assert [event.client for event in events.running()] == ["http:other"]
        await listener.say("cancel", call_id=(began - {stopped["call_id"]}).pop())
        assert (await listener.hear("tool_result"))["call_id"] != stopped["call_id"]
    assert [ended[client].json()["error"]["code"] for client in ("me", "other")] == ["cancelled", "cancelled"]


async def test_6_who_does_not_read_is_let_go_and_comes_back_without_a_loss(tmp_path: Path) -> None:
    async with (
        stage(tmp_path, outbox_bytes=64 * 1024, slow_seconds=0.3) as (url, events, _),
        listening(url) as bystander,
        listening(url) as slow,
    ):
        last = slow.heard[0]["event_id"]
        slow.socket.transport.pause_reading()
        told = 0
        with anyio.fail_after(30):
            while events.listeners == 2:
                events.announce({"type": "agent_message", "content": "x" * 9_000, "number": told})
                told += 1
                assert (await bystander.hear("agent_message"))["number"] == told - 1
        slow.socket.transport.abort()
        async with listening(url, query=f"?last_event_id={last}") as again:
            assert again.heard[0]["event_id"] == last
            synced = await again.hear("synced")
            assert synced["complete"]
            numbers = [event["number"] for event in again.heard if event["type"] == "agent_message"]
        kept = min(told, 1_000)
        assert numbers == list(range(told - kept, told))


async def test_6_nothing_is_made_ready_for_nobody(tmp_path: Path) -> None:
    async with (
        stage(tmp_path) as (url, events, _),
        httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False) as http,
    ):
        await http.get("/api/project")
        assert events.kept() == []
        async with listening(url):
            await http.get("/api/project")
            assert len(events.kept()) == 1


async def test_6_no_more_listeners_than_allowed(tmp_path: Path) -> None:
    async with stage(tmp_path, max_connections=1) as (url, _, _), listening(url):
        with pytest.raises(InvalidStatus) as refused:
            async with listening(url):
                pass
        assert refused.value.response.status_code == 503
