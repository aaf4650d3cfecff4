"""Call a tool on each surface with the surface's own real client."""

import json
import os
import re
import sys
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from scrubjay.app.lifespan import running
from scrubjay.app.settings import FileSettings, Settings
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.core.errors import ScrubjayError
from scrubjay.tooling.context import CallContext
from tests.surfaces.commands import run_command, run_server

PROGRAM = (sys.executable, "-m", "scrubjay.app")
CLIENT = "the-surface-tests"
SURFACES = ("python", "mcp-stdio", "mcp-stdio-handshake", "mcp-http", "mcp-http-handshake", "rest", "cli")

Json = dict[str, Any]
T = TypeVar("T")


class CallFailed(Exception):
    """A tool failed, with the error as this surface reports it."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: str = error["code"]
        self.message: str = error["message"]
        self.hint: str | None = error.get("hint")
        self.details: Json = dict(error.get("details") or {})


class Caller(Protocol):
    """Calls a tool and returns its result as JSON data; raises `CallFailed`."""

    async def __call__(self, tool: str, /, **arguments: Any) -> Json: ...


# Callers whose every call starts a process.
_SLOW_CALLERS: set[Caller] = set()


def sample_cases(call: Caller, cases: Sequence[T]) -> Sequence[T]:
    """Return all cases, or every third one for a slow surface: the other surfaces run them all."""
    return cases[::3] if call in _SLOW_CALLERS else cases


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a child process: with its own home and without our settings."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("SCRUBJAY_")}
    return {**others, "SCRUBJAY_HOME": str(home)}


@contextmanager
def server(home: Path, **settings: str) -> Generator[str]:
    """Run a real `scrubjay serve` on a free port and yield its URL."""
    with run_server(["serve", "--port", "0"], {**environment(home), **settings}, home) as output:
        for line in output:
            if match := re.search(r"http://127\.0\.0\.1:\d+", line):
                yield match[0]
                return
        raise AssertionError("the server did not start")


@asynccontextmanager
async def python_caller(home: Path) -> AsyncGenerator[Caller]:
    # The processes of the other surfaces have the home as working directory.
    async with running(Settings(home=home, files=FileSettings(root=home))) as application:

        async def call(tool: str, /, **arguments: Any) -> Json:
            try:
                answer = await application.dispatcher.call(
                    tool, arguments, CallContext(surface="python", client=CLIENT)
                )
            except ScrubjayError as error:
                record = error.record
                raise CallFailed(
                    {"code": record.code, "message": record.message, "hint": record.hint, "details": record.details}
                ) from error
            return answer.model_dump(mode="json")

        yield call


def _mcp_caller(client: Client) -> Caller:
    async def call(tool: str, /, **arguments: Any) -> Json:
        try:
            answer = await client.call_tool(tool, arguments)
        except MCPError as error:
            raise CallFailed(error.error.data) from error
        if answer.is_error:
            raise CallFailed((answer.meta or {})["scrubjay/error"])
        assert answer.structured_content is not None
        return dict(answer.structured_content)

    return call


@asynccontextmanager
async def mcp_stdio_caller(home: Path, mode: str) -> AsyncGenerator[Caller]:
    parameters = StdioServerParameters(
        command=PROGRAM[0], args=[*PROGRAM[1:], "mcp"], env=environment(home), cwd=str(home)
    )
    async with Client(parameters, mode=mode) as client:
        yield _mcp_caller(client)


@asynccontextmanager
async def mcp_http_caller(url: str, mode: str) -> AsyncGenerator[Caller]:
    async with (
        httpx2.AsyncClient(headers={"Scrubjay-Client": CLIENT}, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield _mcp_caller(client)


@asynccontextmanager
async def rest_caller(url: str) -> AsyncGenerator[Caller]:
    headers = {"Scrubjay-Client": CLIENT, "Prefer": "wait=60"}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False) as http:

        async def call(tool: str, /, **arguments: Any) -> Json:
            answer = await http.post(f"/v1/tools/{tool}", json=arguments)
            if answer.status_code >= 400:
                raise CallFailed(answer.json()["error"])
            return answer.json()

        yield call


@asynccontextmanager
async def cli_caller(home: Path) -> AsyncGenerator[Caller]:
    families = _families()

    async def call(tool: str, /, **arguments: Any) -> Json:
        family = families.get(tool, "memory")
        completed = await run_command(
            [family, tool, "--json", "-"], json.dumps(arguments).encode(), environment(home), home
        )
        if completed.returncode:
            raise CallFailed(json.loads(completed.stdout)["error"])
        return json.loads(completed.stdout)

    _SLOW_CALLERS.add(call)
    yield call


def open_caller(surface: str, home: Path, url: str) -> AbstractAsyncContextManager[Caller]:
    """Return the caller of this surface, for a home and, where needed, the URL of its server."""
    match surface:
        case "python":
            return python_caller(home)
        case "mcp-stdio":
            return mcp_stdio_caller(home, "auto")
        case "mcp-stdio-handshake":
            return mcp_stdio_caller(home, "legacy")
        case "mcp-http":
            return mcp_http_caller(url, "auto")
        case "mcp-http-handshake":
            return mcp_http_caller(url, "legacy")
        case "rest":
            return rest_caller(url)
        case _:
            return cli_caller(home)


def _families() -> dict[str, str]:
    return {tool.name: tool.family for tool in TOOL_CATALOG}
