"""One HTTP request of any protocol: who calls, what they sent, and working only as long as they stay."""

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
from scrubjay.servers.http.edge import request_id_of
from scrubjay.servers.http.errors import MalformedBody
from scrubjay.servers.http.request_metadata import address_of, header_of, traceparent_of
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.events import Requester
from scrubjay.tooling.process_events import requester_fields

CLIENT_HEADER: Final = "Scrubjay-Client"
SESSION_HEADER: Final = "Scrubjay-Session"
LABEL_PATTERN: Final = "^[!-~]([ -~]{0,98}[!-~])?$"
_LABEL = re.compile(LABEL_PATTERN)

T = TypeVar("T")


async def body_of(receive: Receive) -> bytes | None:
    """All that was sent; None when the client left meanwhile."""
    chunks: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def object_of(body: bytes) -> dict[str, Any]:
    """The body's JSON object; an empty body is an empty one. The reader bounds depth and knows no NaN."""
    if not body.strip():
        return {}
    try:
        found = from_json(body, allow_inf_nan=False)
    except ValueError as problem:
        raise MalformedBody(f"the body is not JSON: {problem}", hint="send one JSON object, as UTF-8") from None
    if not isinstance(found, dict):
        raise MalformedBody("the body is not a JSON object", hint="send the fields as one JSON object")
    return cast(dict[str, Any], found)


def context_of(scope: Scope, *, surface: str, patience: float = 0, client: str | None = None) -> CallContext:
    """Whose call it is, and over what; `client` is who calls when the request does not say."""
    return CallContext(
        surface=surface,
        caller=caller_of(scope),
        client=client_in(scope) or client,
        address=address_of(scope),
        traceparent=traceparent_of(scope),
        patience=patience,
        request_id=request_id_of(scope),
    )


def requester_of(scope: Scope) -> Requester:
    """Return who sends this request, for events."""
    caller = caller_of(scope)
    return Requester(
        caller=caller.name, key_id=caller.key_id, address=address_of(scope), request_id=request_id_of(scope)
    )


def who_of(scope: Scope) -> dict[str, str]:
    """Return who sends this request as fields of a security event."""
    return requester_fields(requester_of(scope))


def client_of(headers: Headers) -> str | None:
    """Who calls, marked as told over HTTP so that nobody can pose as a client of another door."""
    name = label_of(headers, CLIENT_HEADER)
    return None if name is None else f"http:{name}"


def client_in(scope: Scope) -> str | None:
    """The same, of a request that is not read yet."""
    name = checked_label(header_of(scope, CLIENT_HEADER.lower().encode()), CLIENT_HEADER)
    return None if name is None else f"http:{name}"


def label_of(headers: Headers, name: str) -> str | None:
    """What a header names; `InvalidRequest` when that is no name."""
    return checked_label(headers.get(name), name)


def checked_label(given: str | None, name: str) -> str | None:
    if given is not None and not _LABEL.fullmatch(given):
        raise InvalidRequest(f"{name} must be 1 to 100 printable ASCII characters")
    return given


async def while_connected(receive: Receive, work: Awaitable[T]) -> T | None:
    """What comes of the work; None when the client left, after the work has been stopped."""
    with anyio.CancelScope() as connected:
        # Not a task group: it would cost every call 80 microseconds, and wrap what the work raises. And not before the
        # work waits for something: until then nothing is heard of the client, and most calls end without waiting.
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
    """Cancel the scope as soon as the client leaves; the request's body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
