"""Count HTTP requests by route, and serve `GET /metrics`."""

import time
from collections.abc import Callable, Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrubjay.features.monitoring.metrics import OTHER, Metrics
from scrubjay.servers.http.callers import caller_of
from scrubjay.servers.http.errors import error_response
from scrubjay.servers.http.request_metadata import request_id_of
from scrubjay.servers.http.requests import requester_fields_of
from scrubjay.servers.http.response_status import StatusRecorder
from scrubjay.tooling.security_events import scope_error

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
FAMILY = "server"


class MetricsMiddleware:
    """Counts requests and open WebSockets. It stands first, so that requests which the edge refuses count too."""

    def __init__(self, app: ASGIApp, metrics: Metrics, routes: Callable[[], Iterable[BaseRoute]]) -> None:
        """`routes` is called at the first request, when all routes are known."""
        self._app = app
        self._metrics = metrics
        self._routes = routes
        self._templates: dict[int, str] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                await self._count_request(scope, receive, send)
            case "websocket":
                await self._count_websocket(scope, receive, send)
            case _:
                await self._app(scope, receive, send)

    async def _count_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = StatusRecorder(send)
        started = time.perf_counter()
        try:
            await self._app(scope, receive, response)
        finally:
            status = response.status or 500  # nothing was sent: the server failed
            method = scope["method"] if scope["method"] in _METHODS else OTHER
            self._metrics.count_request(method, self._route(scope), status, time.perf_counter() - started)

    async def _count_websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        opened = False

        async def send_noting_accept(message: Message) -> None:
            nonlocal opened
            await send(message)
            if message["type"] == "websocket.accept" and not opened:
                opened = True
                self._metrics.websocket_opened()

        try:
            await self._app(scope, receive, send_noting_accept)
        finally:
            if opened:
                self._metrics.websocket_closed()

    def _route(self, scope: Scope) -> str:
        """Return the route's template, such as `/v1/jobs/{job_id}`: a bounded number of labels."""
        if self._templates is None:
            self._templates = dict(_templates(self._routes()))
        return self._templates.get(id(scope.get("endpoint")), OTHER)


def _templates(routes: Iterable[BaseRoute], prefix: str = "") -> Iterable[tuple[int, str]]:
    for route in routes:
        path: str | None = getattr(route, "path", None)
        endpoint: object = getattr(route, "endpoint", None) or getattr(route, "app", None)
        if path is not None and endpoint is not None:
            yield id(endpoint), prefix + path
        if isinstance(route, Mount):
            yield from _templates(route.routes or (), prefix + route.path)


def metrics_endpoint(metrics: Metrics) -> Callable[[Request], "object"]:
    """Return the endpoint that serves all metrics to callers whose key has the scope `server:read`."""

    async def serve_metrics(request: Request) -> Response:
        caller = caller_of(request.scope)
        if not caller.may_call(FAMILY, read_only=True):
            fields = {"path": request.url.path, "method": request.method, **requester_fields_of(request.scope)}
            refusal = scope_error(caller, FAMILY, read_only=True, what="the metrics", **fields)
            return error_response(refusal, request_id_of(request.scope))
        text, content_type = await metrics.text(request.headers.get("accept", ""))
        return Response(text, headers={"Content-Type": content_type})

    return serve_metrics
