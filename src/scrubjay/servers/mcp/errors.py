"""How each failure is told to an MCP client."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final, Literal

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, ErrorData, TextContent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from scrubjay.core.errors import ErrorCode, ScrubjayError
from scrubjay.servers.mcp.text import transportable

TOOL_FAILURE: Final = "tool failure"

# As the handshake era has it; the modern one counts it among the invalid parameters.
RESOURCE_NOT_FOUND: Final = -32002

# A model sees tool failures and can correct itself; JSON-RPC errors are for calls that never reached a tool.
ANSWERS: Final[Mapping[ErrorCode, int | Literal["tool failure"]]] = {
    ErrorCode.INVALID_REQUEST: TOOL_FAILURE,
    ErrorCode.UNKNOWN_TOOL: INVALID_PARAMS,
    ErrorCode.NOT_FOUND: TOOL_FAILURE,
    ErrorCode.CONFLICT: TOOL_FAILURE,
    ErrorCode.UNAUTHENTICATED: TOOL_FAILURE,
    ErrorCode.FORBIDDEN: TOOL_FAILURE,
    ErrorCode.TOO_LARGE: TOOL_FAILURE,
    ErrorCode.RATE_LIMITED: TOOL_FAILURE,
    ErrorCode.QUOTA_EXCEEDED: TOOL_FAILURE,
    ErrorCode.CANCELLED: TOOL_FAILURE,
    ErrorCode.BUSY: TOOL_FAILURE,
    ErrorCode.UNAVAILABLE: TOOL_FAILURE,
    ErrorCode.STORE_UNUSABLE: TOOL_FAILURE,
    ErrorCode.MISCONFIGURED: TOOL_FAILURE,
    ErrorCode.INTERNAL: TOOL_FAILURE,
}

# Programs read the whole record here. It cannot be structured content: the TypeScript SDK 1.x holds that to the tool's
# output schema even when the call failed, and would hide our message behind its own.
ERROR_KEY: Final = "scrubjay/error"


def call_failure(error: ScrubjayError) -> CallToolResult:
    """The answer to a call that failed; raises where the protocol wants a JSON-RPC error instead."""
    if ANSWERS[error.code] != TOOL_FAILURE:
        raise protocol_error(error)
    record = _wire(error)
    return CallToolResult(content=[TextContent(text=_sentence(record))], is_error=True, _meta={ERROR_KEY: record})


def protocol_error(error: ScrubjayError) -> MCPError:
    """The failure as a JSON-RPC error, for requests whose results have no room for one."""
    code = ANSWERS[error.code]
    return MCPError.from_error_data(error_data(error, INTERNAL_ERROR if code == TOOL_FAILURE else code))


def resource_failure(error: ScrubjayError, uri: str, protocol_version: str) -> MCPError:
    """Why a resource could not be had: each era has its own code for one that is not there."""
    match error.code:
        case ErrorCode.NOT_FOUND:
            code = INVALID_PARAMS if protocol_version in MODERN_PROTOCOL_VERSIONS else RESOURCE_NOT_FOUND
        case ErrorCode.INVALID_REQUEST:
            code = INVALID_PARAMS
        case _:
            code = INTERNAL_ERROR
    told = error_data(error, code)
    return MCPError.from_error_data(told.model_copy(update={"data": {**told.data, "uri": transportable(uri)}}))


def error_data(error: ScrubjayError, code: int) -> ErrorData:
    """The failure under a JSON-RPC code: a sentence for people, and the whole record for programs."""
    record = _wire(error)
    return ErrorData(code=code, message=_sentence(record), data=record)


def _sentence(record: dict[str, Any]) -> str:
    return f"{record['message']}\nHint: {record['hint']}" if record["hint"] else record["message"]


def _wire(error: ScrubjayError) -> dict[str, Any]:
    return json.loads(transportable(json.dumps(asdict(error.record), ensure_ascii=False, default=str)))
