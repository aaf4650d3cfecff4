"""Mimo's HTTP interface: routes, OpenAPI operations and refusal formats."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scrubjay.compat.mimo.ask_routes import ASK_PATH, MimoAsk
from scrubjay.compat.mimo.openapi import with_mimo
from scrubjay.compat.mimo.refusals import REFUSAL_FORMATS
from scrubjay.compat.mimo.tool_routes import (
    MIMO_PREFIX,
    TOOL_PATH,
    TOOLS_PATH,
    MimoNotFound,
    MimoToolCalls,
    mimo_tools,
)
from scrubjay.servers.http.middleware import ProtocolRoutes
from scrubjay.tooling.dispatcher import Dispatcher


def mimo_routes(
    dispatcher: Dispatcher, *, ask_tool: str | None = None, lists: Mapping[str, str] | None = None
) -> ProtocolRoutes:
    """Return the routes under `/v1/mimo/`.

    `ask_tool` is the tool behind `/v1/mimo/ask`; None leaves that route out. `lists` maps each tool whose result is a
    list in Mimo to the field of our result that holds the list.
    """

    async def list_tools(request: Request) -> Response:
        return Response(mimo_tools(dispatcher).model_dump_json(), media_type="application/json")

    routes = [
        Route(TOOL_PATH, MimoToolCalls(dispatcher, lists or {}), methods=["POST"]),
        Route(TOOLS_PATH, list_tools, methods=["GET"]),
    ]
    if ask_tool is not None:
        routes.append(Route(ASK_PATH, MimoAsk(dispatcher, ask_tool), methods=["POST"]))
    return ProtocolRoutes(
        routes=routes,
        describe=lambda document: with_mimo(document, ask_tool),
        refusal_formats=REFUSAL_FORMATS,
        not_found={MIMO_PREFIX: _not_found},
    )


def _not_found(path: str) -> Response:
    return Response(MimoNotFound(path=path).model_dump_json(), 404, media_type="application/json")
