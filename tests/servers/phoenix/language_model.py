"""A service that speaks chat completions, and never comes to an end when it is asked to write."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc
from pydantic_core import to_json

ENDLESS = b"Please write"
ROUTING = b"You route a question"


@dataclass
class HungModel:
    """How many questions it has begun to answer, and how many of those who asked have hung up."""

    url: str = ""
    asked: int = 0
    abandoned: int = 0
    changed: anyio.Event = field(default_factory=anyio.Event)

    def note(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    async def _tell_when(self, stream: anyio.abc.ByteStream, path: str) -> None:
        """Answer `GET /asked/2` as soon as two were asked, and `GET /abandoned/2` likewise."""
        _, counted, times = path.split("/")
        while getattr(self, counted) < int(times):
            await self.changed.wait()
        await _send(stream, {counted: getattr(self, counted)})

    async def answer(self, stream: anyio.abc.ByteStream) -> None:
        async with stream:
            asked = b""
            try:
                while True:
                    asked += await stream.receive()
                    head, complete, body = asked.partition(b"\r\n\r\n")
                    if complete and head.startswith(b"GET "):
                        return await self._tell_when(stream, head.split()[1].decode())
                    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                    if complete and lengths and len(body) >= int(lengths[0].split(b":")[1]):
                        break
                if ENDLESS in body and ROUTING not in body:
                    self.asked += 1
                    self.note()
                    await self._until_hung_up(stream)
                said = "episodic" if ROUTING in body else "Users prefer dark mode. [1]"
                message = {"role": "assistant", "content": said}
                await _send(stream, {"model": "toy", "choices": [{"message": message, "finish_reason": "stop"}]})
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return None
        return None

    async def _until_hung_up(self, stream: anyio.abc.ByteStream) -> None:
        try:
            await stream.receive()
        finally:
            self.abandoned += 1
            self.note()


async def _send(stream: anyio.abc.ByteStream, told: dict[str, Any]) -> None:
    body = to_json(told)
    header = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    await stream.send(header.encode() + b"Connection: close\r\n\r\n" + body)


@asynccontextmanager
async def hung_model() -> AsyncGenerator[HungModel]:
    model = HungModel()
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        model.url = f"http://127.0.0.1:{port}"
        tasks.start_soon(listener.serve, model.answer)
        yield model
        tasks.cancel_scope.cancel()
