"""The digest worker process: parse file contents, and die when one exceeds its CPU or memory limit."""

import gc
import os
import pickle
import signal
import sys
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.code_index.models import Language
from scrubjay.core.lazy import lazy_module
from scrubjay.isolation.channel import connect_to_parent
from scrubjay.native.library import use_library

if TYPE_CHECKING:
    from scrubjay.code_index.facts import digest as digest_module
else:
    digest_module = lazy_module("scrubjay.code_index.facts.digest")


# A worker that receives no request for this long exits.
IDLE_SECONDS = 60.0
# After reading this much, a worker holds caches and fragmented memory. It exits after a shorter idle time, long enough
# to serve edits to the files just indexed.
MANY_BYTES = 4_000_000
WORN_SECONDS = 15.0
# Argument that disables the native library in a worker.
PLAIN = "plain"


class ParseMode(StrEnum):
    """Depth of parsing; each mode runs less code than the one before, so less can fail."""

    SYNTAX = "syntax"
    TEXT = "text"
    NOTHING = "nothing"


class DigestRequest(NamedTuple):
    """A content to digest."""

    content: bytes
    language: Language
    mode: ParseMode = ParseMode.SYNTAX
    problem: str = ""
    """The reason for a lower mode than `SYNTAX`; empty otherwise."""


def make_digest(request: DigestRequest) -> bytes:
    """Return the packed digest of a content; fall back to plain text, with the problem, when parsing fails."""
    content, language, mode, problem = request
    try:
        if mode is ParseMode.SYNTAX:
            return digest_module.digest(content, language).pack()
        if mode is ParseMode.TEXT:
            return digest_module.digest_as_text(content, language, problem).pack()
    except Exception as error:  # one file that shows a bug must not keep all others from being indexed
        following = ParseMode.TEXT if mode is ParseMode.SYNTAX else ParseMode.NOTHING
        return make_digest(DigestRequest(content, language, following, problem or f"failed ({type(error).__name__})"))
    return digest_module.digest_of_nothing(content, language, problem).pack()


def serve() -> None:
    """Receive batches of requests and send their digests, until the parent is gone or the worker was idle too long.

    `SIGPROF` kills this process when a file exceeds its CPU time, whatever code is running.
    """
    file_seconds, memory_bytes = float(sys.argv[1]), int(sys.argv[2])
    use_library(PLAIN not in sys.argv[3:])
    # Indexing yields the processor to interactive work.
    channel = connect_to_parent(memory_bytes=memory_bytes, niceness=5)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)

    # One worker per processor is already running; numpy reads this variable when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import_module("scrubjay.code_index.facts.digest")  # do not charge the import to the first file
    # Parsing allocates many objects and little garbage: collect once per batch, and freeze what stays.
    gc.disable()
    gc.freeze()
    read = 0
    while True:
        try:
            message = channel.receive(WORN_SECONDS if read > MANY_BYTES else IDLE_SECONDS)
            batch: list[DigestRequest] = pickle.loads(message)  # noqa: S301 - from the process that started this one
            for request in batch:
                read += len(request.content)
                # CPU time, not wall time: other processes must not count against a file.
                signal.setitimer(signal.ITIMER_PROF, file_seconds)
                digest = make_digest(request)
                signal.setitimer(signal.ITIMER_PROF, 0)
                channel.send(digest)
            gc.collect(0)
        except TimeoutError:
            return
        except (EOFError, BrokenPipeError):
            # The parent is gone. Skip interpreter shutdown, which would try to flush again.
            os._exit(0)
