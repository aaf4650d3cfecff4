"""What a program may use of the machine, as its supervisor is told."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

SUPERVISOR = Path(__file__).with_name("supervisor.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """The only things that a program reaches, where the kernel can see to that (Landlock, on Linux)."""

    reads: Sequence[str] = ()
    """Files and folders, with all that is in them."""
    lists: Sequence[str] = ()
    """Folders whose names it may read, and those of all that is in them."""
    writes: Sequence[str] = ()
    """Folders in which it may also make folders and files, and write."""
    executes: Sequence[str] = ()
    """Programs that it may start, or folders of them."""
    ports: Sequence[int] = ()
    """Ports that it may connect to."""
    signals: bool = False
    """Whether it may send signals to others than its own children."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one program may use."""

    memory_bytes: int = 2 * 1024**3
    open_files: int = 1024
    file_bytes: int | None = None
    """The largest file that it may write; None for no limit."""
    confinement: Confinement | None = None
    terminal: bool = False
    """Whether what it is given as standard input is a terminal, which is to be its own."""


def supervised(lifeline: int, bounds: Bounds, command: str, args: Sequence[str]) -> list[str]:
    """The command that runs a program under a supervisor, which ends it when the lifeline ends."""
    told = json.dumps(asdict(bounds))
    return [sys.executable, "-I", "-S", str(SUPERVISOR), str(lifeline), told, command, *args]
