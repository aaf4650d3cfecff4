"""An ASGI endpoint for requests with a JSON body, with errors in OpenAI's format."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.http.errors import MalformedBody
from scrubjay.servers.http.requests import call_context, parse_object, read_body, run_while_connected
from scrubjay.servers.openai.errors import InvalidField, error_response
from scrubjay.tooling.context import CallContext

SURFACE: Final = "openai"

RequestHandler = Callable[[dict[str, Any], CallContext, Headers], Awaitable[Response]]


class JsonEndpoint:
    """Passes the parsed body to a handler, which is cancelled when the client disconnects."""

    def __init__(self, handle: RequestHandler) -> None:
        self._handle = handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(receive)
        if body is not None:
            await run_while_connected(receive, self._respond(body, scope, receive, send))

    async def _respond(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            context = call_context(scope, surface=SURFACE)
            response = await self._handle(_object_of(body), context, Headers(scope=scope))
        except ScrubjayError as error:
            response = error_response(error)
        await response(scope, receive, send)


def _object_of(body: bytes) -> dict[str, Any]:
    try:
        return parse_object(body)
    except MalformedBody as error:
        raise InvalidField(error.message, None) from None
