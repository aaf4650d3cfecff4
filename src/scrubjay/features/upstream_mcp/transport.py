"""MCP messages over a process's pipes, one per line. Invalid lines are skipped and reported in its standard error."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Protocol, Self

import anyio
from mcp.client._transport import TransportStreams  # mcp 2.3 has no public name for it
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from scrubjay.core.streams import BorrowedStream
from scrubjay.features.upstream_mcp.process import SkillProcess

READ_BYTES = 64 * 1024
REPORTED_CHARACTERS = 200
# Further invalid lines are not reported, because they would displace the rest of standard error.
MAX_REPORTED = 5


class TransportObserver(Protocol):
    """Counts messages, and is notified of the end of the stream."""

    received: int
    ended: anyio.Event


@asynccontextmanager
async def messages(
    process: SkillProcess, max_message_bytes: int, observer: TransportObserver
) -> AsyncGenerator[TransportStreams]:
    """Yield read and write streams for the SDK; the read stream ends with the process's output."""
    yield _Incoming(process, max_message_bytes, observer), _Outgoing(process, observer)


class _Outgoing(BorrowedStream):
    """Messages to the process, written by the sending task: passing them to another task is slower."""

    def __init__(self, process: SkillProcess, observer: TransportObserver) -> None:
        self._process = process
        self._observer = observer

    async def send(self, item: SessionMessage, /) -> None:
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            await self._process.stdin.send(text.encode() + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            self._observer.ended.set()  # a process that closed its input will not answer
            raise anyio.BrokenResourceError from None


class _Incoming(BorrowedStream):
    """Messages from the process."""

    def __init__(self, process: SkillProcess, max_message_bytes: int, observer: TransportObserver) -> None:
        self._lines = _Lines(process, max_message_bytes)
        self._observer = observer

    async def receive(self) -> SessionMessage:
        while (line := await self._lines.next()) is not None:
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                self._lines.report_invalid(line)
                continue
            self._observer.received += 1
            return SessionMessage(message)
        self._observer.ended.set()
        raise anyio.EndOfStream

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class _Lines:
    """The lines of a process's output; a line over the limit ends the stream."""

    def __init__(self, process: SkillProcess, max_bytes: int) -> None:
        self._process = process
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._searched = 0
        self._reported = 0

    async def next(self) -> bytes | None:
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                self._searched = 0
                if line.strip():
                    return line
                continue
            self._searched = len(self._buffer)
            if self._searched > self._max_bytes:
                self._process.note(f"(wrote a line of more than {self._max_bytes} bytes, which is not allowed)")
                return None
            try:
                self._buffer += await self._process.stdout.receive(READ_BYTES)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                return None

    def report_invalid(self, line: bytes) -> None:
        self._reported += 1
        if self._reported <= MAX_REPORTED:
            start = line[:REPORTED_CHARACTERS].decode("utf-8", "replace")
            self._process.note(f"(wrote an invalid message to stdout: {start})")
