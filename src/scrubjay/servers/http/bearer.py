"""Read the bearer key of a request."""

import base64
import binascii

from starlette.types import Scope

from scrubjay.core.errors import Unauthenticated

MISSING, MALFORMED = "Missing Authorization header", "Malformed Authorization header"
HINT = "send the header Authorization: Bearer KEY"
# How the Phoenix client sends a key with a WebSocket, for which browsers let a page set no header.
_PHOENIX_PROTOCOL = "base64url.bearer.phx."


def key_of(scope: Scope) -> str | None:
    """Return the key of a request, or None when it has none; raise `Unauthenticated` when it is malformed."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if given:
        scheme, _, key = given[0].partition(b" ")
        if len(given) > 1 or scheme.lower() != b"bearer" or not key.strip():
            raise _malformed()
        return key.strip().decode("utf-8", "surrogateescape")
    if scope["type"] == "websocket":
        for protocol in scope.get("subprotocols", ()):
            if protocol.startswith(_PHOENIX_PROTOCOL):
                return _decoded(protocol.removeprefix(_PHOENIX_PROTOCOL))
    return None


def _decoded(token: str) -> str:
    try:
        return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    except (binascii.Error, ValueError):
        raise _malformed() from None


def _malformed() -> Unauthenticated:
    return Unauthenticated("this key is not valid here", hint=HINT, details={"reason": MALFORMED})
