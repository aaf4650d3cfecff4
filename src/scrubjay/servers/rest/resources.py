"""Resources over HTTP: `GET /v1/resources` lists them, and with `?uri=` answers with what one holds."""

from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI
from fastapi import Query as QueryParameter
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from scrubjay.servers.http.callers import caller_of
from scrubjay.servers.http.requests import context_of
from scrubjay.servers.rest.openapi import failures
from scrubjay.tooling.resources import ListedResource, Resources


class ResourceDescription(BaseModel):
    """A resource, or a kind of them: `{index_id}` in an address stands for an id."""

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
    """What can be read."""

    resources: list[ResourceDescription] = Field(description="Those there are now.")
    templates: list[ResourceDescription] = Field(description="The addresses that hold for any id.")


def add_resources(app: FastAPI, resources: Resources) -> None:
    """Let clients list and read these."""
    kinds = sorted({found.mime_type for found in resources.declared} - {"application/json"})
    listed_or_held = {"anyOf": [{"$ref": "#/components/schemas/ResourceList"}, {"description": "What it holds."}]}
    documented: dict[int | str, dict[str, Any]] = {
        200: {
            "description": "The list; with `uri`, what that resource holds, in its own form.",
            "content": {"application/json": {"schema": listed_or_held}, **{kind: {"schema": {}} for kind in kinds}},
        },
        206: {"description": "The part of a file that the Range header asks for."},
        416: {"description": "The file has no such part."},
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
            QueryParameter(max_length=2_000, description="Which one to read, as it is listed. Without it, the list."),
        ] = None,
    ) -> Response:
        """List the resources there are, or read one of them. What is large comes as a stream."""
        if uri is None:
            listed, templates = await resources.listed(caller_of(request.scope)), resources.templates()
            answer = ResourceList(
                resources=[ResourceDescription.of(one) for one in listed],
                templates=[ResourceDescription.of(one) for one in templates],
            )
            return Response(answer.model_dump_json(), media_type="application/json")
        found = await resources.read(uri, context_of(request.scope, surface="rest"))
        if isinstance(found.body, Path):
            return FileResponse(found.body, media_type=found.mime_type)
        body = found.body.encode("utf-8", "replace") if isinstance(found.body, str) else found.body
        return Response(body, media_type=found.mime_type)
