"""Read an HTTP request of any protocol: body, caller, client; and stop the work when the client disconnects."""

import asyncio
import re
from collections.abc import Awaitable
from typing import Any, Final, TypeVar, cast

import anyio
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.types import Receive, Scope

from scrubjay.core.errors import InvalidRequest
from scrubjay.servers.http.callers import caller_of
from scrubjay.servers.http.errors import MalformedBody
from scrubjay.servers.http.request_metadata import address_of, header_of, request_id_of, traceparent_of
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.events import Requester
from scrubjay.tooling.process_events import requester_fields

CLIENT_HEADER: Final = "Scrubjay-Client"
SESSION_HEADER: Final = "Scrubjay-Session"
LABEL_PATTERN: Final = "^[!-~]([ -~]{0,98}[!-~])?$"
_LABEL = re.compile(LABEL_PATTERN)

T = TypeVar("T")


async def read_body(receive: Receive) -> bytes | None:
    """Return the whole body; None when the client disconnected while sending it."""
    chunks: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def parse_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in the body, `{}` for an empty body; NaN and deep nesting raise `MalformedBody` too."""
    if not body.strip():
        return {}
    try:
        parsed = from_json(body, allow_inf_nan=False)
    except ValueError as problem:
        raise MalformedBody(f"the body is not JSON: {problem}", hint="send one JSON object, as UTF-8") from None
    if not isinstance(parsed, dict):
        raise MalformedBody("the body is not a JSON object", hint="send the fields as one JSON object")
    return cast(dict[str, Any], parsed)


def call_context(scope: Scope, *, surface: str, patience: float = 0, client: str | None = None) -> CallContext:
    """Return the context of a tool call; `client` is the client's name when the request has no header for it."""
    return CallContext(
        surface=surface,
        caller=caller_of(scope),
        client=client_from_scope(scope) or client,
        address=address_of(scope),
        traceparent=traceparent_of(scope),
        patience=patience,
        request_id=request_id_of(scope),
    )


def requester_of(scope: Scope) -> Requester:
    """Return the sender of this request, for events."""
    caller = caller_of(scope)
    return Requester(
        caller=caller.name, key_id=caller.key_id, address=address_of(scope), request_id=request_id_of(scope)
    )


def requester_fields_of(scope: Scope) -> dict[str, str]:
    """Return the sender of this request as fields of a security event."""
    return requester_fields(requester_of(scope))


def client_from_headers(headers: Headers) -> str | None:
    """Return the client's name with the prefix `http:`, so that it cannot pose as a client of another surface."""
    name = label_from_headers(headers, CLIENT_HEADER)
    return None if name is None else f"http:{name}"


def client_from_scope(scope: Scope) -> str | None:
    """Like `client_from_headers`, for an ASGI scope."""
    name = checked_label(header_of(scope, CLIENT_HEADER.lower().encode()), CLIENT_HEADER)
    return None if name is None else f"http:{name}"


def label_from_headers(headers: Headers, name: str) -> str | None:
    """Return the value of a header that holds a name; raise `InvalidRequest` when it is not a valid name."""
    return checked_label(headers.get(name), name)


def checked_label(given: str | None, name: str) -> str | None:
    if given is not None and not _LABEL.fullmatch(given):
        raise InvalidRequest(f"{name} must be 1 to 100 printable ASCII characters")
    return given


async def run_while_connected(receive: Receive, work: Awaitable[T]) -> T | None:
    """Return the result of the work; None when the client disconnected, after the work was cancelled."""
    with anyio.CancelScope() as connected:
        # Not a task group: it would cost every call 80 microseconds and wrap the exceptions of the work. The watcher
        # starts only when the work first waits for something, because most calls end without waiting.
        watcher: asyncio.Task[None] | None = None

        def watch() -> None:
            nonlocal watcher
            watcher = asyncio.create_task(cancel_when_disconnected(receive, connected))

        waiting = asyncio.get_running_loop().call_soon(watch)
        try:
            return await work
        finally:
            waiting.cancel()
            if watcher is not None:
                watcher.cancel()


async def cancel_when_disconnected(receive: Receive, scope: anyio.CancelScope) -> None:
    """Cancel the scope when the client disconnects; the request's body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
