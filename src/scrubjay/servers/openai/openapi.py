"""OpenAI's routes in the OpenAPI document."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from scrubjay.servers.http.requests import CLIENT_HEADER, LABEL_PATTERN, SESSION_HEADER
from scrubjay.servers.openai import wire
from scrubjay.servers.openai.chat import MEMORIES_HEADER

Json = dict[str, Any]

_MEANINGS = {
    400: "The body does not fit, or the language model refuses it.",
    401: "A key is needed, and the given one is missing or wrong.",
    403: "The key does not open this, or the caller may not come from there.",
    404: "There is no such model, or nothing else that was named.",
    409: "The request contradicts the present state.",
    413: "The body is too large.",
    415: "The language model does not take this.",
    422: "The language model refuses what is asked.",
    429: "Too many requests, here or at the language model.",
    500: "A bug of ours, or settings that do not work.",
    502: "The language model's service cannot be reached, fails, or answers nonsense.",
    503: "A part that this needs is not there for now.",
    504: "The language model did not answer in time.",
}
_OPERATIONS: tuple[tuple[str, str, str, type[BaseModel], type[BaseModel]], ...] = (
    (
        "/v1/chat/completions",
        "openai_chat",
        "Continue a conversation, with a memory.",
        wire.ChatRequest,
        wire.ChatCompletion,
    ),
    ("/v1/responses", "openai_respond", "Answer an input, with a memory.", wire.ResponsesRequest, wire.ResponseObject),
    ("/v1/embeddings", "openai_embed", "Tell what texts mean.", wire.EmbeddingsRequest, wire.Embeddings),
)


def with_openai(document: Json) -> Json:
    """The document with these routes."""
    answers = (wire.ModelList, wire.ModelEntry, wire.OpenAIError, *(answer for *_, answer in _OPERATIONS))
    references, schemas = models_json_schema(
        [
            *((request, "validation") for *_, request, _ in _OPERATIONS),
            *((answer, "serialization") for answer in answers),
        ],
        ref_template="#/components/schemas/OpenAI{model}",
    )
    kept: Json = document["components"]["schemas"]
    kept |= {f"OpenAI{name}": schema for name, schema in schemas["$defs"].items()}
    failures = {
        status: {"description": meaning, "content": _json(references[wire.OpenAIError, "serialization"])}
        for status, meaning in _MEANINGS.items()
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
                "parameters": [_header(CLIENT_HEADER, "Tells this client from others."), *_session(answer)],
                "requestBody": {"required": True, "content": _json(references[request, "validation"])},
                "responses": {
                    "200": {"description": "The answer.", "headers": _told(answer), "content": content},
                    **{str(status): failure for status, failure in failures.items()},
                },
            }
        }
    listed = _json(references[wire.ModelList, "serialization"])
    paths["/v1/models"] = {"get": _reading("openai_list_models", "List models.", listed, failures)}
    one = _reading(
        "openai_get_model", "Describe a model.", _json(references[wire.ModelEntry, "serialization"]), failures
    )
    one["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    paths["/v1/models/{id}"] = {"get": one}
    document.setdefault("tags", []).append({"name": "openai"})
    return document


def _reading(name: str, summary: str, content: Json, failures: dict[int, Json]) -> Json:
    told = {str(status): failures[status] for status in (401, 403, 404, 429, 500, 503)}
    return {
        "operationId": name,
        "tags": ["openai"],
        "summary": summary,
        "responses": {"200": {"description": "What there is.", "content": content}, **told},
    }


def _session(answer: type[BaseModel]) -> list[Json]:
    about = "The session that the exchange belongs to; counts more than what the body says."
    return [] if answer is wire.Embeddings else [_header(SESSION_HEADER, about)]


def _told(answer: type[BaseModel]) -> Json:
    if answer is wire.Embeddings:
        return {}
    about = "The ids of the memories that were recalled, joined by commas."
    return {MEMORIES_HEADER: {"description": about, "schema": {"type": "string"}}}


def _header(name: str, about: str) -> Json:
    schema = {"type": "string", "pattern": LABEL_PATTERN}
    return {"name": name, "in": "header", "required": False, "description": about, "schema": schema}


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}
