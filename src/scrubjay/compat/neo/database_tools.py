"""The database as Neo's clients look after it: is it well, start it, stop it."""

import os
import time
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from scrubjay import __version__
from scrubjay.app.store import Store
from scrubjay.core.clock import system_clock
from scrubjay.core.errors import ScrubjayError
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import Kind
from scrubjay.features.projects.arguments import project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.summaries.startup import StartupSummaries, StartupWord
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool

_STARTED = time.monotonic()
_EMBEDDED = "the store is a folder that this server reads and writes itself, so there is no database server"


class NothingRequest(Request):
    pass


class ProcessView(Result):
    """The database's process."""

    running: bool
    pid: int | None = Field(description="This server's own, which has the store open.")
    managed: bool = Field(description="Whether a database server was started by this one.")
    strategy: Literal["embedded", "managed", "external", "unknown"]


class CollectionView(Result):
    """One sort of memories."""

    name: str
    exists: bool
    count: int


class ConnectionView(Result):
    """Whether the store can be used."""

    connected: bool
    collections: dict[str, CollectionView] | None


class DatabaseView(Result):
    """The database."""

    process: ProcessView
    connection: ConnectionView


class FeaturesView(Result):
    """What can be done."""

    summarization: bool


class StartupView(Result):
    """What was done when the server started."""

    summarizationStatus: StartupWord  # noqa: N815 - the documented name
    summarizationDetails: dict[str, Any] | None  # noqa: N815 - as above


class HealthcheckResult(Result):
    status: Literal["healthy", "unhealthy"]
    timestamp: datetime
    database: DatabaseView
    features: FeaturesView
    startup: StartupView
    details: list[str] = Field(description="What is wrong, or worth knowing.")
    version: str
    uptime: float = Field(description="Seconds since the server loaded its tools.")


class StartDatabaseResult(Result):
    status: Literal["started", "already_running"]
    pid: int | None
    detail: str


class StopDatabaseResult(Result):
    status: Literal["stopped", "not_running"]
    detail: str


@tool("database", read_only=True, core=False)
async def healthcheck(
    request: NothingRequest,
    store: Store,
    startup: StartupSummaries,
    projects: ProjectService,
    context: CallContext,
) -> HealthcheckResult:
    """Tell whether the store can be used, how much is in it, and what was summarised at the start.

    health_check tells more: every component, with timings.
    """
    collections: dict[str, CollectionView] | None = None
    details = [f"embedded: {_EMBEDDED}"]
    try:
        await store.ping()
        kinds = await store.memories.kinds()
        summaries = kinds.get(Kind.SUMMARY, 0)
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
            process=ProcessView(running=True, pid=os.getpid(), managed=False, strategy="embedded"),
            connection=ConnectionView(connected=collections is not None, collections=collections),
        ),
        features=FeaturesView(summarization=True),
        startup=StartupView(
            summarizationStatus=status.word, summarizationDetails=dict(status.details) if status.details else None
        ),
        details=details,
        version=__version__,
        uptime=round(time.monotonic() - _STARTED, 3),
    )


@tool("database", idempotent=True, core=False)
async def start_database(request: NothingRequest, store: Store) -> StartDatabaseResult:
    """Make sure that the database can be used; an embedded store always runs with its server."""
    await store.ping()
    return StartDatabaseResult(status="already_running", pid=os.getpid(), detail=_EMBEDDED)


@tool("database", idempotent=True, core=False)
async def stop_database(request: NothingRequest) -> StopDatabaseResult:
    """Stop a database server that this server started; an embedded store has none, and closes with its server."""
    return StopDatabaseResult(status="not_running", detail=f"nothing was stopped: {_EMBEDDED}")
