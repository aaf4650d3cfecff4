"""How the edge refuses a request: in our own format, or in the one that a protocol registered for its paths."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Scope, Send

from scrubjay.core.callers import NoKeyConfigured
from scrubjay.core.errors import Busy, ScrubjayError, Unauthenticated
from scrubjay.servers.http.errors import STATUS, error_response

# Of WebSockets: you may not.
POLICY_VIOLATION = 1008


class TookTooLong(Busy):
    """The request was not answered in time, and its work was stopped."""


class CameTooSlowly(Busy):
    """The client did not send the whole request in time."""


class Overloaded(Busy):
    """The server does as much at once as it is allowed to."""


RefusalFormat = Callable[[ScrubjayError, int, str], Mapping[str, Any] | None]
"""Makes the JSON body of a refusal from the error, the HTTP status and the id of the security event.

None leaves the server's own format.
"""


class RefusalFormats:
    """The formats in which requests are refused, by path prefix. Each protocol registers its own."""

    def __init__(self, formats: Mapping[str, RefusalFormat] | None = None) -> None:
        """A prefix that ends in `/` stands for the paths below it, any other also for itself."""
        self._formats = dict(formats or {})

    def find(self, path: str) -> RefusalFormat | None:
        """Return the format registered for this path."""
        for prefix, made in self._formats.items():
            below = prefix if prefix.endswith("/") else f"{prefix}/"
            if path == prefix or path.startswith(below):
                return made
        return None


def refusal(error: ScrubjayError, path: str, request_id: str, event_id: str, formats: RefusalFormats) -> Response:
    """Return the response to a request that the edge refuses."""
    status = 504 if isinstance(error, TookTooLong) else 408 if isinstance(error, CameTooSlowly) else None
    headers = {"Retry-After": "1"} if isinstance(error, NoKeyConfigured) else None
    made = formats.find(path)
    body = made(error, status or STATUS[error.code], event_id) if made is not None else None
    if isinstance(error, Unauthenticated):
        error.details = {**error.details, "security_event_id": event_id}
    own = error_response(error, request_id, status=status, headers=headers)
    if body is None:
        return own
    kept = {name: value for name, value in own.headers.items() if name not in ("content-length", "content-type")}
    return Response(json.dumps(body), own.status_code, kept, "application/json")


async def refuse_socket(response: Response, scope: Scope, send: Send) -> None:
    """Answer a WebSocket that is not let in as HTTP, where the server can; else by a close."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        return
    start = {"status": response.status_code, "headers": response.raw_headers}
    await send({"type": "websocket.http.response.start", **start})
    await send({"type": "websocket.http.response.body", "body": response.body})


def reason_of(error: ScrubjayError) -> str:
    """Why, in a few words, for the log."""
    return str(error.details.get("reason", error.message))
