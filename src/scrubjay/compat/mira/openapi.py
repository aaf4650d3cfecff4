"""Mira's endpoints in the OpenAPI document: those whose tool is registered."""

from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from scrubjay.compat.mira import chat_wire
from scrubjay.compat.mira.endpoints import ENDPOINTS, MiraEndpoint
from scrubjay.compat.mira.envelope import CODE_HEADER, Envelope
from scrubjay.compat.mira.event_wire import BROADCAST_TYPES
from scrubjay.servers.http.errors import status_descriptions
from scrubjay.servers.http.requests import CLIENT_HEADER, LABEL_PATTERN, SESSION_HEADER
from scrubjay.tooling.registry import Registry

Json = dict[str, Any]

_REFUSALS: Final = (401, 403, 413, 429, 500, 503)
_SCHEMA: Final = "#/components/schemas/Mira{model}"


def with_mira(document: Json, registry: Registry) -> Json:
    """Return the document with Mira's endpoints added."""
    requests: tuple[type[BaseModel], ...] = (chat_wire.MiraChatRequest, chat_wire.StreamRequest)
    _, schemas = models_json_schema(
        [*((model, "validation") for model in requests), (Envelope, "serialization")], ref_template=_SCHEMA
    )
    components: Json = document["components"]["schemas"]
    components |= {f"Mira{name}": schema for name, schema in schemas["$defs"].items()}
    paths: Json = document["paths"]
    for endpoint in ENDPOINTS:
        if endpoint.tool in registry:
            tool_operation: Json = paths[f"/v1/tools/{endpoint.tool}"]["post"]
            schema = components[
                tool_operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
            ]
            operation = _operation(_operation_id(endpoint), endpoint.summary, **_request_of(endpoint, schema))
            paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    paths |= _chat_paths()
    document.setdefault("tags", []).append({"name": "mira"})
    return document


def _chat_paths() -> Json:
    stream = _operation("mira_chat_stream", "Stream the answer to a message.", **_body_of("StreamRequest"))
    stream["responses"]["200"]["content"]["text/event-stream"] = {"schema": _event()}
    broadcast = {
        "type": "object",
        "properties": {"type": {"enum": list(BROADCAST_TYPES)}},
        "required": ["type"],
        "additionalProperties": True,
    }
    session = _parameter("session_id", "query", {"type": "string", "minLength": 1, "maxLength": 400}, required=False)
    test = "Test the language model."
    return {
        "/api/broadcast": {
            "post": _operation(
                "mira_broadcast", "Send an event to all listeners.", requestBody=_body(broadcast, required=True)
            )
        },
        "/api/chat": {"post": _operation("mira_chat", "Answer a message.", **_body_of("ChatRequest"))},
        "/api/chat/stream": {"post": stream},
        "/api/chat/history": {
            "get": _operation("mira_chat_history", "Show the last 20 messages of a chat.", parameters=[session])
        },
        "/api/chat/test": {method: _operation(f"mira_chat_test_{method}", test) for method in ("get", "post")},
    }


def _event() -> Json:
    """Return the schema of one chat event. Before OpenAPI 3.2 it stands for the whole event stream."""
    event = {"type": "object", "properties": {"type": {"enum": list(chat_wire.EVENT_TYPES)}}, "required": ["type"]}
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": event}
    return {"type": "object", "properties": {"data": data}, "required": ["data"]}


def _request_of(endpoint: MiraEndpoint, schema: Json) -> Json:
    """Return parameters and body of a tool's arguments, without those that the path implies."""
    from_path = [part[1:-1] for part in endpoint.path.split("/") if part.startswith("{")]
    fixed = {*endpoint.fixed, *(endpoint.path_arguments.get(name, name) for name in from_path)}
    properties = {name: shown for name, shown in schema.get("properties", {}).items() if name not in fixed}
    required = [name for name in schema.get("required", ()) if name in properties and name not in endpoint.defaults]
    parameters = [_parameter(name, "path", {"type": "string", "minLength": 1}, required=True) for name in from_path]
    if endpoint.method == "POST":
        shown = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        return {"parameters": parameters, "requestBody": _body(shown, required=bool(required))}
    if endpoint.method == "GET":
        parameters += [
            _parameter(name, "query", shown, required=name in required) for name, shown in properties.items()
        ]
    return {"parameters": parameters}


def _body_of(name: str) -> Json:
    header = _parameter(SESSION_HEADER, "header", {"type": "string", "pattern": LABEL_PATTERN}, required=False)
    return {"requestBody": _body({"$ref": _SCHEMA.format(model=name)}, required=True), "parameters": [header]}


def _operation(name: str, summary: str, **more: Any) -> Json:
    client = _parameter(CLIENT_HEADER, "header", {"type": "string", "pattern": LABEL_PATTERN}, required=False)
    parameters = [*more.pop("parameters", ()), client]
    descriptions = {
        **status_descriptions(),
        400: "The body is not a JSON object.",
        404: "No such endpoint or object.",
        429: "Too many requests.",
    }
    code = {CODE_HEADER: {"description": "Error code; only after a failure.", "schema": {"type": "string"}}}
    outcome = "The result. A failure of the tool has this status too, with `success` false."
    return {
        "operationId": name,
        "tags": ["mira"],
        "summary": summary,
        "parameters": parameters,
        **more,
        "responses": {
            "200": {"description": outcome, "headers": code, "content": _envelope()},
            **{
                str(status): {"description": descriptions[status], "content": _envelope()}
                for status in (400, 404, *_REFUSALS)
            },
        },
    }


def _operation_id(endpoint: MiraEndpoint) -> str:
    parts = endpoint.path.removeprefix("/api/").replace("{", "").replace("}", "").replace("/", "_")
    return f"mira_{endpoint.method.lower()}_{parts}"


def _parameter(name: str, where: str, schema: Json, *, required: bool) -> Json:
    return {"name": name, "in": where, "required": required, "schema": schema}


def _body(schema: Json, *, required: bool) -> Json:
    return {"required": required, "content": {"application/json": {"schema": schema}}}


def _envelope() -> Json:
    return {"application/json": {"schema": {"$ref": _SCHEMA.format(model="Envelope")}}}
