"""Projects: where scoped memories belong."""

from datetime import datetime

from pydantic import AliasChoices, Field

from scrubjay.features.projects.models import Project
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool


class ProjectView(Result):
    """A project."""

    id: str
    name: str
    path: str = Field(description="Its folder, fully resolved.")
    created_at: datetime


class SetProjectRequest(Request):
    model_config = examples({"path": "/home/you/code/apollo", "name": "Apollo"})

    path: str = Field(
        validation_alias=AliasChoices("path", "project_path"),  # as Mira's MCP tool has it
        min_length=1,
        max_length=4_000,
        description="The project's folder: an absolute path, or one relative to where you work on this machine.",
    )
    name: str | None = Field(
        default=None, min_length=1, max_length=200, description="Its name; by default the folder's."
    )


class SetProjectResult(Result):
    project: ProjectView
    active: bool = Field(
        description="Whether later calls of this client use it by themselves. False when the protocol cannot tell "
        "clients apart: then name the project in each call, or send a Scrubjay-Client header."
    )


class GetProjectRequest(Request):
    pass


class GetProjectResult(Result):
    project: ProjectView | None = Field(
        description="The active project; none means that only global memories are used."
    )


class ListProjectsRequest(Request):
    pass


class ListProjectsResult(Result):
    projects: list[ProjectView] = Field(description="Newest first.")


@tool("projects", idempotent=True)
async def set_project(request: SetProjectRequest, projects: ProjectService, context: CallContext) -> SetProjectResult:
    """Choose the project that this client works in, making it when it is new.

    From then on remember keeps things for this project and recall searches it together with what is global.
    """
    project = await projects.set(request.path, request.name, context.client, context.working_directory)
    return SetProjectResult(project=project_view(project), active=context.client is not None)


@tool("projects", read_only=True)
async def get_project(request: GetProjectRequest, projects: ProjectService, context: CallContext) -> GetProjectResult:
    """Tell which project is active for this client."""
    project = await projects.active(context.client)
    return GetProjectResult(project=project_view(project) if project else None)


@tool("projects", read_only=True)
async def list_projects(request: ListProjectsRequest, projects: ProjectService) -> ListProjectsResult:
    """List every project that memories can belong to."""
    return ListProjectsResult(projects=[project_view(project) for project in await projects.list()])


def project_view(project: Project) -> ProjectView:
    return ProjectView(id=project.id, name=project.name, path=project.path, created_at=project.created_at)
