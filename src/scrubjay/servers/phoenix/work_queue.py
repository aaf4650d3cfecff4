"""Who is worked for next: the most urgent first, so many at once, and only so many may wait."""

import heapq
from itertools import count

import anyio

from scrubjay.core.errors import Busy


class Ticket:
    """A place in the line. Whoever takes one gives it back, at whatever point."""

    __slots__ = ("_called", "_line", "place")

    def __init__(self, line: "Turns", place: tuple[int, int]) -> None:
        self.place = place
        self._line = line
        self._called = anyio.Event()

    def __lt__(self, other: "Ticket") -> bool:
        return self.place < other.place

    @property
    def is_called(self) -> bool:
        return self._called.is_set()

    def call(self) -> None:
        self._called.set()

    async def turn(self) -> None:
        """Wait until it is this one's turn."""
        await self._called.wait()

    def give_back(self) -> None:
        """Leave the line, or let the next one in."""
        self._line.leave(self)


class Turns:
    """The line in front of all workers of a server."""

    def __init__(self, *, workers: int, waiting: int) -> None:
        self._workers = workers
        self._most_waiting = waiting
        self._numbers = count()
        self._working: set[Ticket] = set()
        self._waiting: list[Ticket] = []

    @property
    def working(self) -> int:
        return len(self._working)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def take_ticket(self, priority: int) -> Ticket:
        """A place behind all that are as urgent; `Busy` when too many wait."""
        ticket = Ticket(self, (-priority, next(self._numbers)))
        if len(self._working) < self._workers:
            self._begin(ticket)
        elif len(self._waiting) >= self._most_waiting:
            raise Busy(f"{self._most_waiting} questions wait already", hint="ask again in a moment")
        else:
            heapq.heappush(self._waiting, ticket)
        return ticket

    def leave(self, ticket: Ticket) -> None:
        if ticket in self._working:
            self._working.remove(ticket)
            if self._waiting:
                self._begin(heapq.heappop(self._waiting))
        elif ticket in self._waiting:
            self._waiting.remove(ticket)
            heapq.heapify(self._waiting)

    def _begin(self, ticket: Ticket) -> None:
        self._working.add(ticket)
        ticket.call()
