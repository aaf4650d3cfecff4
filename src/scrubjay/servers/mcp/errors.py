"""Errors in MCP: failed tool results and JSON-RPC errors."""

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

# The code of the handshake era; the modern era uses INVALID_PARAMS.
RESOURCE_NOT_FOUND: Final = -32002

# A model sees tool failures and can correct itself; JSON-RPC errors are for calls that never reached a tool.
JSONRPC_CODES: Final[Mapping[ErrorCode, int | Literal["tool failure"]]] = {
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

# Programs read the whole record here. It cannot be structured content: the TypeScript SDK 1.x validates that against
# the tool's output schema even when the call failed, and would replace our message by its own.
ERROR_KEY: Final = "scrubjay/error"


def call_failure(error: ScrubjayError) -> CallToolResult:
    """Return the result of a failed call; raise the errors that must be JSON-RPC errors instead."""
    if JSONRPC_CODES[error.code] != TOOL_FAILURE:
        raise protocol_error(error)
    record = _json_record(error)
    return CallToolResult(content=[TextContent(text=_sentence(record))], is_error=True, _meta={ERROR_KEY: record})


def protocol_error(error: ScrubjayError) -> MCPError:
    """Return the JSON-RPC error, for requests whose result type cannot express a failure."""
    code = JSONRPC_CODES[error.code]
    return MCPError.from_error_data(error_data(error, INTERNAL_ERROR if code == TOOL_FAILURE else code))


def resource_error(error: ScrubjayError, uri: str, protocol_version: str) -> MCPError:
    """Return the error for a resource that cannot be read; each era has its own code for a missing one."""
    match error.code:
        case ErrorCode.NOT_FOUND:
            code = INVALID_PARAMS if protocol_version in MODERN_PROTOCOL_VERSIONS else RESOURCE_NOT_FOUND
        case ErrorCode.INVALID_REQUEST:
            code = INVALID_PARAMS
        case _:
            code = INTERNAL_ERROR
    data = error_data(error, code)
    return MCPError.from_error_data(data.model_copy(update={"data": {**data.data, "uri": transportable(uri)}}))


def error_data(error: ScrubjayError, code: int) -> ErrorData:
    """Return the error data with this code: a sentence for people and the whole record for programs."""
    record = _json_record(error)
    return ErrorData(code=code, message=_sentence(record), data=record)


def _sentence(record: dict[str, Any]) -> str:
    return f"{record['message']}\nHint: {record['hint']}" if record["hint"] else record["message"]


def _json_record(error: ScrubjayError) -> dict[str, Any]:
    return json.loads(transportable(json.dumps(asdict(error.record), ensure_ascii=False, default=str)))
