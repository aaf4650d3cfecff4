"""One-shot runs of a coding agent: send one question on standard input and read the output until it exits."""

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
# An answer is shorter; the rest of the output is dropped.
MAX_STDOUT_BYTES: Final = 200_000
MAX_STDERR_BYTES: Final = 4_000
DRAIN_SECONDS: Final = 1.0
_MAX_ERROR_CHARACTERS: Final = 500


@dataclass(frozen=True, slots=True)
class AgentOutput:
    """Exit status and output of an agent."""

    status: int
    text: str
    error_line: str
    """The last line of standard error, with secrets masked."""


async def ask_once(agent: CodingAgent, program: str, question: str, folder: str) -> AgentOutput:
    """Run the agent with one question and return its output. Cancelling ends it with all its processes.

    The question goes through a pipe, because every user of the machine can read command lines.
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
    stdout, stderr = bytearray(), bytearray()
    try:
        async with anyio.create_task_group() as writer:
            writer.start_soon(_write_question, process, question.encode("utf-8"))
            async with anyio.create_task_group() as readers:
                readers.start_soon(_read_into, process.stdout, stdout, slice(MAX_STDOUT_BYTES, None))
                readers.start_soon(_read_into, process.stderr, stderr, slice(-MAX_STDERR_BYTES))
                await running.ended()
                readers.cancel_scope.deadline = anyio.current_time() + DRAIN_SECONDS
            writer.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await running.end()
            lifeline.close()
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await process.aclose()
    error_line = masked(stderr.decode("utf-8", "replace")).strip().rpartition("\n")[2][:_MAX_ERROR_CHARACTERS]
    return AgentOutput(running.status or 0, stdout.decode("utf-8", "replace").strip(), error_line)


async def _write_question(process: anyio.abc.Process, text: bytes) -> None:
    if process.stdin is None:
        raise TypeError("the agent's standard input must be a pipe")
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        await process.stdin.send(text)
        await process.stdin.aclose()


async def _read_into(stream: anyio.abc.ByteReceiveStream | None, buffer: bytearray, excess: slice) -> None:
    """Read a stream to its end; delete the part `excess` of the buffer after each read."""
    if stream is None:
        raise TypeError("the agent's output must be a pipe")
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        while True:
            buffer += await stream.receive(READ_BYTES)
            del buffer[excess]
