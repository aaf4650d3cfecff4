"""Mimo's question endpoint, `POST /v1/mimo/ask`, with its status codes and error bodies."""

import time
from typing import Final

from pydantic import BaseModel, Field
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scrubjay.core.errors import Forbidden, InvalidRequest, ScrubjayError
from scrubjay.servers.http.errors import STATUS
from scrubjay.servers.http.requests import call_context, parse_object, read_body, run_while_connected
from scrubjay.tooling.dispatcher import Dispatcher

ASK_PATH: Final = "/v1/mimo/ask"
# Status codes of failures, in addition to those of requests that the edge refuses first.
FAILURES: Final = {
    400: "The body is not a JSON object, a field is invalid, or a named object does not exist. No query was run.",
    500: "The query failed.",
    504: "No store returned a result within the timeout.",
}


class MimoFailure(BaseModel):
    """Body of a failed query."""

    error: str
    reason: str | None = Field(default=None, description="Cause of the failure; only with status 500.")
    timeout_ms: int | None = Field(
        default=None, description="The timeout that expired, in milliseconds; only with status 504."
    )
    latency_ms: float | None = Field(
        default=None, description="Duration of the request in milliseconds; only with status 500 and 504."
    )


class MimoAsk:
    """ASGI endpoint that answers queries with one tool. A client that disconnects cancels its query."""

    def __init__(self, dispatcher: Dispatcher, tool: str) -> None:
        self._dispatcher = dispatcher
        self._tool = tool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        body = await read_body(receive)
        if body is None:
            return
        try:
            arguments = parse_object(body)
            if not arguments.get("query"):
                raise InvalidRequest("Missing required parameter: query")
            context = call_context(scope, surface="rest")
            answer = await run_while_connected(receive, self._dispatcher.call(self._tool, arguments, context))
        except ScrubjayError as error:
            status, answer = _to_failure(error, _milliseconds_since(started))
        else:
            status = 200
        if answer is not None:
            text = answer.model_dump_json(by_alias=True, exclude_none=status != 200)
            await Response(text, status, media_type="application/json")(scope, receive, send)


def _to_failure(error: ScrubjayError, milliseconds: float) -> tuple[int, MimoFailure]:
    if isinstance(error, Forbidden):
        return STATUS[error.code], MimoFailure(error=error.message)
    if STATUS[error.code] < 500:  # the caller's mistake, whatever it was
        return 400, MimoFailure(error=error.message)
    if "timeout_ms" in error.details:
        timeout_ms = int(error.details["timeout_ms"])
        return 504, MimoFailure(error="Query timed out", timeout_ms=timeout_ms, latency_ms=milliseconds)
    return 500, MimoFailure(error="Query failed", reason=error.message, latency_ms=milliseconds)


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)
