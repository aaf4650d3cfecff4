"""What waits to be sent to one client: bounded, and what matters less goes first."""

from collections import deque
from dataclasses import dataclass

import anyio

# What may be dropped takes no more than this part of the room, so that what must not be finds some.
DROPPABLE_SHARE = 0.5
# What can wait takes no more than this part, so that what cannot finds some.
PATIENT_SHARE = 0.5


class ReaderTooSlow(Exception):
    """More waits for a client than may; it does not read what it asked for."""


@dataclass(frozen=True, slots=True)
class _Letter:
    text: bytes
    droppable: bool


class Outbox:
    """Frames in the order in which they were put in."""

    def __init__(self, *, most_bytes: int, most_messages: int) -> None:
        self._most_bytes = most_bytes
        self._most_messages = most_messages
        self._letters: deque[_Letter] = deque()
        self._bytes = 0
        self._filled = anyio.Event()
        self._taken = anyio.Event()

    def put(self, text: bytes, *, droppable: bool = False) -> int:
        """Put one in. Returns how many that may be dropped were, this one or earlier ones.

        `ReaderTooSlow` when there is no room for one that must not be dropped. A single one, however large, always has.
        """
        dropped = 0
        if droppable and not self._has_room(text, DROPPABLE_SHARE):
            return 1
        if self._letters and not self._has_room(text):
            dropped = self._drop_what_may_be()
            if self._letters and not self._has_room(text):
                raise ReaderTooSlow
        self._letters.append(_Letter(text, droppable))
        self._bytes += len(text)
        self._filled.set()
        return dropped

    async def take(self) -> bytes:
        """The next one, as soon as there is one."""
        while not self._letters:
            self._filled = anyio.Event()
            await self._filled.wait()
        letter = self._letters.popleft()
        self._bytes -= len(letter.text)
        self._taken.set()
        return letter.text

    async def emptied(self) -> None:
        """Wait until half of the room is free: for what can wait to be put in."""
        while self._letters and not self._has_room(b"", PATIENT_SHARE):
            self._taken = anyio.Event()
            await self._taken.wait()

    def _has_room(self, text: bytes, share: float = 1.0) -> bool:
        few_enough = len(self._letters) < self._most_messages * share
        return few_enough and self._bytes + len(text) <= self._most_bytes * share

    def _drop_what_may_be(self) -> int:
        kept = deque(letter for letter in self._letters if not letter.droppable)
        dropped = len(self._letters) - len(kept)
        self._letters = kept
        self._bytes = sum(len(letter.text) for letter in kept)
        return dropped
