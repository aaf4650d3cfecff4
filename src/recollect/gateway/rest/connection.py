"""Noticing that an HTTP client has gone."""

import anyio
from starlette.types import Receive


async def cancel_when_disconnected(receive: Receive, scope: anyio.CancelScope) -> None:
    """Cancel the scope as soon as the client leaves; the request's body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
