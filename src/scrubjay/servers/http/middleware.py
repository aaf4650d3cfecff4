"""Compose an ordered list of middleware, and declare what each protocol adds to the HTTP server."""

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
    """Return the application behind this middleware, outermost first: a request passes it in the order of the list."""
    for wrap in reversed(middleware):
        app = wrap(app)
    return app


@asynccontextmanager
async def _no_resources() -> AsyncGenerator[None]:
    yield


def _unchanged(document: Json) -> Json:
    return document


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolRoutes:
    """The routes of one protocol, with its lifespan, its part of the OpenAPI document and its error formats."""

    routes: Sequence[BaseRoute]
    run: Callable[[], AbstractAsyncContextManager[None]] = _no_resources
    """A context manager that is open while the server runs."""
    describe: Callable[[Json], Json] = _unchanged
    """Adds the protocol's operations to the OpenAPI document."""
    refusal_formats: Mapping[str, RefusalFormat] = field(default_factory=dict[str, RefusalFormat])
    """Makes the body of a refusal, by path prefix."""
    not_found: Mapping[str, Callable[[str], Response]] = field(default_factory=dict[str, Callable[[str], Response]])
    """Makes the response to a path that does not exist, by path prefix."""
