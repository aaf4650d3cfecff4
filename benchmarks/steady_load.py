"""Send HTTP requests at a constant rate over keep-alive connections, with latency from each scheduled time.

A generator that waits for an answer before the next request hides stalls of the server ("coordinated omission"); here
the rate does not depend on answers. The generator does little work per request, to leave the machine to the server.
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
class LoadResult:
    """Latencies and statuses of one run."""

    seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list[float])
    """Latency of each answer, from the scheduled time of its request."""
    statuses: dict[int, int] = field(default_factory=dict[int, int])
    unanswered: int = 0

    @property
    def failed(self) -> int:
        return self.unanswered + sum(count for status, count in self.statuses.items() if status != 200)

    @property
    def per_second(self) -> float:
        return self.statuses.get(200, 0) / self.seconds

    def percentile(self, share: float) -> float:
        """Return the latency in milliseconds within which this share (0 to 1) of the answers came."""
        ordered = sorted(self.milliseconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class _Connection(asyncio.Protocol):
    """A keep-alive connection with one request at a time."""

    def __init__(self, ended: Callable[["_Connection", int], None]) -> None:
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


async def run_load(
    host: str, port: int, requests: list[bytes], *, pace: float, seconds: float, connections: int
) -> LoadResult:
    """Send `pace` requests per second, cycling through `requests`; with `pace` 0, send the next after each answer."""
    load, loop = LoadResult(), asyncio.get_running_loop()
    # The longest idle connection is used next, because servers close connections that are idle for some seconds.
    free: deque[_Connection] = deque()
    due: deque[tuple[float, bytes]] = deque()
    number = pending = 0
    ending, answered = False, asyncio.Event()

    def send(line: _Connection, moment: float, request: bytes) -> None:
        assert line.transport
        line.due = moment
        line.transport.write(request)

    def ended(line: _Connection, status: int) -> None:
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
        _, line = await loop.create_connection(lambda: _Connection(ended), host, port)
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
