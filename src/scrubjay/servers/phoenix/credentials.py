"""The key that a client shows: with the connection, or with each join."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.datastructures import Headers, QueryParams
from starlette.types import Scope

SUBPROTOCOL = "phoenix"
# What npm's phoenix puts its `authToken` behind, without the padding.
_TOKEN_MARK = "base64url.bearer.phx."  # noqa: S105
_NAMES = ("api_key", "token")
_STANDARD = str.maketrans("-_", "+/")


def key_of_connection(scope: Scope) -> str | None:
    """The key that the connection itself came with: its `authToken`, its header, or its parameters."""
    scheme, _, header = Headers(scope=scope).get("authorization", "").partition(" ")
    bearer = header.strip() if scheme.lower() == "bearer" else ""
    return _auth_token(scope.get("subprotocols") or ()) or bearer or key_of(QueryParams(scope["query_string"]))


def key_of(named: Mapping[str, Any]) -> str | None:
    """The key among what a client sent by name."""
    return next((key for name in _NAMES if isinstance(key := named.get(name), str) and key), None)


def _auth_token(offered: Sequence[str]) -> str | None:
    for protocol in offered:
        if protocol.startswith(_TOKEN_MARK):
            token = protocol.removeprefix(_TOKEN_MARK).translate(_STANDARD)
            try:
                return base64.b64decode(token + "=" * (-len(token) % 4), validate=True).decode() or None
            except (binascii.Error, UnicodeDecodeError):
                return None
    return None
