"""Messages in a stream of bytes: one a line, or each behind headers that tell its length, as editors have them.

A client may use either, and change between them; it is answered in the one that it used last.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Final

_LENGTH: Final = re.compile(rb"content-length\s*:\s*(\d{1,18})", re.IGNORECASE)
# No JSON begins like this.
_HEADER: Final = re.compile(rb"content-(length|type)\s*:", re.IGNORECASE)
# Of what is too long, so much of both ends is kept: enough to see whose it was.
_END_BYTES: Final = 512


class TooLong(Exception):
    """A message has more bytes than it may. All of it has been read, and none but its ends kept."""

    def __init__(self, head: bytes, tail: bytes) -> None:
        self.head = head[:_END_BYTES]
        self.tail = tail[-_END_BYTES:]


class BadHeaders(Exception):
    """Headers that do not tell how long the message behind them is."""


class MessageReader:
    """Takes one message after the other out of what arrives."""

    def __init__(self, arriving: Callable[[], Awaitable[bytes]], max_bytes: int) -> None:
        """`arriving` waits for some bytes; none is the end."""
        self._arriving = arriving
        self._max_bytes = max_bytes
        self._arrived = bytearray()
        self.has_headers = False
        """Whether the last message had headers."""

    async def next(self) -> bytes | None:
        """The next message; None at the end. `TooLong` or `BadHeaders` for one that is none."""
        line = b""
        while not line:  # empty ones mean nothing
            try:
                found = await self._next_line()
            except TooLong:
                self.has_headers = False
                raise
            if found is None:
                return None
            line = found.strip()
        self.has_headers = _HEADER.match(line) is not None
        return await self._behind_headers(line) if self.has_headers else line

    async def _behind_headers(self, line: bytes) -> bytes:
        size: int | None = None
        while line:
            if told := _LENGTH.fullmatch(line):
                size = int(told[1])
            line = (await self._next_line() or b"").strip()
        if size is None:
            raise BadHeaders
        return await self._next_bytes(size)

    async def _next_line(self) -> bytes | None:
        """Up to the end of the line, which the end of the input is too."""
        head = b""
        searched = 0
        while (end := self._arrived.find(b"\n", searched)) < 0:
            if len(self._arrived) > self._max_bytes:
                head = head or bytes(self._arrived[:_END_BYTES])
                del self._arrived[:-_END_BYTES]
            searched = len(self._arrived)
            piece = await self._arriving()
            if not piece and not self._arrived:
                return None
            self._arrived += piece or b"\n"
        line = self._take(end)
        del self._arrived[:1]
        if head or len(line) > self._max_bytes:
            raise TooLong(head or line, line)
        return line

    async def _next_bytes(self, size: int) -> bytes:
        """So many, or fewer where the input ends."""
        is_too_long = size > self._max_bytes
        head = b""
        while len(self._arrived) < size and (piece := await self._arriving()):
            self._arrived += piece
            if is_too_long:
                head = head or bytes(self._arrived[:_END_BYTES])
                dropped = max(0, min(len(self._arrived), size) - _END_BYTES)
                del self._arrived[:dropped]
                size -= dropped
        body = self._take(size)
        if is_too_long:
            raise TooLong(head or body, body)
        return body

    def _take(self, size: int) -> bytes:
        taken = bytes(self._arrived[:size])
        del self._arrived[:size]
        return taken


def with_headers(message: bytes) -> bytes:
    """The message behind its length."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(message), message)
