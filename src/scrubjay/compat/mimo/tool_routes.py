"""Mimo's tool endpoints, `POST /v1/mimo/tool` and `GET /v1/mimo/tools`, with its response envelopes."""

import time
from collections.abc import Mapping
from typing import Any, Final, cast
from uuid import uuid4

from pydantic import BaseModel, Field
from pydantic_core import to_jsonable_python
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scrubjay.compat.mimo.tool_names import NOT_IN_SANDBOX
from scrubjay.core.errors import ErrorCode, Forbidden, InvalidRequest, ScrubjayError
from scrubjay.servers.http.admission import SANDBOX_HEADER
from scrubjay.servers.http.request_metadata import header_of
from scrubjay.servers.http.requests import call_context, parse_object, read_body, run_while_connected
from scrubjay.tooling.declaration import Framed
from scrubjay.tooling.dispatcher import Dispatcher

MIMO_PREFIX: Final = "/v1/mimo/"
TOOL_PATH: Final = "/v1/mimo/tool"
TOOLS_PATH: Final = "/v1/mimo/tools"
ENDPOINTS: Final = (
    "GET /health",
    "POST /v1/mimo/ask",
    f"POST {TOOL_PATH}",
    f"GET {TOOLS_PATH}",
    "POST /v1/chat/completions",
    "GET /v1/models",
)
# A call that takes longer returns its job instead of a result.
_PATIENCE_SECONDS: Final = 30.0


class MimoToolCall(BaseModel):
    """A call of one tool."""

    tool: str = Field(min_length=1, description="The tool's name.")
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any], description="The tool's arguments.")


class MimoToolAnswer(BaseModel):
    """The result of a tool call."""

    tool_call_id: str
    status: str = Field(description="Always `success`.")
    data: Any = Field(description="The tool's result; for a tool whose result is a list in Mimo, that list.")
    latency_ms: float


class MimoToolFailure(BaseModel):
    """Body of a failed tool call."""

    error: str
    tool_call_id: str | None = None
    status: str | None = Field(default=None, description="`error` when the tool was called; absent otherwise.")
    latency_ms: float | None = None
    tool: str | None = Field(default=None, description="The tool that is disabled in sandbox mode.")
    sandbox_mode: bool | None = None


class MimoTool(BaseModel):
    """A tool in Mimo's list format."""

    name: str
    description: str
    inputSchema: dict[str, Any]  # noqa: N815 - as Mimo names it


class MimoToolList(BaseModel):
    """The tools of this server."""

    tools: list[MimoTool]


class MimoNotFound(BaseModel):
    """Body of a 404: no route has this path."""

    error: str = "Not found"
    path: str
    available_endpoints: list[str] = list(ENDPOINTS)


class MimoToolCalls:
    """ASGI endpoint that calls the tool that the body names. A client that disconnects cancels its call."""

    def __init__(self, dispatcher: Dispatcher, lists: Mapping[str, str]) -> None:
        """`lists` maps each tool whose result is a list in Mimo to the field of our result that holds the list."""
        self._dispatcher = dispatcher
        self._lists = lists

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        body = await read_body(receive)
        if body is None:
            return
        call_id, tool, data = str(uuid4()), "", None
        is_sandboxed = header_of(scope, SANDBOX_HEADER) is not None
        try:
            tool, arguments = _parse_call(body)
            if is_sandboxed and tool in NOT_IN_SANDBOX:
                raise Forbidden(f"{tool} is disabled in the sandbox")
            context = call_context(scope, surface="rest", patience=_PATIENCE_SECONDS)
            answer = await run_while_connected(receive, self._dispatcher.call(tool, arguments, context))
            if answer is None:
                return
            data = self._data(tool, answer)
        except ScrubjayError as error:
            took = _milliseconds_since(started)
            status, failed = _to_failure(error, tool, call_id, took, is_sandboxed=is_sandboxed)
            text = failed.model_dump_json(exclude_none=True)
        else:
            took = _milliseconds_since(started)
            status, text = (
                200,
                MimoToolAnswer(tool_call_id=call_id, status="success", data=data, latency_ms=took).model_dump_json(),
            )
        await Response(text, status, media_type="application/json")(scope, receive, send)

    def _data(self, tool: str, answer: BaseModel) -> Any:
        if isinstance(answer, Framed):
            return to_jsonable_python(answer.bare())
        data = answer.model_dump(mode="json", by_alias=True)
        return data[self._lists[tool]] if tool in self._lists else data


def mimo_tools(dispatcher: Dispatcher) -> MimoToolList:
    """Return all registered tools in Mimo's list format."""
    return MimoToolList(
        tools=[
            MimoTool(name=tool.name, description=tool.description, inputSchema=dict(tool.input_schema))
            for tool in dispatcher.registry
        ]
    )


def _parse_call(body: bytes) -> tuple[str, dict[str, Any]]:
    given = parse_object(body)
    tool, arguments = given.get("tool"), given.get("arguments")
    if not tool or not isinstance(tool, str):
        raise InvalidRequest("Missing required parameter: tool")
    if arguments is not None and not isinstance(arguments, dict):
        raise InvalidRequest("arguments must be a JSON object")
    return tool, cast(dict[str, Any], arguments or {})


def _to_failure(
    error: ScrubjayError, tool: str, call_id: str, took: float, *, is_sandboxed: bool
) -> tuple[int, MimoToolFailure]:
    if not tool:  # nothing was called
        return 400, MimoToolFailure(error=error.message)
    if error.code is ErrorCode.FORBIDDEN and is_sandboxed:
        return 403, MimoToolFailure(error="Tool disabled in sandbox mode", tool=tool, sandbox_mode=True)
    message = f"{error.message} ({error.hint})" if error.hint else error.message
    status = 403 if error.code is ErrorCode.FORBIDDEN else 400
    return status, MimoToolFailure(error=message, tool_call_id=call_id, status="error", latency_ms=took)


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)
