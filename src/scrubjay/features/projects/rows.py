"""What tables of things that belong to projects and are listed by rank have in common."""

from scrubjay.core.errors import NotFound
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.tasks.models import Place


def behind(after: Place | None, limit: int, offset: int = 0) -> dict[str, int | None]:
    """One more than is wanted tells whether there are more."""
    rank, seq = after if after is not None else (None, None)
    return {"after_rank": rank, "after_seq": seq, "limit": limit + 1, "offset": offset}


def refuse_unknown_project(connection: Connection, project_id: str | None) -> None:
    if project_id is not None and not connection.execute(load_queries(__file__)["get"], {"id": project_id}):
        raise NotFound(f"there is no project {project_id[:80]!r}", hint="list_projects shows all")
