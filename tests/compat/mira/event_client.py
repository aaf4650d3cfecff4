"""A WebSocket client for the event stream `/ws`."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from websockets.asyncio.client import ClientConnection, connect

Json = dict[str, Any]


class Listener:
    """Receives events one by one."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.received: list[Json] = []

    async def next(self) -> Json:
        with anyio.fail_after(10):
            event: Json = json.loads(await self.socket.recv())
        self.received.append(event)
        return event

    async def receive(self, kind: str, tool: str | None = None) -> Json:
        """Return the next event of this type and tool; earlier ones are skipped, but stored in `received`."""
        while True:
            event = await self.next()
            if event["type"] == kind and tool in (None, event.get("tool_name")):
                return event

    async def send(self, kind: str, **more: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **more}))

    async def until_closed(self) -> int | None:
        with anyio.fail_after(15):
            await self.socket.wait_closed()
        return self.socket.close_code


@asynccontextmanager
async def listening(
    url: str, key: str | None = None, client: str | None = None, query: str = ""
) -> AsyncGenerator[Listener]:
    """Yield a listener that has received the `connected` event."""
    headers = {
        **({"Authorization": f"Bearer {key}"} if key else {}),
        **({"Scrubjay-Client": client} if client else {}),
    }
    address = url.replace("http", "ws", 1) + "/ws" + query
    async with connect(address, additional_headers=headers, proxy=None, max_queue=None) as socket:
        listener = Listener(socket)
        assert (await listener.next())["type"] == "connected"
        yield listener
