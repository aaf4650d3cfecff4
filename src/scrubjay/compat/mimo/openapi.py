"""Mimo's routes in the OpenAPI document."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from scrubjay.compat.mimo.ask_routes import ASK_PATH, FAILURES, MimoFailure
from scrubjay.compat.mimo.tool_routes import (
    TOOL_PATH,
    TOOLS_PATH,
    MimoToolAnswer,
    MimoToolCall,
    MimoToolFailure,
    MimoToolList,
)
from scrubjay.servers.http.edge import LATENCY_HEADER
from scrubjay.servers.http.errors import meanings
from scrubjay.servers.rest.openapi import CLIENT_PARAMETER, Json, failures_by_name, json_content

TAG: Final = "mimo"
_SCHEMA: Final = "#/components/schemas/{model}"
_MODELS: Final[tuple[type[BaseModel], ...]] = (
    MimoFailure,
    MimoToolCall,
    MimoToolAnswer,
    MimoToolFailure,
    MimoToolList,
)
_LATENCY: Final = {LATENCY_HEADER: {"description": "How long it took.", "schema": {"type": "string"}}}


def with_mimo(document: Json, ask_tool: str | None) -> Json:
    """Return the document with Mimo's operations; `ask_tool` is the tool behind `/v1/mimo/ask`, if there is one."""
    _, schemas = models_json_schema([(model, "serialization") for model in _MODELS], ref_template=_SCHEMA)
    components: Json = {**document["components"]}
    components["schemas"] = {**components["schemas"], **schemas["$defs"]}
    paths: Json = {**document["paths"], TOOLS_PATH: {"get": _list_tools()}, TOOL_PATH: {"post": _call_tool()}}
    if ask_tool is not None:
        paths[ASK_PATH] = {"post": _ask(ask_tool, document["paths"][f"/v1/tools/{ask_tool}"]["post"])}
    return {**document, "components": components, "paths": paths, "tags": [*document["tags"], {"name": TAG}]}


def _ask(tool: str, calling: Json) -> Json:
    """Return the operation that calls the tool, with Mimo's failures."""
    failure = _content(MimoFailure)
    return {
        **calling,
        "operationId": f"mimo_{tool}",
        "tags": [TAG],
        "responses": {
            "200": {**calling["responses"]["200"], "headers": _LATENCY},
            **failures_by_name(413),
            **_described(meanings(), (401, 403, 429, 503), failure),
            **_described(FAILURES, FAILURES, failure, headers=_LATENCY),
        },
    }


def _call_tool() -> Json:
    failure = _content(MimoToolFailure)
    said = {
        400: "The body is no JSON object, no tool is named, or the tool failed; the answer tells which.",
        403: "The key does not open this tool, or it is not for requests from the sandbox.",
    }
    return {
        "operationId": "mimo_call_tool",
        "tags": [TAG],
        "summary": "Call a tool as Mimo does.",
        "parameters": [CLIENT_PARAMETER],
        "requestBody": {"required": True, "content": _content(MimoToolCall)},
        "responses": {
            "200": {"description": "The answer.", "headers": _LATENCY, "content": _content(MimoToolAnswer)},
            **_described(said, said, failure, headers=_LATENCY),
            **_described(meanings(), (401, 429, 503), failure),
            **failures_by_name(413),
        },
    }


def _list_tools() -> Json:
    return {
        "operationId": "mimo_list_tools",
        "tags": [TAG],
        "summary": "List all tools as Mimo does.",
        "description": "List all tools as Mimo does, also those that other lists leave out.",
        "responses": {
            "200": {"description": "Successful Response", "content": _content(MimoToolList)},
            **_described(meanings(), (401, 403, 429, 503), _content(MimoToolFailure)),
        },
    }


def _described(meaning: Mapping[int, str], statuses: Any, content: Json, **more: Any) -> Json:
    return {str(status): {"description": meaning[status], "content": content, **more} for status in statuses}


def _content(model: type[BaseModel]) -> Json:
    return json_content({"$ref": _SCHEMA.format(model=model.__name__)})
