"""Calling the tool of an endpoint with what was sent."""

from typing import Any

from starlette.datastructures import QueryParams
from starlette.responses import Response

from scrubjay.compat.mira.endpoints import Endpoint
from scrubjay.compat.mira.envelope import failure, success
from scrubjay.compat.mira.event_wire import Json
from scrubjay.compat.mira.handler import Asked
from scrubjay.core.errors import InvalidRequest, NotFound, UnknownTool
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.dispatcher import Dispatcher


class ToolAnswer:
    """Answers at one endpoint by its tool, as soon as there is such a tool."""

    def __init__(self, dispatcher: Dispatcher, endpoint: Endpoint) -> None:
        self._dispatcher = dispatcher
        self._endpoint = endpoint

    async def __call__(self, asked: Asked) -> Response:
        endpoint, registry = self._endpoint, self._dispatcher.registry
        if endpoint.tool not in registry:
            refusal = UnknownTool(f"this address needs the tool {endpoint.tool}, and this server does not have it")
            return failure(refusal, 404)
        arguments = _arguments(endpoint, asked, registry.get(endpoint.tool))
        answer = await self._dispatcher.call(endpoint.tool, arguments, asked.context)
        told = endpoint.shape(arguments, answer.model_dump(mode="json", by_alias=True))
        if told is None and asked.path:
            raise NotFound("there is no such thing here")
        return success(told)


def _arguments(endpoint: Endpoint, asked: Asked, tool: Tool) -> Json:
    given = asked.body if endpoint.method == "POST" else {**_of_query(asked.query, tool), **asked.body}
    of_path = {endpoint.named.get(name, name): value for name, value in asked.path.items()}
    decided = {**endpoint.fixed, **of_path}
    for name in decided.keys() & given.keys():
        if given[name] != decided[name]:
            raise InvalidRequest(f"{name} is given by the address here")
    return {**endpoint.defaults, **given, **decided}


def _of_query(query: QueryParams, tool: Tool) -> Json:
    """The parameters as arguments; one that is a list may be given again and again."""
    properties: dict[str, Any] = tool.input_schema["properties"]
    found: Json = {}
    for name in query:
        values = query.getlist(name)
        is_list = properties.get(name, {}).get("type") == "array"
        found[name] = values if is_list or len(values) > 1 else values[0]
    return found
