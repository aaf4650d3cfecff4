"""Which pages of browsers may use the server, and what their browsers are told."""

import re
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

METHODS = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
HEADERS = (
    "Authorization, Content-Type, Accept, Prefer, Range, Scrubjay-Client, Scrubjay-Session, X-Request-Id, "
    "X-Mimo-Sandbox, "
    "Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-Id"
)
EXPOSED = (
    "X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Location, Mcp-Session-Id, "
    "X-Mimo-Latency-Ms, Scrubjay-Memories, Scrubjay-Error"
)
# The name of a header; no page that is welcome sends a hundred.
_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]{1,100}", re.ASCII)
_MOST_NAMES = 100
# How long a browser need not ask again.
MAX_AGE_SECONDS = 600


class Origins:
    """The pages that are welcome, each by its own name: never all of them."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._allowed = frozenset(origin.lower().rstrip("/") for origin in allowed)

    def __contains__(self, origin: object) -> bool:
        return isinstance(origin, str) and origin.lower() in self._allowed


def headers_for(origin: str) -> list[tuple[bytes, bytes]]:
    """What lets a page of this welcome origin read an answer."""
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", EXPOSED.encode()),
        (b"vary", b"Origin"),
    ]


def preflight(scope: Scope) -> Response | None:
    """The answer to a browser that asks what a page may send; None for any other request."""
    if scope["method"] != "OPTIONS":
        return None
    headers = Headers(scope=scope)
    if "origin" not in headers or "access-control-request-method" not in headers:
        return None
    allowed = {
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": _allowed(headers.get("access-control-request-headers", "")),
        "Access-Control-Max-Age": str(MAX_AGE_SECONDS),
    }
    return Response(status_code=204, headers=allowed)


def _allowed(asked: str) -> str:
    """The headers that a page may send: all that it names, as OpenAI's client has a dozen of its own."""
    known = {name.lower() for name in HEADERS.split(", ")}
    named = [name.strip() for name in asked.split(",")[:_MOST_NAMES]]
    more = [name for name in named if _NAME.fullmatch(name) and name.lower() not in known]
    return ", ".join([HEADERS, *dict.fromkeys(more)])
