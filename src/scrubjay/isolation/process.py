"""Run a program under a supervisor, wait for its exit, and end it."""

import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import anyio
import anyio.abc

from scrubjay.core.errors import Unavailable
from scrubjay.isolation.limits import Bounds, supervised

# Seconds a supervisor may need to end its program with everything that it started.
END_SECONDS = 6.0


async def start_supervised(
    command: str,
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: str,
    bounds: Bounds,
    **streams: Any,
) -> tuple[anyio.abc.Process, socket.socket]:
    """Start a program; return its supervisor's process and the lifeline to it. Raises `Unavailable`."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    try:
        process = await anyio.open_process(
            supervised(theirs.fileno(), bounds, command, arguments),
            env=environment,
            cwd=folder,
            start_new_session=True,
            pass_fds=(theirs.fileno(),),
            **streams,
        )
    except OSError as error:
        ours.close()
        raise Unavailable(f"cannot start a program ({error.strerror})", hint="stop other processes") from error
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours


class RunningProgram:
    """A running program. Nothing of it runs after `end`, or after this process exits, even by `kill -9`."""

    def __init__(self, process: anyio.abc.Process, lifeline: socket.socket) -> None:
        self._process = process
        self._lifeline = lifeline

    async def pid(self) -> int | None:
        """Return the process id of the program, not of its supervisor; None when it did not start."""
        with suppress(OSError, ValueError, IndexError):
            await anyio.wait_readable(self._lifeline)
            return int(self._lifeline.recv(64).split(b"\n")[0])
        return None

    @property
    def status(self) -> int | None:
        """Exit status as in a shell (128 plus the number of a signal); None while it runs."""
        return self._process.returncode

    async def ended(self, seconds: float | None = None) -> bool:
        """Wait until it has exited, at most `seconds`; return whether it has."""
        deadline = float("inf") if seconds is None else anyio.current_time() + seconds
        pause = 0.001
        # Not `wait`, which also waits until every process that has the pipes closes them.
        while self._process.returncode is None:
            if anyio.current_time() >= deadline:
                return False
            await anyio.sleep(pause)
            pause = min(0.02, pause * 1.5)
        return True

    async def end(self, *, at_once: bool = False) -> None:
        """Terminate it, or kill it if `at_once`; return when it and its descendants are gone."""
        with suppress(OSError):
            if at_once:
                self._lifeline.send(b"K")
            self._lifeline.shutdown(socket.SHUT_WR)
        if not await self.ended(END_SECONDS):
            self._process.kill()
            await self.ended(END_SECONDS)
