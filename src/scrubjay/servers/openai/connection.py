"""One request of a client: answered in OpenAI's form, for as long as the client stays."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.http.errors import MalformedBody
from scrubjay.servers.http.requests import body_of, context_of, object_of, while_connected
from scrubjay.servers.openai.errors import WrongField, failure
from scrubjay.tooling.context import CallContext

SURFACE: Final = "openai"

Answering = Callable[[dict[str, Any], CallContext, Headers], Awaitable[Response]]


class Endpoint:
    """Answers requests with a JSON body, for as long as their clients stay connected."""

    def __init__(self, answer: Answering) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await body_of(receive)
        if body is not None:
            await while_connected(receive, self._respond(body, scope, receive, send))

    async def _respond(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            context = context_of(scope, surface=SURFACE)
            response = await self._answer(_object_of(body), context, Headers(scope=scope))
        except ScrubjayError as error:
            response = failure(error)
        await response(scope, receive, send)


def _object_of(body: bytes) -> dict[str, Any]:
    try:
        return object_of(body)
    except MalformedBody as error:
        raise WrongField(error.message, None) from None
