"""Limits of a child process, and the command of the supervisor that applies them."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

SUPERVISOR = Path(__file__).with_name("supervisor.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """Files, programs and ports that a program may access; enforced by Landlock, on Linux only."""

    reads: Sequence[str] = ()
    """Files, and folders with everything in them."""
    lists: Sequence[str] = ()
    """Folders that it may list, recursively."""
    writes: Sequence[str] = ()
    """Folders in which it may also create and write files and folders."""
    executes: Sequence[str] = ()
    """Programs that it may start, or folders of programs."""
    ports: Sequence[int] = ()
    """TCP ports that it may connect to."""
    signals: bool = False
    """Allow signals to processes other than its own children."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Resource limits of one program."""

    memory_bytes: int = 2 * 1024**3
    open_files: int = 1024
    file_bytes: int | None = None
    """Size of the largest file that it may write; None for no limit."""
    confinement: Confinement | None = None
    terminal: bool = False
    """Standard input is a terminal; make it the controlling terminal of the program."""


def supervised(lifeline: int, bounds: Bounds, command: str, args: Sequence[str]) -> list[str]:
    """Return the command of a supervisor that runs a program and ends it when the lifeline closes."""
    limits = json.dumps(asdict(bounds))
    return [sys.executable, "-I", "-S", str(SUPERVISOR), str(lifeline), limits, command, *args]
