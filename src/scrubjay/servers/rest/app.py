"""The REST application: the routes for tools, resources and jobs, and the error handlers."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from copy import deepcopy
from functools import lru_cache
from typing import Annotated, Any, Final

from fastapi import FastAPI
from fastapi import Path as PathParameter
from fastapi import Query as QueryParameter
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Lifespan, Scope

from scrubjay.core.errors import InvalidRequest, NotFound, ScrubjayError
from scrubjay.servers.http.audit_middleware import audited
from scrubjay.servers.http.callers import caller_of
from scrubjay.servers.http.errors import ErrorBody, error_response, internal_error
from scrubjay.servers.http.middleware import ProtocolRoutes
from scrubjay.servers.http.request_metadata import request_id_of
from scrubjay.servers.rest.docs_page import serve_docs
from scrubjay.servers.rest.events import JobEventStream
from scrubjay.servers.rest.health import HEALTH_PATH, HealthEndpoint, Liveness, StoreState
from scrubjay.servers.rest.openapi import AnyJob, ToolDescription, failures, with_tools
from scrubjay.servers.rest.resources import ResourceList, add_resources
from scrubjay.servers.rest.tool_route import ToolCallEndpoint, ToolRoute
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.job_access import visible_job
from scrubjay.tooling.job_view import job_view
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.listing import Listing
from scrubjay.tooling.registry import Toolset
from scrubjay.tooling.resources import Resources
from scrubjay.tooling.services import Services
from scrubjay.tooling.validation import printable, refuse_unstorable

SURFACE: Final = "rest"
JobId = Annotated[str, PathParameter(description="The job's id, as returned by the call that started it.")]


class ToolList(BaseModel):
    """Tools, most used first."""

    tools: list[ToolDescription]


def _no_open_stores() -> Mapping[str, StoreState]:
    return dict.fromkeys(("episodic", "semantic", "procedural"), "pending")


def build_app(
    dispatcher: Dispatcher,
    listing: Listing,
    services: Services,
    *,
    version: str,
    resources: Resources | None = None,
    requires_key: bool = False,
    protocols: Sequence[ProtocolRoutes] = (),
    stores: Callable[[], Mapping[str, StoreState]] = _no_open_stores,
    lifespan: Lifespan[FastAPI] | None = None,
) -> FastAPI:
    """Return the application that serves all tools of the dispatcher.

    `requires_key` only documents what `EdgeMiddleware` enforces. `protocols` add routes, their part of the OpenAPI
    document, and lifespans that enclose `lifespan`. `stores` returns the state of each store.
    """
    app = FastAPI(
        title="Scrubjay",
        version=version,
        description="A memory for AI agents. Every tool is one operation; `GET /v1/tools` lists them.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan(protocols, lifespan),
        # Otherwise an environment variable could make FastAPI send traces, with error messages, over the network.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.router.routes.insert(0, ToolRoute(ToolCallEndpoint(dispatcher)))
    health = HealthEndpoint(version, len(dispatcher.registry), stores)
    app.router.routes.append(Route(HEALTH_PATH, health, methods=["GET"]))
    app.add_route("/docs", serve_docs, include_in_schema=False)
    _add_tool_list(app, dispatcher, listing)
    _add_jobs(app, services, dispatcher)
    add_resources(app, resources or Resources())

    for protocol in protocols:
        app.router.routes.extend(protocol.routes)
    _add_error_handlers(app, {prefix: make for protocol in protocols for prefix, make in protocol.not_found.items()})
    own_document = app.openapi

    @lru_cache(maxsize=1)
    def document_of(revision: int) -> dict[str, Any]:
        own_models = (ErrorBody, AnyJob, ToolDescription, ToolList, ResourceList, Liveness)
        document = with_tools(deepcopy(own_document()), dispatcher.registry, own_models, requires_key=requires_key)
        for protocol in protocols:
            document = protocol.describe(document)
        return document

    app.openapi = lambda: document_of(dispatcher.registry.revision)
    return app


def _lifespan(protocols: Sequence[ProtocolRoutes], inner: Lifespan[FastAPI] | None) -> Lifespan[FastAPI]:
    @asynccontextmanager
    async def run(app: FastAPI) -> AsyncGenerator[Mapping[str, Any] | None]:
        async with AsyncExitStack() as running:
            for protocol in protocols:
                await running.enter_async_context(protocol.run())
            yield await running.enter_async_context(inner(app)) if inner is not None else None

    return run  # pyright: ignore[reportReturnType] - Starlette's type has two forms, and this is either


def _add_tool_list(app: FastAPI, dispatcher: Dispatcher, listing: Listing) -> None:
    registry = dispatcher.registry

    @app.get(
        "/v1/tools",
        operation_id="rest_list_tools",
        tags=["tools"],
        summary="List tools.",
        responses=failures(401, 403, 422, 500, 503),
    )
    async def list_tools(
        tools: Annotated[
            str | None,
            QueryParameter(
                description="`core`, `all`, or comma-separated names of families and tools. Default: the tools that "
                "this server lists."
            ),
        ] = None,
    ) -> ToolList:
        """List tools. Tools that are not listed can be called too."""
        chosen = await listing.tools() if tools is None else Toolset(tools).select(registry, {})
        return ToolList(tools=[ToolDescription.of(tool) for tool in chosen])

    @app.get("/v1/tools/{name}", include_in_schema=False)  # documented on the path of each tool
    async def describe_tool(name: str) -> ToolDescription:
        return ToolDescription.of(registry.get(name))


def _add_jobs(app: FastAPI, services: Services, dispatcher: Dispatcher) -> None:
    error_responses = failures(401, 403, 404, 422, 500, 503)

    async def jobs_with(job_id: str) -> JobService:
        refuse_unstorable(job_id)
        return await services.get(JobService)

    @app.get(
        "/v1/jobs/{job_id}",
        operation_id="rest_get_job",
        tags=["jobs"],
        summary="Get a job.",
        responses=error_responses,
    )
    async def get_job(request: Request, job_id: JobId) -> AnyJob:
        """Return a job: its state, its progress, and its result or error."""
        with audited(request.scope, SURFACE):
            return job_view(await visible_job(job_id, caller_of(request.scope), await jobs_with(job_id), dispatcher))

    @app.get(
        "/v1/jobs/{job_id}/events",
        operation_id="rest_watch_job",
        tags=["jobs"],
        summary="Watch a job until it ends.",
        response_class=Response,
        responses={
            200: {
                "description": "One `job` event with the current state and one for each change, each with the job as "
                "its data. The stream ends with the job."
            },
            **error_responses,
        },
    )
    async def watch_job(request: Request, job_id: JobId) -> Response:
        """Stream the changes of a job until it ends. Disconnecting does not stop the job."""
        with audited(request.scope, SURFACE):
            jobs = await jobs_with(job_id)
            await visible_job(job_id, caller_of(request.scope), jobs, dispatcher)
        return JobEventStream(jobs, job_id)


def _add_error_handlers(app: FastAPI, not_found: Mapping[str, Callable[[str], Response]]) -> None:
    """Answer every error, including unknown paths, with an `ErrorBody`."""

    @app.exception_handler(ScrubjayError)
    async def domain_error(request: Request, error: ScrubjayError) -> Response:
        return error_response(error, request_id_of(request.scope))

    @app.exception_handler(RequestValidationError)
    async def validation_error(request: Request, error: RequestValidationError) -> Response:
        problems = [f"{'.'.join(map(str, problem['loc'][1:]))}: {problem['msg']}" for problem in error.errors()]
        return await domain_error(request, InvalidRequest(printable("; ".join(problems))))

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        path = printable(request.url.path)
        if error.status_code == 405:
            allowed = ", ".join(_methods(app, request.scope))
            refusal = InvalidRequest(f"{path} does not support {printable(request.method)}", hint=f"use {allowed}")
            return error_response(refusal, request_id_of(request.scope), status=405, headers={"Allow": allowed})
        if error.status_code == 404:
            for prefix, make in not_found.items():
                if request.url.path.startswith(prefix):
                    return make(path)
            return await domain_error(request, NotFound(f"there is nothing at {path}", hint="/docs lists all paths"))
        return error_response(InvalidRequest(error.detail), request_id_of(request.scope), status=error.status_code)

    @app.exception_handler(Exception)
    async def unexpected_error(request: Request, error: Exception) -> Response:
        return await domain_error(request, internal_error(error, request_id_of(request.scope)))


def _methods(app: FastAPI, scope: Scope) -> list[str]:
    """Return the methods that a path supports over all its routes; the router reports only those of the first."""
    routes = (route for route in app.routes if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE)
    return sorted({method for route in routes for method in route.methods or ()})
