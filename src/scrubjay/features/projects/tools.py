"""Tools that set, show and list projects."""

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
    path: str = Field(description="Resolved absolute path of its folder.")
    created_at: datetime


class SetProjectRequest(Request):
    model_config = examples({"path": "/home/you/code/apollo", "name": "Apollo"})

    path: str = Field(
        validation_alias=AliasChoices("path", "project_path"),  # Mira's name
        min_length=1,
        max_length=4_000,
        description="The project's folder: an absolute path, or one relative to your working directory.",
    )
    name: str | None = Field(
        default=None, min_length=1, max_length=200, description="Name; default: the folder's name."
    )


class SetProjectResult(Result):
    project: ProjectView
    active: bool = Field(
        description="True if later calls of this client use the project by default. False if the protocol does not "
        "identify clients: then name the project in each call, or send a Scrubjay-Client header."
    )


class GetProjectRequest(Request):
    pass


class GetProjectResult(Result):
    project: ProjectView | None = Field(
        description="The active project; null means that only global memories are used."
    )


class ListProjectsRequest(Request):
    pass


class ListProjectsResult(Result):
    projects: list[ProjectView] = Field(description="Newest first.")


@tool("projects", idempotent=True)
async def set_project(request: SetProjectRequest, projects: ProjectService, context: CallContext) -> SetProjectResult:
    """Set the active project of this client, and create the project if it is new.

    Afterwards remember stores memories in this project, and recall searches it and the global memories.
    """
    project = await projects.set(
        request.path,
        request.name,
        context.client,
        context.working_directory,
        by_owner=context.caller.has_all_scopes,
    )
    return SetProjectResult(project=project_view(project), active=context.client is not None)


@tool("projects", read_only=True)
async def get_project(request: GetProjectRequest, projects: ProjectService, context: CallContext) -> GetProjectResult:
    """Show the active project of this client."""
    project = await projects.active(context.client)
    return GetProjectResult(project=project_view(project) if project else None)


@tool("projects", read_only=True)
async def list_projects(request: ListProjectsRequest, projects: ProjectService) -> ListProjectsResult:
    """List all projects, newest first."""
    return ListProjectsResult(projects=[project_view(project) for project in await projects.list()])


def project_view(project: Project) -> ProjectView:
    return ProjectView(id=project.id, name=project.name, path=project.path, created_at=project.created_at)
