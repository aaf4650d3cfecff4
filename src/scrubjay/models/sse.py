"""Parse server-sent events from a byte stream."""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

# An event is one chunk of an answer; longer ones are invalid.
MAX_EVENT_BYTES = 8 * 1024 * 1024

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """An event or comment, unparsed."""

    raw: bytes
    """Includes the empty line at the end."""

    @property
    def data(self) -> bytes:
        """The data lines, joined; empty for a comment."""
        lines = [line[5:] for line in _LINE.split(self.raw) if line.startswith(b"data:")]
        return b"\n".join(line.removeprefix(b" ") for line in lines)

    def map(self, change: Callable[[bytes], bytes]) -> "ServerEvent":
        return replace(self, raw=change(self.raw))


async def events_of(pieces: AsyncIterator[bytes]) -> AsyncIterator[ServerEvent | None]:
    """Yield each event when complete, and the rest at the end. Yields None and stops if an event is too long."""
    waiting = b""
    async for piece in pieces:
        searched = max(0, len(waiting) - 3)  # up to three bytes of the delimiter may have arrived
        waiting += piece
        while found := _END.search(waiting, searched):
            yield ServerEvent(waiting[: found.end()])
            waiting, searched = waiting[found.end() :], 0
        if len(waiting) > MAX_EVENT_BYTES:
            yield None
            return
    if waiting.strip():
        yield ServerEvent(waiting + b"\n\n")
