"""The interface of all engines in the code benchmarks, and the list of engines."""

import resource
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

RESULT_LIMIT = 10
"""Number of files that a search returns."""


class Hit(NamedTuple):
    """A line range of a file; the path is relative to the indexed folder."""

    path: str
    first: int
    last: int


class CodeEngine(Protocol):
    """An engine on one folder. It stores its data in `home`; `installed` is the path of its program."""

    def __init__(self, root: Path, home: Path, installed: Path) -> None: ...

    async def open(self) -> None: ...

    async def index(self) -> None:
        """Build the index of a new folder."""
        ...

    async def check_unchanged(self) -> None:
        """Check that nothing changed."""
        ...

    async def refresh(self) -> None:
        """Update the index with all changes."""
        ...

    async def search(self, query: str) -> list[Hit]:
        """Return hits for a question, best first."""
        ...

    async def symbol(self, name: str) -> list[Hit]:
        """Return definitions of a name, best first."""
        ...

    def cpu(self) -> float:
        """Return the CPU seconds used so far, with the resolution of the process clock."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """Module and program of an engine. The module is imported only in the process that runs it."""

    module: str
    installed: Callable[[Path], Path | None]
    """Returns the engine's program in the folder of installed peers, or None when it is missing."""
    own_python: bool = False
    """True when the engine runs in the Python environment of the peers."""


def _semble(peers: Path) -> Path | None:
    return next(peers.glob("lib/python*/site-packages/semble"), None)


def _codegraph(peers: Path) -> Path | None:
    folder = peers / "node_modules" / "@colbymchenry" / "codegraph-linux-x64"
    return folder if (folder / "node").exists() else None


def _ripgrep(peers: Path) -> Path | None:
    pinned = peers / "node_modules" / "@vscode" / "ripgrep-linux-x64" / "bin" / "rg"
    found = str(pinned) if pinned.exists() else shutil.which("rg")
    return Path(found) if found else None


OURS = "scrubjay"
ENGINES = {
    OURS: EngineEntry("benchmarks.scrubjay_engine:ScrubjayEngine", lambda peers: peers),
    "semble": EngineEntry("benchmarks.peers.semble:Semble", _semble, own_python=True),
    "codegraph": EngineEntry("benchmarks.peers.codegraph:Codegraph", _codegraph),
    "ripgrep": EngineEntry("benchmarks.peers.ripgrep:Ripgrep", _ripgrep),
}
PEERS = tuple(name for name in ENGINES if name != OURS)


def own_cpu() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime
