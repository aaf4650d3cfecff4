"""Server-sent events out of the pieces in which they come over a wire."""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

# One event is one piece of an answer. One that is longer than this is no event.
MAX_EVENT_BYTES = 8 * 1024 * 1024

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event, or a comment, as it came."""

    raw: bytes
    """With the empty line behind it."""

    @property
    def data(self) -> bytes:
        """What it tells; empty for a comment."""
        lines = [line[5:] for line in _LINE.split(self.raw) if line.startswith(b"data:")]
        return b"\n".join(line.removeprefix(b" ") for line in lines)

    def map(self, change: Callable[[bytes], bytes]) -> "ServerEvent":
        return replace(self, raw=change(self.raw))


async def events_of(pieces: AsyncIterator[bytes]) -> AsyncIterator[ServerEvent | None]:
    """Each event when its end has come, and what is left at the end. None, and no more, for one that is too long."""
    waiting = b""
    async for piece in pieces:
        searched = max(0, len(waiting) - 3)  # of an end, three bytes may be there already
        waiting += piece
        while found := _END.search(waiting, searched):
            yield ServerEvent(waiting[: found.end()])
            waiting, searched = waiting[found.end() :], 0
        if len(waiting) > MAX_EVENT_BYTES:
            yield None
            return
    if waiting.strip():
        yield ServerEvent(waiting + b"\n\n")
