"""The MCP server: lists and calls the tools of the registry and reads resources, for clients of both eras."""

import json
import math
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    NotificationParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json
from starlette.types import Scope

from scrubjay.core.callers import OWNER
from scrubjay.core.errors import InvalidRequest, ScrubjayError
from scrubjay.servers.http.callers import caller_of
from scrubjay.servers.http.request_metadata import address_of, parse_traceparent, request_id_of, traceparent_of
from scrubjay.servers.mcp.errors import call_failure, protocol_error
from scrubjay.servers.mcp.paging import PAGE_SIZE, page_of
from scrubjay.servers.mcp.resources import ANNOUNCE_SECONDS, RequestContext, ResourceHandlers
from scrubjay.servers.mcp.text import transportable
from scrubjay.servers.mcp.tool_methods import AddMethods, ListParams, ToolMethods, without_schemas
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.job_view import JobView, flat_result
from scrubjay.tooling.remote_tools import ForeignAnswer, ForeignTool
from scrubjay.tooling.served_tools import ServedTools

if TYPE_CHECKING:
    from scrubjay.tooling.declaration import Tool

# The list is fixed for the life of a process; clients of a restarted server see the old one for at most five minutes.
LIST_HINT: Final = CacheHint(ttl_ms=5 * 60 * 1000, scope="private")
# Seconds between two checks of the resources that clients have subscribed to.
WATCH_SECONDS: Final = 1.0
CLIENT_HEADER: Final = "scrubjay-client"


def build_server(
    served: Callable[[], ServedTools],
    *,
    version: str,
    instructions: str,
    patience: float,
    surface: str,
    client: str | None = None,
    working_directory: str | None = None,
    watch_seconds: float = WATCH_SECONDS,
    add_methods: AddMethods | None = None,
) -> "ToolServer":
    """Return a server for these tools and resources. `served` is called only when a client needs one of them.

    `add_methods` adds methods that are not part of MCP.
    """
    handlers = _ToolHandlers(served, patience, surface, client, working_directory)
    return ToolServer(
        handlers, version=version, instructions=instructions, watch_seconds=watch_seconds, add_methods=add_methods
    )


@dataclass(frozen=True, slots=True)
class _ToolHandlers:
    """Handles the requests about tools of one server."""

    served: Callable[[], ServedTools]
    patience: float
    surface: str
    client: str | None
    working_directory: str | None

    async def list_tools(self, ctx: RequestContext, params: ListParams) -> ListToolsResult:
        try:
            tools = await self.served().listing.tools()
        except ScrubjayError as error:
            raise protocol_error(error) from error
        page, cursor = page_of(tools, lambda tool: tool.name, params, params.limit or PAGE_SIZE)
        listed = [self._listed(tool) for tool in page]
        return ListToolsResult(tools=[*map(without_schemas, listed)] if params.lazy else listed, next_cursor=cursor)

    def describe(self, name: str) -> ListedTool:
        return self._listed(self.served().dispatcher.registry.get(name))

    async def call_json(self, ctx: RequestContext, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        answer = await self.served().dispatcher.call(tool, arguments, self.context(ctx))
        return answer.model_dump(mode="json")

    async def call_tool(self, ctx: RequestContext, params: CallToolRequestParams) -> CallToolResult:
        try:
            context, served = self.context(ctx), self.served()
            if params.name in served.flat_jobs:
                context = replace(context, patience=None)
            result = await served.dispatcher.call(params.name, params.arguments or {}, context)
            if params.name in served.flat_jobs and isinstance(result, JobView):
                result = flat_result(cast("JobView[BaseModel]", result))
            return _call_result(result, is_modern=ctx.protocol_version in MODERN_PROTOCOL_VERSIONS)
        except ScrubjayError as error:
            return call_failure(error)

    def context(self, ctx: RequestContext) -> CallContext:
        context = CallContext(
            surface=self.surface,
            caller=OWNER if ctx.request is None else caller_of(ctx.request.scope),
            client=self._client(ctx),
            traceparent=parse_traceparent(str((ctx.meta or {}).get("traceparent", ""))),
            working_directory=self.working_directory,
            patience=self.patience,
            reporter=_ProgressNotifier(ctx.session),
        )
        if ctx.request is None:
            return context
        scope: Scope = ctx.request.scope
        return replace(
            context,
            request_id=request_id_of(scope),
            address=address_of(scope),
            traceparent=context.traceparent or traceparent_of(scope),
        )

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        registry = self.served().dispatcher.registry
        return registry.get(name).input_schema if name in registry else None

    def _listed(self, tool: "Tool") -> ListedTool:
        return _listed_tool(replace(tool, runs_as_job=False) if tool.name in self.served().flat_jobs else tool)

    def _client(self, ctx: RequestContext) -> str | None:
        if ctx.request is None:
            return self.client
        return _http_client(ctx.request.headers, ctx.protocol_version)


class ToolServer(Server[dict[str, Any]]):
    """The SDK's server, which also announces changes to every client in the way of its era."""

    def __init__(
        self,
        handlers: _ToolHandlers,
        *,
        version: str,
        instructions: str,
        watch_seconds: float,
        add_methods: AddMethods | None,
    ) -> None:
        self.changes = InMemorySubscriptionBus()
        self._listen_handler = ListenHandler(self.changes)
        self._connections: set[Connection] = set()
        resources = ResourceHandlers(
            handlers.served, handlers.context, self.changes, self._listen_handler, watch_seconds
        )

        @asynccontextmanager
        async def lifespan(_: Server[dict[str, Any]]) -> AsyncGenerator[dict[str, Any]]:
            async with resources.run_watcher() as watcher:
                yield {"watcher": watcher}

        super().__init__(
            "scrubjay",
            title="Scrubjay",
            version=version,
            instructions=instructions,
            lifespan=lifespan,
            cache_hints={
                "tools/list": LIST_HINT,
                "resources/templates/list": LIST_HINT,
                "server/discover": LIST_HINT,
            },
            # Without this, every HTTP call of the modern era would run a whole tools/list.
            get_tool_input_schema=handlers.input_schema,
            on_call_tool=handlers.call_tool,
            on_list_resources=resources.list,
            on_list_resource_templates=resources.list_templates,
            on_read_resource=resources.read,
            on_subscribe_resource=resources.subscribe,
            on_unsubscribe_resource=resources.unsubscribe,
            on_subscriptions_listen=resources.listen,
        )
        self.add_request_handler("tools/list", ListParams, handlers.list_tools)
        if add_methods is not None:
            methods = ToolMethods(
                list_tools=handlers.list_tools,
                call_tool=handlers.call_tool,
                describe=handlers.describe,
                call_json=handlers.call_json,
            )
            add_methods(self, methods)
        self.add_notification_handler("notifications/initialized", NotificationParams, self._remember_connection)

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return the SDK's options, with the capability to announce changes of the tool list."""
        return super().create_initialization_options(
            notification_options or NotificationOptions(tools_changed=True), experimental_capabilities, extensions
        )

    async def announce_tools_changed(self) -> None:
        """Notify all connected clients; a client that does not read is skipped after a timeout."""
        await self.changes.publish(ToolsListChanged())
        async with anyio.create_task_group() as tasks:
            for connection in self._connections:
                tasks.start_soon(_announce, connection)

    def close_subscriptions(self) -> None:
        """End the streams on which modern clients listen; otherwise a stopping HTTP server would wait for them."""
        self._listen_handler.close()

    async def _remember_connection(self, ctx: RequestContext, params: NotificationParams) -> None:
        connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage]  # mcp 2.3 has no public way
        if connection not in self._connections:
            self._connections.add(connection)
            connection.exit_stack.callback(self._connections.discard, connection)


async def _announce(connection: Connection) -> None:
    with anyio.move_on_after(ANNOUNCE_SECONDS):
        await connection.send_tool_list_changed()


class _ProgressNotifier:
    """Sends progress notifications to the client of one request, if it asked for them."""

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._reported = -math.inf

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if done > self._reported:  # the protocol requires that progress increases with each notification
            self._reported = done
            await self._session.report_progress(done, total, transportable(message) or None)


def _http_client(headers: Mapping[str, str], protocol_version: str) -> str | None:
    """Return the client over HTTP: the session of the handshake era, or the name in a modern request's header."""
    if protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return f"mcp:{headers[MCP_SESSION_ID_HEADER]}"
    name = headers.get(CLIENT_HEADER)
    if name is None:
        return None
    if not (1 <= len(name) <= 100 and name.isascii() and name.isprintable()):
        raise InvalidRequest("the Scrubjay-Client header must be 1 to 100 printable ASCII characters")
    return f"http:{name}"


def _listed_tool(tool: "Tool") -> ListedTool:
    if isinstance(tool, ForeignTool):  # as declared by its own server, with all its hints
        return ListedTool.model_validate({**tool.declared, "name": tool.name})
    return ListedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
    )


def _call_result(result: BaseModel, *, is_modern: bool) -> CallToolResult:
    """Return the result as structured content for programs and as text for models."""
    if isinstance(result, ForeignAnswer):
        answer = CallToolResult.model_validate(result.model_dump(by_alias=True))
        if not is_modern and not isinstance(answer.structured_content, dict):
            answer.structured_content = None  # before 2026 it must be an object; the content has the same data
        return answer
    structured = result.model_dump(mode="json")
    try:
        text = to_json(structured).decode()
    except PydanticSerializationError:  # a lone surrogate, as in a file name that is not UTF-8
        text = transportable(json.dumps(structured, ensure_ascii=False, separators=(",", ":")))
        structured = json.loads(text)
    return CallToolResult(content=[TextContent(text=text)], structured_content=structured)
