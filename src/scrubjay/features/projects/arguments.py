"""The project argument that many tools take."""

from typing import Annotated

from pydantic import Field

from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext

ProjectReference = Annotated[
    Label | None,
    Field(description="Project path, name or id; default: the active project. See set_project."),
]


async def project_id_of(
    reference: str | None, projects: ProjectService, context: CallContext, *, make: bool = False
) -> str | None:
    """Return the id of the named project, else of the client's active one; None if it has none."""
    if reference is not None:
        return (await projects.find(reference, context.working_directory, make=make)).id
    project = await projects.active(context.client)
    return project.id if project else None
