"""A real HTTP server on a free loopback port, in the loop of the test."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import uvicorn
from starlette.types import ASGIApp

from scrubjay.servers.http.transport import BoundedHttp, BoundedWebSocket


class Server(uvicorn.Server):
    """Tells when it is ready."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = anyio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncGenerator[int]:
    """The port on which the application answers; its lifespan is the caller's to run."""
    # Named as TCP, or asyncio does not turn off the delay of small packets, and each answer takes 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
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
