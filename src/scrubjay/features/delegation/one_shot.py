"""Asking a coding agent one question: it is started, told the question, and heard until it ends."""

import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.abc

from scrubjay.core.secrets import masked
from scrubjay.features.delegation.coding_agent import CodingAgent
from scrubjay.isolation.process import RunningProgram, start_supervised

READ_BYTES: Final = 64 * 1024
# So much of what it prints is kept; an answer is shorter.
MOST_PRINTED: Final = 200_000
MOST_COMPLAINTS: Final = 4_000
HEAR_OUT_SECONDS: Final = 1.0
_TOLD_COMPLAINTS: Final = 500


@dataclass(frozen=True, slots=True)
class Printed:
    """What an agent printed until it ended."""

    status: int
    text: str
    complaints: str
    """The last line that it wrote to standard error, without secrets."""


async def ask_once(agent: CodingAgent, program: str, question: str, folder: str) -> Printed:
    """Start it and hear it out. Who gives up waiting has ended it; nothing of it runs once this has returned.

    The question goes through a pipe: everybody on the machine could read it on the command line.
    """
    process, lifeline = await start_supervised(
        program,
        [*agent.arguments, *agent.print_arguments],
        environment=agent.environment,
        folder=folder,
        bounds=agent.bounds,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    running = RunningProgram(process, lifeline)
    printed, complaints = bytearray(), bytearray()
    try:
        async with anyio.create_task_group() as talking:
            talking.start_soon(_tell, process, question.encode("utf-8"))
            async with anyio.create_task_group() as hearing:
                hearing.start_soon(_hear, process.stdout, printed, slice(MOST_PRINTED, None))
                hearing.start_soon(_hear, process.stderr, complaints, slice(-MOST_COMPLAINTS))
                await running.ended()
                hearing.cancel_scope.deadline = anyio.current_time() + HEAR_OUT_SECONDS
            talking.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await running.end()
            lifeline.close()
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await process.aclose()
    said = masked(complaints.decode("utf-8", "replace")).strip().rpartition("\n")[2][:_TOLD_COMPLAINTS]
    return Printed(running.status or 0, printed.decode("utf-8", "replace").strip(), said)


async def _tell(process: anyio.abc.Process, text: bytes) -> None:
    if process.stdin is None:
        raise TypeError("an agent needs a pipe for its question")
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        await process.stdin.send(text)
        await process.stdin.aclose()


async def _hear(stream: anyio.abc.ByteReceiveStream | None, kept: bytearray, too_much: slice) -> None:
    if stream is None:
        raise TypeError("an agent needs a pipe for what it says")
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        while True:
            kept += await stream.receive(READ_BYTES)
            del kept[too_much]
