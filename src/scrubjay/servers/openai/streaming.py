"""A response that streams server-sent events as they arrive."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.http.errors import internal_error

logger = logging.getLogger("scrubjay.openai")


class EventStreamResponse(Response):
    """Sends each event before it asks for the next one, so that a slow reader slows the language model down.

    The resources of the stream are released at its end, also when the client disconnects early.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], resources: AsyncExitStack, headers: Mapping[str, str]) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({**headers, "X-Accel-Buffering": "no"})
        self._events = events
        self._resources = resources

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._resources:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async for event in self._events:
                await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def stream_error(error: Exception, request_id: str) -> ScrubjayError:
    """Return the error to send within a stream whose status has already been sent; log unexpected exceptions."""
    if isinstance(error, ScrubjayError):
        return error
    logger.error("a stream failed unexpectedly", extra={"request_id": request_id, **error_fields(error)})
    return internal_error(error, request_id)
