"""A queue with a fixed number of workers, shared fairly by the senders of the work."""

from collections import Counter
from itertools import count

import anyio

from scrubjay.core.errors import Busy

# A sender with a key leaves this share of the workers, rounded down, to others: its work may take minutes.
_RESERVED_SHARE = 0.25


class Ticket:
    """A position in the queue. It must be released in any case, whether the work waited, ran or failed."""

    __slots__ = ("_admitted", "_queue", "number", "priority", "sender")

    def __init__(self, queue: "WorkQueue", priority: int, number: int, sender: str | None) -> None:
        self.priority = priority
        self.number = number
        self.sender = sender
        self._queue = queue
        self._admitted = anyio.Event()

    @property
    def is_admitted(self) -> bool:
        return self._admitted.is_set()

    def admit(self) -> None:
        self._admitted.set()

    async def wait(self) -> None:
        """Wait for a free worker."""
        await self._admitted.wait()

    def release(self) -> None:
        """Leave the queue, or free the worker for the next ticket. A second call does nothing."""
        self._queue.remove(self)


class WorkQueue:
    """The queue in front of all workers of a server.

    The next ticket is one of the sender with the least work running, or of the sender that has waited longest since its
    last start; of that sender's tickets the one with the highest priority, then the oldest. Priorities come from the
    clients, so they order the work of a sender and not the senders.
    """

    def __init__(self, *, workers: int, waiting: int) -> None:
        self._workers = workers
        self._max_per_sender = workers - int(workers * _RESERVED_SHARE)
        self._max_waiting = waiting
        self._numbers = count(1)
        self._starts = count(1)
        self._working: set[Ticket] = set()
        self._working_of: Counter[str | None] = Counter()
        self._last_start: dict[str | None, int] = {}
        """The number of the last start of each sender that has work."""
        self._waiting: list[Ticket] = []

    @property
    def working(self) -> int:
        return len(self._working)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def enqueue(self, priority: int, sender: str | None) -> Ticket:
        """Return a ticket; raise `Busy` when too many wait, or too many of this sender.

        The sender is the id of a key; None is the owner of a server without keys, who has no share.
        """
        ticket = Ticket(self, priority, next(self._numbers), sender)
        if len(self._working) < self._workers and self._may_start(ticket):
            self._start(ticket)
        else:
            self._check_waiting(sender)
            self._waiting.append(ticket)
        return ticket

    def remove(self, ticket: Ticket) -> None:
        if ticket in self._working:
            self._working.remove(ticket)
            self._working_of[ticket.sender] -= 1
            self._start_next()
        elif ticket in self._waiting:
            self._waiting.remove(ticket)
        if not (self._working_of[ticket.sender] or any(one.sender == ticket.sender for one in self._waiting)):
            del self._working_of[ticket.sender]
            self._last_start.pop(ticket.sender, None)

    def _check_waiting(self, sender: str | None) -> None:
        free = self._max_waiting - len(self._waiting)
        if free <= 0:
            raise Busy(f"{len(self._waiting)} requests are already waiting", hint="try again in a moment")
        own = sum(ticket.sender == sender for ticket in self._waiting)
        if sender is not None and own >= free:
            raise Busy(f"{own} requests of this key are already waiting", hint="try again in a moment")

    def _may_start(self, ticket: Ticket) -> bool:
        return ticket.sender is None or self._working_of[ticket.sender] < self._max_per_sender

    def _start_next(self) -> None:
        startable = [ticket for ticket in self._waiting if self._may_start(ticket)]
        if startable:
            ticket = min(startable, key=self._rank)
            self._waiting.remove(ticket)
            self._start(ticket)

    def _rank(self, ticket: Ticket) -> tuple[int, int, int, int]:
        sender = ticket.sender
        return self._working_of[sender], self._last_start.get(sender, 0), -ticket.priority, ticket.number

    def _start(self, ticket: Ticket) -> None:
        self._working.add(ticket)
        self._working_of[ticket.sender] += 1
        self._last_start[ticket.sender] = next(self._starts)
        ticket.admit()
