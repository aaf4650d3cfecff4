"""Resources as MCP has them: listed, read, and told of when they change, in the way of each era."""

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
from scrubjay.servers.mcp.errors import protocol_error, resource_failure
from scrubjay.servers.mcp.paging import page_of
from scrubjay.servers.mcp.resource_watcher import Watch
from scrubjay.servers.mcp.text import transportable
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.served_tools import Offering

if TYPE_CHECKING:
    from scrubjay.tooling.resources import ListedResource, ReadResource

# One message holds a blob whole, a third larger than it is, and both sides hold it in memory.
MAX_BLOB_BYTES: Final = 64 * 1024 * 1024
# So many resources one client may wait for.
MOST_WATCHED: Final = 50
# A client that does not read its notifications must not hold up the others.
ANNOUNCE_SECONDS: Final = 5.0
# Stands for the list itself among what is waited for; no address is empty.
_THE_LIST: Final = ""

RequestContext = ServerRequestContext[dict[str, Any], Any]


class ResourceDoor:
    """Answers requests about resources, for callers who come in here."""

    def __init__(
        self,
        offering: Callable[[], Offering],
        context: Callable[[RequestContext], CallContext],
        changes: InMemorySubscriptionBus,
        listening: ListenHandler,
        watch_seconds: float,
    ) -> None:
        self._offering = offering
        self._context = context
        self._changes = changes
        self._listening = listening
        self._watch_seconds = watch_seconds
        self._subscribed: dict[Connection, set[str]] = {}

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator[Watch]:
        """While this is entered, what clients wait for is looked at."""
        watch = Watch(self._mark, self._tell, self._watch_seconds)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch.run)
            yield watch
            tasks.cancel_scope.cancel()

    async def list(self, ctx: RequestContext, params: PaginatedRequestParams | None) -> ListResourcesResult:
        try:
            listed = await self._offering().resources.listed(self._context(ctx).caller)
        except ScrubjayError as error:
            raise protocol_error(error) from error
        page, cursor = page_of(listed, _uri, params)
        resources = [Resource(uri=one.uri, **_described(one)) for one in page]
        return ListResourcesResult(resources=resources, next_cursor=cursor)

    async def list_templates(
        self, ctx: RequestContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        page, cursor = page_of(self._offering().resources.templates(), _uri, params)
        templates = [ResourceTemplate(uri_template=one.uri, **_described(one)) for one in page]
        return ListResourceTemplatesResult(resource_templates=templates, next_cursor=cursor)

    async def read(self, ctx: RequestContext, params: ReadResourceRequestParams) -> ReadResourceResult:
        try:
            found = await self._offering().resources.read(params.uri, self._context(ctx))
            return ReadResourceResult(contents=[await _contents(found)])
        except ScrubjayError as error:
            raise resource_failure(error, params.uri, ctx.protocol_version) from error

    async def subscribe(self, ctx: RequestContext, params: SubscribeRequestParams) -> EmptyResult:
        """A client of the handshake era waits for one resource, until it leaves or has enough."""
        connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage]  # mcp 2.3 has no public way
        watch = _watch(ctx)
        try:
            await self._offering().resources.mark(params.uri, self._context(ctx).caller)
        except ScrubjayError as error:
            raise resource_failure(error, params.uri, ctx.protocol_version) from error
        if connection not in self._subscribed:
            self._subscribed[connection] = set()
            connection.exit_stack.callback(self._forget, connection, watch)
        own = self._subscribed[connection]
        if params.uri not in own:
            _refuse_too_many(len(own) + 1)
            own.add(params.uri)
            await watch.add(params.uri)
        return EmptyResult()

    async def unsubscribe(self, ctx: RequestContext, params: UnsubscribeRequestParams) -> EmptyResult:
        connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage]
        own = self._subscribed.get(connection, set())
        if params.uri in own:
            own.discard(params.uri)
            _watch(ctx).remove(params.uri)
        return EmptyResult()

    async def listen(self, ctx: RequestContext, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """A client of the modern era waits on this request's own stream."""
        wanted = params.notifications
        uris = list(dict.fromkeys(wanted.resource_subscriptions or ()))
        _refuse_too_many(len(uris))
        caller = self._context(ctx).caller
        for uri in uris:
            try:
                await self._offering().resources.mark(uri, caller)
            except ScrubjayError as error:
                raise resource_failure(error, uri, ctx.protocol_version) from error
        if wanted.resources_list_changed:
            uris.append(_THE_LIST)
        async with _watch(ctx).holding(uris):
            return await self._listening(ctx, params)

    async def _mark(self, uri: str) -> str:
        resources = self._offering().resources
        if uri == _THE_LIST:
            return "\n".join(one.uri for one in await resources.listed())
        return await resources.mark(uri)

    async def _tell(self, uri: str) -> None:
        if uri == _THE_LIST:
            await self._changes.publish(ResourcesListChanged())
            return
        await self._changes.publish(ResourceUpdated(uri=uri))
        async with anyio.create_task_group() as tasks:
            for connection, own in self._subscribed.items():
                if uri in own:
                    tasks.start_soon(_announce, connection, uri)

    def _forget(self, connection: Connection, watch: Watch) -> None:
        for uri in self._subscribed.pop(connection, set()):
            watch.remove(uri)


def _watch(ctx: RequestContext) -> Watch:
    return ctx.lifespan_context["watch"]


def _refuse_too_many(number: int) -> None:
    if number > MOST_WATCHED:
        raise MCPError(INVALID_PARAMS, f"one client can wait for {MOST_WATCHED} resources at most")


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
    content = await _whole(found.body) if isinstance(found.body, Path) else found.body
    blob = base64.b64encode(content).decode()
    return BlobResourceContents(uri=found.uri, mime_type=found.mime_type, blob=blob)


async def _whole(file: Path) -> bytes:
    size = (await anyio.Path(file).stat()).st_size
    if size > MAX_BLOB_BYTES:
        raise TooLarge(
            f"it has {size} bytes, and a message holds {MAX_BLOB_BYTES} at most",
            hint="GET /v1/resources?uri=… streams it",
        )
    return await anyio.Path(file).read_bytes()
