"""The HTTP server: every HTTP protocol behind one list of middleware, on one port."""

import logging
import socket
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from starlette.routing import BaseRoute, Route, WebSocketRoute

from scrubjay import __version__
from scrubjay.app.application import Application
from scrubjay.app.instructions import INSTRUCTIONS
from scrubjay.app.observability import paths_off
from scrubjay.app.server_file import announce_server
from scrubjay.app.settings import Settings
from scrubjay.compat.do_memory.mcp_methods import add_methods
from scrubjay.compat.mimo.routes import mimo_routes
from scrubjay.compat.mira.envelope import REFUSAL_FORMATS as MIRA_REFUSAL_FORMATS
from scrubjay.compat.mira.openapi import with_mira
from scrubjay.compat.mira.wiring import mira_web
from scrubjay.core.environment import all_variables
from scrubjay.core.errors import Misconfigured, Unavailable
from scrubjay.core.ip_addresses import is_loopback
from scrubjay.features.answers.tools import ask_mimo, explain_routing
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.facts.tools import mimo_search_memory, search_vibes
from scrubjay.features.memory.tools import recall
from scrubjay.features.turns.tools import add_memory
from scrubjay.models.chat_proxy import ChatProxy, UnusableChatProxy, chat_proxy_for
from scrubjay.servers.hooks import http as hooks_http
from scrubjay.servers.hooks.openapi import with_hooks
from scrubjay.servers.http.abuse import AbuseLimits, AbuseTracker
from scrubjay.servers.http.acceptor import AcceptingServer
from scrubjay.servers.http.audit_middleware import AuditMiddleware
from scrubjay.servers.http.client_address import AddressResolver
from scrubjay.servers.http.cors import AllowedOrigins
from scrubjay.servers.http.edge_middleware import EdgeGuards, EdgeMiddleware
from scrubjay.servers.http.feature_toggles import FeatureToggleMiddleware
from scrubjay.servers.http.load_limits import LoadShedder
from scrubjay.servers.http.metrics_middleware import MetricsMiddleware, metrics_endpoint
from scrubjay.servers.http.middleware import Middleware, ProtocolRoutes, compose
from scrubjay.servers.http.places import Places
from scrubjay.servers.http.rate_limits import RateLimiter, RateLimits
from scrubjay.servers.http.refusals import RefusalFormats
from scrubjay.servers.http.transport import BoundedHttp, BoundedWebSocket
from scrubjay.servers.mcp.http import serve_http
from scrubjay.servers.mcp.server import build_server
from scrubjay.servers.openai.error_middleware import REFUSAL_FORMATS as OPENAI_REFUSAL_FORMATS
from scrubjay.servers.openai.openapi import with_openai
from scrubjay.servers.openai.routes import OpenAIOptions, OpenAIRoutes, ToolNames
from scrubjay.servers.phoenix.endpoint import PATH as SYNAPSE_PATH
from scrubjay.servers.phoenix.endpoint import SynapseEndpoint
from scrubjay.servers.phoenix.limits import SynapseLimits
from scrubjay.servers.rest.app import build_app
from scrubjay.servers.rest.tool_route import ToolRouteMiddleware

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import ASGIApp

    from scrubjay.features.keys.authenticator import KeyAuthenticator
    from scrubjay.models.embedding import Embedder
    from scrubjay.servers.mcp.server import ToolServer

logger = logging.getLogger("scrubjay.app")

# One Ctrl-C or `kill` can arrive twice, from the terminal and from make. Only a later signal ends the server at once.
REPEATED_SIGNAL_SECONDS = 1.0
# Messages of one WebSocket that may wait to be handled. Clients send bursts; reading stops while the queue is full.
MAX_WEBSOCKET_QUEUE = 1024
# Clients of Synapse send their key when they join a channel, after the WebSocket is open.
LATE_KEY_PATHS = frozenset({SYNAPSE_PATH})
# OpenAI's client libraries always send a key, and so do Mimo's clients when they join a channel. A server without keys
# therefore accepts any key on these paths.
OPTIONAL_KEY_PREFIXES = ("/v1/chat/completions", "/v1/models", "/v1/embeddings", "/v1/responses", *LATE_KEY_PATHS)


def build_http(application: Application) -> "ASGIApp":
    """Return the ASGI application of all HTTP protocols; keys are optional while `settings.host` is loopback."""
    authenticator = application.authenticator(open_without_keys=_is_loopback(application.settings.host))
    return _http_app(application, _tool_server(application), authenticator)


def _tool_server(application: Application) -> "ToolServer":
    server = build_server(
        lambda: application.served_tools,
        version=__version__,
        instructions=INSTRUCTIONS,
        patience=application.settings.jobs.patience_seconds,
        surface="mcp-http",
        add_methods=add_methods,
    )
    application.on_tools_change(server.announce_tools_changed)
    return server


def _http_app(application: Application, tools: "ToolServer", authenticator: "KeyAuthenticator") -> "ASGIApp":
    """Return the whole HTTP server: the routes of every protocol behind one ordered list of middleware."""
    settings = application.settings
    protocols = _protocols(application, tools, authenticator)
    api = build_app(
        application.dispatcher,
        application.listing,
        application.services,
        version=__version__,
        resources=application.resources,
        requires_key=authenticator.has_keys,
        protocols=protocols,
        stores=application.store_states,
    )
    middleware: list[Middleware] = [
        # Counts every request, including those that the edge refuses.
        partial(MetricsMiddleware, metrics=application.observability.metrics, routes=lambda: api.routes),
        # Request id, host guard, blocked addresses, key, limits, body and time limits.
        partial(
            EdgeMiddleware,
            authenticator=authenticator,
            max_body_bytes=settings.max_body_bytes,
            allowed_hosts=_served_names(settings),
            guards=_guards(settings, protocols),
        ),
        # Refuses paths that the operator switched off.
        partial(FeatureToggleMiddleware, switched_off=paths_off(settings)),
        # Takes tool calls to their route without the framework's layers.
        partial(ToolRouteMiddleware, routes=api.routes),
    ]
    return compose(api, middleware)


def _protocols(
    application: Application, tools: "ToolServer", authenticator: "KeyAuthenticator"
) -> Sequence[ProtocolRoutes]:
    """Return the protocols beside REST, in the order in which their routes are tried."""
    settings = application.settings
    forwarder = _forwarder(application)
    openai = _openai_routes(application, forwarder)
    mcp = _mcp(tools, settings)
    hooks = AuditMiddleware(hooks_http.HookEndpoint(application.answer_hook), hooks_http.SURFACE)
    metrics = metrics_endpoint(application.observability.metrics)
    protocols = [
        ProtocolRoutes(routes=[Route("/mcp", endpoint=mcp.asgi_app)], run=mcp.run),
        ProtocolRoutes(routes=_synapse_routes(application, authenticator)),
        ProtocolRoutes(
            routes=openai.routes, run=openai.run, describe=with_openai, refusal_formats=OPENAI_REFUSAL_FORMATS
        ),
        ProtocolRoutes(
            routes=[Route(hooks_http.PATH, hooks, methods=["POST"])],
            describe=with_hooks,
            refusal_formats=hooks_http.REFUSAL_FORMATS,
        ),
        mimo_routes(application.dispatcher, ask_tool=ask_mimo.name, lists={search_vibes.name: "results"}),
    ]
    if settings.mira.enabled:
        mira = mira_web(application.services, authenticator, forwarder)
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
    # The SDK's own check is wider than that of the edge, which refuses pages of other ports and is passed first.
    authorities = [name for host in _served_names(settings) for name in (host, f"{host}:*")]
    return serve_http(
        tools,
        allowed_hosts=authorities,
        allowed_origins=[
            *(f"{scheme}://{name}" for scheme in ("http", "https") for name in authorities),
            *(origin.lower().rstrip("/") for origin in settings.allowed_origins),
        ],
        max_body_bytes=settings.max_body_bytes,
    )


def _synapse_routes(application: Application, authenticator: "KeyAuthenticator") -> Sequence[BaseRoute]:
    if not application.settings.synapse.enabled:
        return []
    synapse = _synapse(application, ask_mimo.name, authenticator)
    application.observability.count_connections = lambda: synapse.connections
    return [WebSocketRoute(SYNAPSE_PATH, synapse)]


def _forwarder(application: Application) -> ChatProxy | UnusableChatProxy | None:
    """Return the proxy of the language model, None without one; all protocols share its limit of concurrent calls."""
    settings, breakers = application.settings, application.observability.breakers
    if (choice := settings.llm.choice()) is None:
        return None
    return chat_proxy_for(choice, all_variables(), concurrency=settings.openai.concurrency, breakers=breakers)


def _openai_routes(application: Application, forwarder: ChatProxy | UnusableChatProxy | None) -> OpenAIRoutes:
    chosen = application.settings.openai

    async def embedder() -> "Embedder":
        return (await (await application.services.get(ModelRegistry)).current()).active.embedder

    return OpenAIRoutes(
        application.dispatcher,
        ToolNames(
            recall=recall.name,
            record=add_memory.name,
            ask=ask_mimo.name,
            route=explain_routing.name,
            search=mimo_search_memory.name,
        ),
        embedder,
        OpenAIOptions(
            recall_tokens=chosen.recall_tokens,
            recall_limit=chosen.recall_limit,
            remember=chosen.remember,
            any_model=chosen.any_model,
        ),
        forwarder,
    )


def _synapse(application: Application, question_tool: str, authenticator: "KeyAuthenticator") -> SynapseEndpoint:
    chosen = application.settings.synapse
    limits = SynapseLimits(
        connections=chosen.max_connections,
        workers=chosen.workers,
        waiting=chosen.max_waiting,
        messages_per_second=chosen.messages_per_second,
        outbox_bytes=chosen.outbox_bytes,
        slow_seconds=chosen.slow_seconds,
        idle_seconds=chosen.idle_seconds,
    )
    return SynapseEndpoint(application.dispatcher, authenticator, question_tool=question_tool, limits=limits)


def _guards(settings: Settings, protocols: Sequence[ProtocolRoutes]) -> EdgeGuards:
    limits = settings.limits
    return EdgeGuards(
        limits=RateLimiter(RateLimits(limits.window_seconds, limits.per_address, limits.per_loopback, limits.per_key)),
        abuse=AbuseTracker(AbuseLimits(limits.wrong_keys, limits.refusals, limits.abuse_seconds, limits.block_seconds)),
        load=LoadShedder(limits.concurrent, limits.latency_ms),
        streams=Places(limits.streams, "open streams and WebSockets"),
        bodies=Places(_body_bytes(settings), "bytes of request bodies"),
        addresses=AddressResolver(settings.trusted_proxies),
        origins=AllowedOrigins(settings.allowed_origins),
        request_seconds=limits.request_seconds,
        late_key_paths=LATE_KEY_PATHS,
        optional_key_prefixes=OPTIONAL_KEY_PREFIXES,
        refusal_formats=RefusalFormats({k: v for protocol in protocols for k, v in protocol.refusal_formats.items()}),
    )


def _body_bytes(settings: Settings) -> int:
    """Return the limit on the bytes of all bodies: at least two whole ones, because a sender gets half of it."""
    chosen = settings.limits.body_bytes
    return max(chosen, 2 * settings.max_body_bytes) if chosen else 0


async def serve(application: Application, announce: Callable[[str, bool], None]) -> None:
    """Listen until a signal to stop. Call `announce(url, needs_key)` once requests are answered."""
    settings = application.settings
    authenticator = application.authenticator(open_without_keys=_is_loopback(settings.host))
    if needs_key(settings):
        await _refuse_without_key(settings, authenticator)
    _refuse_without_code_roots(settings)
    listener = _listen(settings.host, settings.port)
    await application.open()
    application.learn_skills()
    application.warm_up()
    await authenticator.has_active_key()  # loads `has_keys`, on which the documentation depends
    url = _url(listener, settings.host)
    tools = _tool_server(application)

    class AnnouncingServer(AcceptingServer):
        _asked_to_stop = 0.0

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            announce(url, authenticator.has_keys)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            tools.close_subscriptions()
            await super().shutdown(sockets=sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            # Uvicorn would raise the signal again when it ends, and kill the process before the store is closed.
            now = time.monotonic()
            if not self.should_exit:
                self.should_exit, self._asked_to_stop = True, now
            elif now - self._asked_to_stop > REPEATED_SIGNAL_SECONDS:
                self.force_exit = True

    config = uvicorn.Config(
        _http_app(application, tools, authenticator),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the edge reads them, and only from the proxies named by the settings
        http=BoundedHttp,
        ws=BoundedWebSocket,
        ws_max_size=settings.synapse.max_frame_bytes,
        ws_max_queue=MAX_WEBSOCKET_QUEUE,
        # A compressed frame can expand a thousandfold, and each socket would hold two compression windows.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
    )
    with listener, announce_server(settings.home, url):
        await AnnouncingServer(config).serve(sockets=[listener])


def needs_key(settings: Settings) -> bool:
    """Return whether the server must refuse to start without a key: in production, and beyond loopback."""
    return settings.environment == "production" or not _is_loopback(settings.host)


async def _refuse_without_key(settings: Settings, authenticator: "KeyAuthenticator") -> None:
    # Opening a new store would create it, only to find no key in it.
    is_new = not (settings.home / "scrubjay.db").exists()
    if settings.api_key is not None or (not is_new and await authenticator.has_active_key()):
        return
    is_local = _is_loopback(settings.host)
    why = "the environment is production" if is_local else f"{settings.host} can be reached from other machines"
    raise Misconfigured(
        f"{why}, and no key is set",
        hint="create a key with `scrubjay keys create`, or set SCRUBJAY_API_KEY to a long random string",
    )


def _refuse_without_code_roots(settings: Settings) -> None:
    """Refuse to listen beyond loopback while it is left open which folders may be indexed."""
    if settings.code.roots or not settings.code.enabled or _is_loopback(settings.host):
        return
    raise Misconfigured(
        f"{settings.host} can be reached from other machines, and SCRUBJAY_CODE_ROOTS does not say which folders may "
        "be indexed",
        hint="set it, for example to '[\"/srv/code\"]', or offer no tools for code with SCRUBJAY_CODE_ENABLED=false",
    )


def client_configuration(url: str, *, with_key: bool) -> dict[str, object]:
    """Return the MCP configuration for an agent; it names the variable that holds the key, never the key."""
    server: dict[str, object] = {"type": "http", "url": f"{url}/mcp"}
    if with_key:
        server["headers"] = {"Authorization": "Bearer ${SCRUBJAY_API_KEY}"}
    return {"mcpServers": {"scrubjay": server}}


def _is_loopback(host: str) -> bool:
    """Return whether every address of this host is a loopback address."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise Misconfigured(f"the host {host!r} cannot be resolved: {error}", hint="use 127.0.0.1") from error
    return all(is_loopback(str(address[4][0])) for address in found)


def _served_names(settings: Settings) -> list[str]:
    """Return the host names that are answered; refusing all others prevents DNS rebinding by web pages."""
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
