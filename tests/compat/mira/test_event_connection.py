"""Listeners that do not read, and calls that are stopped, on a server in this process."""

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
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.features.delegation.events import AgentEvents
from scrubjay.tooling.call_events import CallEvents
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from tests.compat.mira.event_client import listening
from tests.servers.rest.uvicorn_server import serving


class Nothing(Request):
    pass


class Waited(Result):
    pass


@tool("toys", core=False)
async def wait_for_ever(request: Nothing) -> Waited:
    """Wait until it is cancelled."""
    await anyio.sleep_forever()
    return Waited()


@asynccontextmanager
async def running_app(home: Path, **mira: object) -> AsyncGenerator[tuple[str, CallEvents, Dispatcher]]:
    settings = Settings.model_validate({"home": home, "mira": mira})
    async with running(settings, tools=[*TOOL_CATALOG, wait_for_ever]) as application:
        app = build_http(application)
        events = application.services.ready(AgentEvents)
        assert isinstance(events, CallEvents)
        async with serving(app) as port:
            yield f"http://127.0.0.1:{port}", events, application.dispatcher


async def test_6_cancel_stops_calls_and_only_those_of_the_session(tmp_path: Path) -> None:
    responses: dict[str, httpx2.Response] = {}
    async with (
        running_app(tmp_path) as (url, events, _),
        httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False) as http,
        listening(url, client="me") as listener,
        anyio.create_task_group() as tasks,
    ):

        async def call(client: str) -> None:
            responses[client] = await http.post("/v1/tools/wait_for_ever", headers={"Scrubjay-Client": client})

        tasks.start_soon(call, "me")
        tasks.start_soon(call, "other")
        call_ids = {(await listener.receive("tool_start"))["call_id"] for _ in range(2)}
        await listener.send("cancel", call_id="call_of_nobody")
        assert (await listener.receive("error"))["message"] == "no call with this id is running"
        await listener.send("cancel")
        stopped = await listener.receive("tool_result")
        assert (stopped["success"], stopped["result"]) == (False, "cancelled: the call was stopped by its client")
        assert [event.client for event in events.running()] == ["http:other"]
        await listener.send("cancel", call_id=(call_ids - {stopped["call_id"]}).pop())
        assert (await listener.receive("tool_result"))["call_id"] != stopped["call_id"]
    assert [responses[client].json()["error"]["code"] for client in ("me", "other")] == ["cancelled", "cancelled"]


async def test_6_a_client_that_does_not_read_is_disconnected_and_resumes_without_loss(tmp_path: Path) -> None:
    async with (
        running_app(tmp_path, outbox_bytes=64 * 1024, slow_seconds=0.3) as (url, events, _),
        listening(url) as bystander,
        listening(url) as slow,
    ):
        last = slow.received[0]["event_id"]
        slow.socket.transport.pause_reading()
        sent = 0
        with anyio.fail_after(30):
            while events.listeners == 2:
                events.announce({"type": "agent_message", "content": "x" * 9_000, "number": sent})
                sent += 1
                assert (await bystander.receive("agent_message"))["number"] == sent - 1
        slow.socket.transport.abort()
        async with listening(url, query=f"?last_event_id={last}") as again:
            assert again.received[0]["event_id"] == last
            synced = await again.receive("synced")
            assert synced["complete"]
            numbers = [event["number"] for event in again.received if event["type"] == "agent_message"]
        buffered = min(sent, 1_000)
        assert numbers == list(range(sent - buffered, sent))


async def test_6_events_are_not_serialized_without_a_listener(tmp_path: Path) -> None:
    async with (
        running_app(tmp_path) as (url, events, _),
        httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False) as http,
    ):
        await http.get("/api/project")
        assert events.buffered() == []
        async with listening(url):
            await http.get("/api/project")
            assert len(events.buffered()) == 1


async def test_6_connections_beyond_the_limit_are_refused(tmp_path: Path) -> None:
    async with running_app(tmp_path, max_connections=1) as (url, _, _), listening(url):
        with pytest.raises(InvalidStatus) as refused:
            async with listening(url):
                pass
        assert refused.value.response.status_code == 503
