"""Conversion of rows to projects, and the check that a project exists."""

from collections.abc import Sequence
from typing import Any

from scrubjay.core.errors import NotFound
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import moment
from scrubjay.features.projects.models import Project


def project_from(row: Sequence[Any]) -> Project:
    """The project in a row of the query fragment `columns` in `projects.sql`."""
    project_id, path, name, created_at = row
    return Project(id=project_id, path=path, name=name, created_at=moment(created_at))


def refuse_unknown_project(connection: Connection, project_id: str | None) -> None:
    if project_id is not None and not connection.execute(load_queries(__file__)["get"], {"id": project_id}):
        raise NotFound(f"there is no project {project_id[:80]!r}", hint="list_projects shows all")
