"""Requests at a steady pace over kept connections, each timed from the moment at which it was due.

A generator that waits for answers before it asks again hides the time in which the server does not answer: here the
pace does not depend on the answers. Little is done for each request, so that the server has the machine.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

TICK_SECONDS = 0.001
ANSWER_SECONDS = 10.0


@dataclass
class Load:
    """What was seen of one server."""

    seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list[float])
    """Of each answer, from when its request was due."""
    statuses: dict[int, int] = field(default_factory=dict[int, int])
    unanswered: int = 0

    @property
    def failed(self) -> int:
        return self.unanswered + sum(count for status, count in self.statuses.items() if status != 200)

    @property
    def per_second(self) -> float:
        return self.statuses.get(200, 0) / self.seconds

    def within(self, share: float) -> float:
        """In how many milliseconds this share of the answers came."""
        ordered = sorted(self.milliseconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class _Line(asyncio.Protocol):
    """One connection: one request at a time."""

    def __init__(self, ended: Callable[["_Line", int], None]) -> None:
        self._ended = ended
        self._received = bytearray()
        self._length = -1
        self._body_at = 0
        self._status = 0
        self.due = 0.0
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._length < 0:
            end = self._received.find(b"\r\n\r\n")
            if end < 0:
                return
            head = bytes(self._received[:end]).lower()
            self._status = int(head[9:12])
            at = head.find(b"content-length:")
            self._length = int(head[at + 15 :].split(b"\r\n", 1)[0])
            self._body_at = end + 4
        if len(self._received) >= self._body_at + self._length:
            self._received.clear()
            self._length = -1
            self._ended(self, self._status)


async def run(host: str, port: int, requests: list[bytes], *, pace: float, seconds: float, connections: int) -> Load:
    """Send these requests by turns, so many in a second; a `pace` of 0 asks again as soon as an answer is there."""
    load, loop = Load(), asyncio.get_running_loop()
    # The one that rested longest is next: a server closes a connection that rests for some seconds.
    free: deque[_Line] = deque()
    due: deque[tuple[float, bytes]] = deque()
    number = pending = 0
    ending, answered = False, asyncio.Event()

    def send(line: _Line, moment: float, request: bytes) -> None:
        assert line.transport
        line.due = moment
        line.transport.write(request)

    def ended(line: _Line, status: int) -> None:
        nonlocal number, pending
        now = time.perf_counter()
        load.milliseconds.append((now - line.due) * 1000)
        load.statuses[status] = load.statuses.get(status, 0) + 1
        if due:
            send(line, *due.popleft())
        elif pace == 0 and not ending:
            number += 1
            send(line, now, requests[number % len(requests)])
        else:
            pending -= 1
            free.append(line)
            if ending and not pending:
                answered.set()

    for _ in range(connections):
        _, line = await loop.create_connection(lambda: _Line(ended), host, port)
        free.append(line)
    lines, began = list(free), time.perf_counter()
    if pace == 0:
        pending = len(lines)
        while free:
            number += 1
            send(free.popleft(), began, requests[number % len(requests)])
        await asyncio.sleep(seconds)
    while pace and (elapsed := time.perf_counter() - began) < seconds:
        while number < elapsed * pace:
            moment, request = began + number / pace, requests[number % len(requests)]
            number += 1
            if free:
                pending += 1
                send(free.popleft(), moment, request)
            else:
                due.append((moment, request))
        await asyncio.sleep(TICK_SECONDS)
    ending = True
    load.seconds = time.perf_counter() - began
    if pending:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(answered.wait(), ANSWER_SECONDS)
    load.unanswered = pending + len(due)
    for line in lines:
        assert line.transport
        line.transport.close()
    return load
