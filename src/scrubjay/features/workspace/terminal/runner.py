"""A program that runs under its supervisor, and what it says."""

import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress

import anyio
import anyio.abc

from scrubjay.features.workspace.terminal.command_policy import Permitted
from scrubjay.isolation.process import RunningProgram, start_supervised

READ_BYTES = 64 * 1024
# After so much at once the reader rests: a program that floods it must not keep the server from its other work.
REST_SECONDS = 0.002
# What it said last is still in the pipe when it is gone.
HEAR_OUT_SECONDS = 0.5


class Running(RunningProgram):
    """One program, with a pipe for all that it says."""

    def __init__(self, process: anyio.abc.Process, lifeline: socket.socket) -> None:
        super().__init__(process, lifeline)
        if process.stdout is None:
            raise TypeError("a program needs a pipe for what it says")
        self._stdout = process.stdout
        self.heard_out = anyio.Event()
        """Set when it can say nothing more."""

    @classmethod
    async def started(cls, permitted: Permitted, folder: str, *, has_input: bool) -> "Running":
        process, lifeline = await start_supervised(
            permitted.program,
            permitted.arguments,
            environment=permitted.environment,
            folder=folder,
            bounds=permitted.bounds,
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return cls(process, lifeline)

    async def hear(self, take: Callable[[bytes], None]) -> None:
        """Hand on what it says until it has nothing more to say."""
        try:
            while True:
                some = await self._stdout.receive(READ_BYTES)
                take(some)
                if len(some) >= READ_BYTES // 2:
                    await anyio.sleep(REST_SECONDS)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        finally:
            self.heard_out.set()

    async def say(self, text: bytes) -> bool:
        """Write to its standard input; whether it could be."""
        if self._process.stdin is None:
            return False
        try:
            await self._process.stdin.send(text)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            return False
        return True

    async def close(self) -> None:
        """End it, hear its last words, and let go of its pipes."""
        await self.end()
        self._lifeline.close()
        with anyio.move_on_after(HEAR_OUT_SECONDS):
            await self.heard_out.wait()
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._process.aclose()
