"""The sandbox's worker processes, as the server uses them."""

import json
import os
from pathlib import Path
from typing import Any, Final, Self

import anyio

from scrubjay.core.errors import Unavailable
from scrubjay.isolation.limits import Bounds
from scrubjay.isolation.worker import Worker, WorkerExited

PROGRAM: Final = ("-I", "-m", "scrubjay.features.sandbox.worker_main")
# Compiling the engine takes some seconds, on a busy machine many.
START_SECONDS: Final = 60.0
# One megabyte of text as JSON within JSON, each character written as an escape.
MAX_FRAME_BYTES: Final = 16 * 1024 * 1024
# Besides the memory of programs: Python, the engine, and messages.
_OWN_MEMORY_BYTES: Final = 512 * 1024 * 1024
_OPEN_FILES: Final = 64


class WorkerFailed(Exception):
    """The worker exited or broke the protocol; it must not be used again."""


class SandboxWorker:
    """A worker process. Its supervisor kills it when this process ends, even by a crash."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self.landlock = 0
        self.seccomp = False
        self.runs = 0
        self.idle_since = 0.0

    @classmethod
    async def start(cls, folder: Path, memory_bytes: int) -> Self:
        """Start a worker and wait until it is ready. Raises `Unavailable` with the reason when it is not."""
        process = Worker(
            [*PROGRAM, str(folder)],
            name="sandbox",
            bounds=Bounds(memory_bytes=memory_bytes + _OWN_MEMORY_BYTES, open_files=_OPEN_FILES),
            environment={"PATH": os.defpath, "LANG": "C.UTF-8"},
            folder="/",
            max_frame_bytes=MAX_FRAME_BYTES,
        )
        worker = cls(process)
        try:
            with anyio.fail_after(START_SECONDS):
                await worker._wait_until_ready()
        except BaseException as error:
            await worker.close()
            if isinstance(error, TimeoutError | WorkerFailed):
                raise Unavailable(f"the sandbox does not start: {error or 'it takes too long'}") from error
            raise
        return worker

    async def _wait_until_ready(self) -> None:
        message = await self.receive()
        if "unusable" in message:
            raise Unavailable(
                f"the sandbox cannot be used: {str(message['unusable'])[:500]}",
                hint="install scrubjay with the dependency versions that it requires",
            )
        self.landlock, self.seccomp = int(message["landlock"]), bool(message["seccomp"])

    @property
    def is_alive(self) -> bool:
        """False once the process has exited."""
        return self._worker.is_alive

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message. Raises `WorkerBroke`."""
        try:
            await self._worker.send_async(json.dumps(message, separators=(",", ":")).encode())
        except WorkerExited as exited:
            raise WorkerFailed(str(exited)) from exited

    async def receive(self) -> dict[str, Any]:
        """Return the next message. It is untrusted: the worker runs untrusted programs. Raises `WorkerBroke`."""
        try:
            message = json.loads(await self._worker.receive_async())
        except WorkerExited as exited:
            raise WorkerFailed(str(exited)) from exited
        except (ValueError, RecursionError) as error:
            raise WorkerFailed("it sent an invalid message") from error
        if not isinstance(message, dict):
            raise WorkerFailed("it sent an invalid message")
        return message  # pyright: ignore[reportUnknownVariableType]

    async def close(self) -> None:
        """Kill the process and wait until nothing of it runs."""
        await self._worker.close_async()
