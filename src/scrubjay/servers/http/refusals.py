"""Responses to refused requests, in our own format or in the one that a protocol registered for its paths."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.types import Scope, Send

from scrubjay.core.callers import NoKeyConfigured
from scrubjay.core.errors import Busy, ScrubjayError, Unauthenticated
from scrubjay.servers.http.errors import STATUS, error_response

# WebSocket close code.
POLICY_VIOLATION = 1008


class RequestTimedOut(Busy):
    """The request was stopped because it exceeded the time limit."""


class BodyTooSlow(Busy):
    """The client did not send the whole request in time."""


class Overloaded(Busy):
    """The server has reached its concurrency limit."""


@dataclass(frozen=True, slots=True)
class AnsweredRefusal:
    """A body that is sent with status 200, for clients that take any other status for consent."""

    body: Mapping[str, Any]


RefusalFormat = Callable[[ScrubjayError, int, str], Mapping[str, Any] | AnsweredRefusal | None]
"""Returns the JSON body of a refusal for an error, an HTTP status and the id of the security event.

None selects the server's own format.
"""


class RefusalFormats:
    """The error formats of protocols, by path prefix."""

    def __init__(self, formats: Mapping[str, RefusalFormat] | None = None) -> None:
        """A prefix that ends in `/` matches the paths below it; any other prefix matches itself too."""
        self._formats = dict(formats or {})

    def find(self, path: str) -> RefusalFormat | None:
        """Return the format registered for this path."""
        for prefix, refusal_format in self._formats.items():
            below = prefix if prefix.endswith("/") else f"{prefix}/"
            if path == prefix or path.startswith(below):
                return refusal_format
        return None


def refusal_response(
    error: ScrubjayError, path: str, request_id: str, event_id: str, formats: RefusalFormats
) -> Response:
    """Return the response to a request that the edge refuses."""
    status = 504 if isinstance(error, RequestTimedOut) else 408 if isinstance(error, BodyTooSlow) else None
    headers = {"Retry-After": "1"} if isinstance(error, NoKeyConfigured) else None
    refusal_format = formats.find(path)
    body = refusal_format(error, status or STATUS[error.code], event_id) if refusal_format is not None else None
    if isinstance(error, Unauthenticated):
        error.details = {**error.details, "security_event_id": event_id}
    response = error_response(error, request_id, status=status, headers=headers)
    if body is None:
        return response
    retained = {name: text for name, text in response.headers.items() if name not in ("content-length", "content-type")}
    if isinstance(body, AnsweredRefusal):
        return Response(json.dumps(body.body), 200, retained, "application/json")
    return Response(json.dumps(body), response.status_code, retained, "application/json")


async def refuse_socket(response: Response, scope: Scope, send: Send) -> None:
    """Refuse a WebSocket with an HTTP response where the server supports it, else with a close frame."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        return
    start = {"status": response.status_code, "headers": response.raw_headers}
    await send({"type": "websocket.http.response.start", **start})
    await send({"type": "websocket.http.response.body", "body": response.body})


def reason_of(error: ScrubjayError) -> str:
    """Return a short reason for the log."""
    return str(error.details.get("reason", error.message))
