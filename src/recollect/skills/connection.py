"""A session with a running skill, over its pipes or over HTTP, in whichever era of the protocol it speaks."""

import math
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol

import anyio
import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client import IncomingMessage, Transport
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

from recollect.skills.configuration import CommandSkill, HttpSkill, SkillConfig
from recollect.skills.process import SkillProcess, Surroundings, started
from recollect.skills.schemas import MOST_TOOLS, SkillTool, tools_of
from recollect.skills.transport import messages

STEP_SECONDS = 30.0
MOST_PAGES = 100


class Progress(Protocol):
    """Where a call's progress goes."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


# The session wants a model for its answers; this is none, and changes nothing.
_AS_IT_CAME: Any = TypeAdapter(dict[str, Any])


class BrokenSkill(Exception):
    """The skill is not there, or does not speak the protocol."""


class Connection:
    """One session. It is used by many tasks, and owned by the one that entered it."""

    def __init__(self, skill: str, process: SkillProcess | None) -> None:
        self.process = process
        self.ended = anyio.Event()
        self.let_go = anyio.Event()
        """Set when nobody can get hold of it any more."""
        self.tools_changed = anyio.Event()
        self.is_watched = anyio.Event()
        """Set when no change of its tools can be missed any more."""
        self.heard = 0
        """How many messages came over its pipes; a skill that hangs sends none."""
        self._skill = skill
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        if self._client is None:
            raise BrokenSkill("it is not connected")
        return self._client

    async def tools(self) -> Sequence[SkillTool]:
        """All of its tools as it tells them now."""
        declared: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            with anyio.fail_after(STEP_SECONDS):
                page = await self.client.session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
            declared += [tool.model_dump(mode="json", by_alias=True, exclude_unset=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None or len(declared) >= MOST_TOOLS:
                break
        return tools_of(self._skill, declared) or []

    async def call(self, name: str, arguments: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """What the tool answered, exactly as it came. Being cancelled tells the skill to stop."""
        params = types.CallToolRequestParams(name=name, arguments=dict(arguments))
        # Not the session's `call_tool`: it drops what it does not know, and judges what is not ours to judge.
        answer: dict[str, Any] = await self.client.session.send_request(
            types.CallToolRequest(params=params), _AS_IT_CAME, progress_callback=progress
        )
        if answer.get("resultType", "complete") != "complete":
            raise BrokenSkill("it asks its user for more, and there is none behind this server")
        return answer

    async def noticed(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.tools_changed.set()

    async def watch_tools(self) -> None:
        """Notice changes of its tools in the modern era, in which a client must ask for that."""
        try:
            capabilities = self.client.server_capabilities.tools
            if self.client.protocol_version in MODERN_PROTOCOL_VERSIONS and capabilities and capabilities.list_changed:
                with suppress(MCPError, SubscriptionLost, TimeoutError):
                    async with self.client.listen(tools_list_changed=True) as changes:
                        self.is_watched.set()
                        async for _ in changes:
                            self.tools_changed.set()
        finally:
            self.is_watched.set()

    def adopt(self, client: Client) -> None:
        self._client = client


@asynccontextmanager
async def connected(
    skill: str,
    config: SkillConfig,
    surroundings: Surroundings,
    on_process: Callable[[SkillProcess], None],
) -> AsyncGenerator[Connection]:
    """A session with the skill, which runs for as long as this is entered; `on_process` gets its program first."""
    match config:
        case CommandSkill():
            environment = config.environment(os.environ)
            async with started(config.command, config.args, environment, surroundings) as process:
                on_process(process)
                connection = Connection(skill, process)
                async with _session(connection, messages(process, surroundings.max_message_bytes, connection)):
                    yield connection
        case HttpSkill():
            limits = httpx2.Timeout(STEP_SECONDS, read=config.call_seconds + STEP_SECONDS)
            headers = config.sent_headers(os.environ)
            connection = Connection(skill, None)
            async with httpx2.AsyncClient(headers=headers, timeout=limits, trust_env=False) as http:
                pipes = streamable_http_client(config.url, http_client=http)
                async with _session(connection, pipes):
                    yield connection


@asynccontextmanager
async def _session(connection: Connection, pipes: Transport) -> AsyncGenerator[None]:
    with anyio.CancelScope(deadline=anyio.current_time() + STEP_SECONDS) as greeting:
        client = Client(pipes, message_handler=connection.noticed, cache=None)
        async with client:
            greeting.deadline = math.inf
            connection.adopt(client)
            yield
    if greeting.cancelled_caught:
        raise BrokenSkill(f"it did not greet within {STEP_SECONDS:.0f} s")
