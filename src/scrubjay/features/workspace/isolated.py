"""Run a function on untrusted data in a child process: neither a regular expression nor a parser can be interrupted.

The function takes one JSON value and yields JSON values. Values yielded before a timeout are kept.
"""

import json
import math
import os
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import anyio
import anyio.to_thread

from scrubjay.core.errors import InvalidRequest
from scrubjay.isolation.channel import connect_to_parent
from scrubjay.isolation.limits import Bounds
from scrubjay.isolation.worker import Worker, WorkerExited

# -P: do not import modules from the working directory, which may be untrusted.
PROGRAM = ("-P", "-c", "from scrubjay.features.workspace.isolated import serve; serve()")
MEMORY_BYTES = 1_000_000_000

IsolatedFunction = Callable[[Any], Iterator[Any]]


@dataclass(slots=True)
class IsolatedResult:
    """The values that a function yielded."""

    values: list[Any] = field(default_factory=list[Any])
    timed_out: bool = False
    """True if the process was killed at its time limit."""
    died: bool = False
    """True if the process exited before the function returned, usually because of its memory limit."""


async def run_isolated(function: IsolatedFunction, argument: Any, *, seconds: float) -> IsolatedResult:
    """Return what a function of a module's top level yields within this time.

    Raises `InvalidRequest` when the function does, and `Unavailable` when no process can be started.
    """
    result = IsolatedResult()
    request = json.dumps([function.__module__, function.__name__, argument, math.ceil(seconds)]).encode()
    worker = await anyio.to_thread.run_sync(_start)
    try:
        with anyio.move_on_after(seconds) as limit:
            await anyio.to_thread.run_sync(_receive_values, worker, request, result, abandon_on_cancel=True)
        result.timed_out = limit.cancelled_caught
    finally:
        worker.close()
    return result


def _start() -> Worker:
    # Under a supervisor: a regular expression does not notice that this process was killed.
    return Worker(PROGRAM, name="worker", bounds=Bounds(memory_bytes=MEMORY_BYTES))


def _receive_values(worker: Worker, request: bytes, result: IsolatedResult) -> None:
    try:
        worker.send(request)
        while "end" not in (message := json.loads(worker.receive())):
            if "refused" in message:
                raise InvalidRequest(message["refused"], hint=message["hint"])
            result.values.append(message["value"])
    except WorkerExited:
        result.died = True


def serve() -> None:
    """Run the requested function and send the values that it yields."""
    channel = connect_to_parent(memory_bytes=MEMORY_BYTES)

    def send(message: dict[str, Any]) -> None:
        channel.send(json.dumps(message).encode())

    try:
        module, name, argument, seconds = json.loads(channel.receive())
        # Where the supervisor is killed, too.
        resource.setrlimit(resource.RLIMIT_CPU, (seconds + 5, seconds + 5))
        try:
            for value in getattr(import_module(module), name)(argument):
                send({"value": value})
        except InvalidRequest as refused:
            send({"refused": refused.record.message, "hint": refused.record.hint})
        else:
            send({"end": True})
    except (EOFError, BrokenPipeError, MemoryError):
        os._exit(1)
