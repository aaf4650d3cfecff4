"""A skill's process: its pipes, its standard error and its termination."""

import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.abc

from scrubjay.core.secrets import masked
from scrubjay.isolation.limits import Bounds, supervised

# Bytes kept of standard error, and the part of it shown in errors.
TAIL_BYTES = 16 * 1024
SHOWN_LINES, SHOWN_CHARACTERS = 10, 300
# After a large read the reader sleeps briefly, so that a program that floods the pipe does not block the server.
READ_BYTES, PAUSE_SECONDS = 64 * 1024, 0.002
# Time to exit after its input is closed, and time that the supervisor needs to kill it.
EXIT_SECONDS, KILL_SECONDS = 2.0, 5.0
# The last output is still in the pipe after the process has ended.
STDERR_DRAIN_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class ProcessOptions:
    """Working folder and limits of skill processes."""

    folder: Path
    bounds: Bounds = Bounds()
    max_message_bytes: int = 16 * 1024 * 1024


class SkillProcess:
    """A running process."""

    def __init__(self, process: anyio.abc.Process, lifeline: socket.socket) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise TypeError("the process must be opened with pipes for stdin, stdout and stderr")
        self.stdin, self.stdout = process.stdin, process.stdout
        self.pid: int | None = None
        self._stderr = process.stderr
        self._process = process
        self._lifeline = lifeline
        self._tail = bytearray()
        self.stderr_closed = anyio.Event()
        """Set when its standard error has been read to the end."""

    def stderr_tail(self) -> list[str]:
        """Return the last lines of its standard error, with secrets masked."""
        lines = masked(self._tail.decode("utf-8", "replace")).splitlines()
        shown = ("".join(char if char.isprintable() else " " for char in line)[:SHOWN_CHARACTERS] for line in lines)
        return [line for line in shown if line.strip()][-SHOWN_LINES:]

    def note(self, text: str) -> None:
        """Add a line of our own to the kept standard error."""
        self._keep(text.encode("utf-8", "replace") + b"\n")

    async def read_stderr(self) -> None:
        """Read standard error until it is closed."""
        try:
            while True:
                chunk = await self._stderr.receive(READ_BYTES)
                self._keep(chunk)
                if len(chunk) >= READ_BYTES // 2:
                    await anyio.sleep(PAUSE_SECONDS)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        finally:
            self.stderr_closed.set()

    async def read_pid(self) -> None:
        with suppress(OSError, ValueError):
            await anyio.wait_readable(self._lifeline)
            self.pid = int(self._lifeline.recv(64).split(b"\n")[0])

    async def end(self) -> None:
        """Close its input, wait, then kill it; afterwards none of its processes run."""
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self.stdin.aclose()
        if not await self._has_ended(EXIT_SECONDS):
            with suppress(OSError):
                self._lifeline.shutdown(socket.SHUT_RDWR)
            if not await self._has_ended(KILL_SECONDS):
                self._process.kill()
        self._lifeline.close()
        with anyio.move_on_after(STDERR_DRAIN_SECONDS):
            await self.stderr_closed.wait()
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._process.aclose()

    async def _has_ended(self, seconds: float) -> bool:
        deadline = anyio.current_time() + seconds
        # Not `wait`, which also waits until every process that inherited the pipes has closed them.
        while self._process.returncode is None:
            if anyio.current_time() >= deadline:
                return False
            await anyio.sleep(0.01)
        return True

    def _keep(self, chunk: bytes) -> None:
        self._tail += chunk
        del self._tail[:-TAIL_BYTES]


@asynccontextmanager
async def start_process(
    command: str, args: tuple[str, ...], environment: Mapping[str, str], process_options: ProcessOptions
) -> AsyncGenerator[SkillProcess]:
    """Start the program under a supervisor; it is ended when the context exits."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    try:
        process = await anyio.open_process(
            supervised(theirs.fileno(), process_options.bounds, command, args),
            env=environment,
            cwd=process_options.folder,
            start_new_session=True,
            pass_fds=(theirs.fileno(),),
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    running = SkillProcess(process, ours)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(running.read_stderr)
        tasks.start_soon(running.read_pid)
        try:
            yield running
        finally:
            with anyio.CancelScope(shield=True):
                await running.end()
            tasks.cancel_scope.cancel()
