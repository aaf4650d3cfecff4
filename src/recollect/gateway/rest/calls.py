"""Calling a tool by `POST /v1/tools/{name}`: the hot path, so it is plain ASGI."""

import asyncio
import re
from collections.abc import Awaitable
from typing import Any, cast

import anyio
from pydantic import BaseModel
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect.domain.errors import InvalidRequest
from recollect.gateway.callers import caller_of
from recollect.gateway.circumstances import address_of, traceparent_of
from recollect.gateway.edge import request_id_of
from recollect.gateway.http_errors import MalformedBody
from recollect.gateway.rest.connection import cancel_when_disconnected
from recollect.toolkit.context import CallContext
from recollect.toolkit.dispatcher import Dispatcher
from recollect.toolkit.jobview import JobView

CLIENT_HEADER = "Recollect-Client"
CLIENT_PATTERN = "^[!-~]([ -~]{0,98}[!-~])?$"

# Proxies and clients give up on a silent request after about a minute; the job goes on and can be asked for.
MAX_WAIT_SECONDS = 60

_CLIENT = re.compile(CLIENT_PATTERN)
_WAIT = re.compile(r"(?:^|,)\s*wait\s*=\s*\"?(\d{1,9})\"?\s*(?=[,;]|$)", re.ASCII | re.IGNORECASE)


class ToolCalls:
    """Answers calls of all tools, listed or not, for as long as their clients stay connected."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        name: str = scope["path_params"]["name"]
        wait = _wait(request.headers)
        context = CallContext(
            surface="rest",
            caller=caller_of(scope),
            client=client_of(request.headers),
            address=address_of(scope),
            traceparent=traceparent_of(scope),
            patience=wait or 0,
            request_id=request_id_of(scope),
        )
        answer = await while_connected(receive, self._dispatcher.call(name, arguments_of(body), context))
        if answer is not None:
            await self._respond(name, answer, wait)(scope, receive, send)

    def _respond(self, name: str, answer: BaseModel, wait: int | None) -> Response:
        status = 200
        headers: dict[str, str] = {}
        if self._dispatcher.registry.get(name).runs_as_job:
            job = cast(JobView[Any], answer)
            if not job.state.ended:
                status = 202
                headers["Location"] = f"/v1/jobs/{job.job_id}"
            if wait is not None:
                headers["Preference-Applied"] = f"wait={wait}"
        return Response(answer.model_dump_json(by_alias=True), status, headers, "application/json")


async def while_connected(receive: Receive, call: Awaitable[BaseModel]) -> BaseModel | None:
    """The call's answer; None when the client left, after the call has been stopped."""
    with anyio.CancelScope() as connected:
        # Not a task group: it would cost every call 80 microseconds, and wrap what the call raises.
        watcher = asyncio.create_task(cancel_when_disconnected(receive, connected))
        try:
            return await call
        finally:
            watcher.cancel()


def arguments_of(body: bytes) -> dict[str, Any]:
    """The body's JSON object; an empty body is an empty one. The reader bounds depth and knows no NaN."""
    if not body.strip():
        return {}
    try:
        arguments = from_json(body, allow_inf_nan=False)
    except ValueError as problem:
        raise MalformedBody(f"the body is not JSON: {problem}", hint="send one JSON object, as UTF-8") from None
    if not isinstance(arguments, dict):
        raise MalformedBody("the body is not a JSON object", hint="send the tool's fields as one JSON object")
    return cast(dict[str, Any], arguments)


def client_of(headers: Headers) -> str | None:
    """Who calls, marked as told over HTTP so that nobody can pose as a client of another door."""
    name = headers.get(CLIENT_HEADER)
    if name is None:
        return None
    if not _CLIENT.fullmatch(name):
        raise InvalidRequest(f"{CLIENT_HEADER} must be 1 to 100 printable ASCII characters")
    return f"http:{name}"


def _wait(headers: Headers) -> int | None:
    """The seconds that `Prefer: wait=…` asks for, at most the limit; a preference not understood is none (RFC 7240)."""
    asked = _WAIT.search(", ".join(headers.getlist("prefer")))
    return min(int(asked[1]), MAX_WAIT_SECONDS) if asked else None
