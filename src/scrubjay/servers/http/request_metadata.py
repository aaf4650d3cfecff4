"""Metadata of an HTTP request: headers, client address, trace."""

import re

from starlette.types import Scope

# Of the W3C's Trace Context: a version, a trace, a span, flags; a later version may say more after them.
_TRACEPARENT = re.compile(
    r"(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?", re.ASCII
)
_LENGTH = 55


def header_of(scope: Scope, name: bytes) -> str | None:
    """Return the first header of this name, which must be lower case; None when there is none."""
    for known, value in scope["headers"]:
        if known == name:
            return value.decode("latin-1")
    return None


def address_of(scope: Scope) -> str | None:
    """Return the client address that the edge found, or else the other end of the connection."""
    known: str | None = scope.get("state", {}).get("address")
    client = scope.get("client")
    return known or (str(client[0]) if client else None)


def traceparent_of(scope: Scope) -> str | None:
    """Return the valid `traceparent` of the request; None when there is none."""
    given = header_of(scope, b"traceparent")
    return sane_traceparent(given) if given else None


def sane_traceparent(given: str) -> str | None:
    """The first four parts of a right `traceparent`; None of a wrong one, which the standard wants to be ignored."""
    matched = _TRACEPARENT.fullmatch(given)
    if matched is None or (matched[1] == "00" and matched[2]):
        return None
    return given[:_LENGTH]
