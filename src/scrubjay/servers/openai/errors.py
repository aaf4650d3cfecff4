"""What each failure is in OpenAI's protocol: its status, its type, and its body."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from scrubjay.core.errors import ErrorCode, InvalidRequest, NotFound, ScrubjayError
from scrubjay.models.failures import Reason
from scrubjay.servers.http.errors import STATUS

Json = dict[str, Any]

INVALID: Final = "invalid_request_error"
# How OpenAI's clients know failures; those that are not here are the server's.
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

# What is wrong with the service behind us, as a gateway tells it.
_BEHIND: Final[Mapping[str, int]] = {
    Reason.UNREACHABLE: 502,
    Reason.FAILING: 502,
    Reason.BROKEN_ANSWER: 502,
    Reason.UNAUTHORIZED: 502,
    Reason.NOT_FOUND: 502,
    Reason.TIMEOUT: 504,
    Reason.RATE_LIMITED: 429,
}


class WrongField(InvalidRequest):
    """A field of the body does not fit."""

    def __init__(self, message: str, param: str | None, *, code: str | None = None) -> None:
        super().__init__(message, details={"status": 400, "param": param, "code": code})


def unknown_model(name: str) -> NotFound:
    """The error of a model that is not here."""
    return NotFound(
        f"The model '{name[:100]}' does not exist here",
        hint="GET /v1/models lists those that do",
        details={"param": "model", "code": "model_not_found"},
    )


def status_of(error: ScrubjayError) -> int:
    """What OpenAI would answer: a body that does not fit is 400."""
    if isinstance(given := error.details.get("status"), int):
        return given
    if error.code is ErrorCode.INVALID_REQUEST:
        return 400
    if error.code is ErrorCode.UNAVAILABLE:
        return _BEHIND.get(str(error.details.get("reason")), 503)
    return STATUS[error.code]


def body_of(error: ScrubjayError, status: int | None = None) -> Json:
    """The failure as OpenAI's clients read it."""
    status = status or status_of(error)
    details = error.details
    code = details.get("code") or details.get("reason") or error.code.value
    message = f"{error.message}. Hint: {error.hint}" if error.hint else error.message
    return shaped(status, message, code=str(code), param=details.get("param"), type=details.get("type"))


def shaped(
    status: int, message: str, *, code: str | None = None, param: str | None = None, type: str | None = None
) -> Json:
    return {
        "error": {"message": message, "type": type or TYPES.get(status, SERVER_ERROR), "param": param, "code": code}
    }


def failure(error: ScrubjayError) -> Response:
    """The answer that tells of this failure."""
    status = status_of(error)
    headers: dict[str, str] = {}
    if "retry_after_seconds" in error.details:
        headers["Retry-After"] = str(math.ceil(error.details["retry_after_seconds"]))
    return Response(json.dumps(body_of(error, status)), status, headers, "application/json")
