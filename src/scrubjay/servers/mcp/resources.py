"""MCP resources: list, read, subscribe and listen, for both eras of the protocol."""

import base64
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    EmptyResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextResourceContents,
    UnsubscribeRequestParams,
)

from scrubjay.core.errors import ScrubjayError, TooLarge
from scrubjay.servers.mcp.errors import protocol_error, resource_error
from scrubjay.servers.mcp.paging import page_of
from scrubjay.servers.mcp.resource_watcher import ResourceWatcher
from scrubjay.servers.mcp.text import transportable
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.served_tools import ServedTools

if TYPE_CHECKING:
    from scrubjay.tooling.resources import ListedResource, ReadResource

# A blob is one message, a third larger in base64, which both sides hold in memory.
MAX_BLOB_BYTES: Final = 64 * 1024 * 1024
# Resources that one client may subscribe to.
MAX_WATCHED: Final = 50
# Seconds for one notification: a client that does not read must not delay the others.
ANNOUNCE_SECONDS: Final = 5.0
# Stands for the list of resources among the watched URIs; no URI is empty.
_RESOURCE_LIST: Final = ""

RequestContext = ServerRequestContext[dict[str, Any], Any]


class ResourceHandlers:
    """Handles the requests about resources of one server."""

    def __init__(
        self,
        served: Callable[[], ServedTools],
        context: Callable[[RequestContext], CallContext],
        changes: InMemorySubscriptionBus,
        listening: ListenHandler,
        watch_seconds: float,
    ) -> None:
        self._served = served
        self._context = context
        self._changes = changes
        self._listening = listening
        self._watch_seconds = watch_seconds
        self._subscribed: dict[Connection, set[str]] = {}

    @asynccontextmanager
    async def run_watcher(self) -> AsyncGenerator[ResourceWatcher]:
        """Poll the subscribed resources inside the context."""
        watcher = ResourceWatcher(self._mark, self._notify, self._watch_seconds)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watcher.run)
            yield watcher
            tasks.cancel_scope.cancel()

    async def list(self, ctx: RequestContext, params: PaginatedRequestParams | None) -> ListResourcesResult:
        try:
            listed = await self._served().resources.listed(self._context(ctx).caller)
        except ScrubjayError as error:
            raise protocol_error(error) from error
        page, cursor = page_of(listed, _uri, params)
        resources = [Resource(uri=one.uri, **_described(one)) for one in page]
        return ListResourcesResult(resources=resources, next_cursor=cursor)

    async def list_templates(
        self, ctx: RequestContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        page, cursor = page_of(self._served().resources.templates(), _uri, params)
        templates = [ResourceTemplate(uri_template=one.uri, **_described(one)) for one in page]
        return ListResourceTemplatesResult(resource_templates=templates, next_cursor=cursor)

    async def read(self, ctx: RequestContext, params: ReadResourceRequestParams) -> ReadResourceResult:
        try:
            found = await self._served().resources.read(params.uri, self._context(ctx))
            return ReadResourceResult(contents=[await _contents(found)])
        except ScrubjayError as error:
            raise resource_error(error, params.uri, ctx.protocol_version) from error

    async def subscribe(self, ctx: RequestContext, params: SubscribeRequestParams) -> EmptyResult:
        """Subscribe a client of the handshake era to a resource until it unsubscribes or disconnects."""
        connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage]  # mcp 2.3 has no public way
        watcher = _watcher(ctx)
        try:
            await self._served().resources.mark(params.uri, self._context(ctx).caller)
        except ScrubjayError as error:
            raise resource_error(error, params.uri, ctx.protocol_version) from error
        if connection not in self._subscribed:
            self._subscribed[connection] = set()
            connection.exit_stack.callback(self._forget, connection, watcher)
        uris = self._subscribed[connection]
        if params.uri not in uris:
            _refuse_too_many(len(uris) + 1)
            uris.add(params.uri)
            await watcher.add(params.uri)
        return EmptyResult()

    async def unsubscribe(self, ctx: RequestContext, params: UnsubscribeRequestParams) -> EmptyResult:
        connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage]
        uris = self._subscribed.get(connection, set())
        if params.uri in uris:
            uris.discard(params.uri)
            _watcher(ctx).remove(params.uri)
        return EmptyResult()

    async def listen(self, ctx: RequestContext, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Send notifications to a client of the modern era on the stream of this request."""
        wanted = params.notifications
        uris = list(dict.fromkeys(wanted.resource_subscriptions or ()))
        _refuse_too_many(len(uris))
        caller = self._context(ctx).caller
        for uri in uris:
            try:
                await self._served().resources.mark(uri, caller)
            except ScrubjayError as error:
                raise resource_error(error, uri, ctx.protocol_version) from error
        if wanted.resources_list_changed:
            uris.append(_RESOURCE_LIST)
        async with _watcher(ctx).watching(uris):
            return await self._listening(ctx, params)

    async def _mark(self, uri: str) -> str:
        resources = self._served().resources
        if uri == _RESOURCE_LIST:
            return "\n".join(one.uri for one in await resources.listed())
        return await resources.mark(uri)

    async def _notify(self, uri: str) -> None:
        if uri == _RESOURCE_LIST:
            await self._changes.publish(ResourcesListChanged())
            return
        await self._changes.publish(ResourceUpdated(uri=uri))
        async with anyio.create_task_group() as tasks:
            for connection, uris in self._subscribed.items():
                if uri in uris:
                    tasks.start_soon(_announce, connection, uri)

    def _forget(self, connection: Connection, watcher: ResourceWatcher) -> None:
        for uri in self._subscribed.pop(connection, set()):
            watcher.remove(uri)


def _watcher(ctx: RequestContext) -> ResourceWatcher:
    return ctx.lifespan_context["watcher"]


def _refuse_too_many(number: int) -> None:
    if number > MAX_WATCHED:
        raise MCPError(INVALID_PARAMS, f"a client can subscribe to at most {MAX_WATCHED} resources")


async def _announce(connection: Connection, uri: str) -> None:
    with anyio.move_on_after(ANNOUNCE_SECONDS):
        await connection.send_resource_updated(uri)


def _uri(listed: "ListedResource") -> str:
    return listed.uri


def _described(listed: "ListedResource") -> dict[str, Any]:
    found = listed.resource
    return {
        "name": found.name,
        "title": found.title,
        "description": found.description,
        "mime_type": found.mime_type,
    }


async def _contents(found: "ReadResource") -> TextResourceContents | BlobResourceContents:
    if isinstance(found.body, str):
        return TextResourceContents(uri=found.uri, mime_type=found.mime_type, text=transportable(found.body))
    content = await _read_file(found.body) if isinstance(found.body, Path) else found.body
    blob = base64.b64encode(content).decode()
    return BlobResourceContents(uri=found.uri, mime_type=found.mime_type, blob=blob)


async def _read_file(file: Path) -> bytes:
    size = (await anyio.Path(file).stat()).st_size
    if size > MAX_BLOB_BYTES:
        raise TooLarge(
            f"the resource has {size} bytes; the limit is {MAX_BLOB_BYTES} bytes",
            hint="GET /v1/resources?uri=… streams it",
        )
    return await anyio.Path(file).read_bytes()
