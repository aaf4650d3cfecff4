"""Errors in OpenAI's shape: of requests that are refused before they reach its routes, and of the routes themselves."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrubjay.core.errors import InvalidRequest, NotFound, ScrubjayError
from scrubjay.servers.http.edge import request_id_of
from scrubjay.servers.http.errors import unforeseen
from scrubjay.servers.http.refusals import RefusalFormat
from scrubjay.servers.openai.errors import Json, failure, shaped
from scrubjay.tooling.validation import printable

ROOTS: Final = ("/v1/chat/completions", "/v1/models", "/v1/embeddings", "/v1/responses")


def refusal_body(error: ScrubjayError, status: int, event_id: str) -> Json:
    """Return the body of a request that the edge refuses."""
    message = f"{error.message}. Hint: {error.hint}" if error.hint else error.message
    return shaped(status, message, code="invalid_api_key" if status == 401 else error.code.value)


def reworded_refusal(words: Mapping[str, Any], status: int) -> Json:
    """Return the same with the `error` and `reason` of another protocol."""
    error, reason = words["error"], words.get("reason")
    return shaped(status, f"{error}: {reason}" if reason else error, code="invalid_api_key" if status == 401 else None)


REFUSAL_FORMATS: Final[Mapping[str, RefusalFormat]] = dict.fromkeys(ROOTS, refusal_body)


class OpenAIErrors:
    """Wraps one route, so that a wrong method and a bug are answered in OpenAI's shape too."""

    def __init__(self, app: ASGIApp, methods: Sequence[str]) -> None:
        self._app = app
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in self._methods:
            await self._wrong_method(scope)(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:  # a bug: the edge publishes it
            if not started:
                await failure(unforeseen(error, request_id_of(scope)))(scope, receive, send)
            raise

    def _wrong_method(self, scope: Scope) -> Response:
        allowed = ", ".join(sorted(self._methods))
        error = InvalidRequest(
            f"{printable(scope['path'])} does not take {printable(scope['method'])}", hint=f"it takes {allowed}"
        )
        error.details = {"status": 405}
        response = failure(error)
        response.headers["Allow"] = allowed
        return response


class NotFoundEndpoint:
    """Answers below a route that has nothing below it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = NotFound(f"there is nothing at {printable(scope['path'])}", hint="/docs shows what there is")
        await failure(error)(scope, receive, send)
