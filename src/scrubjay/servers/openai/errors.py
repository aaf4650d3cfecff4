"""Errors in OpenAI's protocol: status, type and body."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from scrubjay.core.errors import ErrorCode, InvalidRequest, NotFound, ScrubjayError
from scrubjay.models.failures import FailureReason
from scrubjay.servers.http.errors import STATUS

Json = dict[str, Any]

INVALID: Final = "invalid_request_error"
# The error types that OpenAI's clients know, by status; any other status is a server error.
TYPES: Final[Mapping[int, str]] = {
    400: INVALID,
    401: "authentication_error",
    403: "permission_error",
    404: INVALID,
    405: INVALID,
    409: "conflict_error",
    413: INVALID,
    415: INVALID,
    422: INVALID,
    429: "rate_limit_error",
}
SERVER_ERROR: Final = "server_error"

# Failures of the language model's service, with the statuses of a gateway.
_UPSTREAM_STATUS: Final[Mapping[str, int]] = {
    FailureReason.UNREACHABLE: 502,
    FailureReason.FAILING: 502,
    FailureReason.BROKEN_ANSWER: 502,
    FailureReason.UNAUTHORIZED: 502,
    FailureReason.NOT_FOUND: 502,
    FailureReason.TIMEOUT: 504,
    FailureReason.RATE_LIMITED: 429,
}


class InvalidField(InvalidRequest):
    """A field of the body is invalid."""

    def __init__(self, message: str, param: str | None, *, code: str | None = None) -> None:
        super().__init__(message, details={"status": 400, "param": param, "code": code})


def unknown_model(name: str) -> NotFound:
    """Return the error for a model that this server does not have."""
    return NotFound(
        f"The model '{name[:100]}' does not exist here",
        hint="GET /v1/models lists the available models",
        details={"param": "model", "code": "model_not_found"},
    )


def status_of(error: ScrubjayError) -> int:
    """Return the status that OpenAI would use: 400 for an invalid body."""
    if isinstance(explicit := error.details.get("status"), int):
        return explicit
    if error.code is ErrorCode.INVALID_REQUEST:
        return 400
    if error.code is ErrorCode.UNAVAILABLE:
        return _UPSTREAM_STATUS.get(str(error.details.get("reason")), 503)
    return STATUS[error.code]


def error_body_of(error: ScrubjayError, status: int | None = None) -> Json:
    """Return the body for an error, as OpenAI's clients read it."""
    status = status or status_of(error)
    details = error.details
    code = details.get("code") or details.get("reason") or error.code.value
    message = f"{error.message}. Hint: {error.hint}" if error.hint else error.message
    return error_body(status, message, code=str(code), param=details.get("param"), type=details.get("type"))


def error_body(
    status: int, message: str, *, code: str | None = None, param: str | None = None, type: str | None = None
) -> Json:
    return {
        "error": {"message": message, "type": type or TYPES.get(status, SERVER_ERROR), "param": param, "code": code}
    }


def error_response(error: ScrubjayError) -> Response:
    """Return the response for an error."""
    status = status_of(error)
    headers: dict[str, str] = {}
    if "retry_after_seconds" in error.details:
        headers["Retry-After"] = str(math.ceil(error.details["retry_after_seconds"]))
    return Response(json.dumps(error_body_of(error, status)), status, headers, "application/json")
