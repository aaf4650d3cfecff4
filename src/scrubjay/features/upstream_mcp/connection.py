"""A session with a running skill, over its pipes or over HTTP, in whichever era of the protocol it speaks."""

import math
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
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

from scrubjay.core.request_context import tracked
from scrubjay.features.upstream_mcp.configuration import CommandSkill, HttpSkill, SkillConfig
from scrubjay.features.upstream_mcp.process import SkillProcess, Surroundings, started
from scrubjay.features.upstream_mcp.schemas import MOST_LEFT_OUT, MOST_TOOLS, ToldTools, tools_of
from scrubjay.features.upstream_mcp.transport import messages

STEP_SECONDS = 30.0
# How long its word is waited for that it will tell of changes; it may come later, or never.
ACKNOWLEDGE_SECONDS = 1.0
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
        self._is_watched = anyio.Event()
        self._has_listed = False
        self.heard = 0
        """How many messages came over its pipes; a skill that hangs sends none."""
        self._skill = skill
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        if self._client is None:
            raise BrokenSkill("it is not connected")
        return self._client

    async def tools(self) -> ToldTools:
        """All of its tools as it tells them now; `BrokenSkill` when that takes too long."""
        self._has_listed = True
        declared: list[dict[str, Any]] = []
        cursor: str | None = None
        with anyio.move_on_after(STEP_SECONDS) as patience:
            for _ in range(MOST_PAGES):
                page = await self.client.session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
                declared += [tool.model_dump(mode="json", by_alias=True, exclude_unset=True) for tool in page.tools]
                cursor = page.next_cursor
                if cursor is None or len(declared) >= MOST_TOOLS + MOST_LEFT_OUT:
                    break
        if patience.cancelled_caught:
            raise BrokenSkill(f"it did not tell all of its tools within {STEP_SECONDS:g} s")
        return tools_of(self._skill, declared)

    async def call(self, name: str, arguments: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """What the tool answered, exactly as it came. Being cancelled tells the skill to stop."""
        params = types.CallToolRequestParams(name=name, arguments=dict(arguments), _meta=_meta())
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

    async def watched(self) -> None:
        """Wait until no change of its tools can be missed any more, or until it is clear that it takes its time."""
        with anyio.move_on_after(ACKNOWLEDGE_SECONDS):
            await self._is_watched.wait()

    async def watch_tools(self) -> None:
        """Notice changes of its tools in the modern era, in which a client must ask for that."""
        try:
            capabilities = self.client.server_capabilities.tools
            if self.client.protocol_version in MODERN_PROTOCOL_VERSIONS and capabilities and capabilities.list_changed:
                with suppress(MCPError, SubscriptionLost, TimeoutError):
                    async with self.client.listen(tools_list_changed=True) as changes:
                        self._is_watched.set()
                        if self._has_listed:  # maybe before a change
                            self.tools_changed.set()
                        async for _ in changes:
                            self.tools_changed.set()
        finally:
            self._is_watched.set()

    def adopt(self, client: Client) -> None:
        self._client = client


def _meta() -> types.RequestParamsMeta | None:
    """Which request of ours the call is for, so that it can be followed into the skill's own log."""
    request = tracked()
    if request is None:
        return None
    told = {"scrubjay/request_id": request.request_id, "traceparent": request.traceparent}
    return types.RequestParamsMeta(**{name: value for name, value in told.items() if value is not None})


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
            most = surroundings.max_message_bytes
            # Compressed answers could unfold to a thousand times what was read.
            headers = {**config.sent_headers(os.environ), "Accept-Encoding": "identity"}
            connection = Connection(skill, None)
            hooks = {"response": [partial(_bound, most)]}
            async with httpx2.AsyncClient(headers=headers, timeout=limits, trust_env=False, event_hooks=hooks) as http:
                pipes = streamable_http_client(config.url, http_client=http, max_sse_event_size=most)
                async with _session(connection, pipes):
                    yield connection


async def _bound(most: int, response: httpx2.Response) -> None:
    """Have no more read of an answer than may be; of a stream of events the SDK counts each."""
    response.headers.pop("content-encoding", None)  # nobody asked for it
    if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        response.stream = _Bounded(response.stream, most)


class _Bounded(httpx2.AsyncByteStream):
    """The same bytes, until there are too many."""

    def __init__(self, stream: Any, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        async for some in self._stream:
            left -= len(some)
            if left < 0:
                raise httpx2.StreamError(f"it has more than {self._most} bytes")
            yield some

    async def aclose(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def _session(connection: Connection, pipes: Transport) -> AsyncGenerator[None]:
    with anyio.CancelScope(deadline=anyio.current_time() + STEP_SECONDS) as greeting:
        client = Client(pipes, message_handler=connection.noticed, cache=None)
        async with client:
            greeting.deadline = math.inf
            connection.adopt(client)
            yield
    if greeting.cancelled_caught:
        raise BrokenSkill(f"it did not greet within {STEP_SECONDS:g} s")
