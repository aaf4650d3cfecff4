"""The HTTP server: every HTTP protocol behind one edge, on one port."""

import ipaddress
import logging
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from types import FrameType
from typing import TYPE_CHECKING

from recollect import __version__
from recollect.app.application import Application
from recollect.app.instructions import INSTRUCTIONS
from recollect.app.oversight import WEBSOCKET_PATH, doors_off
from recollect.app.settings import Settings
from recollect.domain.errors import Misconfigured, Unavailable

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from recollect.gateway.mcp.server import ToolServer

logger = logging.getLogger("recollect.app")


def build_http(application: Application) -> "ASGIApp":
    """Everything that listens on the port: REST, its documentation, and MCP at /mcp."""
    return _behind_edge(application, _tool_server(application))


def _tool_server(application: Application) -> "ToolServer":
    from recollect.gateway.mcp.server import build_server

    return build_server(
        lambda: application.offering,
        version=__version__,
        instructions=INSTRUCTIONS,
        patience=application.settings.jobs.patience_seconds,
        surface="mcp-http",
    )


def _behind_edge(application: Application, tools: "ToolServer") -> "ASGIApp":
    from fastapi import FastAPI
    from starlette.routing import Route

    from recollect.gateway.edge import Edge
    from recollect.gateway.mcp.http import serve_http
    from recollect.gateway.measuring import Measured, metrics_endpoint
    from recollect.gateway.rest.app import build_app
    from recollect.gateway.switches import Switches
    from recollect.tools.asking import ask_mimo

    settings = application.settings
    hosts = _served_names(settings)
    authorities = [name for host in hosts for name in (host, f"{host}:*")]
    mcp = serve_http(
        tools,
        allowed_hosts=authorities,
        allowed_origins=[f"{scheme}://{name}" for scheme in ("http", "https") for name in authorities],
        max_body_bytes=settings.max_body_bytes,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        async with mcp.run():
            yield

    api = build_app(
        application.dispatcher,
        application.listing,
        application.services,
        version=__version__,
        resources=application.resources,
        requires_key=settings.api_key is not None,
        mimo_ask=ask_mimo.name,
        lifespan=lifespan,
    )
    api.router.routes.append(Route("/mcp", endpoint=mcp.asgi_app))
    metrics = application.oversight.metrics
    api.router.routes.append(Route("/metrics", metrics_endpoint(metrics), methods=["GET"]))
    doors = Switches(api, doors_off(settings))
    paths = {getattr(route, "path", "") for route in api.routes}
    application.oversight.serves_websocket = WEBSOCKET_PATH in paths
    key = settings.api_key.get_secret_value() if settings.api_key else None
    edge = Edge(doors, api_key=key, max_body_bytes=settings.max_body_bytes, allowed_hosts=hosts)
    return Measured(edge, metrics, lambda: api.routes)


async def serve(application: Application, announce: Callable[[str], None]) -> None:
    """Listen until told to stop. `announce` gets the URL once requests are answered."""
    import uvicorn

    settings = application.settings
    refuse_open_door(settings)
    listener = _listen(settings.host, settings.port)
    await application.open()
    url = _url(listener, settings.host)
    tools = _tool_server(application)

    class AnnouncingServer(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            announce(url)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            tools.end_listening()
            await super().shutdown(sockets=sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            # Uvicorn would raise the signal once more at the end, and so end us before jobs and store are put away.
            self.force_exit = self.should_exit
            self.should_exit = True

    config = uvicorn.Config(
        _behind_edge(application, tools),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=5,
    )
    with listener:
        await AnnouncingServer(config).serve(sockets=[listener])


def refuse_open_door(settings: Settings) -> None:
    """Nothing listens beyond this machine without a key."""
    if settings.api_key is None and not _is_loopback(settings.host):
        raise Misconfigured(
            f"{settings.host} can be reached from other machines, and no key is set",
            hint="set RECOLLECT_API_KEY to a long random text, or listen on 127.0.0.1",
        )


def client_configuration(url: str, settings: Settings) -> dict[str, object]:
    """What to paste into an agent's MCP configuration; the key itself is never shown."""
    server: dict[str, object] = {"type": "http", "url": f"{url}/mcp"}
    if settings.api_key:
        server["headers"] = {"Authorization": "Bearer ${RECOLLECT_API_KEY}"}
    return {"mcpServers": {"recollect": server}}


def _is_loopback(host: str) -> bool:
    """Whether every address behind this name belongs to this machine alone."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise Misconfigured(f"the host {host!r} cannot be resolved: {error}", hint="use 127.0.0.1") from error
    return all(ipaddress.ip_address(str(address[4][0]).split("%")[0]).is_loopback for address in found)


def _served_names(settings: Settings) -> list[str]:
    """The names under which the server answers; any other is refused, so that no page can rebind its name to us."""
    return ["localhost", "127.0.0.1", "[::1]", settings.host, *settings.allowed_hosts]


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise Unavailable(
            f"cannot listen on {host}:{port}: {error.strerror}",
            hint="another program uses the port; choose one with --port (0 takes a free one)",
        ) from error
    return listener


def _url(listener: socket.socket, host: str) -> str:
    port = listener.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
