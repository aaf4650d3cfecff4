"""ASGI endpoints under `/api`. Errors use Mira's envelope."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers, QueryParams
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scrubjay.compat.mira.clients import default_client
from scrubjay.compat.mira.envelope import failure
from scrubjay.compat.mira.event_wire import Json
from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import InvalidRequest, NotFound, ScrubjayError
from scrubjay.servers.http.callers import caller_of
from scrubjay.servers.http.errors import internal_error
from scrubjay.servers.http.request_metadata import request_id_of
from scrubjay.servers.http.requests import call_context, parse_object, read_body, run_while_connected
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.validation import printable

logger = logging.getLogger("scrubjay.mira")

SURFACE: Final = "mira"
# A call that takes longer returns its job instead of a result.
PATIENCE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    """A parsed request."""

    body: Json
    query: QueryParams
    path: Mapping[str, str]
    headers: Headers
    context: CallContext


RequestHandler = Callable[[ApiRequest], Awaitable[Response]]


class ApiEndpoint:
    """Answers requests of one path by method. A client that disconnects cancels its request."""

    def __init__(self, handlers: Mapping[str, RequestHandler]) -> None:
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handler = self._handlers.get(scope["method"])
        if handler is None:
            await self._refuse_method(scope)(scope, receive, send)
            return
        body = await read_body(receive)
        if body is not None:
            await run_while_connected(receive, self._respond(handler, body, scope, receive, send))

    async def _respond(self, handler: RequestHandler, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await handler(_parse_request(scope, body))
        except ScrubjayError as error:
            response = failure(error)
        except Exception as error:  # a bug: its message may quote the request, so only the place is logged
            request_id = request_id_of(scope)
            logger.error("request failed", extra={"request_id": request_id, **error_fields(error)})
            response = failure(internal_error(error, request_id))
        await response(scope, receive, send)

    def _refuse_method(self, scope: Scope) -> Response:
        allowed = ", ".join(sorted(self._handlers))
        path, method = printable(scope["path"]), printable(scope["method"])
        response = failure(InvalidRequest(f"{path} does not support {method}", hint=f"use {allowed}"), 405)
        response.headers["Allow"] = allowed
        return response


class MiraNotFoundEndpoint:
    """Answers 404 for paths without a route."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = NotFound(f"no endpoint at {printable(scope['path'])}", hint="see /docs for the list of endpoints")
        await failure(refusal, 404)(scope, receive, send)


def _parse_request(scope: Scope, body: bytes) -> ApiRequest:
    client = default_client(caller_of(scope))
    return ApiRequest(
        body=parse_object(body),
        query=QueryParams(scope["query_string"]),
        path=scope.get("path_params", {}),
        headers=Headers(scope=scope),
        context=call_context(scope, surface=SURFACE, patience=PATIENCE_SECONDS, client=client),
    )
