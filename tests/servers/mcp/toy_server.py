"""A server with toy tools, used within the test process or as a child process: `toy_server.py stdio|http HOME`."""

import os
import socket
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType

import anyio
import uvicorn
from pydantic import Field
from starlette.applications import Starlette
from starlette.routing import Route

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import ErrorCode, ErrorRecord, NotFound, error_from_record
from scrubjay.core.progress import Reporter, SilentReporter
from scrubjay.servers.mcp.http import serve_http
from scrubjay.servers.mcp.server import ToolServer, build_server
from scrubjay.servers.mcp.stdio import serve_stdio
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, Tool, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobRun, JobService
from scrubjay.tooling.listing import Listing
from scrubjay.tooling.registry import Registry, Toolset
from scrubjay.tooling.resources import Resource, Resources, resource
from scrubjay.tooling.served_tools import ServedTools
from scrubjay.tooling.services import Services

INSTRUCTIONS = "Play with the toys."
MAX_BYTES = 1024 * 1024


# Seconds; more than a finite toy job takes.
PATIENCE = 1.0


class Stopped:
    """Records that endless work was stopped, for another call to read."""

    def __init__(self) -> None:
        self.event = anyio.Event()


class Shelf:
    """Toys by name, with the number of plays of each."""

    def __init__(self) -> None:
        self.plays = {"ball": 0, "kite": 0}


class EchoRequest(Request):
    text: str = Field(description="The text to return.")
    times: int = Field(default=1, ge=1, le=1000, description="Number of repetitions.")


class EchoResult(Result):
    text: str = Field(description="The repeated text.")
    note: str | None = Field(default=None, description="Always absent.")


class FailRequest(Request):
    code: ErrorCode = Field(description="The error code to fail with.")


class CountRequest(Request):
    to: int = Field(ge=1, description="The last number.")


class CountResult(Result):
    counted: int = Field(description="The last number reached.")


class NoRequest(Request):
    pass


class StoppedResult(Result):
    stopped: bool = Field(description="True when the work was stopped.")


class JobResult(Result):
    state: JobState


class CallerResult(Result):
    surface: str
    client: str | None
    working_directory: str | None
    patience: float | None


@tool("toys", read_only=True)
async def echo(request: EchoRequest) -> EchoResult:
    """Say something again.

    Nothing is changed.
    """
    return EchoResult(text=request.text * request.times)


@tool("toys", destructive=True)
async def fail(request: FailRequest) -> EchoResult:
    """Fail in a chosen way."""
    raise error_from_record(ErrorRecord(request.code, "it went wrong", "do it right", {"tries": 1}))


@tool("toys")
async def break_down(request: NoRequest) -> EchoResult:
    """Raise an unexpected exception."""
    raise ZeroDivisionError("a secret of the server")


@tool("toys", idempotent=True)
async def count(request: CountRequest, reporter: Reporter) -> CountResult:
    """Count, and report each step."""
    for number in range(1, request.to + 1):
        await reporter.report(number, request.to, f"step {number}")
    return CountResult(counted=request.to)


@tool("toys")
async def stumble(request: NoRequest, reporter: Reporter) -> CountResult:
    """Report progress that goes backward."""
    for number in (0, 2, 1, 2, 3):
        await reporter.report(number)
    return CountResult(counted=3)


@tool("toys")
async def hang(request: NoRequest, reporter: Reporter, stopped: Stopped) -> EchoResult:
    """Work without end."""
    try:
        await reporter.report(1, message="begun")
        await anyio.sleep_forever()
    finally:
        stopped.event.set()
    raise AssertionError


@tool("toys", read_only=True)
async def was_stopped(request: NoRequest, stopped: Stopped) -> StoppedResult:
    """Return whether the endless work was stopped within five seconds."""
    with anyio.move_on_after(5) as waiting:
        await stopped.event.wait()
    stopped.event = anyio.Event()
    return StoppedResult(stopped=not waiting.cancelled_caught)


@tool("toys", runs_as_job=True)
async def dig(request: CountRequest, run: JobRun) -> CountResult:
    """Dig a hole of some depth as a job; deeper than 100 it never ends."""
    for depth in range(1, min(request.to, 100) + 1):
        await run.report(depth, request.to, f"{depth} deep")
    while request.to > 100:
        await anyio.sleep(0.01)
        await run.report(100, request.to, "stuck")
    return CountResult(counted=request.to)


@tool("toys", read_only=True)
async def last_job(request: NoRequest, jobs: JobService) -> JobResult:
    """Return the final state of the newest job, or its state after five seconds."""
    (job,) = await jobs.list([], "dig", 1)
    return JobResult(state=(await jobs.wait(job.id, 5, SilentReporter())).state)


@tool("toys")
async def change_list(request: NoRequest, server: ToolServer) -> EchoResult:
    """Announce that the list of tools changed."""
    await server.announce_tools_changed()
    return EchoResult(text="announced")


@tool("toys", read_only=True)
async def who(request: NoRequest, context: CallContext) -> CallerResult:
    """Return the context of the call."""
    return CallerResult(
        surface=context.surface,
        client=context.client,
        working_directory=context.working_directory,
        patience=context.patience,
    )


@tool("toys", read_only=True)
async def name_strange_file(request: NoRequest, reporter: Reporter) -> EchoResult:
    """Return a file name with a lone surrogate."""
    await reporter.report(1, message="read \udce9.txt")
    return EchoResult(text="\udce9.txt")


@tool("toys")
async def shout(request: NoRequest) -> EchoResult:
    """Print to stdout, which is reserved for the protocol."""
    sys.stdout.write("a stray line\n")
    os.write(1, b"another stray line\n")
    return EchoResult(text=sys.stdin.read())


@tool("attic", core=False)
async def hidden(request: NoRequest) -> EchoResult:
    """Return a text; the tool is not listed."""
    return EchoResult(text="found")


class PlayRequest(Request):
    toy: str = Field(description="The name of the toy.")


@tool("attic", core=False)
async def play(request: PlayRequest, shelf: Shelf) -> CountResult:
    """Play with a toy, or with a new one."""
    shelf.plays[request.toy] = shelf.plays.get(request.toy, 0) + 1
    return CountResult(counted=shelf.plays[request.toy])


async def each_toy(shelf: Shelf) -> Sequence[dict[str, str]]:
    return [{"toy": name} for name in shelf.plays]


async def plays_of(toy: str, shelf: Shelf) -> str:
    if toy not in shelf.plays:
        raise NotFound(f"there is no {toy}", hint="there are a ball and a kite")
    return str(shelf.plays[toy])


@resource("toy://shelf", mime_type="text/plain", title="The shelf")
async def whole_shelf(shelf: Shelf, context: CallContext) -> str:
    """All toys and the surface of the request."""
    return f"{', '.join(shelf.plays)} for {context.surface}"


@resource("toy://{toy}/plays", "play://{toy}", mime_type="text/plain", title="Plays", each=each_toy, mark=plays_of)
async def plays(toy: str, shelf: Shelf) -> str:
    """The number of plays of a toy."""
    return await plays_of(toy, shelf)


@resource("toy://{toy}/picture", mime_type="image/png", title="Picture")
async def picture(toy: str) -> bytes:
    """The picture of a toy."""
    if toy == "broken":
        raise ZeroDivisionError("a secret of the server")
    return toy.encode() + b"\xff\x00"


SHELF: Sequence[Resource] = (whole_shelf, plays, picture)

TOYS: Sequence[Tool] = (
    echo,
    fail,
    break_down,
    count,
    stumble,
    hang,
    was_stopped,
    dig,
    last_job,
    change_list,
    who,
    name_strange_file,
    shout,
    hidden,
    play,
)


@asynccontextmanager
async def toy_server(home: Path, *, surface: str, client: str | None = None) -> AsyncGenerator[ToolServer]:
    """Run a server with real jobs in a real store."""
    registry = Registry(TOYS)
    services = Services()
    services.provide_ready(Stopped, Stopped())
    services.provide_ready(Shelf, Shelf())
    store = await SqliteStore.open(home)

    async def running_jobs() -> JobService:
        return jobs

    async def this_server() -> ToolServer:
        return server

    services.provide(JobService, running_jobs)
    services.provide(ToolServer, this_server)
    dispatcher = Dispatcher(registry, services)
    shelf = Resources(SHELF, services)
    offering = ServedTools(dispatcher, Listing(registry, Toolset("core")), lambda: shelf)
    server = build_server(
        lambda: offering,
        version="1.2.3",
        instructions=INSTRUCTIONS,
        patience=PATIENCE,
        surface=surface,
        client=client,
        working_directory="/toys",
        watch_seconds=0.02,
    )
    async with anyio.create_task_group() as tasks:
        jobs = JobService(store.jobs, dispatcher.job_handlers(), tasks, lease_seconds=30)
        yield server
        tasks.cancel_scope.cancel()
    await store.close()


async def serve_over_stdio(home: Path) -> None:
    async with toy_server(home, surface="mcp-stdio", client="stdio:toys") as server:
        await serve_stdio(server, max_message_bytes=MAX_BYTES)


async def serve_over_http(home: Path) -> None:
    async with toy_server(home, surface="mcp-http") as server:
        mcp = serve_http(
            server,
            allowed_hosts=["127.0.0.1:*"],
            allowed_origins=["http://127.0.0.1:*"],
            max_body_bytes=MAX_BYTES,
        )
        app = Starlette(routes=[Route("/mcp", endpoint=mcp.asgi_app)])
        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="warning", lifespan="off")

        class EndingServer(uvicorn.Server):
            def handle_exit(self, sig: int, frame: FrameType | None) -> None:
                server.close_subscriptions()
                super().handle_exit(sig, frame)

        async with mcp.run():
            sys.stdout.write(f"{listener.getsockname()[1]}\n")
            sys.stdout.flush()
            await EndingServer(config).serve(sockets=[listener])


if __name__ == "__main__":
    serve = {"stdio": serve_over_stdio, "http": serve_over_http}[sys.argv[1]]
    anyio.run(serve, Path(sys.argv[2]))
