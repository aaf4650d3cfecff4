"""Read the body of a request before it is handled, with limits on its size and its time."""

import asyncio
from typing import Final

from starlette.types import Message, Receive, Scope

from scrubjay.core.errors import TooLarge
from scrubjay.servers.http.places import Place
from scrubjay.servers.http.refusals import BodyTooSlow
from scrubjay.servers.http.request_metadata import header_of

# A body must arrive within this time or at this rate: a slow client occupies a place of its sender.
BODY_SECONDS: Final = 30.0
BODY_BYTES_PER_SECOND: Final = 16 * 1024


class RequestBody:
    """A request's body while it arrives."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.complete = False

    async def next_chunk(self) -> bytes | None:
        """Return the next chunk of the body; None when the client disconnected."""
        message = await self._receive()
        self.complete = not message.get("more_body", False)
        return message.get("body", b"") if message["type"] == "http.request" else None

    async def read(self, scope: Scope, memory: Place, *, max_bytes: int, deadline: float) -> bytes | None:
        """Return the whole body, or None when the client disconnected; `memory` is charged for its bytes.

        Raises `TooLarge` beyond `max_bytes`, and `BodyTooSlow` at the deadline, a time of the event loop, or before.
        """
        announced = (header_of(scope, b"content-length") or "").lstrip("0")
        if announced.isdecimal() and (len(announced) > 18 or int(announced) > max_bytes):
            raise _too_large(max_bytes)
        chunks: list[bytes] = []
        size = 0
        began = asyncio.get_running_loop().time()
        while not self.complete:
            due = min(deadline, began + BODY_SECONDS + size / BODY_BYTES_PER_SECOND)
            try:
                async with asyncio.timeout_at(due):  # costs a fifth of an anyio cancel scope
                    chunk = await self.next_chunk()
            except TimeoutError:
                raise BodyTooSlow(
                    "the request body did not arrive in time", hint="send the request again without delay"
                ) from None
            if chunk is None:
                return None
            size += len(chunk)
            if size > max_bytes:
                raise _too_large(max_bytes)
            if not self.complete:  # most bodies are small and arrive at once
                memory.grow(len(chunk))
            chunks.append(chunk)
        return b"".join(chunks)


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields the body as one message, then the client's messages."""
    replayed = False

    async def receive_body_first() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_body_first


def _too_large(max_bytes: int) -> TooLarge:
    return TooLarge(
        f"the body is larger than {max_bytes} bytes",
        hint="send it in smaller parts",
        details={"limit_bytes": max_bytes},
    )
