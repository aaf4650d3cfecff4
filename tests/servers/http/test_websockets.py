"""One WebSocket of any protocol, without a network."""

from collections.abc import MutableMapping
from typing import Any

import anyio
from starlette.types import Receive

from scrubjay.servers.http.websockets import POLICY, WebSocketConnection


class SendingConnection(WebSocketConnection):
    """Sends one message, then waits for a client that sends nothing."""

    def __init__(self, slow_seconds: float) -> None:
        super().__init__(outbox_bytes=100, outbox_messages=2, slow_seconds=slow_seconds)
        self.was_closed = False
        self.authorized = True

    async def read(self, receive: Receive) -> None:
        self.enqueue(b"something")
        await receive()

    def on_tick(self) -> None:
        pass

    def is_authorized(self) -> bool:
        return self.authorized

    def on_closed(self) -> None:
        self.was_closed = True


async def never_receives() -> MutableMapping[str, Any]:
    await anyio.sleep_forever()
    raise AssertionError


async def test_6_a_socket_ends_when_writing_fails() -> None:
    async def send(message: MutableMapping[str, Any]) -> None:
        raise OSError("the other end is gone")

    socket = SendingConnection(slow_seconds=10)
    with anyio.fail_after(5):
        await socket.serve(never_receives, send)
    assert socket.was_closed


async def test_6_a_client_that_does_not_read_is_disconnected() -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def stuck(message: MutableMapping[str, Any]) -> None:
        sent.append(message)
        if message["type"] == "websocket.send":
            await anyio.sleep_forever()

    socket = SendingConnection(slow_seconds=0.01)
    with anyio.fail_after(5):
        await socket.serve(never_receives, stuck)
    assert (sent[-1]["type"], sent[-1]["code"]) == ("websocket.close", POLICY)


async def test_6_a_full_send_queue_ends_the_socket() -> None:
    async def stuck(message: MutableMapping[str, Any]) -> None:
        await anyio.sleep_forever()

    class Flooding(SendingConnection):
        async def read(self, receive: Receive) -> None:
            for _ in range(20):
                self.enqueue(b"x" * 40)
            await receive()

    socket = Flooding(slow_seconds=10)
    with anyio.fail_after(5):
        await socket.serve(never_receives, stuck)
    assert socket.has_ended


async def test_013_nothing_is_sent_after_the_key_is_revoked() -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    socket = SendingConnection(slow_seconds=60)
    socket.authorized = False
    with anyio.fail_after(5):
        await socket.serve(never_receives, send)
    assert sent == [{"type": "websocket.close", "code": 1008, "reason": "the key is no longer valid"}]
