"""How the edge says no: in our own form, and at the addresses of Mimo and Mira in theirs."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Scope, Send

from scrubjay.core.callers import NoKeyConfigured
from scrubjay.core.errors import Busy, ErrorCode, ScrubjayError, Unauthenticated
from scrubjay.servers.http.abuse import Blocked
from scrubjay.servers.http.errors import error_response
from scrubjay.servers.http.rate_limits import TooManyRequests

# Of WebSockets: you may not.
POLICY_VIOLATION = 1008
_MIMO_PATHS = ("/v1/chat/completions", "/v1/models")


class TookTooLong(Busy):
    """The request was not answered in time, and its work was stopped."""


class CameTooSlowly(Busy):
    """The client did not send the whole request in time."""


class Overloaded(Busy):
    """The server does as much at once as it is allowed to."""


def refusal(error: ScrubjayError, path: str, request_id: str, event_id: str) -> Response:
    """The answer to a request that the edge refuses."""
    body = _mimo_body(error, event_id) if speaks_mimo(path) else _mira_body(error) if speaks_mira(path) else None
    if isinstance(error, Unauthenticated):
        error.details = {**error.details, "security_event_id": event_id}
    status = 504 if isinstance(error, TookTooLong) else 408 if isinstance(error, CameTooSlowly) else None
    headers = {"Retry-After": "1"} if isinstance(error, NoKeyConfigured) else None
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


def speaks_mimo(path: str) -> bool:
    """Whether clients of Mimo ask here, who know its answers only."""
    return path.startswith(("/v1/mimo/", "/v1/models/")) or path in _MIMO_PATHS


def speaks_mira(path: str) -> bool:
    """Whether clients of Mira ask here. The status tells that it is a refusal, and not what a tool answers."""
    return path.startswith("/api/")


def _mira_body(error: ScrubjayError) -> Mapping[str, Any]:
    said = f"{error.message} ({error.hint})" if error.hint else error.message
    return {"success": False, "data": None, "error": said}


def _mimo_body(error: ScrubjayError, event_id: str) -> Mapping[str, Any] | None:
    match error:
        case Unauthenticated():
            reason = error.details.get("reason", error.message)
            return {"error": "Authentication required", "reason": reason, "security_event_id": event_id}
        case NoKeyConfigured():
            return {"error": "Service misconfigured", "security": "API key required in production"}
        case TooManyRequests() | Blocked():
            return {"error": "Rate limit exceeded", **error.details}
        case Overloaded():
            return {"error": "Service temporarily unavailable", "reason": "System overloaded", **error.details}
        case _ if error.code is ErrorCode.FORBIDDEN:
            return {"error": error.message}
        case _:
            return None


def reason_of(error: ScrubjayError) -> str:
    """Why, in a few words, for the log."""
    return str(error.details.get("reason", error.message))
