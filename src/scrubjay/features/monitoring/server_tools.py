"""The server itself: how it is, and how its derived files are made anew."""

import platform
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from scrubjay import __version__
from scrubjay.core.clock import system_clock
from scrubjay.features.memory.compaction import Compactor
from scrubjay.features.memory.rebuild import Rebuilder
from scrubjay.features.memory.store import DerivedFile
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.health import ComponentHealth, Health
from scrubjay.tooling.jobs.service import JobRun


class HealthCheckRequest(Request):
    pass


class HealthCheckResult(Result):
    status: Literal["healthy", "unhealthy"] = Field(description="healthy only when every component is.")
    version: str
    python: str
    checked_at: datetime
    components: dict[str, ComponentHealth] = Field(description="Each part, really used just now.")


class RebuildDerivedRequest(Request):
    pass


class RebuiltFile(Result):
    """A derived file that was written anew."""

    name: str
    rows: int
    bytes: int


class RebuildDerivedResult(Result):
    memories: int = Field(description="How many memories were read.")
    files: list[RebuiltFile] = Field(description="Every derived file, as written.")


@tool("server", read_only=True)
async def health_check(request: HealthCheckRequest, health: Health) -> HealthCheckResult:
    """Check every component by using it, and tell how long each took."""
    components = await health.examine()
    return HealthCheckResult(
        status="healthy" if all(part.status == "healthy" for part in components.values()) else "unhealthy",
        version=__version__,
        python=platform.python_version(),
        checked_at=system_clock(),
        components=components,
    )


class CompactIndexRequest(Request):
    pass


class CompactIndexResult(Result):
    files: list[RebuiltFile] = Field(description="Every derived file, as written.")


@tool("server", runs_as_job=True, idempotent=True)
async def compact_index(request: CompactIndexRequest, compactor: Compactor, run: JobRun) -> CompactIndexResult:
    """Write what searches read in one piece, without what was deleted or replaced.

    The server does this by itself when it is due; searches go on meanwhile, and answers are the same before and after.
    """
    files = await compactor.compact(run)
    return CompactIndexResult(files=_views(files))


@tool("server", runs_as_job=True, idempotent=True)
async def rebuild_derived(request: RebuildDerivedRequest, rebuilder: Rebuilder, run: JobRun) -> RebuildDerivedResult:
    """Rebuild the text index, the vectors and every derived file from the memories themselves.

    Needed only when a file was damaged or after an upgrade; searches keep working from the old ones meanwhile. It can
    be cancelled, and goes on where it was after a crash.
    """
    memories, files = await rebuilder.rebuild(run, resume=run.resumed)
    return RebuildDerivedResult(memories=memories, files=_views(files))


def _views(files: Sequence[DerivedFile]) -> list[RebuiltFile]:
    return [RebuiltFile(name=file.name, rows=file.rows, bytes=file.bytes) for file in files]
