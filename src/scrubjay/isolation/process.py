"""A program that runs under its supervisor: how it is started, how it ended, and its certain end."""

import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import anyio
import anyio.abc

from scrubjay.core.errors import Unavailable
from scrubjay.isolation.limits import Bounds, supervised

# What its supervisor may need to end it, with everything that it started.
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
    """The process of a program's supervisor, and the lifeline to it. `Unavailable` when there can be none."""
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
        raise Unavailable(f"no program can be started ({error.strerror})", hint="end some others") from error
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours


class RunningProgram:
    """One program. Nothing of it runs once `end` has returned, or our process is gone, however that came."""

    def __init__(self, process: anyio.abc.Process, lifeline: socket.socket) -> None:
        self._process = process
        self._lifeline = lifeline

    async def pid(self) -> int | None:
        """The program's own; None when it never began."""
        with suppress(OSError, ValueError, IndexError):
            await anyio.wait_readable(self._lifeline)
            return int(self._lifeline.recv(64).split(b"\n")[0])
        return None

    @property
    def status(self) -> int | None:
        """How it ended, as shells tell it; None while it runs."""
        return self._process.returncode

    async def ended(self, seconds: float | None = None) -> bool:
        """Wait until it has ended, no longer than that; whether it has."""
        deadline = float("inf") if seconds is None else anyio.current_time() + seconds
        pause = 0.001
        # Not `wait`, which also waits for the pipes to be closed by everybody who has them.
        while self._process.returncode is None:
            if anyio.current_time() >= deadline:
                return False
            await anyio.sleep(pause)
            pause = min(0.02, pause * 1.5)
        return True

    async def end(self, *, at_once: bool = False) -> None:
        """Tell it to end, or kill it; when this returns, nothing of it runs."""
        with suppress(OSError):
            if at_once:
                self._lifeline.send(b"K")
            self._lifeline.shutdown(socket.SHUT_WR)
        if not await self.ended(END_SECONDS):
            self._process.kill()
            await self.ended(END_SECONDS)
