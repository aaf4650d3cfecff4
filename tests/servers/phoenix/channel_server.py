"""A Synapse channel over a toy tool, on a real uvicorn in this process, and a plain client for it."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import uvicorn
from pydantic import Field
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from websockets.asyncio.client import ClientConnection, connect

from scrubjay.core.callers import Caller
from scrubjay.core.errors import Unauthenticated
from scrubjay.core.progress import AnswerStep, Reporter, StepKind
from scrubjay.servers.http.transport import BoundedWebSocket
from scrubjay.servers.phoenix.endpoint import PATH, SynapseEndpoint
from scrubjay.servers.phoenix.limits import SynapseLimits
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.services import Services

TOPIC = "cortex:agent"


@dataclass
class ToolState:
    """The calls of the toy tool, and the event that it waits for."""

    began: list[str] = field(default_factory=list[str])
    running: int = 0
    go: anyio.Event = field(default_factory=anyio.Event)


class AskToyRequest(Request):
    query: str = Field(description="`wait` waits, `think N` has N thoughts, anything else returns at once.")
    timeout_ms: int = Field(default=1000, description="Timeout in milliseconds.")


class AskToyResult(Result):
    router_decision: dict[str, str]
    results: dict[str, list[dict[str, str]] | None]


@tool("toys", read_only=True)
async def ask_toy(
    request: AskToyRequest, tool_state: ToolState, context: CallContext, reporter: Reporter
) -> AskToyResult:
    """Return an empty answer, at once or later."""
    tool_state.began.append(request.query)
    tool_state.running += 1
    try:
        if request.query.startswith("wait"):
            await tool_state.go.wait()
        for _ in range(int(request.query.split()[1]) if request.query.startswith("think ") else 0):
            context.on_step(AnswerStep(StepKind.FALLBACK, "x" * 1000))
            await reporter.report(1, 2, "halfway")
    finally:
        tool_state.running -= 1
    return AskToyResult(router_decision={"primary_store": "episodic"}, results={"working": None, "episodic": []})


@dataclass
class TwoKeys:
    """An authenticator with the keys `one` and `two`, which can be revoked."""

    revoked: set[str] = field(default_factory=set[str])

    async def authenticate(self, key: str | None) -> Caller:
        if key not in ("one", "two") or key in self.revoked:
            raise Unauthenticated("no")
        return Caller(key, frozenset({"*"} if key == "one" else {"nothing"}), key)

    def is_authorized(self, caller: Caller) -> bool:
        return caller.key_id not in self.revoked


@dataclass
class RunningServer:
    """A running server and its parts."""

    port: int
    synapse: SynapseEndpoint
    tool_state: ToolState
    keys: TwoKeys

    @asynccontextmanager
    async def client(self, *, join: str | None = "one", vsn: str = "2.0.0", **options: Any) -> AsyncGenerator["Client"]:
        address = f"ws://127.0.0.1:{self.port}{PATH}?vsn={vsn}"
        async with connect(address, proxy=None, max_queue=None, **options) as socket:
            client = Client(socket)
            if join is not None:
                assert (await client.push("phx_join", api_key=join))["status"] == "ok"
            yield client


class Client:
    """A minimal client for version 2 of the format."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.received: list[list[Any]] = []
        self._number = 0

    @property
    def next_ref(self) -> int:
        return self._number

    async def send(self, event: str, topic: str = TOPIC, **payload: Any) -> str:
        self._number += 1
        ref = str(self._number)
        await self.socket.send(json.dumps([None, ref, topic, event, payload]))
        return ref

    async def push(self, event: str, topic: str = TOPIC, **payload: Any) -> dict[str, Any]:
        """Send an event and return the payload of its reply."""
        ref = await self.send(event, topic, **payload)
        return (await self.receive("phx_reply", ref=ref))[4]

    async def receive(self, event: str, *, ref: str | None = None, work_ref: str | None = None) -> list[Any]:
        """Return the next frame with this event, message ref or work ref; all frames are added to `received`."""
        with anyio.fail_after(5):
            while True:
                frame = json.loads(await self.socket.recv())
                self.received.append(frame)
                if frame[3] == event and ref in (None, frame[1]) and work_ref in (None, frame[4].get("ref")):
                    return frame

    async def wait_closed(self) -> int:
        with anyio.fail_after(15):
            await self.socket.wait_closed()
        assert self.socket.close_code is not None
        return self.socket.close_code


@asynccontextmanager
async def running_server(**limits: Any) -> AsyncGenerator[RunningServer]:
    """Run a server with these limits."""
    tool_state, keys, services = ToolState(), TwoKeys(), Services()
    services.provide_ready(ToolState, tool_state)
    dispatcher = Dispatcher(Registry([ask_toy]), services)
    synapse = SynapseEndpoint(dispatcher, keys, question_tool=ask_toy.name, limits=SynapseLimits(**limits))
    config = uvicorn.Config(
        Starlette(routes=[WebSocketRoute(PATH, synapse)]),
        port=0,
        log_config=None,
        ws=BoundedWebSocket,
        ws_max_size=64 * 1024,
        ws_max_queue=1024,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # pyright: ignore[reportAttributeAccessIssue]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server._serve)  # pyright: ignore[reportPrivateUsage]
        await wait_until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield RunningServer(port, synapse, tool_state, keys)
        server.should_exit = True


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds."""
    with anyio.fail_after(10):
        while not condition():  # noqa: ASYNC110 - the condition has no event
            await anyio.sleep(0.01)
