"""Call a tool by `POST /v1/tools/{name}`. Plain ASGI, because this is the hot path."""

import re
from collections.abc import Sequence
from typing import Any, cast

from pydantic import BaseModel
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.http.errors import error_response
from scrubjay.servers.http.request_metadata import request_id_of
from scrubjay.servers.http.requests import call_context, parse_object, read_body, run_while_connected
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.job_view import JobView

PREFIX = "/v1/tools/"
# Seconds. Proxies and clients abandon a silent request after about a minute; the job continues and can be polled.
MAX_WAIT_SECONDS = 60

_WAIT = re.compile(r"(?:^|,)\s*wait\s*=\s*\"?(\d{1,9})\"?\s*(?=[,;]|$)", re.ASCII | re.IGNORECASE)


class ToolRoute(Route):
    """The route of all tool calls: a plain Starlette route; the OpenAPI document has one operation per tool."""

    def __init__(self, calls: "ToolCallEndpoint") -> None:
        super().__init__(f"{PREFIX}{{name}}", calls, methods=["POST"])

    def tool_name(self, scope: Scope) -> str | None:
        """Return the name of the tool that a request calls; None when the request does not match this route."""
        path: str = scope.get("path", "")
        name = path.removeprefix(PREFIX)
        is_call = scope["type"] == "http" and scope["method"] == "POST" and name and name != path and "/" not in name
        return name if is_call else None


class ToolRouteMiddleware:
    """Sends tool calls straight to the application's `ToolRoute`, past the layers of the framework.

    For a short call, these layers are a tenth of the overhead. Other requests pass unchanged.
    """

    def __init__(self, app: ASGIApp, *, routes: Sequence[BaseRoute]) -> None:
        """`routes` are the application's routes, with exactly one `ToolRoute` among them."""
        self._app = app
        (self._route,) = [route for route in routes if isinstance(route, ToolRoute)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = self._route.tool_name(scope)
        if name is None:
            await self._app(scope, receive, send)
            return
        scope["path_params"], scope["endpoint"] = {"name": name}, self._route.endpoint
        try:
            await self._route.app(scope, receive, send)
        except ScrubjayError as error:
            await error_response(error, request_id_of(scope))(scope, receive, send)


class ToolCallEndpoint:
    """Calls any tool, listed or not; the call is cancelled when the client disconnects."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(receive)
        if body is None:
            return
        name: str = scope["path_params"]["name"]
        wait = _wait(scope)
        context = call_context(scope, surface="rest", patience=wait or 0)
        answer = await run_while_connected(receive, self._dispatcher.call(name, parse_object(body), context))
        if answer is not None:
            await self._respond(name, answer, wait)(scope, receive, send)

    def _respond(self, name: str, answer: BaseModel, wait: int | None) -> Response:
        status = 200
        headers: dict[str, str] = {}
        if self._dispatcher.registry.get(name).runs_as_job:
            job = cast(JobView[Any], answer)
            if not job.state.ended:
                status = 202
                headers["Location"] = f"/v1/jobs/{job.job_id}"
            if wait is not None:
                headers["Preference-Applied"] = f"wait={wait}"
        # `model_dump_json` would decode these bytes to text, which would have to be encoded again.
        body = type(answer).__pydantic_serializer__.to_json(answer, by_alias=True)
        return Response(body, status, headers, "application/json")


def _wait(scope: Scope) -> int | None:
    """Return the seconds of `Prefer: wait=…`, capped; an invalid preference is ignored, as RFC 7240 demands."""
    preferences = [value.decode("latin-1") for name, value in scope["headers"] if name == b"prefer"]
    wait = _WAIT.search(", ".join(preferences)) if preferences else None
    return min(int(wait[1]), MAX_WAIT_SECONDS) if wait else None
