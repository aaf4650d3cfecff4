"""A server for the conformance suite, built with our own MCP server; prints its port. Run with `python -m`."""

import socket
import sys

import anyio
import uvicorn
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage
from starlette.applications import Starlette
from starlette.routing import Route

from scrubjay.servers.mcp.http import serve_http
from scrubjay.servers.mcp.server import ToolServer, build_server
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.listing import Listing
from scrubjay.tooling.registry import Registry, Toolset
from scrubjay.tooling.served_tools import ServedTools
from scrubjay.tooling.services import Services
from tests.conformance.declared_tools import DECLARED
from tests.conformance.raw_handlers import add_raw_handlers


class RecordedEvents(EventStore):
    """Stores all events of all streams, so that a client can resume an interrupted stream."""

    def __init__(self) -> None:
        self._events: list[tuple[StreamId, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        position = int(last_event_id)
        stream = self._events[position - 1][0]
        for number, (stream_id, message) in enumerate(self._events[position:], start=position + 1):
            if stream_id == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def fixture_server() -> ToolServer:
    registry = Registry(DECLARED)
    services = Services()

    async def this_server() -> ToolServer:
        return server

    services.provide(ToolServer, this_server)
    offering = ServedTools(Dispatcher(registry, services), Listing(registry, Toolset("all")))
    server = build_server(
        lambda: offering,
        version="1.0.0",
        instructions="For the conformance suite.",
        patience=1,
        surface="mcp-http",
    )
    add_raw_handlers(server)
    return server


async def main() -> None:
    hosts = ["127.0.0.1:*", "localhost:*", "[::1]:*"]
    mcp = serve_http(
        fixture_server(),
        allowed_hosts=hosts,
        allowed_origins=[f"http://{host}" for host in hosts],
        max_body_bytes=4 * 1024 * 1024,
    )
    mcp.event_store = RecordedEvents()
    mcp.retry_interval = 100
    listener = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/mcp", endpoint=mcp.asgi_app)])
    config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    async with mcp.run():
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    anyio.run(main)
