"""Workers as the server sees them: a process each, started, talked to, and surely ended."""

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from scrubjay.core.errors import Unavailable
from scrubjay.features.sandbox.framing import LENGTH, MOST_BYTES, frame
from scrubjay.isolation.limits import Bounds, supervised

MODULE: Final = "scrubjay.features.sandbox.worker_main"
# To compile the engine anew takes some seconds, on a busy machine many.
START_SECONDS: Final = 60.0
END_SECONDS: Final = 6.0
# Beside the memory of programs: Python, the engine, and what passes between them.
_OWN_MEMORY_BYTES: Final = 512 * 1024 * 1024
_OPEN_FILES: Final = 64


class WorkerBroke(Exception):
    """The worker ended, or talks nonsense; it must not be used again."""


class Worker:
    """One process. Nothing of it runs once `end` has returned, or our process is gone, however that came."""

    def __init__(self, process: anyio.abc.Process, lifeline: socket.socket) -> None:
        if process.stdin is None or process.stdout is None:
            raise TypeError("a worker needs its pipes")
        self._process = process
        self._lifeline = lifeline
        self._stdin = process.stdin
        self._stdout = BufferedByteReceiveStream(process.stdout)
        self.landlock = 0
        self.seccomp = False
        self.runs = 0
        self.idle_since = 0.0

    @classmethod
    async def started(cls, folder: Path, memory_bytes: int) -> Self:
        """A worker that is ready; `Unavailable` says why there can be none."""
        bounds = Bounds(memory_bytes=memory_bytes + _OWN_MEMORY_BYTES, open_files=_OPEN_FILES)
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            process = await anyio.open_process(
                supervised(theirs.fileno(), bounds, sys.executable, ["-I", "-m", MODULE, str(folder)]),
                env={"PATH": os.defpath, "LANG": "C.UTF-8"},
                cwd="/",
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
        except OSError as error:
            ours.close()
            raise Unavailable(f"no sandbox can be started ({error.strerror})", hint="end some programs") from error
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        worker = cls(process, ours)
        try:
            with anyio.fail_after(START_SECONDS):
                await worker._become_ready()
        except BaseException as error:
            await worker.end()
            if isinstance(error, TimeoutError | WorkerBroke):
                raise Unavailable(f"the sandbox does not start: {error or 'it takes too long'}") from error
            raise
        return worker

    async def _become_ready(self) -> None:
        told = await self.receive()
        if "unusable" in told:
            raise Unavailable(
                f"the sandbox cannot be used: {str(told['unusable'])[:500]}",
                hint="install scrubjay with the versions that it names",
            )
        self.landlock, self.seccomp = int(told["landlock"]), bool(told["seccomp"])

    @property
    def is_alive(self) -> bool:
        """Whether its supervisor, which ends with it, is there: known at once, and not when the loop hears of it."""
        try:
            while self._lifeline.recv(64):  # only its pid is ever said
                pass
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    async def send(self, message: dict[str, Any]) -> None:
        try:
            await self._stdin.send(frame(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
            raise WorkerBroke("it does not listen") from error

    async def receive(self) -> dict[str, Any]:
        """The next message. What comes from there is not trusted: programs of strangers run in it."""
        try:
            (length,) = LENGTH.unpack(await self._stdout.receive_exactly(LENGTH.size))
            if length > MOST_BYTES:
                raise WorkerBroke("it says too much")
            message = json.loads(await self._stdout.receive_exactly(length))
        except (anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError) as gone:
            raise WorkerBroke("it has ended") from gone
        except (OSError, ValueError, RecursionError) as error:
            raise WorkerBroke("it talks nonsense") from error
        if not isinstance(message, dict):
            raise WorkerBroke("it talks nonsense")
        return message  # pyright: ignore[reportUnknownVariableType]

    async def end(self) -> None:
        """Kill it; when this returns, nothing of it runs."""
        with anyio.CancelScope(shield=True):
            with suppress(OSError):
                self._lifeline.send(b"K")
                self._lifeline.shutdown(socket.SHUT_WR)
            deadline, pause = anyio.current_time() + END_SECONDS, 0.001
            # Not `wait`, which also waits for the pipes to be closed by everybody who has them.
            while self._process.returncode is None and anyio.current_time() < deadline:
                await anyio.sleep(pause)
                pause = min(0.02, pause * 1.5)
            if self._process.returncode is None:
                self._process.kill()
            self._lifeline.close()
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self._process.aclose()
