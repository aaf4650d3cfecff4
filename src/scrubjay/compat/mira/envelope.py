"""The response envelope of every endpoint under `/api`: `success`, `data` and `error`."""

import math
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, Field
from starlette.responses import Response

from scrubjay.core.errors import ErrorCode, ScrubjayError
from scrubjay.servers.http.errors import MalformedBody
from scrubjay.servers.http.refusals import RefusalFormat

CODE_HEADER: Final = "Scrubjay-Error"
# Mira's clients expect status 200 for a tool that fails. Only a refused call and an internal error differ.
_STATUS: Final = {ErrorCode.FORBIDDEN: 403, ErrorCode.INTERNAL: 500}


class Envelope(BaseModel):
    """Body of every response under `/api`."""

    success: bool
    data: Any = Field(default=None, description="The result; null after a failure.")
    error: str | None = Field(default=None, description="Error message with a hint; null after a success.")


def success(data: Any) -> Response:
    return _response(Envelope(success=True, data=data), 200)


def failure(error: ScrubjayError, status: int | None = None) -> Response:
    """Return the response for an error. The error code is in the header `Scrubjay-Error`."""
    headers = {CODE_HEADER: str(error.code)}
    if "retry_after_seconds" in error.details:
        headers["Retry-After"] = str(math.ceil(error.details["retry_after_seconds"]))
    if isinstance(error, MalformedBody):
        status = error.status
    return _response(failed(error), status or _STATUS.get(error.code, 200), headers)


def failed(error: ScrubjayError) -> Envelope:
    return Envelope(success=False, error=f"{error.message} ({error.hint})" if error.hint else error.message)


def refusal_body(error: ScrubjayError, status: int, event_id: str) -> dict[str, Any]:
    """Return the body of a request that the edge refuses; its status shows that no tool answered."""
    return failed(error).model_dump()


REFUSAL_FORMATS: Final[Mapping[str, RefusalFormat]] = {"/api/": refusal_body}


def _response(envelope: Envelope, status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(envelope.model_dump_json(fallback=str), status, headers, "application/json")
