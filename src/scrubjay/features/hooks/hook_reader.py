"""A quick look into a store, by a process that lives for a moment: loads little, waits for nobody, changes nothing."""

import json
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries

if TYPE_CHECKING:
    from collections.abc import Generator

    from scrubjay.features.permissions.models import PermissionRule

_SQL = load_queries(__file__, "hook_queries")
# An agent waits meanwhile. Readers wait for writers only when the log has to be mended.
BUSY_SECONDS = 0.2
# How many of the best are looked at for those that have enough of the words.
CANDIDATES = 20


class Note(NamedTuple):
    """What is told of a memory."""

    id: str
    category: str | None
    content: str


class NearProject(NamedTuple):
    """The project that a folder is in."""

    id: str
    path: str
    name: str


@contextmanager
def glance(database: Path) -> "Generator[Glance]":
    """The store as it is now, until this ends."""
    connection = Connection(database, BUSY_SECONDS, read_only=True)
    try:
        yield Glance(connection)
    finally:
        connection.close()


class Glance:
    """What can be seen at once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rules(self, paths: Sequence[str]) -> "list[PermissionRule]":
        """The rules that hold in a folder, given the paths of it and of all that it is in."""
        from scrubjay.features.permissions.rows import rules_at

        return rules_at(self._connection, paths)

    def project(self, paths: Sequence[str]) -> NearProject | None:
        """The nearest project around a folder, given the same."""
        rows = self._connection.execute(_SQL["nearest_project"], {"paths": json.dumps([*paths])})
        return NearProject(*rows[0]) if rows else None

    def latest(self, project_id: str | None, kinds: Sequence[str], limit: int) -> list[Note]:
        """What was kept last of these kinds, in this project or for all."""
        values = {"project_id": project_id, "session_id": None, "kinds": json.dumps([*kinds]), "limit": limit}
        return [Note(*row) for row in self._connection.execute(_SQL["latest"], values)]

    def fitting(
        self, project_id: str | None, kinds: Sequence[str], terms: Sequence[str], *, least: int, limit: int
    ) -> list[Note]:
        """The best of what has at least so many of these terms."""
        match = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
        values = {
            "project_id": project_id,
            "session_id": None,
            "kinds": json.dumps([*kinds]),
            "match": match,
            "limit": CANDIDATES,
        }
        rows = self._connection.execute(_SQL["fitting"], values) if terms else []
        wanted = set(terms)
        return [Note(*note) for *note, words in rows if len(wanted.intersection(words.split())) >= least][:limit]
