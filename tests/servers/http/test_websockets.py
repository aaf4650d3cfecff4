"""One WebSocket of any protocol, without a network."""

from collections.abc import MutableMapping
from typing import Any

import anyio
from starlette.types import Receive

from scrubjay.servers.http.websockets import POLICY, Socket


class Telling(Socket):
    """Says something and then waits for a client that says nothing."""

    def __init__(self, slow_seconds: float) -> None:
        super().__init__(outbox_bytes=100, outbox_messages=2, slow_seconds=slow_seconds)
        self.was_closed = False
        self.welcome = True

    async def read(self, receive: Receive) -> None:
        self.put(b"something")
        await receive()

    def tend(self) -> None:
        pass

    def is_welcome(self) -> bool:
        return self.welcome

    def closed(self) -> None:
        self.was_closed = True


async def says_nothing() -> MutableMapping[str, Any]:
    await anyio.sleep_forever()
    raise AssertionError


async def test_6_a_socket_that_cannot_be_written_to_ends() -> None:
    async def gone(message: MutableMapping[str, Any]) -> None:
        raise OSError("the other end is gone")

    socket = Telling(slow_seconds=10)
    with anyio.fail_after(5):
        await socket.serve(says_nothing, gone)
    assert socket.was_closed


async def test_6_a_client_that_does_not_read_is_let_go() -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def stuck(message: MutableMapping[str, Any]) -> None:
        sent.append(message)
        if message["type"] == "websocket.send":
            await anyio.sleep_forever()

    socket = Telling(slow_seconds=0.01)
    with anyio.fail_after(5):
        await socket.serve(says_nothing, stuck)
    assert (sent[-1]["type"], sent[-1]["code"]) == ("websocket.close", POLICY)


async def test_6_what_finds_no_room_ends_the_socket() -> None:
    async def stuck(message: MutableMapping[str, Any]) -> None:
        await anyio.sleep_forever()

    class Flooding(Telling):
        async def read(self, receive: Receive) -> None:
            for _ in range(20):
                self.put(b"x" * 40)
            await receive()

    socket = Flooding(slow_seconds=10)
    with anyio.fail_after(5):
        await socket.serve(says_nothing, stuck)
    assert socket.has_ended


async def test_013_whoever_is_not_welcome_any_more_is_told_nothing_more() -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    socket = Telling(slow_seconds=60)
    socket.welcome = False
    with anyio.fail_after(5):
        await socket.serve(says_nothing, send)
    assert sent == [{"type": "websocket.close", "code": 1008, "reason": "the key is not valid any more"}]
