"""A command that runs under its supervisor, and its output."""

import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import Self

import anyio
import anyio.abc

from scrubjay.features.workspace.terminal.permitted_command import PermittedCommand
from scrubjay.isolation.process import RunningProgram, start_supervised

READ_BYTES = 64 * 1024
# Pause after a large read, so that a program that floods its output does not starve the event loop.
PAUSE_SECONDS = 0.002
# The last output can still be in the pipe when the process has exited.
CLOSE_DRAIN_SECONDS = 0.5


class RunningCommand(RunningProgram):
    """One command, with one pipe for its stdout and stderr."""

    def __init__(self, process: anyio.abc.Process, lifeline: socket.socket) -> None:
        super().__init__(process, lifeline)
        if process.stdout is None:
            raise TypeError("the process has no stdout pipe")
        self._stdout = process.stdout
        self.output_ended = anyio.Event()
        """Set when the output has ended."""

    @classmethod
    async def start(cls, permitted: PermittedCommand, *, has_input: bool) -> Self:
        process, lifeline = await start_supervised(
            permitted.program,
            permitted.arguments,
            environment=permitted.environment,
            folder=permitted.folder,
            bounds=permitted.bounds,
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return cls(process, lifeline)

    async def read_output(self, add: Callable[[bytes], None]) -> None:
        """Pass output to `add` until it ends."""
        try:
            while True:
                chunk = await self._stdout.receive(READ_BYTES)
                add(chunk)
                if len(chunk) >= READ_BYTES // 2:
                    await anyio.sleep(PAUSE_SECONDS)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        finally:
            self.output_ended.set()

    async def write(self, text: bytes) -> bool:
        """Write to the stdin of the command. Return False when it is closed."""
        if self._process.stdin is None:
            return False
        try:
            await self._process.stdin.send(text)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            return False
        return True

    async def close(self) -> None:
        """Kill the command, read its remaining output, and close its pipes."""
        await self.end()
        self._lifeline.close()
        with anyio.move_on_after(CLOSE_DRAIN_SECONDS):
            await self.output_ended.wait()
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._process.aclose()
