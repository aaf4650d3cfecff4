"""Tools at Mimo's own addresses, `POST /v1/mimo/tool` and `GET /v1/mimo/tools`, in its envelopes."""

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
from scrubjay.servers.http.requests import body_of, context_of, object_of, while_connected
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
# A job that takes longer is handed back.
_PATIENCE_SECONDS: Final = 30.0


class MimoToolCall(BaseModel):
    """Which tool to call, and with what."""

    tool: str = Field(min_length=1, description="The tool's name.")
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any], description="The tool's arguments.")


class MimoToolAnswer(BaseModel):
    """What a tool answered."""

    tool_call_id: str
    status: str = Field(description="Always `success`.")
    data: Any = Field(description="The tool's result; for a tool whose result is a list in Mimo, that list.")
    latency_ms: float


class MimoToolFailure(BaseModel):
    """Why there is no answer."""

    error: str
    tool_call_id: str | None = None
    status: str | None = Field(default=None, description="`error`, when a tool was called.")
    latency_ms: float | None = None
    tool: str | None = Field(default=None, description="The tool that may not be called.")
    sandbox_mode: bool | None = None


class MimoTool(BaseModel):
    """A tool as Mimo lists it."""

    name: str
    description: str
    inputSchema: dict[str, Any]  # noqa: N815 - as Mimo names it


class MimoToolList(BaseModel):
    """All tools that can be called."""

    tools: list[MimoTool]


class MimoNotFound(BaseModel):
    """There is nothing at this address."""

    error: str = "Not found"
    path: str
    available_endpoints: list[str] = list(ENDPOINTS)


class MimoToolCalls:
    """Calls tools by the body's `tool`, for as long as their clients stay connected."""

    def __init__(self, dispatcher: Dispatcher, lists: Mapping[str, str]) -> None:
        """`lists` names the tools whose result is a list in Mimo, and the field that holds it in ours."""
        self._dispatcher = dispatcher
        self._lists = lists

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        body = await body_of(receive)
        if body is None:
            return
        call_id, tool, data = str(uuid4()), "", None
        is_sandboxed = header_of(scope, SANDBOX_HEADER) is not None
        try:
            tool, arguments = _asked(body)
            if is_sandboxed and tool in NOT_IN_SANDBOX:
                raise Forbidden(f"{tool} is not called from the sandbox")
            context = context_of(scope, surface="rest", patience=_PATIENCE_SECONDS)
            answer = await while_connected(receive, self._dispatcher.call(tool, arguments, context))
            if answer is None:
                return
            data = self._data(tool, answer)
        except ScrubjayError as error:
            took = _milliseconds_since(started)
            status, told = _failure(error, tool, call_id, took, is_sandboxed=is_sandboxed)
            text = told.model_dump_json(exclude_none=True)
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
    return MimoToolList(
        tools=[
            MimoTool(name=tool.name, description=tool.description, inputSchema=dict(tool.input_schema))
            for tool in dispatcher.registry
        ]
    )


def _asked(body: bytes) -> tuple[str, dict[str, Any]]:
    given = object_of(body)
    tool, arguments = given.get("tool"), given.get("arguments")
    if not tool or not isinstance(tool, str):
        raise InvalidRequest("Missing required parameter: tool")
    if arguments is not None and not isinstance(arguments, dict):
        raise InvalidRequest("the arguments are no JSON object")
    return tool, cast(dict[str, Any], arguments or {})


def _failure(
    error: ScrubjayError, tool: str, call_id: str, took: float, *, is_sandboxed: bool
) -> tuple[int, MimoToolFailure]:
    if not tool:  # nothing was called
        return 400, MimoToolFailure(error=error.message)
    if error.code is ErrorCode.FORBIDDEN and is_sandboxed:
        return 403, MimoToolFailure(error="Tool disabled in sandbox mode", tool=tool, sandbox_mode=True)
    said = f"{error.message} ({error.hint})" if error.hint else error.message
    status = 403 if error.code is ErrorCode.FORBIDDEN else 400
    return status, MimoToolFailure(error=said, tool_call_id=call_id, status="error", latency_ms=took)


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)
