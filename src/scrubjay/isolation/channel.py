"""Exchange frames over two pipes: a length of four bytes, little-endian, then that many bytes.

Both ends of a worker use it. Standard library only: a worker must start fast, and a confined one can load nothing
later.
"""

import os
import resource
import select
import signal
import struct
import time
from itertools import chain
from typing import Final

HEADER: Final = struct.Struct("<I")
MAX_FRAME_BYTES: Final = 2**32 - 1
# Bytes read at a time: a sender that lies about a length cannot make the receiver allocate it.
_READ_BYTES: Final = 1024 * 1024


class FrameTooLarge(Exception):
    """A frame exceeds the limit of its channel."""


class FrameChannel:
    """One end of a connection between two processes.

    Not safe for two threads that send, or two that receive, at the same time. When the other end of `interrupt` is
    closed, waiting calls fail as if the peer were gone.
    """

    def __init__(
        self, reader: int, writer: int, *, max_frame_bytes: int = MAX_FRAME_BYTES, interrupt: int | None = None
    ) -> None:
        """Use these descriptors, which become non-blocking."""
        self.reader, self.writer = reader, writer
        self._max_frame_bytes = max_frame_bytes
        self._interrupt = interrupt
        self._buffer = bytearray()
        self._needed = HEADER.size
        self._has_header = False
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for the next frame, at most `timeout` seconds.

        Raises `TimeoutError`, `FrameTooLarge`, or `EOFError` when the peer is gone. After a timeout the frame can still
        be received later.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while (content := self.receive_available()) is None:
            if not self._wait(deadline):
                raise EOFError
        return content

    def receive_available(self) -> bytes | None:
        """Return the next frame, or None if it has not arrived completely. Never waits."""
        while True:
            missing = self._needed - len(self._buffer)
            if missing:
                try:
                    some = os.read(self.reader, min(missing, _READ_BYTES))
                except BlockingIOError:
                    return None
                if not some:
                    raise EOFError
                self._buffer += some
                continue
            content = bytes(self._buffer)
            self._buffer.clear()
            if self._has_header:
                self._has_header, self._needed = False, HEADER.size
                return content
            (length,) = HEADER.unpack(content)
            if length > self._max_frame_bytes:
                raise FrameTooLarge(f"a frame of {length} bytes; at most {self._max_frame_bytes} are accepted")
            self._has_header, self._needed = True, length

    def send(self, content: bytes) -> None:
        """Send a frame; wait while the peer does not read. Raises `BrokenPipeError` when the peer is gone."""
        left = framed(content)
        while left := self.write_available(left):
            if not self._wait(None, to_write=True):
                raise BrokenPipeError

    def write_available(self, content: memoryview) -> memoryview:
        """Write as much as fits into the pipe and return the rest. Never waits."""
        while content:
            try:
                content = content[os.write(self.writer, content) :]
            except BlockingIOError:
                break
        return content

    def _wait(self, deadline: float | None, *, to_write: bool = False) -> bool:
        """Wait until the channel can be read, or written; return False when it was interrupted."""
        seconds = None if deadline is None else max(0.0, deadline - time.monotonic())
        if self._interrupt is None:
            # A worker, whose descriptors are few. Not `poll`, which fails once a worker may not open any file.
            readers, writers = ([], [self.writer]) if to_write else ([self.reader], [])
            ready = [*chain.from_iterable(select.select(readers, writers, [], seconds))]
        else:
            # A server. Not `select`, which cannot wait for descriptors above 1023.
            poll = select.poll()
            poll.register(self.writer if to_write else self.reader, select.POLLOUT if to_write else select.POLLIN)
            poll.register(self._interrupt, select.POLLIN)
            ready = [found for found, _ in poll.poll(None if seconds is None else seconds * 1000)]
        if not ready:
            raise TimeoutError
        return self._interrupt not in ready


def framed(content: bytes) -> memoryview:
    """Return the bytes of a frame with this content."""
    if len(content) > MAX_FRAME_BYTES:
        raise FrameTooLarge(f"a frame of {len(content)} bytes; at most {MAX_FRAME_BYTES} can be sent")
    return memoryview(HEADER.pack(len(content)) + content)


def connect_to_parent(*, memory_bytes: int | None = None, niceness: int = 0) -> FrameChannel:
    """Return the channel to the process that started this one, and apply limits. Call it first in a worker.

    Standard output then leads to standard error, so that the output of libraries does not mix with frames.
    """
    channel = FrameChannel(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    if niceness:
        os.nice(niceness)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the parent, which ends its workers
    lower_limit(resource.RLIMIT_CORE, 0)
    if memory_bytes is not None:
        lower_limit(resource.RLIMIT_DATA, memory_bytes)
    return channel


def lower_limit(kind: int, maximum: int) -> None:
    """Lower a resource limit (`resource.RLIMIT_*`) of this process, within the hard limit."""
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (maximum if hard == resource.RLIM_INFINITY else min(maximum, hard), hard))
