"""What an answer is: one piece, or a stream of them, and what was recalled for it."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scrubjay.servers.openai.wire import Json, Recalled

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of an answer, as it is sent and as it is read; what only keeps the connection alive has no data."""

    raw: bytes
    data: Json | None


class Answer(Protocol):
    """An answer that is about to be given."""

    recalled: Recalled

    async def whole(self) -> Json:
        """All of it, for a request that does not ask for a stream."""
        ...

    def chunks(self) -> AsyncIterator[Chunk]:
        """Piece by piece, for one that does, without the mark of the end."""
        ...


def told(recalled: Recalled) -> Json:
    return recalled.model_dump(mode="json")


def event(data: Mapping[str, Any]) -> bytes:
    """As an event of a stream."""
    return b"data: " + json.dumps(data).encode() + b"\n\n"
