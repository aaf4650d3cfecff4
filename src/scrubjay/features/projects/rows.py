"""Conversion of rows to projects, and the check that a project exists."""

from collections.abc import Sequence
from typing import Any

from scrubjay.core.errors import NotFound
from scrubjay.db.sqlite.columns import moment
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.projects.models import Project


def project_from(row: Sequence[Any]) -> Project:
    """Convert a row of the fragment `columns` in `queries.sql`."""
    project_id, path, name, created_at = row
    return Project(id=project_id, path=path, name=name, created_at=moment(created_at))


def require_project(connection: Connection, project_id: str | None) -> None:
    if project_id is not None and not connection.execute(load_queries(__file__)["get"], {"id": project_id}):
        raise NotFound(f"project {project_id[:80]!r} not found", hint="call list_projects to see all projects")
