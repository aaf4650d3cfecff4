"""MCP messages over a program's pipes, one a line. Lines that are no message are noted and passed over."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Protocol, Self

import anyio
from mcp.client._transport import TransportStreams  # mcp 2.3 has no public name for it
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from scrubjay.features.upstream_mcp.process import SkillProcess

READ_BYTES = 64 * 1024
NOTED_CHARACTERS = 200
# Further lines that are no message are not noted: they would push everything else out.
MOST_NOTED = 5


class Listener(Protocol):
    """Who wants to know that messages come, and that no more will."""

    heard: int
    ended: anyio.Event


@asynccontextmanager
async def messages(
    process: SkillProcess, max_message_bytes: int, listener: Listener
) -> AsyncGenerator[TransportStreams]:
    """The SDK's view of the program. Its read stream ends when the program's output does."""
    yield _Incoming(process, max_message_bytes, listener), _Outgoing(process, listener)


class _Stream:
    """What the SDK wants of a stream. The pipes end with the program, which another looks after."""

    async def aclose(self) -> None:
        """Nothing to do."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        return None


class _Outgoing(_Stream):
    """Messages to the program, each written by whoever sends it: handing them to a task would take longer."""

    def __init__(self, process: SkillProcess, listener: Listener) -> None:
        self._process = process
        self._listener = listener

    async def send(self, item: SessionMessage, /) -> None:
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            await self._process.stdin.send(text.encode() + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            self._listener.ended.set()  # who does not listen any more will not answer either
            raise anyio.BrokenResourceError from None


class _Incoming(_Stream):
    """Messages of the program."""

    def __init__(self, process: SkillProcess, max_message_bytes: int, listener: Listener) -> None:
        self._lines = _Lines(process, max_message_bytes)
        self._listener = listener

    async def receive(self) -> SessionMessage:
        while (line := await self._lines.next()) is not None:
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                self._lines.pass_over(line)
                continue
            self._listener.heard += 1
            return SessionMessage(message)
        self._listener.ended.set()
        raise anyio.EndOfStream

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class _Lines:
    """The lines of a program's output; a longer one than allowed ends it."""

    def __init__(self, process: SkillProcess, most: int) -> None:
        self._process = process
        self._most = most
        self._arrived = bytearray()
        self._searched = 0
        self._noted = 0

    async def next(self) -> bytes | None:
        while True:
            end = self._arrived.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._arrived[:end])
                del self._arrived[: end + 1]
                self._searched = 0
                if line.strip():
                    return line
                continue
            self._searched = len(self._arrived)
            if self._searched > self._most:
                self._process.note(f"(wrote a line of more than {self._most} bytes, which is refused)")
                return None
            try:
                self._arrived += await self._process.stdout.receive(READ_BYTES)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                return None

    def pass_over(self, line: bytes) -> None:
        self._noted += 1
        if self._noted <= MOST_NOTED:
            start = line[:NOTED_CHARACTERS].decode("utf-8", "replace")
            self._process.note(f"(wrote to its output what is no message: {start})")
