"""Find the key of a client, which it sends with the connection or with each join."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.datastructures import Headers, QueryParams
from starlette.types import Scope

SUBPROTOCOL = "phoenix"
# The subprotocol in which npm's phoenix sends its `authToken`, as base64url without padding.
_TOKEN_PREFIX = "base64url.bearer.phx."  # noqa: S105
_NAMES = ("api_key", "token")
_STANDARD = str.maketrans("-_", "+/")


def key_of_connection(scope: Scope) -> str | None:
    """Return the key of the connection: its `authToken`, its header, or its query parameters."""
    scheme, _, header = Headers(scope=scope).get("authorization", "").partition(" ")
    bearer = header.strip() if scheme.lower() == "bearer" else ""
    return _auth_token(scope.get("subprotocols") or ()) or bearer or key_in(QueryParams(scope["query_string"]))


def key_in(named: Mapping[str, Any]) -> str | None:
    """Return the first of `api_key` and `token` that is a non-empty string."""
    return next((key for name in _NAMES if isinstance(key := named.get(name), str) and key), None)


def _auth_token(offered: Sequence[str]) -> str | None:
    for protocol in offered:
        if protocol.startswith(_TOKEN_PREFIX):
            token = protocol.removeprefix(_TOKEN_PREFIX).translate(_STANDARD)
            try:
                return base64.b64decode(token + "=" * (-len(token) % 4), validate=True).decode() or None
            except (binascii.Error, UnicodeDecodeError):
                return None
    return None
