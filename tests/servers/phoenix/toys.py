"""A live channel over toy tools, on a real uvicorn in this process, and a plain client of it."""

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
from scrubjay.core.progress import Reporter, Step, StepKind
from scrubjay.servers.http.transport import BoundedWebSocket
from scrubjay.servers.phoenix.endpoint import PATH, Synapse
from scrubjay.servers.phoenix.limits import Limits
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.services import Services

TOPIC = "cortex:agent"


@dataclass
class Scene:
    """What the toy tool did, and what it waits for."""

    began: list[str] = field(default_factory=list[str])
    running: int = 0
    go: anyio.Event = field(default_factory=anyio.Event)


class AskToyRequest(Request):
    query: str = Field(description="`wait` waits, `think N` has N thoughts, anything else is answered at once.")
    timeout_ms: int = Field(default=1000, description="How long.")


class AskToyResult(Result):
    router_decision: dict[str, str]
    results: dict[str, list[dict[str, str]] | None]


@tool("toys", read_only=True)
async def ask_toy(request: AskToyRequest, scene: Scene, context: CallContext, reporter: Reporter) -> AskToyResult:
    """Answer, sooner or later."""
    scene.began.append(request.query)
    scene.running += 1
    try:
        if request.query.startswith("wait"):
            await scene.go.wait()
        for _ in range(int(request.query.split()[1]) if request.query.startswith("think ") else 0):
            context.witness(Step(StepKind.FALLBACK, "x" * 1000))
            await reporter.report(1, 2, "halfway")
    finally:
        scene.running -= 1
    return AskToyResult(router_decision={"primary_store": "episodic"}, results={"working": None, "episodic": []})


@dataclass
class Porter:
    """Knows two keys, and which of them are not valid any more."""

    revoked: set[str] = field(default_factory=set[str])

    async def admit(self, key: str | None) -> Caller:
        if key not in ("one", "two") or key in self.revoked:
            raise Unauthenticated("no")
        return Caller(key, frozenset({"*"} if key == "one" else {"nothing"}), key)

    def is_welcome(self, caller: Caller) -> bool:
        return caller.key_id not in self.revoked


@dataclass
class Stage:
    """A server that runs, and its parts."""

    port: int
    synapse: Synapse
    scene: Scene
    porter: Porter

    @asynccontextmanager
    async def client(self, *, join: str | None = "one", vsn: str = "2.0.0", **options: Any) -> AsyncGenerator["Client"]:
        address = f"ws://127.0.0.1:{self.port}{PATH}?vsn={vsn}"
        async with connect(address, proxy=None, max_queue=None, **options) as socket:
            client = Client(socket)
            if join is not None:
                assert (await client.push("phx_join", api_key=join))["status"] == "ok"
            yield client


class Client:
    """Speaks version 2 of the format by hand."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[list[Any]] = []
        self._number = 0

    @property
    def next_ref(self) -> int:
        return self._number

    async def say(self, event: str, topic: str = TOPIC, **payload: Any) -> str:
        self._number += 1
        ref = str(self._number)
        await self.socket.send(json.dumps([None, ref, topic, event, payload]))
        return ref

    async def push(self, event: str, topic: str = TOPIC, **payload: Any) -> dict[str, Any]:
        """The answer to an event."""
        ref = await self.say(event, topic, **payload)
        return (await self.hear("phx_reply", ref=ref))[4]

    async def hear(self, event: str, *, ref: str | None = None, of: str | None = None) -> list[Any]:
        """The next frame of this event, of this message or this work; others before it are kept in `heard`."""
        with anyio.fail_after(5):
            while True:
                frame = json.loads(await self.socket.recv())
                self.heard.append(frame)
                if frame[3] == event and ref in (None, frame[1]) and of in (None, frame[4].get("ref")):
                    return frame

    async def until_closed(self) -> int:
        with anyio.fail_after(15):
            await self.socket.wait_closed()
        assert self.socket.close_code is not None
        return self.socket.close_code


@asynccontextmanager
async def stage(**limits: Any) -> AsyncGenerator[Stage]:
    """A server with these limits."""
    scene, porter, services = Scene(), Porter(), Services()
    services.provide_ready(Scene, scene)
    dispatcher = Dispatcher(Registry([ask_toy]), services)
    synapse = Synapse(dispatcher, porter, question_tool=ask_toy.name, limits=Limits(**limits))
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
        await until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Stage(port, synapse, scene, porter)
        server.should_exit = True


async def until(condition: Callable[[], bool]) -> None:
    """Wait until it holds."""
    with anyio.fail_after(10):
        while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
            await anyio.sleep(0.01)
