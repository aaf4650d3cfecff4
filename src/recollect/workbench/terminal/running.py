"""A program that runs under its supervisor: what it says, and its certain end."""

import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress

import anyio
import anyio.abc

from recollect.domain.errors import Unavailable
from recollect.processes.bounds import supervised
from recollect.workbench.terminal.permitting import Permitted

READ_BYTES = 64 * 1024
# After so much at once the reader rests: a program that floods it must not keep the server from its other work.
REST_SECONDS = 0.002
# What its supervisor may need to end it, with everything that it started.
END_SECONDS = 6.0
# What it said last is still in the pipe when it is gone.
HEAR_OUT_SECONDS = 0.5


class Running:
    """One program. Nothing of it runs once `end` has returned, or our process is gone, however that came."""

    def __init__(self, process: anyio.abc.Process, lifeline: socket.socket) -> None:
        if process.stdout is None:
            raise TypeError("a program needs a pipe for what it says")
        self._process = process
        self._lifeline = lifeline
        self._stdout = process.stdout
        self.heard_out = anyio.Event()
        """Set when it can say nothing more."""

    @classmethod
    async def started(cls, permitted: Permitted, folder: str, *, has_input: bool) -> "Running":
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            process = await anyio.open_process(
                supervised(theirs.fileno(), permitted.bounds, permitted.program, permitted.arguments),
                env=permitted.environment,
                cwd=folder,
                stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
        except OSError as error:
            ours.close()
            raise Unavailable(f"no program can be started ({error.strerror})", hint="end some others") from error
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return cls(process, ours)

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

    async def close(self) -> None:
        """End it, hear its last words, and let go of its pipes."""
        await self.end()
        self._lifeline.close()
        with anyio.move_on_after(HEAR_OUT_SECONDS):
            await self.heard_out.wait()
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._process.aclose()
