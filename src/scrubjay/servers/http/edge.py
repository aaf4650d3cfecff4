"""What every HTTP request passes before a gateway sees it.

In this order: a request id, the host guard, the block of abusers, the key, the limits, the body and time limits.
"""

import asyncio
import math
import re
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrubjay.core.callers import Caller, Doorkeeper
from scrubjay.core.error_location import place_of
from scrubjay.core.errors import Forbidden, ScrubjayError, TooLarge
from scrubjay.core.ids import new_id
from scrubjay.core.request_context import tracking
from scrubjay.servers.http.abuse import Abuse, Blocked
from scrubjay.servers.http.admission import OPEN_PATHS, Admission
from scrubjay.servers.http.client_address import Addresses
from scrubjay.servers.http.cors import Origins, headers_for, preflight
from scrubjay.servers.http.errors import error_response, unforeseen
from scrubjay.servers.http.load_limits import Load
from scrubjay.servers.http.rate_limits import Limits, Standing, TooManyRequests
from scrubjay.servers.http.refusals import CameTooSlowly, RefusalFormats, TookTooLong, reason_of, refusal, refuse_socket
from scrubjay.servers.http.request_metadata import address_of, header_of, traceparent_of
from scrubjay.servers.http.security_headers import Header, with_security_headers
from scrubjay.tooling.events import Requester, RequestFailed
from scrubjay.tooling.process_events import PROCESS_EVENTS
from scrubjay.tooling.security_events import request_refused, security_event
from scrubjay.tooling.validation import printable

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:/@]+)(:\d{1,5})?", re.ASCII)
_SANE_REQUEST_ID = re.compile(r"[\w.:-]{1,100}", re.ASCII)

# A body is there by then, or comes at least so fast: otherwise few clients who send a letter a second could keep all
# others waiting.
_BODY_SECONDS = 30.0
_BODY_BYTES_A_SECOND = 16 * 1024
# How long the rest of a refused body is read and thrown away. To close at once would reset the connection of a client
# that is still sending, and the reset destroys the answer before it is read.
_LINGER_SECONDS = 10.0

# How often it is looked whether whoever listens to a stream is still welcome, also while there is nothing to tell.
TEND_SECONDS = 1.0
# How long the answer let itself be waited for: Mimo tells it of every one.
LATENCY_HEADER: Final = "X-Mimo-Latency-Ms"
_LATENCY: Final = LATENCY_HEADER.lower().encode()
# What each answer begins with: one to a request, to a WebSocket that is refused, or to one that is let in.
_BEGINNINGS = frozenset({"http.response.start", "websocket.http.response.start", "websocket.accept"})


def request_id_of(scope: Scope) -> str:
    """The id that the edge gave to this request; a fresh one where no edge stands in front."""
    state: dict[str, str] = scope.setdefault("state", {})
    if "request_id" not in state:
        state["request_id"] = new_id("req")
    return state["request_id"]


@dataclass(frozen=True, slots=True)
class Guards:
    """What the edge watches over beside keys; each is shared by all that serves the same port."""

    limits: Limits = field(default_factory=Limits)
    abuse: Abuse = field(default_factory=Abuse)
    load: Load = field(default_factory=Load)
    addresses: Addresses = field(default_factory=Addresses)
    origins: Origins = field(default_factory=Origins)
    request_seconds: float | None = None
    """How long the answer to a request may let itself be waited for."""
    keys_asked_later: Collection[str] = ()
    """Paths of WebSockets that ask for the key themselves, once they are open."""
    keys_always_sent: tuple[str, ...] = ()
    """Beginnings of paths where clients send a key also to a server that has none."""
    refusal_formats: RefusalFormats = field(default_factory=RefusalFormats)


class Edge:
    """Stands in front of all HTTP gateways. What it refuses never reaches them."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        doorkeeper: Doorkeeper,
        max_body_bytes: int,
        allowed_hosts: Sequence[str],
        guards: Guards | None = None,
    ) -> None:
        self._app = app
        self._doorkeeper = doorkeeper
        self._max_body_bytes = max_body_bytes
        self._hosts = _LOOPBACK | {host.lower() for host in allowed_hosts}
        self._guards = guards = guards or Guards()
        self._admission = Admission(
            doorkeeper,
            guards.limits,
            guards.abuse,
            guards.addresses,
            keys_asked_later=guards.keys_asked_later,
            keys_always_sent=guards.keys_always_sent,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = self._prepare(scope)
        answer = _Answer(send, request_id_of(scope))
        try:
            self._guard(scope)
            answer.show(await self._admission.of_request(scope, address))
        except ScrubjayError as error:
            if isinstance(error, TooManyRequests):
                answer.show(error.standing)
            event_id = self._tell(error, scope, address)
            await refuse_socket(self._refusal(error, scope, event_id), scope, answer)
        else:
            scope["state"]["visit"] = _Visit(self, scope, address)
            await self._app(scope, receive, answer)

    async def show_key(self, key: str | None, scope: Scope, address: str) -> Caller:
        """Who shows this key over a socket that is open; a refusal is told to the log as that of a request is."""
        try:
            return await self._admission.of_key(key, scope, address)
        except ScrubjayError as error:
            self._tell(error, scope, address)
            raise

    def count_message(self, caller: Caller, scope: Scope, address: str) -> None:
        """Count what is asked over a socket that is open."""
        try:
            self._admission.count(caller, address)
        except ScrubjayError as error:
            self._tell(error, scope, address, caller)
            raise

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = self._prepare(scope)
        request_id = request_id_of(scope)
        incoming = _Incoming(receive)
        answer = _Answer(send, request_id)
        began: float | None = None
        body: bytes | None = None
        try:
            self._guard(scope)
            origin = header_of(scope, b"origin")
            answer.headers += headers_for(origin) if origin else ()
            if (asked := preflight(scope)) is not None:
                answer.show(self._admission.of_stranger(address))
                await asked(scope, receive, answer)
                return
            answer.show(await self._admission.of_request(scope, address))
            if scope["path"] != "/health":  # which is asked to know whether there is too much to do
                began = self._guards.load.begin()
            # What is open to everybody has no use for a body, and waits for none.
            body = b"" if scope["path"] in OPEN_PATHS else await self._read(scope, incoming)
        except ScrubjayError as error:
            self._end(began)
            if isinstance(error, TooManyRequests):
                answer.show(error.standing)
            event_id = self._tell(error, scope, address)
            await _refuse(self._refusal(error, scope, event_id), incoming, answer)
            return
        except BaseException:
            self._end(began)
            raise
        if body is None:
            self._end(began)
            return
        await self._answer(scope, _replay(body, receive), answer, address, began)

    async def _answer(
        self, scope: Scope, receive: Receive, answer: "_Answer", address: str, began: float | None
    ) -> None:
        """Let the gateways answer, within the time limit, for as long as the caller is welcome."""
        caller: Caller = scope["state"]["caller"]
        with anyio.CancelScope(deadline=_in(self._guards.request_seconds)) as work:

            def starts() -> None:
                nonlocal began
                work.deadline = math.inf  # what is sent on as it comes may take as long as it likes
                self._end(began)
                began = None

            def goes_on() -> bool:
                if self._doorkeeper.is_welcome(caller):
                    return True
                self._tell_revoked(scope, address, caller)
                work.cancel()
                return False

            async def keep_looking() -> None:
                while True:
                    await anyio.sleep(TEND_SECONDS)
                    if not goes_on():
                        return

            watching: asyncio.Task[None] | None = None

            def watch() -> None:
                nonlocal watching
                watching = asyncio.create_task(keep_looking())

            if scope["path"] not in OPEN_PATHS:
                answer.goes_on, answer.streams = goes_on, watch
            answer.starts = starts
            try:
                with tracking(request_id_of(scope), traceparent_of(scope)):
                    await self._app(scope, receive, answer)
            except Exception as error:  # a bug: its message may quote the request, so only the place is logged
                request_id = request_id_of(scope)
                PROCESS_EVENTS.publish(_failed(scope, error))
                if not answer.started:
                    await error_response(unforeseen(error, request_id), request_id)(scope, receive, answer)
            finally:
                self._end(began)
                began = None
                if watching is not None:
                    watching.cancel()
        if work.cancelled_caught and not answer.started:
            error = self._took_too_long()
            event_id = self._tell(error, scope, address)
            await self._refusal(error, scope, event_id)(scope, receive, answer)
        elif work.cancelled_caught:
            await answer.cut_off()

    # -- who comes, and from where -------------------------------------------------------------------

    def _prepare(self, scope: Scope) -> str:
        """Give the request its id, and find out where it comes from."""
        given = header_of(scope, b"x-request-id") or ""
        address = self._guards.addresses.of(scope)
        state = scope.setdefault("state", {})
        state["request_id"] = given if _SANE_REQUEST_ID.fullmatch(given) else new_id("req")
        state["address"] = address
        if (scheme := self._guards.addresses.scheme_of(scope)) is not None:
            is_websocket = scope["type"] == "websocket"
            scope["scheme"] = {"http": "ws", "https": "wss"}[scheme] if is_websocket else scheme
        return address

    def _guard(self, scope: Scope) -> None:
        """Refuse pages of strangers, which reach a loopback server by rebinding their name."""
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self._serves(hosts[0]):
            raise Forbidden(
                f"this server does not answer to the host {printable(', '.join(hosts))!r}",
                hint="use a loopback address, or add the host to the server's allowed hosts",
            )
        for origin in [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]:
            if origin not in self._guards.origins and not self._serves(origin.partition("://")[2]):
                raise Forbidden(
                    f"pages of the origin {printable(origin)!r} may not use this server",
                    hint="open the page from a loopback address, or add it to the server's allowed origins",
                )

    # -- refusing ------------------------------------------------------------------------------------

    def _refusal(self, error: ScrubjayError, scope: Scope, event_id: str) -> Response:
        return refusal(error, scope["path"], request_id_of(scope), event_id, self._guards.refusal_formats)

    def _tell(self, error: ScrubjayError, scope: Scope, address: str, caller: Caller | None = None) -> str:
        caller = caller or scope["state"].get("caller")
        return request_refused(
            "blocked" if isinstance(error, Blocked) else str(error.code),
            reason=reason_of(error),
            address=address,
            path=scope["path"],
            method=scope.get("method", "WEBSOCKET"),
            key_id=caller.key_id if caller is not None else None,
            request_id=request_id_of(scope),
            outcome=str(error.code),
        )

    def _tell_revoked(self, scope: Scope, address: str, caller: Caller) -> None:
        security_event(
            "cut_off",
            reason="the key is not valid any more",
            address=address,
            path=scope["path"],
            method=scope["method"],
            key_id=caller.key_id,
            request_id=request_id_of(scope),
        )

    def _end(self, began: float | None) -> None:
        if began is not None:
            self._guards.load.end(began)

    def _took_too_long(self) -> TookTooLong:
        seconds = self._guards.request_seconds
        return TookTooLong(
            f"the request was not answered within {seconds:g} seconds, and was stopped",
            hint="ask for less, or let it run as a job",
            details={"timeout_ms": round((seconds or 0) * 1000)},
        )

    def _serves(self, authority: str) -> bool:
        matched = _AUTHORITY.fullmatch(authority.lower())
        return matched is not None and matched[1] in self._hosts

    async def _read(self, scope: Scope, incoming: "_Incoming") -> bytes | None:
        """The whole body, or None when the client left; more than the limit is refused without being kept."""
        announced = (header_of(scope, b"content-length") or "").lstrip("0")
        if announced.isdecimal() and (len(announced) > 18 or int(announced) > self._max_body_bytes):
            raise self._too_large()
        chunks: list[bytes] = []
        size = 0
        latest = _in(self._guards.request_seconds)
        began = asyncio.get_running_loop().time()
        while not incoming.complete:
            deadline = min(latest, began + _BODY_SECONDS + size / _BODY_BYTES_A_SECOND)
            try:
                async with asyncio.timeout_at(deadline):  # which costs a fifth of a scope of anyio's
                    chunk = await incoming.next_chunk()
            except TimeoutError:
                raise CameTooSlowly(
                    "the body of the request did not come in time", hint="send it again, at once"
                ) from None
            if chunk is None:
                return None
            size += len(chunk)
            if size > self._max_body_bytes:
                raise self._too_large()
            chunks.append(chunk)
        return b"".join(chunks)

    def _too_large(self) -> TooLarge:
        return TooLarge(
            f"the body is larger than {self._max_body_bytes} bytes",
            hint="send it in smaller parts",
            details={"limit_bytes": self._max_body_bytes},
        )


def _failed(scope: Scope, error: Exception) -> RequestFailed:
    """Return the event of a bug: not the request's query, and no header but that of its trace."""
    traceparent = traceparent_of(scope)
    return RequestFailed(
        path=printable(scope["path"]),
        method=printable(scope["method"]),
        requester=Requester(
            request_id=request_id_of(scope),
            address=address_of(scope),
            trace_id=traceparent.split("-")[1] if traceparent is not None else None,
        ),
        place=place_of(error),
    )


@dataclass(frozen=True, slots=True)
class _Visit:
    """Satisfies `Visit` with the edge that let a socket in."""

    edge: Edge
    scope: Scope
    address: str

    async def show(self, key: str | None) -> Caller:
        return await self.edge.show_key(key, self.scope, self.address)

    def count(self, caller: Caller) -> None:
        self.edge.count_message(caller, self.scope, self.address)


class _Incoming:
    """A request's body while it arrives."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.complete = False

    async def next_chunk(self) -> bytes | None:
        """The next part of the body; None when the client left."""
        message = await self._receive()
        self.complete = not message.get("more_body", False)
        return message.get("body", b"") if message["type"] == "http.request" else None


class _Answer:
    """Sends an answer with the headers that every answer has."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self._began = time.perf_counter()
        self.headers: list[Header] = []
        self.started = False
        self._has_parts = False
        self.starts: Callable[[], None] | None = None
        self.streams: Callable[[], None] | None = None
        """Told when the answer is one that has no end of its own."""
        self.goes_on: Callable[[], bool] | None = None
        """Asked before each part of an answer that comes in parts."""

    def show(self, standing: Standing | None) -> None:
        self.headers += standing.headers if standing is not None else ()

    async def cut_off(self) -> None:
        """End an answer that came in parts."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            is_part = self._has_parts or message.get("more_body", False)
            if is_part and self.goes_on is not None and not self.goes_on():
                return
            self._has_parts = message.get("more_body", False)
        if message["type"] == "http.response.start":
            self.started = True
            if self.starts is not None:
                self.starts()
            if self.streams is not None and _is_stream(message):
                self.streams()
        if message["type"] in _BEGINNINGS:
            message = {**message, "headers": self._with_ours(message.get("headers", ()))}
        await self._send(message)

    def _with_ours(self, given: Iterable[Header]) -> list[Header]:
        headers = [*given, (b"x-request-id", self._request_id.encode()), *self.headers]
        if not any(name == _LATENCY for name, _ in headers):
            headers.append((_LATENCY, b"%.2f" % ((time.perf_counter() - self._began) * 1000)))
        return with_security_headers(headers)


def _is_stream(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in start.get("headers", ())
    )


async def _refuse(response: Response, incoming: _Incoming, answer: _Answer) -> None:
    """Answer at once, but end the answer only when the client has stopped sending."""
    await answer({"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers})
    await answer({"type": "http.response.body", "body": response.body, "more_body": True})
    with anyio.move_on_after(_LINGER_SECONDS):
        while not incoming.complete:
            await incoming.next_chunk()
    await answer({"type": "http.response.body", "body": b"", "more_body": False})


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body as one message, then whatever the client does."""
    replayed = False

    async def replay() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _in(seconds: float | None) -> float:
    """The moment after so many seconds, on the event loop's clock."""
    return math.inf if not seconds else asyncio.get_running_loop().time() + seconds
