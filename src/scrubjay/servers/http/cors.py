"""CORS: the origins that may use the server, and the response headers for browsers."""

import re
from collections.abc import Sequence
from typing import Final

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
DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
# A header name, and how many of them one preflight request may list; real pages send far fewer than a hundred.
_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]{1,100}", re.ASCII)
_MAX_NAMES = 100
# Seconds for which a browser may cache the answer to a preflight request.
MAX_AGE_SECONDS = 600


class AllowedOrigins:
    """The other origins that may use the server. They are listed one by one; there is no wildcard."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._allowed = frozenset(_canonical(origin.rstrip("/")) for origin in allowed)

    def __contains__(self, origin: object) -> bool:
        return isinstance(origin, str) and _canonical(origin) in self._allowed


def _canonical(origin: str) -> str:
    """Return an origin in lower case without the default port of its scheme."""
    origin = origin.lower()
    scheme, _, _ = origin.partition("://")
    return origin.removesuffix(f":{DEFAULT_PORTS[scheme]}") if scheme in DEFAULT_PORTS else origin


def cors_headers(origin: str) -> list[tuple[bytes, bytes]]:
    """Return the headers that let a page of this allowed origin read the response."""
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", EXPOSED.encode()),
        (b"vary", b"Origin"),
    ]


def preflight(scope: Scope) -> Response | None:
    """Return the response to a preflight request; None for any other request."""
    if scope["method"] != "OPTIONS":
        return None
    headers = Headers(scope=scope)
    if "origin" not in headers or "access-control-request-method" not in headers:
        return None
    allowed = {
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": _allowed_headers(headers.get("access-control-request-headers", "")),
        "Access-Control-Max-Age": str(MAX_AGE_SECONDS),
    }
    return Response(status_code=204, headers=allowed)


def _allowed_headers(requested: str) -> str:
    """Return our headers and every requested one: OpenAI's client sends a dozen of its own."""
    known = {name.lower() for name in HEADERS.split(", ")}
    names = [name.strip() for name in requested.split(",")[:_MAX_NAMES]]
    others = [name for name in names if _NAME.fullmatch(name) and name.lower() not in known]
    return ", ".join([HEADERS, *dict.fromkeys(others)])
