"""Errors in OpenAI's format, for requests that the edge refuses and for the routes themselves."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrubjay.core.errors import InvalidRequest, NotFound, ScrubjayError
from scrubjay.servers.http.errors import internal_error
from scrubjay.servers.http.refusals import RefusalFormat
from scrubjay.servers.http.request_metadata import request_id_of
from scrubjay.servers.openai.errors import Json, error_body, error_response
from scrubjay.tooling.validation import printable

ROOTS: Final = ("/v1/chat/completions", "/v1/models", "/v1/embeddings", "/v1/responses")


def refusal_body(error: ScrubjayError, status: int, event_id: str) -> Json:
    """Return the body of a request that the edge refuses."""
    message = f"{error.message}. Hint: {error.hint}" if error.hint else error.message
    return error_body(status, message, code="invalid_api_key" if status == 401 else error.code.value)


def convert_refusal(words: Mapping[str, Any], status: int) -> Json:
    """Return the body of a refusal from the `error` and `reason` of Mimo's format."""
    error, reason = words["error"], words.get("reason")
    return error_body(
        status, f"{error}: {reason}" if reason else error, code="invalid_api_key" if status == 401 else None
    )


REFUSAL_FORMATS: Final[Mapping[str, RefusalFormat]] = dict.fromkeys(ROOTS, refusal_body)


class OpenAIErrorMiddleware:
    """Wraps one route: returns wrong methods and unexpected exceptions as errors in OpenAI's format."""

    def __init__(self, app: ASGIApp, methods: Sequence[str]) -> None:
        self._app = app
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in self._methods:
            await self._method_not_allowed(scope)(scope, receive, send)
            return
        started = False

        async def send_noting_start(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, send_noting_start)
        except Exception as error:  # a bug: the edge publishes it
            if not started:
                await error_response(internal_error(error, request_id_of(scope)))(scope, receive, send)
            raise

    def _method_not_allowed(self, scope: Scope) -> Response:
        allowed = ", ".join(sorted(self._methods))
        error = InvalidRequest(
            f"{printable(scope['path'])} does not support {printable(scope['method'])}", hint=f"use {allowed}"
        )
        error.details = {"status": 405}
        response = error_response(error)
        response.headers["Allow"] = allowed
        return response


class OpenAINotFoundEndpoint:
    """Answers 404 for paths below a route that has no subpaths."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = NotFound(f"there is nothing at {printable(scope['path'])}", hint="/docs lists all paths")
        await error_response(error)(scope, receive, send)
