"""A bounded send queue for one client, which drops less important messages first."""

from collections import deque
from dataclasses import dataclass

import anyio

# Droppable messages fill at most this share of the queue, so that there is room for the others.
DROPPABLE_SHARE = 0.5
# `wait_for_room` waits until at most this share is filled, so that there is room for urgent messages.
WAIT_SHARE = 0.5


class ReaderTooSlow(Exception):
    """The queue is full: the client does not read."""


@dataclass(frozen=True, slots=True)
class _Message:
    text: bytes
    droppable: bool


class SendQueue:
    """A first-in, first-out queue with limits on bytes and messages."""

    def __init__(self, *, max_bytes: int, max_messages: int) -> None:
        self._max_bytes = max_bytes
        self._max_messages = max_messages
        self._messages: deque[_Message] = deque()
        self._bytes = 0
        self._filled = anyio.Event()
        self._taken = anyio.Event()

    def put(self, text: bytes, *, droppable: bool = False) -> int:
        """Add a message; return the number of droppable messages that were dropped, this one or earlier ones.

        Raises `ReaderTooSlow` when there is no room for a message that must not be dropped. An empty queue accepts a
        message of any size.
        """
        dropped = 0
        if droppable and not self._has_room(text, DROPPABLE_SHARE):
            return 1
        if self._messages and not self._has_room(text):
            dropped = self._drop_droppable()
            if self._messages and not self._has_room(text):
                raise ReaderTooSlow
        self._messages.append(_Message(text, droppable))
        self._bytes += len(text)
        self._filled.set()
        return dropped

    async def take(self) -> bytes:
        """Return the next message, as soon as there is one."""
        while not self._messages:
            self._filled = anyio.Event()
            await self._filled.wait()
        message = self._messages.popleft()
        self._bytes -= len(message.text)
        self._taken.set()
        return message.text

    async def wait_for_room(self) -> None:
        """Wait until at least half of the queue is free."""
        while self._messages and not self._has_room(b"", WAIT_SHARE):
            self._taken = anyio.Event()
            await self._taken.wait()

    def _has_room(self, text: bytes, share: float = 1.0) -> bool:
        few_enough = len(self._messages) < self._max_messages * share
        return few_enough and self._bytes + len(text) <= self._max_bytes * share

    def _drop_droppable(self) -> int:
        required = deque(message for message in self._messages if not message.droppable)
        dropped = len(self._messages) - len(required)
        self._messages = required
        self._bytes = sum(len(message.text) for message in required)
        return dropped
