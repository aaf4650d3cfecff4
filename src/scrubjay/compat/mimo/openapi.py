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
from scrubjay.servers.http.edge_response import LATENCY_HEADER
from scrubjay.servers.http.errors import status_descriptions
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
_LATENCY: Final = {
    LATENCY_HEADER: {"description": "Duration of the request in milliseconds.", "schema": {"type": "string"}}
}


def with_mimo(document: Json, ask_tool: str | None) -> Json:
    """Return the document with Mimo's operations; `ask_tool` is the tool behind `/v1/mimo/ask`, if there is one."""
    _, schemas = models_json_schema([(model, "serialization") for model in _MODELS], ref_template=_SCHEMA)
    components: Json = {**document["components"]}
    components["schemas"] = {**components["schemas"], **schemas["$defs"]}
    paths: Json = {**document["paths"], TOOLS_PATH: {"get": _list_tools()}, TOOL_PATH: {"post": _call_tool()}}
    if ask_tool is not None:
        paths[ASK_PATH] = {"post": _ask(ask_tool, document["paths"][f"/v1/tools/{ask_tool}"]["post"])}
    return {**document, "components": components, "paths": paths, "tags": [*document["tags"], {"name": TAG}]}


def _ask(tool: str, tool_operation: Json) -> Json:
    """Return the tool's operation with Mimo's failure responses."""
    failure = _ref_content(MimoFailure)
    return {
        **tool_operation,
        "operationId": f"mimo_{tool}",
        "tags": [TAG],
        "responses": {
            "200": {**tool_operation["responses"]["200"], "headers": _LATENCY},
            **failures_by_name(413),
            **_describe_statuses(status_descriptions(), (401, 403, 429, 503), failure),
            **_describe_statuses(FAILURES, FAILURES, failure, headers=_LATENCY),
        },
    }


def _call_tool() -> Json:
    failure = _ref_content(MimoToolFailure)
    descriptions = {
        400: "The body is not a JSON object, `tool` is missing, or the tool failed; `error` gives the cause.",
        403: "The key does not allow this tool, or the tool is disabled for requests from the sandbox.",
    }
    return {
        "operationId": "mimo_call_tool",
        "tags": [TAG],
        "summary": "Call a tool in Mimo's format.",
        "parameters": [CLIENT_PARAMETER],
        "requestBody": {"required": True, "content": _ref_content(MimoToolCall)},
        "responses": {
            "200": {"description": "The tool's result.", "headers": _LATENCY, "content": _ref_content(MimoToolAnswer)},
            **_describe_statuses(descriptions, descriptions, failure, headers=_LATENCY),
            **_describe_statuses(status_descriptions(), (401, 429, 503), failure),
            **failures_by_name(413),
        },
    }


def _list_tools() -> Json:
    return {
        "operationId": "mimo_list_tools",
        "tags": [TAG],
        "summary": "List all tools in Mimo's format.",
        "description": "List all tools in Mimo's format, including those that other lists omit.",
        "responses": {
            "200": {"description": "Successful Response", "content": _ref_content(MimoToolList)},
            **_describe_statuses(status_descriptions(), (401, 403, 429, 503), _ref_content(MimoToolFailure)),
        },
    }


def _describe_statuses(descriptions: Mapping[int, str], statuses: Any, content: Json, **more: Any) -> Json:
    return {str(status): {"description": descriptions[status], "content": content, **more} for status in statuses}


def _ref_content(model: type[BaseModel]) -> Json:
    return json_content({"$ref": _SCHEMA.format(model=model.__name__)})
