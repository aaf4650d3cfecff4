"""Resources over HTTP: `GET /v1/resources` lists them, and with `?uri=` returns the content of one."""

from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI
from fastapi import Query as QueryParameter
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from scrubjay.servers.http.callers import caller_of
from scrubjay.servers.http.requests import call_context
from scrubjay.servers.rest.openapi import failures
from scrubjay.tooling.resources import ListedResource, Resources


class ResourceDescription(BaseModel):
    """A resource, or a template: `{index_id}` in a URI stands for an id."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str

    @classmethod
    def of(cls, listed: ListedResource) -> "ResourceDescription":
        found = listed.resource
        return cls(
            uri=listed.uri,
            name=found.name,
            title=found.title,
            description=found.description,
            mime_type=found.mime_type,
        )


class ResourceList(BaseModel):
    """The resources that can be read."""

    resources: list[ResourceDescription] = Field(description="The existing resources.")
    templates: list[ResourceDescription] = Field(description="URI templates for resources of any id.")


def add_resources(app: FastAPI, resources: Resources) -> None:
    """Add the route that lists and reads these resources."""
    mime_types = sorted({found.mime_type for found in resources.declared} - {"application/json"})
    list_or_content = {"anyOf": [{"$ref": "#/components/schemas/ResourceList"}, {"description": "The content."}]}
    documented: dict[int | str, dict[str, Any]] = {
        200: {
            "description": "The list; with `uri`, the content of that resource in its own media type.",
            "content": {
                "application/json": {"schema": list_or_content},
                **{mime_type: {"schema": {}} for mime_type in mime_types},
            },
        },
        206: {"description": "The part of a file that the Range header requests."},
        416: {"description": "The requested range is outside of the file."},
        **failures(400, 401, 403, 404, 409, 422, 500, 503),
    }

    @app.get(
        "/v1/resources",
        operation_id="rest_resources",
        tags=["resources"],
        summary="List resources, or read one.",
        response_class=Response,
        responses=documented,
    )
    async def read(
        request: Request,
        uri: Annotated[
            str | None,
            QueryParameter(max_length=2_000, description="The URI of the resource to read. Without it, list all."),
        ] = None,
    ) -> Response:
        """List the resources, or read one of them. Files are streamed."""
        if uri is None:
            listed, templates = await resources.listed(caller_of(request.scope)), resources.templates()
            answer = ResourceList(
                resources=[ResourceDescription.of(one) for one in listed],
                templates=[ResourceDescription.of(one) for one in templates],
            )
            return Response(answer.model_dump_json(), media_type="application/json")
        found = await resources.read(uri, call_context(request.scope, surface="rest"))
        if isinstance(found.body, Path):
            return FileResponse(found.body, media_type=found.mime_type)
        body = found.body.encode("utf-8", "replace") if isinstance(found.body, str) else found.body
        return Response(body, media_type=found.mime_type)
