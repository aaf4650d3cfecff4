"""Run a program on a pseudo-terminal: type into it and read its output."""

import errno
import fcntl
import os
import struct
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import anyio

from scrubjay.isolation.limits import Bounds
from scrubjay.isolation.process import RunningProgram, start_supervised

COLUMNS, ROWS = 120, 40
READ_BYTES = 8 * 1024


class ProgramOnTerminal(RunningProgram):
    """A program on a pseudo-terminal. A program that floods its terminal blocks until the output is read."""

    _screen: int = -1

    @classmethod
    async def started(
        cls,
        command: str,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: str,
        bounds: Bounds,
        columns: int = COLUMNS,
        rows: int = ROWS,
    ) -> "ProgramOnTerminal":
        """Start the program on a new terminal. Raises `Unavailable`."""
        ours, theirs = os.openpty()
        try:
            os.set_blocking(ours, False)
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            process, lifeline = await start_supervised(
                command,
                arguments,
                environment=environment,
                folder=folder,
                bounds=replace(bounds, terminal=True),
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
            )
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        program = cls(process, lifeline)
        program._screen = ours
        return program

    async def read(self) -> bytes:
        """Return the next output; empty when the program cannot write any more."""
        while True:
            if self._screen < 0:
                return b""
            try:
                return os.read(self._screen, READ_BYTES)
            except BlockingIOError:
                with suppress(anyio.ClosedResourceError, OSError):
                    await anyio.wait_readable(self._screen)
            except OSError as error:
                if error.errno == errno.EIO:  # no process has the terminal open
                    return b""
                raise

    async def write(self, text: bytes) -> bool:
        """Type this text; return False if the program has ended. Waits while the program does not read."""
        while text:
            if self._screen < 0:
                return False
            try:
                text = text[os.write(self._screen, text) :]
            except BlockingIOError:
                with suppress(anyio.ClosedResourceError, OSError):
                    await anyio.wait_writable(self._screen)
            except OSError:
                return False
        return True

    async def close(self) -> None:
        """End the program and close its terminal."""
        await self.end()
        self._lifeline.close()
        if self._screen >= 0:
            with suppress(OSError):
                anyio.notify_closing(self._screen)
            os.close(self._screen)
            self._screen = -1
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._process.aclose()
