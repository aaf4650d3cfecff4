"""The HTTP server: every HTTP protocol behind one edge, on one port."""

import ipaddress
import logging
import os
import socket
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

from scrubjay import __version__
from scrubjay.app.application import Application
from scrubjay.app.instructions import INSTRUCTIONS
from scrubjay.app.observability import doors_off
from scrubjay.app.server_file import announced
from scrubjay.app.settings import Settings
from scrubjay.compat.mira.wiring import mira_web
from scrubjay.core.errors import Misconfigured, Unavailable
from scrubjay.features.embeddings.active_models import ModelsInUse

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

    from scrubjay.features.keys.authenticator import KeyDoorkeeper
    from scrubjay.models.chat_proxy import Forwarder, UnusableForwarder
    from scrubjay.models.embedding import Embedder
    from scrubjay.servers.http.edge import Guards
    from scrubjay.servers.http.middleware import ProtocolRoutes
    from scrubjay.servers.mcp.server import ToolServer
    from scrubjay.servers.openai.routes import OpenAIRoutes
    from scrubjay.servers.phoenix.endpoint import Synapse

logger = logging.getLogger("scrubjay.app")

# How many messages of one socket may wait to be handled: they arrive together, and reading stops until they are.
MAX_WEBSOCKET_QUEUE = 1024


# Clients of Synapse send their key when they join, after the WebSocket is open.
KEYS_ASKED_LATER = frozenset({"/cortex/websocket"})
# Clients of OpenAI cannot do without one, nor can Mimo's join.
KEYS_ALWAYS_SENT = ("/v1/chat/completions", "/v1/models", "/v1/embeddings", "/v1/responses", *KEYS_ASKED_LATER)


def build_http(application: Application) -> "ASGIApp":
    """Everything that listens on the port: REST, its documentation, and MCP at /mcp."""
    doorkeeper = application.doorkeeper(open_without_keys=_is_loopback(application.settings.host))
    return _http_app(application, _tool_server(application), doorkeeper)


def _tool_server(application: Application) -> "ToolServer":
    from scrubjay.compat.do_memory.mcp_methods import add_methods
    from scrubjay.servers.mcp.server import build_server

    server = build_server(
        lambda: application.offering,
        version=__version__,
        instructions=INSTRUCTIONS,
        patience=application.settings.jobs.patience_seconds,
        surface="mcp-http",
        add_methods=add_methods,
    )
    application.when_tools_change(server.announce_tools_changed)
    return server


def _http_app(application: Application, tools: "ToolServer", doorkeeper: "KeyDoorkeeper") -> "ASGIApp":
    """Return the whole HTTP server: the routes of every protocol behind one ordered list of middleware."""
    from scrubjay.servers.http.edge import Edge
    from scrubjay.servers.http.feature_toggles import FeatureToggles
    from scrubjay.servers.http.metrics_middleware import MetricsMiddleware
    from scrubjay.servers.http.middleware import Middleware, compose
    from scrubjay.servers.rest.app import build_app
    from scrubjay.servers.rest.tool_route import ToolRouteFirst

    settings = application.settings
    protocols = _protocols(application, tools, doorkeeper)
    api = build_app(
        application.dispatcher,
        application.listing,
        application.services,
        version=__version__,
        resources=application.resources,
        requires_key=doorkeeper.has_keys,
        protocols=protocols,
        stores=application.store_states,
    )
    middleware: list[Middleware] = [
        # Counts every request, also those that the edge refuses.
        partial(MetricsMiddleware, metrics=application.oversight.metrics, routes=lambda: api.routes),
        # Request id, host guard, blocked addresses, key, limits, body and time limits.
        partial(
            Edge,
            doorkeeper=doorkeeper,
            max_body_bytes=settings.max_body_bytes,
            allowed_hosts=_served_names(settings),
            guards=_guards(settings, protocols),
        ),
        # Refuses paths that the operator switched off.
        partial(FeatureToggles, switched_off=doors_off(settings)),
        # Takes tool calls to their route without the framework's layers.
        partial(ToolRouteFirst, routes=api.routes),
    ]
    return compose(api, middleware)


def _protocols(
    application: Application, tools: "ToolServer", doorkeeper: "KeyDoorkeeper"
) -> "Sequence[ProtocolRoutes]":
    """Return what is served beside REST, in the order in which routes are tried."""
    from starlette.routing import Route

    from scrubjay.compat.mimo.routes import mimo_routes
    from scrubjay.compat.mira.envelope import REFUSAL_FORMATS as MIRA_REFUSAL_FORMATS
    from scrubjay.compat.mira.openapi import with_mira
    from scrubjay.features.answers.tools import ask_mimo
    from scrubjay.features.facts.tools import search_vibes
    from scrubjay.servers.hooks.http import PATH as HOOKS_PATH
    from scrubjay.servers.hooks.http import SURFACE as HOOKS_SURFACE
    from scrubjay.servers.hooks.http import HttpHooks
    from scrubjay.servers.hooks.openapi import with_hooks
    from scrubjay.servers.http.audit_middleware import AuditMiddleware
    from scrubjay.servers.http.metrics_middleware import metrics_endpoint
    from scrubjay.servers.http.middleware import ProtocolRoutes
    from scrubjay.servers.openai.error_shape import REFUSAL_FORMATS as OPENAI_REFUSAL_FORMATS
    from scrubjay.servers.openai.openapi import with_openai

    settings = application.settings
    forwarder = _forwarder(application)
    openai = _openai_routes(application, forwarder)
    mcp = _mcp(tools, settings)
    hooks = AuditMiddleware(HttpHooks(application.answer_hook), HOOKS_SURFACE)
    metrics = metrics_endpoint(application.oversight.metrics)
    protocols = [
        ProtocolRoutes(routes=[Route("/mcp", endpoint=mcp.asgi_app)], run=mcp.run),
        ProtocolRoutes(routes=_synapse_routes(application, doorkeeper)),
        ProtocolRoutes(
            routes=openai.routes, run=openai.run, describe=with_openai, refusal_formats=OPENAI_REFUSAL_FORMATS
        ),
        ProtocolRoutes(routes=[Route(HOOKS_PATH, hooks, methods=["POST"])], describe=with_hooks),
        mimo_routes(application.dispatcher, ask_tool=ask_mimo.name, lists={search_vibes.name: "results"}),
    ]
    if settings.mira.enabled:
        mira = mira_web(application, doorkeeper, forwarder)
        protocols.append(
            ProtocolRoutes(
                routes=mira.routes,
                run=mira.run,
                describe=lambda document: with_mira(document, application.registry),
                refusal_formats=MIRA_REFUSAL_FORMATS,
            )
        )
    return [*protocols, ProtocolRoutes(routes=[Route("/metrics", metrics, methods=["GET"])])]


def _mcp(tools: "ToolServer", settings: Settings) -> "StreamableHTTPSessionManager":
    from scrubjay.servers.mcp.http import serve_http

    authorities = [name for host in _served_names(settings) for name in (host, f"{host}:*")]
    return serve_http(
        tools,
        allowed_hosts=authorities,
        allowed_origins=[
            *(f"{scheme}://{name}" for scheme in ("http", "https") for name in authorities),
            *(origin.rstrip("/") for origin in settings.allowed_origins),
        ],
        max_body_bytes=settings.max_body_bytes,
    )


def _synapse_routes(application: Application, doorkeeper: "KeyDoorkeeper") -> "Sequence[BaseRoute]":
    from starlette.routing import WebSocketRoute

    from scrubjay.features.answers.tools import ask_mimo
    from scrubjay.servers.phoenix.endpoint import PATH

    if not application.settings.synapse.enabled:
        return []
    synapse = _synapse(application, ask_mimo.name, doorkeeper)
    application.oversight.count_connections = lambda: synapse.connections
    return [WebSocketRoute(PATH, synapse)]


def _forwarder(application: Application) -> "Forwarder | UnusableForwarder | None":
    """The language model, if there is one: all protocols share how much is asked of it at once."""
    from scrubjay.models.chat_proxy import forwarder_for

    settings, breakers = application.settings, application.oversight.breakers
    if (choice := settings.llm.choice()) is None:
        return None
    return forwarder_for(choice, os.environ, concurrency=settings.openai.concurrency, breakers=breakers)


def _openai_routes(application: Application, forwarder: "Forwarder | UnusableForwarder | None") -> "OpenAIRoutes":
    from scrubjay.features.answers.tools import ask_mimo, explain_routing
    from scrubjay.features.facts.tools import mimo_search_memory
    from scrubjay.features.memory.tools import recall
    from scrubjay.features.turns.tools import add_memory
    from scrubjay.servers.openai.routes import OpenAIRoutes, ToolNames, Wishes

    chosen = application.settings.openai

    async def embedder() -> "Embedder":
        return (await (await application.services.get(ModelsInUse)).now()).answering.embedder

    return OpenAIRoutes(
        application.dispatcher,
        ToolNames(
            recall=recall.name,
            keep=add_memory.name,
            ask=ask_mimo.name,
            route=explain_routing.name,
            search=mimo_search_memory.name,
        ),
        embedder,
        Wishes(
            recall_tokens=chosen.recall_tokens,
            recall_limit=chosen.recall_limit,
            remember=chosen.remember,
            any_model=chosen.any_model,
        ),
        forwarder,
    )


def _synapse(application: Application, question_tool: str, doorkeeper: "KeyDoorkeeper") -> "Synapse":
    from scrubjay.servers.phoenix.endpoint import Synapse
    from scrubjay.servers.phoenix.limits import Limits

    chosen = application.settings.synapse
    limits = Limits(
        connections=chosen.max_connections,
        workers=chosen.workers,
        waiting=chosen.max_waiting,
        messages_per_second=chosen.messages_per_second,
        outbox_bytes=chosen.outbox_bytes,
        slow_seconds=chosen.slow_seconds,
        idle_seconds=chosen.idle_seconds,
    )
    return Synapse(application.dispatcher, doorkeeper, question_tool=question_tool, limits=limits)


def _guards(settings: Settings, protocols: "Sequence[ProtocolRoutes]") -> "Guards":
    from scrubjay.servers.http.abuse import Abuse, Patience
    from scrubjay.servers.http.client_address import Addresses
    from scrubjay.servers.http.cors import Origins
    from scrubjay.servers.http.edge import Guards
    from scrubjay.servers.http.load_limits import Load
    from scrubjay.servers.http.rate_limits import Limits, Rates
    from scrubjay.servers.http.refusals import RefusalFormats

    limits = settings.limits
    return Guards(
        limits=Limits(Rates(limits.window_seconds, limits.per_address, limits.per_loopback, limits.per_key)),
        abuse=Abuse(Patience(limits.wrong_keys, limits.refusals, limits.abuse_seconds, limits.block_seconds)),
        load=Load(limits.concurrent, limits.latency_ms),
        addresses=Addresses(settings.trusted_proxies),
        origins=Origins(settings.allowed_origins),
        request_seconds=limits.request_seconds,
        keys_asked_later=KEYS_ASKED_LATER,
        keys_always_sent=KEYS_ALWAYS_SENT,
        refusal_formats=RefusalFormats({k: v for protocol in protocols for k, v in protocol.refusal_formats.items()}),
    )


async def serve(application: Application, announce: Callable[[str, bool], None]) -> None:
    """Listen until told to stop. `announce` gets the URL once requests are answered, and whether a key is needed."""
    import uvicorn

    from scrubjay.servers.http.transport import BoundedHttp, BoundedWebSocket

    settings = application.settings
    doorkeeper = application.doorkeeper(open_without_keys=_is_loopback(settings.host))
    if needs_key(settings):
        await _refuse_without_key(settings, doorkeeper)
    listener = _listen(settings.host, settings.port)
    await application.open()
    application.learn_skills()
    application.warm_up()
    await doorkeeper.has_active_key()  # what is documented depends on whether there are keys
    url = _url(listener, settings.host)
    tools = _tool_server(application)

    class AnnouncingServer(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            announce(url, doorkeeper.has_keys)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            tools.end_listening()
            await super().shutdown(sockets=sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            # Uvicorn would raise the signal once more at the end, and so end us before jobs and store are put away.
            self.force_exit = self.should_exit
            self.should_exit = True

    config = uvicorn.Config(
        _http_app(application, tools, doorkeeper),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the edge believes proxies, and only those that the settings name
        http=BoundedHttp,
        ws=BoundedWebSocket,
        ws_max_size=settings.synapse.max_frame_bytes,
        ws_max_queue=MAX_WEBSOCKET_QUEUE,
        # Compressed frames could unfold to a thousand times what was read, and each socket would keep two windows.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
    )
    with listener, announced(settings.home, url):
        await AnnouncingServer(config).serve(sockets=[listener])


def needs_key(settings: Settings) -> bool:
    """Nothing listens beyond this machine, or in production, without a key."""
    return settings.environment == "production" or not _is_loopback(settings.host)


async def _refuse_without_key(settings: Settings, doorkeeper: "KeyDoorkeeper") -> None:
    # A store is not made only to find that it has no key.
    is_new = not (settings.home / "scrubjay.db").exists()
    if settings.api_key is not None or (not is_new and await doorkeeper.has_active_key()):
        return
    why = "this is production" if _is_loopback(settings.host) else f"{settings.host} can be reached from other machines"
    raise Misconfigured(
        f"{why}, and no key is set",
        hint="make a key with `scrubjay keys create`, or set SCRUBJAY_API_KEY to a long random text",
    )


def client_configuration(url: str, *, with_key: bool) -> dict[str, object]:
    """What to paste into an agent's MCP configuration; the key itself is never shown."""
    server: dict[str, object] = {"type": "http", "url": f"{url}/mcp"}
    if with_key:
        server["headers"] = {"Authorization": "Bearer ${SCRUBJAY_API_KEY}"}
    return {"mcpServers": {"scrubjay": server}}


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
