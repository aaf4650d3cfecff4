"""Neo's database tools: health check, start and stop."""

import os
import time
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from scrubjay import __version__
from scrubjay.core.clock import system_clock
from scrubjay.core.errors import ScrubjayError
from scrubjay.core.process_age import process_age
from scrubjay.core.scopes import Visibility
from scrubjay.db.database import Database
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.projects.arguments import project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.summaries.startup import StartupState, StartupSummaries
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool

# Where the age of the process is not known, the time since the first call is given.
_LOADED = time.monotonic()
_EMBEDDED = "the store is a local folder opened by this server; there is no separate database server"


class NoArguments(Request):
    pass


class DatabaseProcessView(Result):
    """The process that has the database open."""

    running: bool
    pid: int | None = Field(description="Process id of this server, which has the store open.")
    managed: bool = Field(description="Whether this server started a separate database server.")
    strategy: Literal["embedded", "managed", "external", "unknown"]


class CollectionView(Result):
    """A collection of memories."""

    name: str
    exists: bool
    count: int


class ConnectionView(Result):
    """State of the connection to the store."""

    connected: bool
    collections: dict[str, CollectionView] | None


class DatabaseView(Result):
    """Process and connection of the database."""

    process: DatabaseProcessView
    connection: ConnectionView


class FeaturesView(Result):
    """Available features."""

    summarization: bool


class StartupView(Result):
    """Work done when the server started."""

    summarizationStatus: StartupState  # noqa: N815 - the documented name
    summarizationDetails: dict[str, Any] | None  # noqa: N815 - as above


class HealthcheckResult(Result):
    status: Literal["healthy", "unhealthy"]
    timestamp: datetime
    database: DatabaseView
    features: FeaturesView
    startup: StartupView
    details: list[str] = Field(description="Problems and notes.")
    version: str
    uptime: float = Field(description="Seconds since the server started.")


class StartDatabaseResult(Result):
    status: Literal["started", "already_running"]
    pid: int | None
    detail: str


class StopDatabaseResult(Result):
    status: Literal["stopped", "not_running"]
    detail: str


@tool("database", read_only=True, core=False)
async def healthcheck(
    request: NoArguments,
    database: Database,
    memories: MemoryStore,
    startup: StartupSummaries,
    projects: ProjectService,
    context: CallContext,
) -> HealthcheckResult:
    """Check the store: connection, number of memories, and the summaries made at startup.

    health_check reports more: every component, with timings.
    """
    collections: dict[str, CollectionView] | None = None
    details = [f"embedded: {_EMBEDDED}"]
    try:
        await database.ping()
        kinds = await memories.kinds()
        summaries = kinds.get(MemoryKind.SUMMARY, 0)
        collections = {
            "memories": CollectionView(name="memories", exists=True, count=sum(kinds.values()) - summaries),
            "summaries": CollectionView(name="summaries", exists=True, count=summaries),
        }
    except ScrubjayError as error:
        details.append(error.message)
    status = await startup.status(Visibility(await project_id_of(None, projects, context)))
    return HealthcheckResult(
        status="unhealthy" if collections is None else "healthy",
        timestamp=system_clock(),
        database=DatabaseView(
            process=DatabaseProcessView(running=True, pid=os.getpid(), managed=False, strategy="embedded"),
            connection=ConnectionView(connected=collections is not None, collections=collections),
        ),
        features=FeaturesView(summarization=True),
        startup=StartupView(
            summarizationStatus=status.state, summarizationDetails=dict(status.details) if status.details else None
        ),
        details=details,
        version=__version__,
        uptime=round(process_age() or time.monotonic() - _LOADED, 3),
    )


@tool("database", idempotent=True, core=False)
async def start_database(request: NoArguments, database: Database) -> StartDatabaseResult:
    """Check that the database can be used. An embedded store always runs with its server, so nothing is started."""
    await database.ping()
    return StartDatabaseResult(status="already_running", pid=os.getpid(), detail=_EMBEDDED)


@tool("database", idempotent=True, core=False)
async def stop_database(request: NoArguments) -> StopDatabaseResult:
    """Stop a database server that this server started. An embedded store has none and closes with its server."""
    return StopDatabaseResult(status="not_running", detail=f"nothing was stopped: {_EMBEDDED}")
