"""Calls of an endpoint's tool with the arguments of a request."""

from typing import Any

from starlette.datastructures import QueryParams
from starlette.responses import Response

from scrubjay.compat.mira.endpoints import MiraEndpoint
from scrubjay.compat.mira.envelope import failure, success
from scrubjay.compat.mira.event_wire import Json
from scrubjay.compat.mira.handler import ApiRequest
from scrubjay.core.errors import InvalidRequest, NotFound, UnknownTool
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.dispatcher import Dispatcher


class ToolEndpoint:
    """Answers requests of one endpoint with its tool."""

    def __init__(self, dispatcher: Dispatcher, endpoint: MiraEndpoint) -> None:
        self._dispatcher = dispatcher
        self._endpoint = endpoint

    async def __call__(self, request: ApiRequest) -> Response:
        endpoint, registry = self._endpoint, self._dispatcher.registry
        if endpoint.tool not in registry:
            refusal = UnknownTool(f"this endpoint needs the tool {endpoint.tool}, which this server does not have")
            return failure(refusal, 404)
        arguments = _arguments(endpoint, request, registry.get(endpoint.tool))
        answer = await self._dispatcher.call(endpoint.tool, arguments, request.context)
        data = endpoint.shape(arguments, answer.model_dump(mode="json", by_alias=True))
        if data is None and request.path:
            raise NotFound("no object has this id")
        return success(data)


def _arguments(endpoint: MiraEndpoint, request: ApiRequest, tool: Tool) -> Json:
    given = request.body if endpoint.method == "POST" else {**_query_arguments(request.query, tool), **request.body}
    from_path = {endpoint.path_arguments.get(name, name): value for name, value in request.path.items()}
    fixed = {**endpoint.fixed, **from_path}
    for name in fixed.keys() & given.keys():
        if given[name] != fixed[name]:
            raise InvalidRequest(f"{name} is set by the path and cannot be changed")
    return {**endpoint.defaults, **given, **fixed}


def _query_arguments(query: QueryParams, tool: Tool) -> Json:
    """Return the query parameters as arguments. A parameter of type array may be repeated."""
    properties: dict[str, Any] = tool.input_schema["properties"]
    found: Json = {}
    for name in query:
        values = query.getlist(name)
        is_list = properties.get(name, {}).get("type") == "array"
        found[name] = values if is_list or len(values) > 1 else values[0]
    return found
