"""Calling a tool by `POST /v1/tools/{name}`: the hot path, so it is plain ASGI."""

import re
from collections.abc import Sequence
from typing import Any, cast

from pydantic import BaseModel
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.http.edge import request_id_of
from scrubjay.servers.http.errors import error_response
from scrubjay.servers.http.requests import body_of, context_of, object_of, while_connected
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.job_view import JobView

PREFIX = "/v1/tools/"
# Proxies and clients give up on a silent request after about a minute; the job goes on and can be asked for.
MAX_WAIT_SECONDS = 60

_WAIT = re.compile(r"(?:^|,)\s*wait\s*=\s*\"?(\d{1,9})\"?\s*(?=[,;]|$)", re.ASCII | re.IGNORECASE)


class ToolRoute(Route):
    """The route of all tool calls: a plain Starlette route, of which OpenAPI documents one operation per tool."""

    def __init__(self, calls: "ToolCalls") -> None:
        super().__init__(f"{PREFIX}{{name}}", calls, methods=["POST"])

    def tool_name(self, scope: Scope) -> str | None:
        """Return the tool that a request calls; None when the request is none of this route."""
        path: str = scope.get("path", "")
        name = path.removeprefix(PREFIX)
        is_call = scope["type"] == "http" and scope["method"] == "POST" and name and name != path and "/" not in name
        return name if is_call else None


class ToolRouteFirst:
    """Middleware that takes tool calls straight to the application's `ToolRoute`, past the layers of the framework.

    These take a tenth of what is done for a short call beside the call itself. Other requests pass.
    """

    def __init__(self, app: ASGIApp, *, routes: Sequence[BaseRoute]) -> None:
        """`routes` are those of the application, among which is the one `ToolRoute`."""
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


class ToolCalls:
    """Answers calls of all tools, listed or not, for as long as their clients stay connected."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await body_of(receive)
        if body is None:
            return
        name: str = scope["path_params"]["name"]
        wait = _wait(scope)
        context = context_of(scope, surface="rest", patience=wait or 0)
        answer = await while_connected(receive, self._dispatcher.call(name, object_of(body), context))
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
        # As bytes at once: `model_dump_json` would make text of them, which would be encoded again.
        written = type(answer).__pydantic_serializer__.to_json(answer, by_alias=True)
        return Response(written, status, headers, "application/json")


def _wait(scope: Scope) -> int | None:
    """The seconds that `Prefer: wait=…` asks for, at most the limit; a preference not understood is none (RFC 7240)."""
    given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"prefer"]
    asked = _WAIT.search(", ".join(given)) if given else None
    return min(int(asked[1]), MAX_WAIT_SECONDS) if asked else None
