"""What a worker does: it makes digests of contents, and ends when one of them costs more than it may."""

import gc
import os
import pickle
import resource
import select
import signal
import sys
from enum import StrEnum
from importlib import import_module
from typing import NamedTuple

from scrubjay.code_index.models import Language
from scrubjay.native.library import use_library

# A worker that nobody asks for anything this long ends.
IDLE_SECONDS = 60.0
# Who has read so much keeps the words of it, and memory that was needed for a moment, and ends sooner: for as long as
# somebody may still be at the files that were just indexed.
MANY_BYTES = 4_000_000
WORN_SECONDS = 15.0
LENGTH_BYTES = 8
# Given to a worker that is not to use the compiled part.
PLAIN = "plain"


class Way(StrEnum):
    """How a content is read; each can be hurt by less than the one before."""

    SYNTAX = "syntax"
    TEXT = "text"
    NOTHING = "nothing"


class Asked(NamedTuple):
    """A content to be digested."""

    content: bytes
    language: Language
    way: Way = Way.SYNTAX
    problem: str = ""
    """Why it is not read by its syntax."""


def packed_digest(asked: Asked) -> bytes:
    """What the content comes to; as plain text, with the problem, where its syntax cannot be read."""
    from scrubjay.code_index.facts.digest import digest, digest_as_text, digest_of_nothing

    content, language, way, problem = asked
    try:
        if way is Way.SYNTAX:
            return digest(content, language).packed()
        if way is Way.TEXT:
            return digest_as_text(content, language, problem).packed()
    except Exception as error:  # one file that shows a bug must not keep all others from being indexed
        following = Way.TEXT if way is Way.SYNTAX else Way.NOTHING
        return packed_digest(Asked(content, language, following, problem or f"failed ({type(error).__name__})"))
    return digest_of_nothing(content, language, problem).packed()


def serve() -> None:
    """Answer on standard output what is asked on standard input, until nobody asks any more.

    The system ends this process in the middle of a file that keeps it busy for too long, whatever it is doing then.
    """
    file_seconds, memory_bytes = float(sys.argv[1]), int(sys.argv[2])
    use_library(PLAIN not in sys.argv[3:])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    questions = sys.stdin.buffer
    # Nobody waits for an index as they wait for an answer.
    os.nice(5)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_DATA, memory_bytes)

    # There are as many workers as processors already; numpy asks for this when it is loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import_module("scrubjay.code_index.facts.digest")  # what that takes is no file's fault
    # Reading makes many objects and next to no garbage: that is searched for once a batch, and not among what stays.
    gc.disable()
    gc.freeze()
    read = 0
    while select.select([questions], [], [], WORN_SECONDS if read > MANY_BYTES else IDLE_SECONDS)[0]:
        try:
            batch: list[Asked] = pickle.load(questions)  # noqa: S301 - from the process that started this one
            for asked in batch:
                read += len(asked.content)
                # Counted in time of the processor: what others do on the machine is no file's fault either.
                signal.setitimer(signal.ITIMER_PROF, file_seconds)
                digest = packed_digest(asked)
                signal.setitimer(signal.ITIMER_PROF, 0)
                answers.write(len(digest).to_bytes(LENGTH_BYTES, "little") + digest)
                answers.flush()
            gc.collect(0)
        except (EOFError, BrokenPipeError):
            # Nobody is there any more. What was not sent is not to be tried again when the interpreter ends.
            os._exit(0)


def limit(what: int, most: int) -> None:
    """Let this process have no more of something than this."""
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
