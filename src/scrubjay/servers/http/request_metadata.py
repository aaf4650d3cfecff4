"""Metadata of an HTTP request: request id, headers, client address, trace."""

import re

from starlette.types import Scope

from scrubjay.core.ids import new_id

# W3C Trace Context: version, trace id, span id, flags; later versions may append fields.
_TRACEPARENT = re.compile(
    r"(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?", re.ASCII
)
_LENGTH = 55


def request_id_of(scope: Scope) -> str:
    """Return the id of this request; assign a new one when no `EdgeMiddleware` has done so."""
    state: dict[str, str] = scope.setdefault("state", {})
    if "request_id" not in state:
        state["request_id"] = new_id("req")
    return state["request_id"]


def header_of(scope: Scope, name: bytes) -> str | None:
    """Return the first header of this name, which must be lower case; None when there is none."""
    for header, value in scope["headers"]:
        if header == name:
            return value.decode("latin-1")
    return None


def address_of(scope: Scope) -> str | None:
    """Return the client address that `EdgeMiddleware` determined, or else the peer address of the connection."""
    determined: str | None = scope.get("state", {}).get("address")
    client = scope.get("client")
    return determined or (str(client[0]) if client else None)


def traceparent_of(scope: Scope) -> str | None:
    """Return the valid `traceparent` of the request; None when there is none."""
    given = header_of(scope, b"traceparent")
    return parse_traceparent(given) if given else None


def parse_traceparent(given: str) -> str | None:
    """Return the first four fields of a valid `traceparent`; None for an invalid one, which the standard ignores."""
    matched = _TRACEPARENT.fullmatch(given)
    if matched is None or (matched[1] == "00" and matched[2]):
        return None
    return given[:_LENGTH]
