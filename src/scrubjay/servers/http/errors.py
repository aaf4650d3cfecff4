"""What each failure is over HTTP: its status, its body, and what the documentation says of it."""

import math
from collections import defaultdict
from collections.abc import Mapping

from pydantic import BaseModel, Field
from starlette.responses import Response

from scrubjay.core.errors import ErrorCode, Internal, InvalidRequest, ScrubjayError
from scrubjay.tooling.job_view import ErrorView

STATUS: Mapping[ErrorCode, int] = {
    ErrorCode.INVALID_REQUEST: 422,
    ErrorCode.UNKNOWN_TOOL: 404,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.CONFLICT: 409,
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.TOO_LARGE: 413,
    ErrorCode.RATE_LIMITED: 429,
    # Not 429 or 507, after which clients try again: this does not pass by itself.
    ErrorCode.QUOTA_EXCEEDED: 403,
    # Somebody else stopped the work: a conflict over its state. 499 is one server's habit, not a registered status.
    ErrorCode.CANCELLED: 409,
    ErrorCode.BUSY: 503,
    ErrorCode.UNAVAILABLE: 503,
    ErrorCode.STORE_UNUSABLE: 503,
    ErrorCode.MISCONFIGURED: 500,
    ErrorCode.INTERNAL: 500,
}

_HEADERS: Mapping[ErrorCode, Mapping[str, str]] = {
    ErrorCode.UNAUTHENTICATED: {"WWW-Authenticate": "Bearer"},
    ErrorCode.BUSY: {"Retry-After": "1"},
}


class MalformedBody(InvalidRequest):
    """The body is not a JSON object; no tool was asked."""

    status = 400


class ErrorBody(BaseModel):
    """The body of every answer that is not a success."""

    error: ErrorView
    request_id: str = Field(description="Also in the X-Request-Id header; the log has the details under it.")


def error_response(
    error: ScrubjayError, request_id: str, *, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """The answer that tells of this failure; only what HTTP itself refuses has a status beside the table."""
    if isinstance(error, MalformedBody):
        status = error.status
    if "retry_after_seconds" in error.details:
        headers = {"Retry-After": str(math.ceil(error.details["retry_after_seconds"])), **(headers or {})}
    body = ErrorBody(error=ErrorView.of(error.record), request_id=request_id)
    return Response(
        body.model_dump_json(fallback=str),
        status_code=status or STATUS[error.code],
        headers={**_HEADERS.get(error.code, {}), **(headers or {})},
        media_type="application/json",
    )


def unforeseen(error: Exception, request_id: str) -> Internal:
    """What a caller is told of a bug: its kind and where to look, but not its message, which may quote anything."""
    return Internal(
        f"the request failed unexpectedly ({type(error).__name__})",
        hint=f"this is a bug; the log has the details under request {request_id}",
    )


def meanings() -> Mapping[int, str]:
    """What each status of a failed call means, in the words of the failures themselves."""
    said: dict[int, list[str]] = defaultdict(list)
    said[MalformedBody.status].append(f"`{MalformedBody.code}`: {MalformedBody.__doc__}")
    for kind in ScrubjayError.__subclasses__():
        said[STATUS[kind.code]].append(f"`{kind.code}`: {kind.__doc__}")
    return {status: "\n\n".join(said[status]) for status in sorted(said)}
