"""A real HTTP server on a free loopback port, in the event loop of the test."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import uvicorn
from starlette.types import ASGIApp

from scrubjay.servers.http.acceptor import AcceptingServer
from scrubjay.servers.http.transport import BoundedHttp, BoundedWebSocket


class Server(AcceptingServer):
    """Sets `ready` once it has started."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = anyio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@asynccontextmanager
async def serving(app: ASGIApp, *, send_buffer_bytes: int | None = None) -> AsyncGenerator[int]:
    """Serve the application and yield its port; the caller must run the lifespan.

    `send_buffer_bytes` limits what the kernel accepts for a client that does not read; it differs among machines.
    """
    # With the protocol given, asyncio sets TCP_NODELAY; otherwise each response takes 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        if send_buffer_bytes is not None:  # the sockets of accepted connections have it too
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer_bytes)
        listener.bind(("127.0.0.1", 0))
        server = Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                http=BoundedHttp,
                ws=BoundedWebSocket,
                ws_per_message_deflate=False,
                lifespan="off",
                timeout_graceful_shutdown=1,
            )
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listener])
            with anyio.fail_after(5):
                await server.ready.wait()
            yield listener.getsockname()[1]
            server.should_exit = True
