"""A REST server with toy tools and real jobs."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
from anyio.abc import TaskGroup
from fastapi import FastAPI
from pydantic import Field

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.compat.mimo.routes import mimo_routes
from scrubjay.core.errors import ErrorCode, ErrorRecord, error_from_record
from scrubjay.core.progress import Reporter
from scrubjay.servers.rest.app import build_app
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, Tool, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.job_view import JobView, job_view
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.listing import Listing
from scrubjay.tooling.registry import Registry, Toolset
from scrubjay.tooling.services import Services


class Tag(Request):
    """A word with a weight."""

    name: str = Field(min_length=1, max_length=40)
    weight: float = Field(default=1.0, ge=0, le=1)


class EchoRequest(Request):
    text: str = Field(max_length=200, description="The text to return.")
    times: int = Field(default=1, ge=1, le=3, description="Number of repetitions.")
    mood: Literal["calm", "loud"] | None = Field(default=None, description="The tone.")
    tags: list[Tag] = Field(default_factory=list[Tag], max_length=3)


class EchoResult(Result):
    text: str = Field(description="The repeated text.")
    tags: list[Tag]
    client: str | None
    request_id: str


class FailRequest(Request):
    code: ErrorCode = Field(description="The error code to fail with.")


class Nothing(Request):
    pass


class Done(Result):
    steps: int


class CountRequest(Request):
    steps: int = Field(default=2, ge=0, le=5, description="Number of steps.")
    gated: bool = Field(default=False, description="Wait for the gate before each step.")
    fails: bool = Field(default=False, description="Fail at the end.")


class JobRequest(Request):
    job_id: str = Field(min_length=1, max_length=100)


@dataclass
class ToolControls:
    """Events with which the tests observe and control the tools."""

    began: anyio.Event = field(default_factory=anyio.Event)
    stopped: anyio.Event = field(default_factory=anyio.Event)
    gate: anyio.Event = field(default_factory=anyio.Event)


@tool("talk", read_only=True)
async def echo(request: EchoRequest, context: CallContext) -> EchoResult:
    """Say something back.

    Says who asked, too.
    """
    return EchoResult(
        text=" ".join([request.text] * request.times),
        tags=request.tags,
        client=context.client,
        request_id=context.request_id,
    )


@tool("trouble", core=False)
async def fail(request: FailRequest) -> Done:
    """Fail with the given code."""
    raise error_from_record(ErrorRecord(request.code, "as asked", "do not ask", {"why": "test"}))


@tool("trouble", core=False)
async def raise_unexpectedly(request: Nothing) -> Done:
    """Raise an unexpected exception."""
    raise ZeroDivisionError("secret-in-a-message")


@tool("trouble", core=False)
async def hang(request: Nothing, controls: ToolControls) -> Done:
    """Wait until stopped."""
    controls.began.set()
    try:
        await anyio.sleep_forever()
    finally:
        controls.stopped.set()
    return Done(steps=0)


@tool("work", runs_as_job=True)
async def count(request: CountRequest, reporter: Reporter, controls: ToolControls) -> Done:
    """Count slowly."""
    controls.began.set()
    try:
        for step in range(1, request.steps + 1):
            if request.gated:
                while not controls.gate.is_set():
                    await reporter.report(step - 1, request.steps, "waiting")
                    with anyio.move_on_after(0.01):
                        await controls.gate.wait()
            await reporter.report(step, request.steps, f"step {step}")
    finally:
        controls.stopped.set()
    if request.fails:
        raise error_from_record(ErrorRecord(ErrorCode.CONFLICT, "counted wrong"))
    return Done(steps=request.steps)


@tool("work")
async def cancel_job(request: JobRequest, jobs: JobService) -> JobView[dict[str, Any]]:
    """Stop a job."""
    return job_view(await jobs.cancel(request.job_id, patience=5))


TOYS = (echo, fail, raise_unexpectedly, hang, count, cancel_job)
CORE = ["echo", "count", "cancel_job"]


@dataclass
class ToyServer:
    """The parts of a toy server. Its jobs run in a real store during its lifespan."""

    app: FastAPI
    controls: ToolControls
    services: Services
    dispatcher: Dispatcher


def make_toy_server(home: Path, *, requires_key: bool = False, tools: Sequence[Tool] = TOYS) -> ToyServer:
    controls = ToolControls()
    services = Services()
    registry = Registry(tools)
    tasks: TaskGroup | None = None
    store: SqliteStore | None = None

    async def start_jobs() -> JobService:
        assert tasks
        assert store
        return JobService(store.jobs, dispatcher.job_handlers(), tasks)

    services.provide_ready(ToolControls, controls)
    services.provide(JobService, start_jobs)
    dispatcher = Dispatcher(registry, services)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        nonlocal tasks, store
        store = await SqliteStore.open(home)
        async with anyio.create_task_group() as tasks:
            yield
            tasks.cancel_scope.cancel()
        await store.close()

    listing = Listing(registry, Toolset())
    app = build_app(
        dispatcher,
        listing,
        services,
        version="1.2.3",
        requires_key=requires_key,
        protocols=[mimo_routes(dispatcher)],
        lifespan=lifespan,
    )
    return ToyServer(app, controls, services, dispatcher)
