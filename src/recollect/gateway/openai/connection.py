"""One request of a client: who calls, what they sent, and working only as long as they stay."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, cast

import anyio
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect.domain.callers import OWNER, Caller
from recollect.domain.errors import Internal, InvalidRequest, RecollectError
from recollect.gateway.circumstances import address_of, traceparent_of
from recollect.gateway.edge import request_id_of
from recollect.gateway.openai.errors import WrongField, failure
from recollect.toolkit.context import CallContext

CLIENT_HEADER = "Recollect-Client"
SESSION_HEADER = "Recollect-Session"
_LABEL = re.compile("[!-~]([ -~]{0,98}[!-~])?")

Answering = Callable[[dict[str, Any], CallContext, Headers], Awaitable[Response]]


class Endpoint:
    """Answers requests with a JSON body, for as long as their clients stay connected."""

    def __init__(self, answer: Answering) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        with anyio.CancelScope() as connected:
            # Not a task group, which would wrap what is raised.
            watcher = asyncio.create_task(_cancel_when_disconnected(receive, connected))
            try:
                try:
                    context = context_of(scope)
                    response = await self._answer(object_of(body), context, request.headers)
                except RecollectError as error:
                    response = failure(error)
                await response(scope, receive, send)
            finally:
                watcher.cancel()


async def _cancel_when_disconnected(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def context_of(scope: Scope) -> CallContext:
    """Whose call it is, and over what."""
    caller = scope.get("state", {}).get("caller", OWNER)
    if not isinstance(caller, Caller):
        raise Internal("the edge admitted somebody whom nobody knows")
    client = label_of(Headers(scope=scope), CLIENT_HEADER)
    # Marked as told over HTTP, so that nobody can pose as a client of another door.
    client = f"http:{client}" if client is not None else None
    return CallContext(
        surface="openai",
        caller=caller,
        client=client,
        address=address_of(scope),
        traceparent=traceparent_of(scope),
        patience=0,
        request_id=request_id_of(scope),
    )


def label_of(headers: Headers, name: str) -> str | None:
    given = headers.get(name)
    if given is not None and not _LABEL.fullmatch(given):
        raise InvalidRequest(f"{name} must be 1 to 100 printable ASCII characters")
    return given


def object_of(body: bytes) -> dict[str, Any]:
    """The body's JSON object. The reader bounds depth and knows no NaN."""
    try:
        found = from_json(body, allow_inf_nan=False)
    except ValueError as problem:
        raise WrongField(f"the body is not JSON: {problem}", None) from None
    if not isinstance(found, dict):
        raise WrongField("the body is not a JSON object", None)
    return cast(dict[str, Any], found)
