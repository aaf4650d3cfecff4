"""A chat completions server that never finishes its answer to one kind of prompt."""

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
class HangingModel:
    """Counts the hanging requests and how many of their clients have disconnected."""

    url: str = ""
    hanging: int = 0
    disconnected: int = 0
    changed: anyio.Event = field(default_factory=anyio.Event)

    def notify(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    async def _reply_when(self, stream: anyio.abc.ByteStream, path: str) -> None:
        """Answer `GET /hanging/2` as soon as two requests hang, and `GET /disconnected/2` likewise."""
        _, counter, count = path.split("/")
        while getattr(self, counter) < int(count):
            await self.changed.wait()
        await _send(stream, {counter: getattr(self, counter)})

    async def answer(self, stream: anyio.abc.ByteStream) -> None:
        async with stream:
            received = b""
            try:
                while True:
                    received += await stream.receive()
                    head, complete, body = received.partition(b"\r\n\r\n")
                    if complete and head.startswith(b"GET "):
                        return await self._reply_when(stream, head.split()[1].decode())
                    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                    if complete and lengths and len(body) >= int(lengths[0].split(b":")[1]):
                        break
                if ENDLESS in body and ROUTING not in body:
                    self.hanging += 1
                    self.notify()
                    await self._until_disconnected(stream)
                contents = "episodic" if ROUTING in body else "Users prefer dark mode. [1]"
                message = {"role": "assistant", "content": contents}
                await _send(stream, {"model": "toy", "choices": [{"message": message, "finish_reason": "stop"}]})
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return None
        return None

    async def _until_disconnected(self, stream: anyio.abc.ByteStream) -> None:
        try:
            await stream.receive()
        finally:
            self.disconnected += 1
            self.notify()


async def _send(stream: anyio.abc.ByteStream, data: dict[str, Any]) -> None:
    body = to_json(data)
    header = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    await stream.send(header.encode() + b"Connection: close\r\n\r\n" + body)


@asynccontextmanager
async def hanging_model() -> AsyncGenerator[HangingModel]:
    model = HangingModel()
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        model.url = f"http://127.0.0.1:{port}"
        tasks.start_soon(listener.serve, model.answer)
        yield model
        tasks.cancel_scope.cancel()
