"""What every engine in the code benchmarks can do, ours and the others alike, and where each is found."""

import resource
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

WANTED = 10
"""How many files a search is asked for."""


class Hit(NamedTuple):
    """A part of a file; its path is relative to the indexed folder."""

    path: str
    first: int
    last: int


class CodeEngine(Protocol):
    """One engine on one folder. It keeps what it makes in `home`; `installed` is where its program is."""

    def __init__(self, root: Path, home: Path, installed: Path) -> None: ...

    async def open(self) -> None: ...

    async def index(self) -> None:
        """Make the index of a folder that it has never seen."""
        ...

    async def look(self) -> None:
        """See that nothing changed."""
        ...

    async def refresh(self) -> None:
        """Bring in what changed."""
        ...

    async def search(self, query: str) -> list[Hit]:
        """What answers a question, best first."""
        ...

    async def symbol(self, name: str) -> list[Hit]:
        """Where this name is defined, best first."""
        ...

    def cpu(self) -> float:
        """The CPU seconds that it has used so far, finely."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """Where an engine's module is, and where its program; it is imported only in the process that runs it."""

    module: str
    installed: Callable[[Path], Path | None]
    """Its program among the peers that are installed in this folder; None when it is not there."""
    own_python: bool = False
    """Whether it needs the Python of the peers."""


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
    OURS: Entry("benchmarks.code_ours:Ours", lambda peers: peers),
    "semble": Entry("benchmarks.peers.semble:Semble", _semble, own_python=True),
    "codegraph": Entry("benchmarks.peers.codegraph:Codegraph", _codegraph),
    "ripgrep": Entry("benchmarks.peers.ripgrep:Ripgrep", _ripgrep),
}
PEERS = tuple(name for name in ENGINES if name != OURS)


def own_cpu() -> float:
    """The CPU seconds of this process and of all its children that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime
