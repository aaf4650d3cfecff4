"""OpenAI's routes in the OpenAPI document."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from scrubjay.servers.http.requests import CLIENT_HEADER, LABEL_PATTERN, SESSION_HEADER
from scrubjay.servers.openai import wire
from scrubjay.servers.openai.chat import MEMORIES_HEADER

Json = dict[str, Any]

_STATUS_DESCRIPTIONS = {
    400: "The body is invalid, or the language model rejected it.",
    401: "The key is missing or wrong.",
    403: "The key's scopes do not allow this, or the host or origin is not allowed.",
    404: "The model, or another named object, does not exist.",
    409: "The request conflicts with the current state.",
    413: "The body is too large.",
    415: "The language model does not support this media type.",
    422: "The language model rejected the request.",
    429: "Too many requests, here or at the language model's service.",
    500: "A bug, or settings that do not work.",
    502: "The language model's service is unreachable, failing, or sent an invalid answer.",
    503: "A required part is temporarily unavailable.",
    504: "The language model did not answer in time.",
}
_OPERATIONS: tuple[tuple[str, str, str, type[BaseModel], type[BaseModel]], ...] = (
    (
        "/v1/chat/completions",
        "openai_chat",
        "Continue a conversation, with recalled memories.",
        wire.ChatCompletionRequest,
        wire.ChatCompletion,
    ),
    (
        "/v1/responses",
        "openai_respond",
        "Answer an input, with recalled memories.",
        wire.ResponsesRequest,
        wire.ResponseObject,
    ),
    ("/v1/embeddings", "openai_embed", "Return the embeddings of texts.", wire.EmbeddingsRequest, wire.Embeddings),
)


def with_openai(document: Json) -> Json:
    """Add these routes to the document and return it."""
    answers = (wire.ModelList, wire.ModelEntry, wire.OpenAIError, *(answer for *_, answer in _OPERATIONS))
    references, schemas = models_json_schema(
        [
            *((request, "validation") for *_, request, _ in _OPERATIONS),
            *((answer, "serialization") for answer in answers),
        ],
        ref_template="#/components/schemas/OpenAI{model}",
    )
    components: Json = document["components"]["schemas"]
    components |= {f"OpenAI{name}": schema for name, schema in schemas["$defs"].items()}
    failures = {
        status: {"description": description, "content": _json(references[wire.OpenAIError, "serialization"])}
        for status, description in _STATUS_DESCRIPTIONS.items()
    }
    paths: Json = document["paths"]
    for path, name, summary, request, answer in _OPERATIONS:
        content = _json(references[answer, "serialization"])
        if answer is not wire.Embeddings:
            content["text/event-stream"] = {"schema": {"type": "string"}}
        paths[path] = {
            "post": {
                "operationId": name,
                "tags": ["openai"],
                "summary": summary,
                "parameters": [_header(CLIENT_HEADER, "The name of this client."), *_session_header(answer)],
                "requestBody": {"required": True, "content": _json(references[request, "validation"])},
                "responses": {
                    "200": {"description": "The answer.", "headers": _response_headers(answer), "content": content},
                    **{str(status): failure for status, failure in failures.items()},
                },
            }
        }
    listed = _json(references[wire.ModelList, "serialization"])
    paths["/v1/models"] = {"get": _get_operation("openai_list_models", "List models.", listed, failures)}
    one = _get_operation(
        "openai_get_model", "Describe a model.", _json(references[wire.ModelEntry, "serialization"]), failures
    )
    one["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    paths["/v1/models/{id}"] = {"get": one}
    document.setdefault("tags", []).append({"name": "openai"})
    return document


def _get_operation(name: str, summary: str, content: Json, failures: dict[int, Json]) -> Json:
    errors = {str(status): failures[status] for status in (401, 403, 404, 429, 500, 503)}
    return {
        "operationId": name,
        "tags": ["openai"],
        "summary": summary,
        "responses": {"200": {"description": "The models.", "content": content}, **errors},
    }


def _session_header(answer: type[BaseModel]) -> list[Json]:
    about = "The session of the exchange; takes precedence over the body."
    return [] if answer is wire.Embeddings else [_header(SESSION_HEADER, about)]


def _response_headers(answer: type[BaseModel]) -> Json:
    if answer is wire.Embeddings:
        return {}
    about = "The ids of the recalled memories, separated by commas."
    return {MEMORIES_HEADER: {"description": about, "schema": {"type": "string"}}}


def _header(name: str, about: str) -> Json:
    schema = {"type": "string", "pattern": LABEL_PATTERN}
    return {"name": name, "in": "header", "required": False, "description": about, "schema": schema}


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}
