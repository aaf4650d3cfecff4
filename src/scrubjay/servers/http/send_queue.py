"""A bounded send queue for one client, which drops less important messages first."""

from collections import deque
from dataclasses import dataclass

import anyio

# Droppable messages fill at most this share of the queue, so that others find room.
DROPPABLE_SHARE = 0.5
# `emptied` waits until at most this share is filled, so that urgent messages find room.
PATIENT_SHARE = 0.5


class ReaderTooSlow(Exception):
    """The queue is full: the client does not read."""


@dataclass(frozen=True, slots=True)
class _Message:
    text: bytes
    droppable: bool


class SendQueue:
    """Messages in the order in which they were put in."""

    def __init__(self, *, most_bytes: int, most_messages: int) -> None:
        self._most_bytes = most_bytes
        self._most_messages = most_messages
        self._messages: deque[_Message] = deque()
        self._bytes = 0
        self._filled = anyio.Event()
        self._taken = anyio.Event()

    def put(self, text: bytes, *, droppable: bool = False) -> int:
        """Add a message; return how many droppable messages were dropped, this one or earlier ones.

        Raises `ReaderTooSlow` when there is no room for one that must not be dropped. An empty queue takes any size.
        """
        dropped = 0
        if droppable and not self._has_room(text, DROPPABLE_SHARE):
            return 1
        if self._messages and not self._has_room(text):
            dropped = self._drop_what_may_be()
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

    async def emptied(self) -> None:
        """Wait until half of the queue is free."""
        while self._messages and not self._has_room(b"", PATIENT_SHARE):
            self._taken = anyio.Event()
            await self._taken.wait()

    def _has_room(self, text: bytes, share: float = 1.0) -> bool:
        few_enough = len(self._messages) < self._most_messages * share
        return few_enough and self._bytes + len(text) <= self._most_bytes * share

    def _drop_what_may_be(self) -> int:
        kept = deque(message for message in self._messages if not message.droppable)
        dropped = len(self._messages) - len(kept)
        self._messages = kept
        self._bytes = sum(len(message.text) for message in kept)
        return dropped
