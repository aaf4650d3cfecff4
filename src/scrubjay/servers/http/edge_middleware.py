"""The checks that every HTTP request and WebSocket passes before it reaches a server.

In this order: request id, host and origin, blocked addresses, key, rate limits, load, body, time limit. Each check is a
class of its own; the middleware says in which order they apply, and turns their errors into responses.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from scrubjay.core.callers import ANONYMOUS, Authenticator, Caller
from scrubjay.core.errors import ScrubjayError
from scrubjay.core.ids import new_id
from scrubjay.servers.http.abuse import AbuseTracker, AddressBlocked
from scrubjay.servers.http.admission import OPEN_PATHS, Admission
from scrubjay.servers.http.application_run import ApplicationLimits, ApplicationRun, deadline_after
from scrubjay.servers.http.client_address import AddressResolver
from scrubjay.servers.http.client_connection import connection_of
from scrubjay.servers.http.cors import AllowedOrigins, cors_headers, preflight
from scrubjay.servers.http.edge_response import EdgeResponse
from scrubjay.servers.http.host_check import HostCheck
from scrubjay.servers.http.load_limits import LoadShedder, RunningRequest
from scrubjay.servers.http.places import Place, Places, senders_of
from scrubjay.servers.http.rate_limits import RateLimiter, TooManyRequests
from scrubjay.servers.http.refusals import RefusalFormats, reason_of, refusal_response, refuse_socket
from scrubjay.servers.http.request_body import RequestBody, replay
from scrubjay.servers.http.request_metadata import header_of, request_id_of
from scrubjay.tooling.security_events import request_refused

_REQUEST_ID = re.compile(r"[\w.:-]{1,100}", re.ASCII)


def _unlimited() -> Places:
    return Places(0, "places")


@dataclass(frozen=True, slots=True)
class EdgeGuards:
    """Limits and checks of the edge besides keys, shared by everything on the same port."""

    limits: RateLimiter = field(default_factory=RateLimiter)
    abuse: AbuseTracker = field(default_factory=AbuseTracker)
    load: LoadShedder = field(default_factory=LoadShedder)
    streams: Places = field(default_factory=_unlimited)
    """Places of WebSockets and event streams, which stay open."""
    bodies: Places = field(default_factory=_unlimited)
    """Bytes of the bodies that are held in memory."""
    addresses: AddressResolver = field(default_factory=AddressResolver)
    origins: AllowedOrigins = field(default_factory=AllowedOrigins)
    request_seconds: float | None = None
    """Maximum seconds until a response starts."""
    late_key_paths: Collection[str] = ()
    """WebSocket paths that authenticate after the connection is open."""
    optional_key_prefixes: tuple[str, ...] = ()
    """Path prefixes where clients send a key even to a server without keys."""
    refusal_formats: RefusalFormats = field(default_factory=RefusalFormats)


class EdgeMiddleware:
    """ASGI middleware in front of all HTTP servers; refused requests never reach them."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        authenticator: Authenticator,
        max_body_bytes: int,
        allowed_hosts: Sequence[str],
        guards: EdgeGuards | None = None,
    ) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes
        self._guards = guards = guards or EdgeGuards()
        self._hosts = HostCheck(allowed_hosts, guards.origins)
        self._run_limits = ApplicationLimits(authenticator, guards.streams, guards.request_seconds)
        self._admission = Admission(
            authenticator,
            guards.limits,
            guards.abuse,
            guards.addresses,
            late_key_paths=guards.late_key_paths,
            optional_key_prefixes=guards.optional_key_prefixes,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._handle_request(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._handle_websocket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    # -- WebSockets ----------------------------------------------------------------------------------

    async def _handle_websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = self._prepare(scope)
        response = EdgeResponse(send, request_id_of(scope))
        guard = _EdgeSocketGuard(self, scope, address)
        try:
            try:
                self._hosts.check(scope)
                response.add_rate_limit(await self._admission.admit_request(scope, address))
                guard.take_place(scope["state"]["caller"])
            except ScrubjayError as error:
                if isinstance(error, TooManyRequests):
                    response.add_rate_limit(error.status)
                event_id = self._publish_refusal(error, scope, address)
                await refuse_socket(self._refusal(error, scope, event_id), scope, response)
            else:
                scope["state"]["socket_guard"] = guard
                await self._app(scope, receive, response)
        finally:
            guard.release_places()

    async def authenticate_key(self, key: str | None, scope: Scope, address: str) -> Caller:
        """Authenticate a key sent over an open socket; a refusal is published like that of a request."""
        try:
            return await self._admission.authenticate_key(key, scope, address)
        except ScrubjayError as error:
            self._publish_refusal(error, scope, address)
            raise

    def take_socket_place(self, caller: Caller, scope: Scope, address: str) -> Place:
        """Occupy a place for an open socket; a refusal is published like that of a request."""
        try:
            return self._guards.streams.take(self._senders(caller, address))
        except ScrubjayError as error:
            self._publish_refusal(error, scope, address, caller)
            raise

    def count_message(self, caller: Caller, scope: Scope, address: str) -> None:
        """Count a message on an open socket against the rate limits."""
        try:
            self._admission.count(caller, address)
        except ScrubjayError as error:
            self._publish_refusal(error, scope, address, caller)
            raise

    # -- requests ------------------------------------------------------------------------------------

    async def _handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = self._prepare(scope)
        request_body = RequestBody(receive)
        response = EdgeResponse(send, request_id_of(scope))
        running: RunningRequest | None = None
        memory: Place | None = None
        try:
            try:
                self._hosts.check(scope)
                origin = header_of(scope, b"origin")
                response.headers += cors_headers(origin) if origin else ()
                if (preflight_response := preflight(scope)) is not None:
                    response.add_rate_limit(self._admission.admit_anonymous(address))
                    await preflight_response(scope, receive, response)
                    return
                response.add_rate_limit(await self._admission.admit_request(scope, address))
                senders = self._senders(scope["state"]["caller"], address)
                if scope["path"] != "/health":  # health checks must work under overload
                    running = self._guards.load.begin(senders)
                memory = self._guards.bodies.take(senders, 0)
                body = await self._read_body(scope, request_body, memory)
            except ScrubjayError as error:
                _end(running, memory)
                if isinstance(error, TooManyRequests):
                    response.add_rate_limit(error.status)
                event_id = self._publish_refusal(error, scope, address)
                connection_of(scope).make_evictable()
                await response.send_refusal(self._refusal(error, scope, event_id), request_body)
                return
            if body is None:
                return
            if running is not None:
                running.begin_work()
            run = ApplicationRun(self._run_limits, scope, response, running, senders)
            if (problem := await run.run(self._app, replay(body, receive))) is not None:
                event_id = self._publish_refusal(problem, scope, address)
                await self._refusal(problem, scope, event_id)(scope, receive, response)
        finally:
            _end(running, memory)

    async def _read_body(self, scope: Scope, request_body: RequestBody, memory: Place) -> bytes | None:
        if scope["path"] in OPEN_PATHS:  # they use no body, so none is read
            return b""
        deadline = deadline_after(self._guards.request_seconds)
        return await request_body.read(scope, memory, max_bytes=self._max_body_bytes, deadline=deadline)

    def _prepare(self, scope: Scope) -> str:
        """Assign the request id and determine the client address."""
        given = header_of(scope, b"x-request-id") or ""
        address = self._guards.addresses.of(scope)
        state = scope.setdefault("state", {})
        state["request_id"] = given if _REQUEST_ID.fullmatch(given) else new_id("req")
        state["address"] = address
        if (scheme := self._guards.addresses.scheme_of(scope)) is not None:
            is_websocket = scope["type"] == "websocket"
            scope["scheme"] = {"http": "ws", "https": "wss"}[scheme] if is_websocket else scheme
        return address

    def _senders(self, caller: Caller, address: str) -> Sequence[str]:
        return senders_of(caller, address, self._guards.addresses)

    # -- refusing ------------------------------------------------------------------------------------

    def _refusal(self, error: ScrubjayError, scope: Scope, event_id: str) -> Response:
        return refusal_response(error, scope["path"], request_id_of(scope), event_id, self._guards.refusal_formats)

    def _publish_refusal(self, error: ScrubjayError, scope: Scope, address: str, caller: Caller | None = None) -> str:
        caller = caller or scope["state"].get("caller")
        return request_refused(
            "blocked" if isinstance(error, AddressBlocked) else str(error.code),
            reason=reason_of(error),
            address=address,
            path=scope["path"],
            method=scope.get("method", "WEBSOCKET"),
            key_id=caller.key_id if caller is not None else None,
            request_id=request_id_of(scope),
            outcome=str(error.code),
        )


def _end(running: RunningRequest | None, memory: Place | None) -> None:
    if running is not None:
        running.end()
    if memory is not None:
        memory.release()


class _EdgeSocketGuard:
    """Implements `SocketGuard` for a socket that the edge accepted, and holds its places."""

    def __init__(self, edge: EdgeMiddleware, scope: Scope, address: str) -> None:
        self._edge = edge
        self._scope = scope
        self._address = address
        self._places: dict[str | None, Place] = {}

    async def authenticate(self, key: str | None) -> Caller:
        caller = await self._edge.authenticate_key(key, self._scope, self._address)
        self.take_place(caller)
        return caller

    def count(self, caller: Caller) -> None:
        self._edge.count_message(caller, self._scope, self._address)

    def take_place(self, caller: Caller) -> None:
        """Occupy a place for this caller, once for each key that is used on the socket.

        A socket without a key has no place yet: its endpoint closes the oldest of them when it has too many.
        """
        if caller != ANONYMOUS and caller.key_id not in self._places:
            self._places[caller.key_id] = self._edge.take_socket_place(caller, self._scope, self._address)

    def release_places(self) -> None:
        for place in self._places.values():
            place.release()
