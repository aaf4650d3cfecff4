"""A small command line, declared like the real one; the tests also run it as a program."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import anyio
import click
from pydantic import ConfigDict, Field, model_validator

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Cancelled, ErrorCode, ErrorRecord, Misconfigured, error_from_record
from scrubjay.core.progress import Reporter
from scrubjay.servers.cli.commands import tool_commands
from scrubjay.servers.cli.groups import ScrubjayGroup
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.jobs.service import JobRun, JobService
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.services import Services

HOSTILE = "\x1b]0;owned\x07\x1b[31mred [bold]markup[/bold] \u009b2J \u202eabc :smile:"


class NewNote(Request):
    """Something to keep."""

    content: str = Field(min_length=1, max_length=1_000, description="What to keep.")
    scope: Literal["global", "project"] | None = Field(None, description="Who can find it.")
    importance: float = Field(0.5, ge=0, le=1, description="How much it matters.")
    tags: list[str] = Field(default_factory=list[str], max_length=5, description="Labels to filter by.")
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any], description="Anything else.")
    occurred_at: datetime | None = Field(None, description="When it happened.")
    pinned: bool = Field(False, description="Keep it at the top.")
    weight: Literal[1, 2] = Field(1, description="How heavy it is.")


class KeptResult(Result):
    id: str
    received: dict[str, Any] = Field(description="What arrived.")
    client: str | None


class KeepManyRequest(Request):
    notes: list[NewNote] = Field(min_length=1, description="What to keep, in order.")


class FindRequest(Request):
    """What to look for."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "what's new", "limit": 3}]})

    query: str = Field(min_length=1, description="What to look for, in plain words.")
    limit: int = Field(5, ge=0, le=50, description="How many notes to return at most.")
    explain: bool = Field(True, description="Say where each score comes from.")


class FoundNote(Result):
    id: str
    content: str
    score: float
    pinned: bool
    tags: list[str]
    kept_at: datetime


class FindResult(Result):
    notes: list[FoundNote] = Field(description="Best first.")
    considered: int


class EraseRequest(Request):
    id: str | None = Field(None, description="The note's id.")
    key: str | None = Field(None, description="Or its key.")

    @model_validator(mode="after")
    def _names_one(self) -> "EraseRequest":
        if (self.id is None) == (self.key is None):
            raise ValueError("give either id or key")
        return self


class EraseResult(Result):
    erased: str


class FailRequest(Request):
    code: ErrorCode = Field(description="How to fail.")


class CountRequest(Request):
    steps: int = Field(10, ge=1, description="How far to count.")
    forever: bool = Field(False, description="Never come to an end.")
    tidying: float = Field(0, ge=0, description="Seconds that it takes to stop when asked to.")


class CountResult(Result):
    counted: int


@tool("notes")
async def keep_note(request: NewNote, context: CallContext) -> KeptResult:
    """Keep a note, durably.

    Use it whenever something should be found later.
    """
    return KeptResult(id="note_1", received=request.model_dump(mode="json", exclude_unset=True), client=context.client)


@tool("notes")
async def keep_many(request: KeepManyRequest) -> KeptResult:
    """Keep many notes at once."""
    return KeptResult(id="note_2", received=request.model_dump(mode="json", exclude_unset=True), client=None)


@tool("notes", read_only=True)
async def find_notes(request: FindRequest) -> FindResult:
    """Find the notes most like a question."""
    texts = [f"{request.query} number {number}" for number in range(request.limit)]
    if request.query == "hostile":
        texts = [HOSTILE]
    if request.query == "long":
        texts = ["first line\nsecond line " + "words and words " * 20, "short", "naïve 漢字 ⚑"]
    return FindResult(
        notes=[
            FoundNote(
                id=f"note_{number}",
                content=text,
                score=1 / (number + 1.5),
                pinned=number == 0,
                tags=["a", "b"],
                kept_at=datetime(2020, 1, 31, 12, tzinfo=UTC),
            )
            for number, text in enumerate(texts)
        ],
        considered=len(texts),
    )


@tool("notes", destructive=True)
async def erase_note(request: EraseRequest) -> EraseResult:
    """Erase one note for good."""
    return EraseResult(erased=request.id or request.key or "")


@tool("work", read_only=True)
async def fail(request: FailRequest) -> EraseResult:
    """Fail in the way asked for."""
    raise error_from_record(
        ErrorRecord(request.code, f"failed as \x1b[31m{request.code}", "try another", {"asked": request.code})
    )


@tool("work", runs_as_job=True)
async def count_slowly(request: CountRequest, run: JobRun) -> CountResult:
    """Count, one step at a time."""
    for done in range(0 if request.forever else request.steps):
        await run.report(done, request.steps, f"counted {done}")
    try:
        while request.forever:
            await run.report(request.steps / 2, request.steps, "counting on")
            await anyio.sleep(0.01)
    except Cancelled:
        await anyio.sleep(request.tidying)
        click.echo("tidied up", err=True)
        raise
    await run.report(request.steps, request.steps, "counted")
    return CountResult(counted=request.steps)


@tool("work", runs_as_job=True)
async def stubborn(request: CountRequest, run: JobRun) -> CountResult:
    """Work that does not listen."""
    await run.report(1, 2, "not listening")
    await anyio.sleep_forever()
    raise AssertionError


@tool("work", read_only=True)
async def wait_here(request: CountRequest, reporter: Reporter) -> CountResult:
    """Wait for nothing, without a job."""
    await reporter.report(1, 2, "waiting")
    await anyio.sleep_forever()
    raise AssertionError


REGISTRY = Registry([keep_note, keep_many, find_notes, erase_note, fail, count_slowly, stubborn, wait_here])


@asynccontextmanager
async def opened() -> AsyncGenerator[Dispatcher]:
    """Open a dispatcher; the first job opens the job store in the folder TOY_HOME."""
    services = Services()
    stores: list[SqliteStore] = []
    try:
        async with anyio.create_task_group() as tasks:

            async def jobs() -> JobService:
                stores.append(await SqliteStore.open(Path(os.environ["TOY_HOME"])))
                return JobService(stores[0].jobs, dispatcher.job_handlers(), tasks, adopts=False)

            services.provide(JobService, jobs)
            dispatcher = Dispatcher(REGISTRY, services)
            yield dispatcher
            tasks.cancel_scope.cancel()
    finally:
        for store in stores:
            await store.close()


@click.group(cls=ScrubjayGroup, name="scrubjay")
@click.version_option("1.2.3", prog_name="scrubjay")
def root() -> None:
    """A toy that remembers.

    It has a few tools of each kind.
    """


@root.command()
@click.argument("place", type=click.Path(path_type=Path))
@click.option("--port", default=4000, show_default=True, help="Where to listen.")
@click.pass_context
def serve(ctx: click.Context, place: Path, port: int) -> None:
    """Serve everything."""
    ctx.exit(7)


@root.command()
def refuse() -> None:
    """Refuse to start."""
    raise Misconfigured("no key", hint="set one")


for family in tool_commands(REGISTRY, opened):
    root.add_command(family)

if __name__ == "__main__":
    root()
