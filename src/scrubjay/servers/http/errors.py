"""Errors over HTTP: status codes, bodies and their documentation."""

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
    # Not 429 or 507, which clients retry: waiting does not help.
    ErrorCode.QUOTA_EXCEEDED: 403,
    # Another client cancelled the work, which is a conflict. 499 is not a registered status.
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
    """The body is not a JSON object; no tool was called."""

    status = 400


class ErrorBody(BaseModel):
    """The body of every error response."""

    error: ErrorView
    request_id: str = Field(description="Also in the X-Request-Id header; the log has the details under it.")


def error_response(
    error: ScrubjayError, request_id: str, *, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response for an error; `status` overrides the table for errors of HTTP itself."""
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


def internal_error(error: Exception, request_id: str) -> Internal:
    """Return the error for a bug, without the exception's message, which may quote user data."""
    return Internal(
        f"the request failed unexpectedly ({type(error).__name__})",
        hint=f"this is a bug; the log has the details under request {request_id}",
    )


def status_descriptions() -> Mapping[int, str]:
    """Return a description per HTTP status, from the docstrings of the errors."""
    texts: dict[int, list[str]] = defaultdict(list)
    texts[MalformedBody.status].append(f"`{MalformedBody.code}`: {MalformedBody.__doc__}")
    for kind in ScrubjayError.__subclasses__():
        texts[STATUS[kind.code]].append(f"`{kind.code}`: {kind.__doc__}")
    return {status: "\n\n".join(texts[status]) for status in sorted(texts)}
