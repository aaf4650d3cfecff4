"""MCP messages over a program's pipes, one a line. Lines that are no message are noted and passed over."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Protocol

import anyio
from mcp.client._transport import TransportStreams  # mcp 2.3 has no public name for it
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from recollect.skills.process import SkillProcess

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
    incoming, arrived = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, unsent = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        lines = _Lines(process, max_message_bytes)
        try:
            while (line := await lines.next()) is not None:
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    lines.pass_over(line)
                    continue
                listener.heard += 1
                await incoming.send(SessionMessage(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # nobody listens any more
        finally:
            listener.ended.set()  # first: whose calls fail because the stream ends must find it so
            incoming.close()

    async def write() -> None:
        async with unsent:
            async for message in unsent:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await process.stdin.send(text.encode() + b"\n")
                except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                    incoming.close()  # so that who waits for an answer learns that none will come
                    return

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        try:
            yield arrived, outgoing
        finally:
            tasks.cancel_scope.cancel()
            for stream in (incoming, arrived, outgoing, unsent):
                stream.close()


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
