"""An answer as a stream of events, each sent when it comes."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scrubjay.core.error_location import place_of
from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.http.errors import unforeseen

logger = logging.getLogger("scrubjay.openai")


class EventStream(Response):
    """Sends what comes, and asks for more only when that is gone: a slow reader slows the language model down.

    What the stream needs is let go at its end, also when the client leaves before.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], needs: AsyncExitStack, headers: Mapping[str, str]) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({**headers, "X-Accel-Buffering": "no"})
        self._events = events
        self._needs = needs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._needs:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async for event in self._events:
                await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def foreseen(error: Exception, request_id: str) -> ScrubjayError:
    """What is told of a failure when the status has been sent already."""
    if isinstance(error, ScrubjayError):
        return error
    logger.error("a stream broke", extra={"request_id": request_id, **place_of(error)})
    return unforeseen(error, request_id)
