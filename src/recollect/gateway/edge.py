"""What every HTTP request passes before a gateway sees it: a request id, the host guard, the key, the body limit."""

import hmac
import logging
import re
from collections.abc import Sequence

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.domain.breakage import place_of
from recollect.domain.errors import Forbidden, RecollectError, TooLarge, Unauthenticated
from recollect.domain.identifiers import new_id
from recollect.gateway.circumstances import address_of, traceparent_of
from recollect.gateway.http_errors import error_response, unforeseen
from recollect.toolkit.border import printable

logger = logging.getLogger("recollect.edge")

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:/@]+)(:\d{1,5})?", re.ASCII)
_SANE_REQUEST_ID = re.compile(r"[\w.:-]{1,100}", re.ASCII)

# A browser cannot send a key with the first request of a page. The page tells nothing and asks for the key itself.
_OPEN_PATHS = frozenset({"/health", "/docs"})

# How long the rest of a refused body is read and thrown away. To close at once would reset the connection of a client
# that is still sending, and the reset destroys the answer before it is read.
_LINGER_SECONDS = 10.0

_ALWAYS = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))
_UNLESS_SET = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


def request_id_of(scope: Scope) -> str:
    """The id that the edge gave to this request; a fresh one where no edge stands in front."""
    state: dict[str, str] = scope.setdefault("state", {})
    if "request_id" not in state:
        state["request_id"] = new_id("req")
    return state["request_id"]


class Edge:
    """Stands in front of all HTTP gateways. What it refuses never reaches them."""

    def __init__(self, app: ASGIApp, *, api_key: str | None, max_body_bytes: int, allowed_hosts: Sequence[str]) -> None:
        self._app = app
        self._key = api_key.encode() if api_key else None
        self._max_body_bytes = max_body_bytes
        self._hosts = _LOOPBACK | {host.lower() for host in allowed_hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "websocket":
            try:
                self._guard(scope)
            except RecollectError:
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self._app(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _SANE_REQUEST_ID.fullmatch(given) else new_id("req")
        scope.setdefault("state", {})["request_id"] = request_id
        incoming = _Incoming(receive)
        answer = _Answer(send, request_id)
        try:
            self._guard(scope)
            body = await self._read(scope, incoming)
        except RecollectError as error:
            logger.info("refused", extra={"request_id": request_id, "outcome": error.code, **_told_of(scope)})
            await _refuse(error, request_id, incoming, answer)
            return
        if body is None:
            return
        try:
            await self._app(scope, _replay(body, receive), answer)
        except Exception as error:  # a bug in a gateway: its message may quote the request, so only the place is logged
            logger.error("a request broke", extra={"request_id": request_id, **_told_of(scope), **place_of(error)})
            if not answer.started:
                await error_response(unforeseen(error, request_id), request_id)(scope, receive, answer)

    def _guard(self, scope: Scope) -> None:
        """Refuse pages of strangers, which reach a loopback server by rebinding their name, and callers without key."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._serves(hosts[0]):
            raise Forbidden(
                f"this server does not answer to the host {printable(', '.join(hosts))!r}",
                hint="use a loopback address, or add the host to the server's allowed hosts",
            )
        for origin in headers.getlist("origin"):
            if not self._serves(origin.partition("://")[2]):
                raise Forbidden(
                    f"pages of the origin {printable(origin)!r} may not use this server",
                    hint="open the page from a loopback address, or add its host to the server's allowed hosts",
                )
        if self._key and scope["path"] not in _OPEN_PATHS:
            scheme, _, key = headers.get("authorization", "").partition(" ")
            right_key = hmac.compare_digest(key.strip().encode("latin-1"), self._key)
            if scheme.lower() != "bearer" or not right_key:
                raise Unauthenticated(
                    "this key is not valid here" if key else "this server needs a key",
                    hint="send the header Authorization: Bearer KEY",
                )

    def _serves(self, authority: str) -> bool:
        matched = _AUTHORITY.fullmatch(authority.lower())
        return matched is not None and matched[1] in self._hosts

    async def _read(self, scope: Scope, incoming: "_Incoming") -> bytes | None:
        """The whole body, or None when the client left; more than the limit is refused without being kept."""
        announced = Headers(scope=scope).get("content-length", "").lstrip("0")
        if announced.isdecimal() and (len(announced) > 18 or int(announced) > self._max_body_bytes):
            raise self._too_large()
        chunks: list[bytes] = []
        size = 0
        while not incoming.complete:
            chunk = await incoming.next_chunk()
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


def _told_of(scope: Scope) -> dict[str, str]:
    """What a log may tell of a request: not its query, and no header but that of its trace."""
    told = {"path": printable(scope["path"]), "method": printable(scope["method"])}
    if (address := address_of(scope)) is not None:
        told["address"] = address
    if (traceparent := traceparent_of(scope)) is not None:
        told["trace_id"] = traceparent.split("-")[1]
    return told


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
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
            present = {name for name, _ in headers}
            headers += [(b"x-request-id", self._request_id.encode()), *_ALWAYS]
            headers += [header for header in _UNLESS_SET if header[0] not in present]
            message = {**message, "headers": headers}
        await self._send(message)


async def _refuse(error: RecollectError, request_id: str, incoming: _Incoming, answer: _Answer) -> None:
    """Answer at once, but end the answer only when the client has stopped sending."""
    response = error_response(error, request_id)
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
