"""Asking at Mimo's own address, `POST /v1/mimo/ask`, with its statuses and its failures."""

import time
from typing import Final

from pydantic import BaseModel, Field
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scrubjay.core.errors import Forbidden, InvalidRequest, ScrubjayError
from scrubjay.servers.http.errors import STATUS
from scrubjay.servers.http.requests import body_of, context_of, object_of, while_connected
from scrubjay.tooling.dispatcher import Dispatcher

ASK_PATH: Final = "/v1/mimo/ask"
# The statuses of its failures, beside those with which the edge refuses a request before it comes here.
FAILURES: Final = {
    400: "The body is no JSON object, its fields do not fit, or what they name does not exist; nothing was asked.",
    500: "The question could not be answered.",
    504: "No store that was asked found anything before the time was up.",
}


class MimoFailure(BaseModel):
    """The body of a failed question."""

    error: str
    reason: str | None = Field(default=None, description="What happened, of status 500.")
    timeout_ms: int | None = Field(default=None, description="How long it was waited, of status 504.")
    latency_ms: float | None = Field(default=None, description="Of status 500 and 504.")


class MimoAsk:
    """Answers questions by one tool, for as long as their clients stay connected."""

    def __init__(self, dispatcher: Dispatcher, tool: str) -> None:
        self._dispatcher = dispatcher
        self._tool = tool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        body = await body_of(receive)
        if body is None:
            return
        try:
            arguments = object_of(body)
            if not arguments.get("query"):
                raise InvalidRequest("Missing required parameter: query")
            context = context_of(scope, surface="rest")
            answer = await while_connected(receive, self._dispatcher.call(self._tool, arguments, context))
        except ScrubjayError as error:
            status, answer = _failure(error, _milliseconds_since(started))
        else:
            status = 200
        if answer is not None:
            text = answer.model_dump_json(by_alias=True, exclude_none=status != 200)
            await Response(text, status, media_type="application/json")(scope, receive, send)


def _failure(error: ScrubjayError, milliseconds: float) -> tuple[int, MimoFailure]:
    if isinstance(error, Forbidden):
        return STATUS[error.code], MimoFailure(error=error.message)
    if STATUS[error.code] < 500:  # whatever the caller got wrong
        return 400, MimoFailure(error=error.message)
    if "timeout_ms" in error.details:
        timeout_ms = int(error.details["timeout_ms"])
        return 504, MimoFailure(error="Query timed out", timeout_ms=timeout_ms, latency_ms=milliseconds)
    return 500, MimoFailure(error="Query failed", reason=error.message, latency_ms=milliseconds)


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)
