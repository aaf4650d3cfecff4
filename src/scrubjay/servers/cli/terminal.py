"""Detect whether output goes to a terminal, and prepare the standard streams."""

import io
import os
import sys
from typing import TextIO


def is_terminal(stream: TextIO) -> bool:
    """Return True when the stream is a terminal that supports drawing."""
    return stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def use_colour(stream: TextIO) -> bool:
    """Return True when the stream is a terminal and colours are not disabled; see no-color.org."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def use_utf8() -> None:
    """Write UTF-8 regardless of the locale: memories are not ASCII, even when a cron job runs in the C locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def discard_stdout() -> None:
    """Discard buffered output after a broken pipe; otherwise the interpreter would report an error at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
