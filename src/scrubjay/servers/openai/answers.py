"""The interface of a chat answer: complete or as a stream of chunks, with the memories recalled for it."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scrubjay.servers.openai.wire import Json, Recalled

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk of a streamed answer."""

    raw: bytes
    """The bytes to send."""
    data: Json | None
    """The parsed event; None for a comment that only keeps the connection alive."""


class CompletionAnswer(Protocol):
    """An answer that is ready to be produced, complete or as a stream."""

    recalled: Recalled

    async def complete(self) -> Json:
        """Return the whole completion."""
        ...

    def chunks(self) -> AsyncIterator[Chunk]:
        """Yield the chunks of the completion, without the final `[DONE]`."""
        ...


def recalled_fields(recalled: Recalled) -> Json:
    """Return the value of the `scrubjay` field."""
    return recalled.model_dump(mode="json")


def sse_event(data: Mapping[str, Any]) -> bytes:
    """Return the data as a server-sent event."""
    return b"data: " + json.dumps(data).encode() + b"\n\n"
