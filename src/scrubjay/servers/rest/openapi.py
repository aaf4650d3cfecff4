"""The OpenAPI document: FastAPI's own part, and for each tool what it takes, what it answers and how it can fail."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from scrubjay.servers.http.errors import ErrorBody, meanings
from scrubjay.servers.http.requests import CLIENT_HEADER, LABEL_PATTERN
from scrubjay.servers.rest.events import JobEvents
from scrubjay.servers.rest.health import HEALTH_PATH, Liveness
from scrubjay.servers.rest.tool_route import MAX_WAIT_SECONDS
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.job_view import JobView
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.remote_tools import ForeignTool

Json = dict[str, Any]
AnyJob = JobView[dict[str, Any]]

CLIENT_PARAMETER: Json = {
    "name": CLIENT_HEADER,
    "in": "header",
    "required": False,
    "description": "Tells this client from others, so that what it chooses (its project) lasts between calls.",
    "schema": {"type": "string", "pattern": LABEL_PATTERN},
}

_PREFER_PARAMETER: Json = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": f"`wait=SECONDS`: how long to wait for the job to end, at most {MAX_WAIT_SECONDS}. Without it, the "
    "answer comes at once.",
    "schema": {"type": "string", "pattern": r"^wait=\d{1,4}$"},
    "example": "wait=10",
}


class ToolAnnotations(BaseModel):
    """What calling a tool can do."""

    read_only: bool
    destructive: bool
    idempotent: bool
    runs_as_job: bool


class ToolDescription(BaseModel):
    """A tool: what it is for, what it takes and what it answers."""

    name: str
    family: str
    title: str
    description: str
    annotations: ToolAnnotations
    input_schema: Json
    output_schema: Json

    @classmethod
    def of(cls, tool: Tool) -> "ToolDescription":
        return cls(
            name=tool.name,
            family=tool.family,
            title=tool.title,
            description=tool.description,
            annotations=ToolAnnotations(
                read_only=tool.read_only,
                destructive=tool.destructive,
                idempotent=tool.idempotent,
                runs_as_job=tool.runs_as_job,
            ),
            input_schema=tool.input_schema,
            output_schema=tool.output_schema,
        )


def failures(*statuses: int) -> dict[int | str, Json]:
    """The documentation of these failures, for a FastAPI route."""
    said = meanings()
    return {status: {"model": ErrorBody, "description": said[status]} for status in statuses}


def with_tools(
    document: Json,
    registry: Registry,
    own_models: Iterable[type[BaseModel]],
    *,
    requires_key: bool,
) -> Json:
    """FastAPI's document with two operations for every tool: `POST` calls it, `GET` describes it."""
    references, schemas = _schemas(registry, own_models)
    schemas |= _foreign_schemas(registry)
    components: Json = document.setdefault("components", {})
    # The registry's schemas win: they are exact, while FastAPI drops every `null` from its own.
    components["schemas"] = {**components.get("schemas", {}), **schemas}
    components["responses"] = {
        _failure_name(status): {"description": meaning, "content": json_content(references[ErrorBody, "serialization"])}
        for status, meaning in meanings().items()
    }
    for tool in registry:
        document["paths"][f"/v1/tools/{tool.name}"] = {
            "get": _describing(tool, references),
            "post": _calling(tool, references),
        }
    document["paths"][HEALTH_PATH] = {"get": _living(references)}
    events = document["paths"]["/v1/jobs/{job_id}/events"]["get"]["responses"]["200"]
    events["content"] = {JobEvents.media_type: {"schema": _event(references[AnyJob, "serialization"])}}
    others = (tag for path in document["paths"].values() for operation in path.values() for tag in operation["tags"])
    document["tags"] = [{"name": tag} for tag in dict.fromkeys([*registry.families, *others])]
    if requires_key:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"key": []}]
        document["paths"]["/health"]["get"]["security"] = []
    return document


def _schemas(registry: Registry, own_models: Iterable[type[BaseModel]]) -> tuple[Mapping[Any, Json], Json]:
    """All models in one go, so that two of the same name get names of their own."""
    own = [tool for tool in registry if not isinstance(tool, ForeignTool)]
    answers: list[type[BaseModel]] = [*own_models, *(tool.answer for tool in own)]
    requests: list[type[BaseModel]] = [tool.request for tool in own]
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        *((model, "validation") for model in requests),
        *((model, "serialization") for model in answers),
    ]
    references, schemas = models_json_schema(models, ref_template="#/components/schemas/{model}")
    return references, schemas["$defs"]


def _foreign_schemas(registry: Registry) -> Json:
    """The schemas that other servers declared, as parts of this document: what they refer to moves with them."""
    schemas: Json = {}
    for tool in registry:
        if isinstance(tool, ForeignTool):
            for name, schema in (
                (_foreign_name(tool, "input"), tool.input_schema),
                (_foreign_name(tool, "output"), tool.output_schema),
            ):
                schemas[name] = _moved(schema, f"#/components/schemas/{name}")
    return schemas


def _foreign_name(tool: Tool, part: str) -> str:
    return f"{tool.name}.{part}"


def _moved(schema: Any, place: str) -> Any:
    if isinstance(schema, list):
        return [_moved(entry, place) for entry in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    moved = {name: _moved(value, place) for name, value in cast(Json, schema).items()}
    if isinstance(reference := moved.get("$ref"), str) and reference.startswith("#"):
        moved["$ref"] = place + reference[1:]
    return moved


def _schema_of(tool: Tool, part: Literal["input", "output"], references: Mapping[Any, Json]) -> Json:
    if isinstance(tool, ForeignTool):
        return {"$ref": f"#/components/schemas/{_foreign_name(tool, part)}"}
    return references[(tool.request, "validation") if part == "input" else (tool.answer, "serialization")]


def _calling(tool: Tool, references: Mapping[Any, Json]) -> Json:
    answer = json_content(_schema_of(tool, "output", references))
    responses: Json = {"200": {"description": "The answer.", "content": answer}}
    if tool.runs_as_job:
        responses["200"]["description"] = "The job has ended."
        responses["202"] = {
            "description": "The job goes on.",
            "headers": {"Location": {"description": "Where to look at it.", "schema": {"type": "string"}}},
            "content": answer,
        }
    return {
        "operationId": tool.name,
        "tags": [tool.family],
        "summary": tool.summary,
        "description": tool.description,
        "parameters": [CLIENT_PARAMETER, *([_PREFER_PARAMETER] if tool.runs_as_job else [])],
        "requestBody": {
            "required": bool(tool.input_schema.get("required")),
            "content": json_content(_schema_of(tool, "input", references)),
        },
        "responses": {**responses, **failures_by_name(*meanings())},
        "x-annotations": ToolDescription.of(tool).annotations.model_dump(),
    }


def _living(references: Mapping[Any, Json]) -> Json:
    return {
        "operationId": "rest_health",
        "tags": ["server"],
        "summary": "Tell that the process is alive.",
        "description": "Tell that the process is alive, without touching the store.",
        "responses": {
            "200": {"description": "It is.", "content": json_content(references[Liveness, "serialization"])},
            **failures_by_name(403),
        },
    }


def _describing(tool: Tool, references: Mapping[Any, Json]) -> Json:
    description = json_content(references[ToolDescription, "serialization"])
    return {
        "operationId": f"rest_describe_{tool.name}",
        "tags": [tool.family],
        "summary": f"Describe {tool.name}.",
        "responses": {"200": {"description": "The tool.", "content": description}, **failures_by_name(401, 403)},
    }


def _event(job: Json) -> Json:
    """One event of a stream; before OpenAPI 3.2 the schema of an event stream is that of each event."""
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": job}
    properties = {"event": {"const": "job"}, "id": {"type": "string"}, "data": data}
    return {"type": "object", "properties": properties, "required": list(properties)}


def failures_by_name(*statuses: int) -> Json:
    """Return references to the shared descriptions of these failures."""
    return {str(status): {"$ref": f"#/components/responses/{_failure_name(status)}"} for status in statuses}


def _failure_name(status: int) -> str:
    return f"Failure{status}"


def json_content(schema: Json) -> Json:
    """Return the content of a body that is JSON of this schema."""
    return {"application/json": {"schema": schema}}
