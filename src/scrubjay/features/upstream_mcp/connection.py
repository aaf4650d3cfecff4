"""MCP sessions with skills, over pipes or HTTP, for handshake and stateless protocol revisions."""

import math
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

from scrubjay.core.environment import all_variables
from scrubjay.core.request_context import current_request
from scrubjay.features.upstream_mcp.configuration import CommandSkill, HttpSkill, SkillConfig
from scrubjay.features.upstream_mcp.process import ProcessOptions, SkillProcess, start_process
from scrubjay.features.upstream_mcp.schemas import MAX_LEFT_OUT, MAX_TOOLS, ToolListing, parse_tools
from scrubjay.features.upstream_mcp.transport import messages

STEP_SECONDS = 30.0
# Time to wait for the acknowledgement of a subscription; it may come later, or never.
ACKNOWLEDGE_SECONDS = 1.0
MAX_PAGES = 100


class ProgressCallback(Protocol):
    """Receives the progress of a call."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


# The session requires a model for answers; this one accepts any object and changes nothing.
_UNVALIDATED: Any = TypeAdapter(dict[str, Any])


class BrokenSkill(Exception):
    """The skill cannot be reached, or violates the protocol."""


class SkillConnection:
    """One session, used by many tasks and owned by the task that entered it."""

    def __init__(self, skill: str, process: SkillProcess | None) -> None:
        self.process = process
        self.ended = anyio.Event()
        self.released = anyio.Event()
        """Set when no new caller can obtain this session."""
        self.tools_changed = anyio.Event()
        self._subscribed = anyio.Event()
        self._has_listed = False
        self.received = 0
        """Number of messages received over its pipes; it does not grow while the skill hangs."""
        self._skill = skill
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        if self._client is None:
            raise BrokenSkill("not connected")
        return self._client

    async def tools(self) -> ToolListing:
        """Request the current tool list; raise `BrokenSkill` after `STEP_SECONDS`."""
        self._has_listed = True
        declared: list[dict[str, Any]] = []
        cursor: str | None = None
        with anyio.move_on_after(STEP_SECONDS) as scope:
            for _ in range(MAX_PAGES):
                page = await self.client.session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
                declared += [tool.model_dump(mode="json", by_alias=True, exclude_unset=True) for tool in page.tools]
                cursor = page.next_cursor
                if cursor is None or len(declared) >= MAX_TOOLS + MAX_LEFT_OUT:
                    break
        if scope.cancelled_caught:
            raise BrokenSkill(f"its tool list was not complete within {STEP_SECONDS:g} s")
        return parse_tools(self._skill, declared)

    async def call(self, name: str, arguments: Mapping[str, Any], progress: ProgressCallback) -> dict[str, Any]:
        """Return the tool's answer unchanged. Cancelling sends a cancellation to the skill."""
        params = types.CallToolRequestParams(name=name, arguments=dict(arguments), _meta=_meta())
        # Not the session's `call_tool`: it drops unknown fields and validates the structured content.
        answer: dict[str, Any] = await self.client.session.send_request(
            types.CallToolRequest(params=params), _UNVALIDATED, progress_callback=progress
        )
        if answer.get("resultType", "complete") != "complete":
            raise BrokenSkill("it requests user input, which this server cannot provide")
        return answer

    async def on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.tools_changed.set()

    async def wait_until_subscribed(self) -> None:
        """Wait until changes of its tools are reported, at most `ACKNOWLEDGE_SECONDS`."""
        with anyio.move_on_after(ACKNOWLEDGE_SECONDS):
            await self._subscribed.wait()

    async def watch_tools(self) -> None:
        """Subscribe to tool changes, as the stateless protocol revisions require."""
        try:
            capabilities = self.client.server_capabilities.tools
            if self.client.protocol_version in MODERN_PROTOCOL_VERSIONS and capabilities and capabilities.list_changed:
                with suppress(MCPError, SubscriptionLost, TimeoutError):
                    async with self.client.listen(tools_list_changed=True) as changes:
                        self._subscribed.set()
                        if self._has_listed:  # a change may have come between the list and the subscription
                            self.tools_changed.set()
                        async for _ in changes:
                            self.tools_changed.set()
        finally:
            self._subscribed.set()

    def set_client(self, client: Client) -> None:
        self._client = client


def _meta() -> types.RequestParamsMeta | None:
    """Return ids of the current request, so that it can be traced in the skill's own log."""
    request = current_request()
    if request is None:
        return None
    ids = {"scrubjay/request_id": request.request_id, "traceparent": request.traceparent}
    return types.RequestParamsMeta(**{name: value for name, value in ids.items() if value is not None})


@asynccontextmanager
async def connect(
    skill: str,
    config: SkillConfig,
    process_options: ProcessOptions,
    on_process: Callable[[SkillProcess], None],
) -> AsyncGenerator[SkillConnection]:
    """Start the skill and yield a session with it; `on_process` receives its process before the handshake."""
    match config:
        case CommandSkill():
            environment = config.environment(all_variables())
            program = config.program(all_variables())
            async with start_process(program, config.args, environment, process_options) as process:
                on_process(process)
                connection = SkillConnection(skill, process)
                async with _session(connection, messages(process, process_options.max_message_bytes, connection)):
                    yield connection
        case HttpSkill():
            limits = httpx2.Timeout(STEP_SECONDS, read=config.call_seconds + STEP_SECONDS)
            max_bytes = process_options.max_message_bytes
            # A compressed answer could expand to a thousand times the bytes that were counted.
            headers = {**config.sent_headers(all_variables()), "Accept-Encoding": "identity"}
            connection = SkillConnection(skill, None)
            hooks = {"response": [partial(_limit_response, max_bytes)]}
            async with httpx2.AsyncClient(headers=headers, timeout=limits, trust_env=False, event_hooks=hooks) as http:
                pipes = streamable_http_client(config.url, http_client=http, max_sse_event_size=max_bytes)
                async with _session(connection, pipes):
                    yield connection


async def _limit_response(max_bytes: int, response: httpx2.Response) -> None:
    """Limit the size of a response body; the SDK limits each event of an event stream."""
    response.headers.pop("content-encoding", None)  # it was not requested
    if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        response.stream = _BoundedStream(response.stream, max_bytes)


class _BoundedStream(httpx2.AsyncByteStream):
    """Passes bytes through and fails after a maximum."""

    def __init__(self, stream: Any, max_bytes: int) -> None:
        self._stream = stream
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        remaining = self._max_bytes
        async for chunk in self._stream:
            remaining -= len(chunk)
            if remaining < 0:
                raise httpx2.StreamError(f"the response has more than {self._max_bytes} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def _session(connection: SkillConnection, pipes: Transport) -> AsyncGenerator[None]:
    with anyio.CancelScope(deadline=anyio.current_time() + STEP_SECONDS) as handshake:
        client = Client(pipes, message_handler=connection.on_message, cache=None)
        async with client:
            handshake.deadline = math.inf
            connection.set_client(client)
            yield
    if handshake.cancelled_caught:
        raise BrokenSkill(f"no handshake within {STEP_SECONDS:g} s")
