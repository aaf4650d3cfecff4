"""A skill's program as a process: its pipes, what it complains about, and its certain end."""

import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.abc

from scrubjay.core.secrets import masked
from scrubjay.isolation.limits import Bounds, supervised

# What is kept of what it writes to standard error, and how much of that is told.
TAIL_BYTES = 16 * 1024
TOLD_LINES, TOLD_CHARACTERS = 10, 300
# After so much at once the reader rests: a program that floods it must not keep the server from its other work.
READ_BYTES, REST_SECONDS = 64 * 1024, 0.002
# How long it may take to end by itself once its input has ended, and what its supervisor then needs to make it.
LEAVE_SECONDS, FORCE_SECONDS = 2.0, 5.0
# What it said last is still in the pipe when it is gone.
HEAR_OUT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where skills run, and within what."""

    folder: Path
    bounds: Bounds = Bounds()
    max_message_bytes: int = 16 * 1024 * 1024


class SkillProcess:
    """A running program."""

    def __init__(self, process: anyio.abc.Process, lifeline: socket.socket) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise TypeError("a skill's program needs its three pipes")
        self.stdin, self.stdout = process.stdin, process.stdout
        self.pid: int | None = None
        self._stderr = process.stderr
        self._process = process
        self._lifeline = lifeline
        self._tail = bytearray()
        self.heard_out = anyio.Event()
        """Set when it can say nothing more."""

    def last_words(self) -> list[str]:
        """The last lines of its standard error, without secrets."""
        lines = masked(self._tail.decode("utf-8", "replace")).splitlines()
        shown = ("".join(char if char.isprintable() else " " for char in line)[:TOLD_CHARACTERS] for line in lines)
        return [line for line in shown if line.strip()][-TOLD_LINES:]

    def note(self, text: str) -> None:
        """Keep a line beside those of standard error."""
        self._keep(text.encode("utf-8", "replace") + b"\n")

    async def listen(self) -> None:
        """Read what it complains about until it has nothing more to say."""
        try:
            while True:
                some = await self._stderr.receive(READ_BYTES)
                self._keep(some)
                if len(some) >= READ_BYTES // 2:
                    await anyio.sleep(REST_SECONDS)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        finally:
            self.heard_out.set()

    async def learn_pid(self) -> None:
        with suppress(OSError, ValueError):
            await anyio.wait_readable(self._lifeline)
            self.pid = int(self._lifeline.recv(64).split(b"\n")[0])

    async def end(self) -> None:
        """Let it end, then make it; when this returns, nothing of it runs."""
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self.stdin.aclose()
        if not await self._has_ended(LEAVE_SECONDS):
            with suppress(OSError):
                self._lifeline.shutdown(socket.SHUT_RDWR)
            if not await self._has_ended(FORCE_SECONDS):
                self._process.kill()
        self._lifeline.close()
        with anyio.move_on_after(HEAR_OUT_SECONDS):
            await self.heard_out.wait()
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._process.aclose()

    async def _has_ended(self, seconds: float) -> bool:
        deadline = anyio.current_time() + seconds
        # Not `wait`, which also waits for the pipes to be closed by everybody who has them.
        while self._process.returncode is None:
            if anyio.current_time() >= deadline:
                return False
            await anyio.sleep(0.01)
        return True

    def _keep(self, some: bytes) -> None:
        self._tail += some
        del self._tail[:-TAIL_BYTES]


@asynccontextmanager
async def started(
    command: str, args: tuple[str, ...], environment: Mapping[str, str], surroundings: Surroundings
) -> AsyncGenerator[SkillProcess]:
    """The program, running for as long as this is entered."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    try:
        process = await anyio.open_process(
            supervised(theirs.fileno(), surroundings.bounds, command, args),
            env=environment,
            cwd=surroundings.folder,
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
        tasks.start_soon(running.listen)
        tasks.start_soon(running.learn_pid)
        try:
            yield running
        finally:
            with anyio.CancelScope(shield=True):
                await running.end()
            tasks.cancel_scope.cancel()
