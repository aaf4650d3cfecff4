"""The ordered list of middleware, and what each protocol adds to the HTTP server."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from scrubjay.servers.http.refusals import RefusalFormat

Middleware = Callable[[ASGIApp], ASGIApp]
Json = dict[str, Any]


def compose(app: ASGIApp, middleware: Sequence[Middleware]) -> ASGIApp:
    """Return the application behind this middleware; a request passes the first of the list first."""
    for wrap in reversed(middleware):
        app = wrap(app)
    return app


@asynccontextmanager
async def _nothing() -> AsyncGenerator[None]:
    yield


def _unchanged(document: Json) -> Json:
    return document


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolRoutes:
    """One protocol on the port: its routes, and what belongs to them."""

    routes: Sequence[BaseRoute]
    run: Callable[[], AbstractAsyncContextManager[None]] = _nothing
    """Entered while the server runs."""
    describe: Callable[[Json], Json] = _unchanged
    """Adds the protocol's operations to the OpenAPI document."""
    refusal_formats: Mapping[str, RefusalFormat] = field(default_factory=dict[str, RefusalFormat])
    """How requests to its paths are refused, by path prefix."""
    not_found: Mapping[str, Callable[[str], Response]] = field(default_factory=dict[str, Callable[[str], Response]])
    """Makes the response to a path that does not exist, by path prefix."""
