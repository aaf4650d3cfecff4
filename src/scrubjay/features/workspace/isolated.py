"""Work on what strangers wrote, in a process of its own: neither a regular expression nor a parser can be interrupted.

The work is a function of one JSON value that yields JSON values; what it has yielded is kept when its time is over.
"""

import json
import math
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import anyio
import anyio.to_thread

from scrubjay.core.errors import InvalidRequest, Unavailable

# Without -P the folder that this process works in, which may be a stranger's, would be searched for modules.
PROGRAM = ("-P", "-c", "from scrubjay.features.workspace.isolated import serve; serve()")
MEMORY_BYTES = 1_000_000_000

Work = Callable[[Any], Iterator[Any]]


@dataclass(slots=True)
class Yielded:
    """What came of it."""

    values: list[Any] = field(default_factory=list[Any])
    timed_out: bool = False
    """Whether it was ended before it had."""
    died: bool = False
    """Whether it ended without saying that it had finished: it needed too much memory."""


async def work_apart(work: Work, given: Any, *, seconds: float) -> Yielded:
    """What the function, which must be one of a module, yields in so many seconds."""
    done = Yielded()
    asked = json.dumps([work.__module__, work.__name__, given, math.ceil(seconds)]).encode()
    process = await anyio.to_thread.run_sync(_started)
    try:
        with anyio.move_on_after(seconds) as limit:
            await anyio.to_thread.run_sync(_heard, process, asked, done, abandon_on_cancel=True)
        done.timed_out = limit.cancelled_caught
    finally:
        process.kill()
        process.wait()
    return done


def _started() -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen([sys.executable, *PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as error:
        raise Unavailable(f"no process can be started for this ({error.strerror})", hint="end some others") from error


def _heard(process: subprocess.Popen[bytes], asked: bytes, done: Yielded) -> None:
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise TypeError("such a process needs its pipes")
    with stdout:
        try:
            with stdin:
                stdin.write(asked)
        except BrokenPipeError:
            pass  # that it ended is seen by its answers
        for line in stdout:
            if not line.endswith(b"\n"):
                break
            said = json.loads(line)
            if "refused" in said:
                raise InvalidRequest(said["refused"], hint=said["hint"])
            if "end" in said:
                return
            done.values.append(said["value"])
    done.died = True


def serve() -> None:
    """Do what is asked for on standard input, and tell what comes of it."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def tell(said: dict[str, Any]) -> None:
        answers.write(json.dumps(said).encode() + b"\n")
        answers.flush()

    try:
        module, name, given, seconds = json.load(sys.stdin)
        # Whoever would end it in time may be gone.
        resource.setrlimit(resource.RLIMIT_CPU, (seconds + 5, seconds + 5))
        try:
            for value in getattr(import_module(module), name)(given):
                tell({"value": value})
        except InvalidRequest as refused:
            tell({"refused": refused.record.message, "hint": refused.record.hint})
        else:
            tell({"end": True})
    except (BrokenPipeError, MemoryError):
        os._exit(1)
