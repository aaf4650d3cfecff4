"""Who is at the other end of a stream: a person at a terminal, or a program."""

import io
import os
import sys
from typing import TextIO


def decorated(stream: TextIO) -> bool:
    """Whether a person looks at it through a terminal that can draw."""
    return stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def coloured(stream: TextIO) -> bool:
    """Whether colours are seen and wanted; see no-color.org."""
    return decorated(stream) and not os.environ.get("NO_COLOR")


def speak_utf8() -> None:
    """Write UTF-8 whatever the locale says; a memory is not ASCII because a cron job is."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def drop_stdout() -> None:
    """Send what is still buffered nowhere: its reader has left, and the interpreter would complain at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
