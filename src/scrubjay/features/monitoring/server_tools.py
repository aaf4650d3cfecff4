"""Tools that check the server's health and rebuild or compact derived files."""

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
    status: Literal["healthy", "unhealthy"] = Field(description="healthy only if every component is.")
    version: str
    python: str
    checked_at: datetime
    components: dict[str, ComponentHealth] = Field(description="Components, each checked by using it.")


class RebuildDerivedRequest(Request):
    pass


class RebuiltFile(Result):
    """A derived file that was written."""

    name: str
    rows: int
    bytes: int


class RebuildDerivedResult(Result):
    memories: int = Field(description="Number of memories read.")
    files: list[RebuiltFile] = Field(description="All derived files that were written.")


@tool("server", read_only=True)
async def health_check(request: HealthCheckRequest, health: Health) -> HealthCheckResult:
    """Check every component by using it, and report the duration of each check."""
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
    files: list[RebuiltFile] = Field(description="All derived files that were written.")


@tool("server", runs_as_job=True, idempotent=True)
async def compact_index(request: CompactIndexRequest, compactor: Compactor, run: JobRun) -> CompactIndexResult:
    """Merge the search index into one segment and drop deleted and replaced entries.

    The server also does this automatically. Searches continue during the work, and results do not change.
    """
    files = await compactor.compact(run)
    return CompactIndexResult(files=_views(files))


@tool("server", runs_as_job=True, idempotent=True)
async def rebuild_derived(request: RebuildDerivedRequest, rebuilder: Rebuilder, run: JobRun) -> RebuildDerivedResult:
    """Rebuild the text index, the vectors and all derived files from the stored memories.

    Needed only if a file is damaged or after an upgrade; searches use the old files until it is done. It can be
    cancelled, and continues after a crash.
    """
    memories, files = await rebuilder.rebuild(run, resume=run.resumed)
    return RebuildDerivedResult(memories=memories, files=_views(files))


def _views(files: Sequence[DerivedFile]) -> list[RebuiltFile]:
    return [RebuiltFile(name=file.name, rows=file.rows, bytes=file.bytes) for file in files]
