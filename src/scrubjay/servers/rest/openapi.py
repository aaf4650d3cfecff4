"""The OpenAPI document: FastAPI's own part, and for each tool its request, its result and its errors."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from scrubjay.servers.http.errors import ErrorBody, status_descriptions
from scrubjay.servers.http.requests import CLIENT_HEADER, LABEL_PATTERN
from scrubjay.servers.rest.events import JobEventStream
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
    "description": "The name of this client. Its choices, such as the active project, are remembered between calls.",
    "schema": {"type": "string", "pattern": LABEL_PATTERN},
}

_PREFER_PARAMETER: Json = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": f"`wait=SECONDS`: how long to wait for the job to end, at most {MAX_WAIT_SECONDS} seconds. Without "
    "it, the response is immediate.",
    "schema": {"type": "string", "pattern": r"^wait=\d{1,4}$"},
    "example": "wait=10",
}


class ToolAnnotations(BaseModel):
    """The effects that a call of the tool can have."""

    read_only: bool
    destructive: bool
    idempotent: bool
    runs_as_job: bool


class ToolDescription(BaseModel):
    """A tool with its purpose, input schema and output schema."""

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
    """Return the `responses` of a FastAPI route for these error statuses."""
    descriptions = status_descriptions()
    return {status: {"model": ErrorBody, "description": descriptions[status]} for status in statuses}


def with_tools(
    document: Json,
    registry: Registry,
    own_models: Iterable[type[BaseModel]],
    *,
    requires_key: bool,
) -> Json:
    """Add two operations for every tool to FastAPI's document: `POST` calls it, `GET` describes it."""
    references, schemas = _schemas(registry, own_models)
    schemas |= _foreign_schemas(registry)
    components: Json = document.setdefault("components", {})
    # The registry's schemas take precedence: they are exact, while FastAPI drops every `null` from its own.
    components["schemas"] = {**components.get("schemas", {}), **schemas}
    components["responses"] = {
        _failure_name(status): {"description": text, "content": json_content(references[ErrorBody, "serialization"])}
        for status, text in status_descriptions().items()
    }
    for tool in registry:
        document["paths"][f"/v1/tools/{tool.name}"] = {
            "get": _describe_operation(tool, references),
            "post": _call_operation(tool, references),
        }
    document["paths"][HEALTH_PATH] = {"get": _health_operation(references)}
    events = document["paths"]["/v1/jobs/{job_id}/events"]["get"]["responses"]["200"]
    events["content"] = {JobEventStream.media_type: {"schema": _event(references[AnyJob, "serialization"])}}
    others = (tag for path in document["paths"].values() for operation in path.values() for tag in operation["tags"])
    document["tags"] = [{"name": tag} for tag in dict.fromkeys([*registry.families, *others])]
    if requires_key:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"key": []}]
        document["paths"]["/health"]["get"]["security"] = []
    return document


def _schemas(registry: Registry, own_models: Iterable[type[BaseModel]]) -> tuple[Mapping[Any, Json], Json]:
    """Return the schemas of all models, generated together so that models with the same name get distinct names."""
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
    """Return the schemas declared by upstream MCP servers, with their references adapted to this document."""
    schemas: Json = {}
    for tool in registry:
        if isinstance(tool, ForeignTool):
            for name, schema in (
                (_foreign_name(tool, "input"), tool.input_schema),
                (_foreign_name(tool, "output"), tool.output_schema),
            ):
                schemas[name] = _with_rebased_references(schema, f"#/components/schemas/{name}")
    return schemas


def _foreign_name(tool: Tool, part: str) -> str:
    return f"{tool.name}.{part}"


def _with_rebased_references(schema: Any, base: str) -> Any:
    if isinstance(schema, list):
        return [_with_rebased_references(entry, base) for entry in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    moved = {name: _with_rebased_references(value, base) for name, value in cast(Json, schema).items()}
    if isinstance(reference := moved.get("$ref"), str) and reference.startswith("#"):
        moved["$ref"] = base + reference[1:]
    return moved


def _schema_of(tool: Tool, part: Literal["input", "output"], references: Mapping[Any, Json]) -> Json:
    if isinstance(tool, ForeignTool):
        return {"$ref": f"#/components/schemas/{_foreign_name(tool, part)}"}
    return references[(tool.request, "validation") if part == "input" else (tool.answer, "serialization")]


def _call_operation(tool: Tool, references: Mapping[Any, Json]) -> Json:
    answer = json_content(_schema_of(tool, "output", references))
    responses: Json = {"200": {"description": "The result.", "content": answer}}
    if tool.runs_as_job:
        responses["200"]["description"] = "The job has ended."
        responses["202"] = {
            "description": "The job is still running.",
            "headers": {"Location": {"description": "The path of the job.", "schema": {"type": "string"}}},
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
        "responses": {**responses, **failures_by_name(*status_descriptions())},
        "x-annotations": ToolDescription.of(tool).annotations.model_dump(),
    }


def _health_operation(references: Mapping[Any, Json]) -> Json:
    return {
        "operationId": "rest_health",
        "tags": ["server"],
        "summary": "Check that the process is alive.",
        "description": "Check that the process is alive, without opening the store.",
        "responses": {
            "200": {
                "description": "The process is alive.",
                "content": json_content(references[Liveness, "serialization"]),
            },
            **failures_by_name(403),
        },
    }


def _describe_operation(tool: Tool, references: Mapping[Any, Json]) -> Json:
    description = json_content(references[ToolDescription, "serialization"])
    return {
        "operationId": f"rest_describe_{tool.name}",
        "tags": [tool.family],
        "summary": f"Describe {tool.name}.",
        "responses": {"200": {"description": "The tool.", "content": description}, **failures_by_name(401, 403)},
    }


def _event(job: Json) -> Json:
    """Return the schema of one event; before OpenAPI 3.2 this is the schema of an event stream."""
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": job}
    properties = {"event": {"const": "job"}, "id": {"type": "string"}, "data": data}
    return {"type": "object", "properties": properties, "required": list(properties)}


def failures_by_name(*statuses: int) -> Json:
    """Return references to the shared descriptions of these error statuses."""
    return {str(status): {"$ref": f"#/components/responses/{_failure_name(status)}"} for status in statuses}


def _failure_name(status: int) -> str:
    return f"Failure{status}"


def json_content(schema: Json) -> Json:
    """Return the `content` of a JSON body with this schema."""
    return {"application/json": {"schema": schema}}
