"""Mira's addresses in the OpenAPI document: those whose tool there is."""

from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from scrubjay.compat.mira import chat_wire
from scrubjay.compat.mira.endpoints import ENDPOINTS, Endpoint
from scrubjay.compat.mira.envelope import CODE_HEADER, Envelope
from scrubjay.compat.mira.event_wire import ANNOUNCED
from scrubjay.servers.http.errors import meanings
from scrubjay.servers.http.requests import CLIENT_HEADER, LABEL_PATTERN, SESSION_HEADER
from scrubjay.tooling.registry import Registry

Json = dict[str, Any]

_REFUSALS: Final = (401, 403, 413, 429, 500, 503)
_SCHEMA: Final = "#/components/schemas/Mira{model}"


def with_mira(document: Json, registry: Registry) -> Json:
    """The document with these addresses."""
    requests: tuple[type[BaseModel], ...] = (chat_wire.ChatRequest, chat_wire.StreamRequest)
    _, schemas = models_json_schema(
        [*((model, "validation") for model in requests), (Envelope, "serialization")], ref_template=_SCHEMA
    )
    kept: Json = document["components"]["schemas"]
    kept |= {f"Mira{name}": schema for name, schema in schemas["$defs"].items()}
    paths: Json = document["paths"]
    for endpoint in ENDPOINTS:
        if endpoint.tool in registry:
            called: Json = paths[f"/v1/tools/{endpoint.tool}"]["post"]
            schema = kept[called["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]]
            operation = _operation(_name(endpoint), endpoint.summary, **_asking(endpoint, schema))
            paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    paths |= _own_paths()
    document.setdefault("tags", []).append({"name": "mira"})
    return document


def _own_paths() -> Json:
    stream = _operation("mira_chat_stream", "Answer a message piece by piece.", **_sending("StreamRequest"))
    stream["responses"]["200"]["content"]["text/event-stream"] = {"schema": _event()}
    announced = {
        "type": "object",
        "properties": {"type": {"enum": list(ANNOUNCED)}},
        "required": ["type"],
        "additionalProperties": True,
    }
    session = _parameter("session_id", "query", {"type": "string", "minLength": 1, "maxLength": 400}, required=False)
    test = "Tell whether there is a language model that answers."
    return {
        "/api/broadcast": {
            "post": _operation(
                "mira_broadcast", "Tell something to all who listen.", requestBody=_body(announced, required=True)
            )
        },
        "/api/chat": {"post": _operation("mira_chat", "Answer a message.", **_sending("ChatRequest"))},
        "/api/chat/stream": {"post": stream},
        "/api/chat/history": {
            "get": _operation("mira_chat_history", "Show the last 20 messages of a chat.", parameters=[session])
        },
        "/api/chat/test": {method: _operation(f"mira_chat_test_{method}", test) for method in ("get", "post")},
    }


def _event() -> Json:
    """One event of the chat's stream; before OpenAPI 3.2 the schema of an event stream is that of each event."""
    told = {"type": "object", "properties": {"type": {"enum": list(chat_wire.EVENT_TYPES)}}, "required": ["type"]}
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": told}
    return {"type": "object", "properties": {"data": data}, "required": ["data"]}


def _asking(endpoint: Endpoint, schema: Json) -> Json:
    """The parameters and the body of what a tool takes, without what the address itself gives."""
    of_path = [part[1:-1] for part in endpoint.path.split("/") if part.startswith("{")]
    decided = {*endpoint.fixed, *(endpoint.named.get(name, name) for name in of_path)}
    properties = {name: shown for name, shown in schema.get("properties", {}).items() if name not in decided}
    required = [name for name in schema.get("required", ()) if name in properties and name not in endpoint.defaults]
    parameters = [_parameter(name, "path", {"type": "string", "minLength": 1}, required=True) for name in of_path]
    if endpoint.method == "POST":
        shown = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        return {"parameters": parameters, "requestBody": _body(shown, required=bool(required))}
    if endpoint.method == "GET":
        parameters += [
            _parameter(name, "query", shown, required=name in required) for name, shown in properties.items()
        ]
    return {"parameters": parameters}


def _sending(name: str) -> Json:
    header = _parameter(SESSION_HEADER, "header", {"type": "string", "pattern": LABEL_PATTERN}, required=False)
    return {"requestBody": _body({"$ref": _SCHEMA.format(model=name)}, required=True), "parameters": [header]}


def _operation(name: str, summary: str, **more: Any) -> Json:
    client = _parameter(CLIENT_HEADER, "header", {"type": "string", "pattern": LABEL_PATTERN}, required=False)
    parameters = [*more.pop("parameters", ()), client]
    said = {
        **meanings(),
        400: "The body is not a JSON object.",
        404: "There is nothing here.",
        429: "Too many requests.",
    }
    code = {CODE_HEADER: {"description": "What kind of failure it is.", "schema": {"type": "string"}}}
    worked = "What there is. Also, with `success` false, why the tool could not do it."
    return {
        "operationId": name,
        "tags": ["mira"],
        "summary": summary,
        "parameters": parameters,
        **more,
        "responses": {
            "200": {"description": worked, "headers": code, "content": _envelope()},
            **{str(status): {"description": said[status], "content": _envelope()} for status in (400, 404, *_REFUSALS)},
        },
    }


def _name(endpoint: Endpoint) -> str:
    parts = endpoint.path.removeprefix("/api/").replace("{", "").replace("}", "").replace("/", "_")
    return f"mira_{endpoint.method.lower()}_{parts}"


def _parameter(name: str, where: str, schema: Json, *, required: bool) -> Json:
    return {"name": name, "in": where, "required": required, "schema": schema}


def _body(schema: Json, *, required: bool) -> Json:
    return {"required": required, "content": {"application/json": {"schema": schema}}}


def _envelope() -> Json:
    return {"application/json": {"schema": {"$ref": _SCHEMA.format(model="Envelope")}}}
