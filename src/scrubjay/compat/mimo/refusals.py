"""Bodies of refused requests in Mimo's format."""

from collections.abc import Mapping
from typing import Any, Final

from scrubjay.core.callers import NoKeyConfigured
from scrubjay.core.errors import ErrorCode, ScrubjayError, Unauthenticated
from scrubjay.servers.http.abuse import AddressBlocked
from scrubjay.servers.http.places import ShareExceeded
from scrubjay.servers.http.rate_limits import TooManyRequests
from scrubjay.servers.http.refusals import Overloaded, RefusalFormat
from scrubjay.servers.openai.error_middleware import convert_refusal, refusal_body


def mimo_body(error: ScrubjayError, status: int, event_id: str) -> Mapping[str, Any] | None:
    """Return the refusal body in Mimo's format; None for an error that Mimo does not define."""
    match error:
        case Unauthenticated():
            reason = error.details.get("reason", error.message)
            return {"error": "Authentication required", "reason": reason, "security_event_id": event_id}
        case NoKeyConfigured():
            return {"error": "Service misconfigured", "security": "API key required in production"}
        case TooManyRequests() | AddressBlocked() | ShareExceeded():
            return {"error": "Rate limit exceeded", **error.details}
        case Overloaded():
            return {"error": "Service temporarily unavailable", "reason": "System overloaded", **error.details}
        case _ if error.code is ErrorCode.FORBIDDEN:
            return {"error": error.message}
        case _:
            return None


def mimo_words(error: ScrubjayError, status: int, event_id: str) -> Mapping[str, Any]:
    """Return the body in OpenAI's shape with Mimo's message, for the paths that both define."""
    body = mimo_body(error, status, event_id)
    return refusal_body(error, status, event_id) if body is None else convert_refusal(body, status)


REFUSAL_FORMATS: Final[Mapping[str, RefusalFormat]] = {
    "/v1/mimo/": mimo_body,
    "/v1/chat/completions": mimo_words,
    "/v1/models": mimo_words,
}
