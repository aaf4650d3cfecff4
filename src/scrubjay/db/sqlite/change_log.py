"""The store's change log: what a copy contains, and whether what it misses can still be told."""

from dataclasses import dataclass

from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries

_SQL = load_queries(__file__)


@dataclass(frozen=True, slots=True)
class Revision:
    """An entry of the store's change log: everything up to it is contained."""

    number: int
    mark: int


def latest_revision(connection: Connection) -> Revision:
    [(number, mark)] = connection.execute(_SQL["latest_change"])
    return Revision(number, mark)


def in_log(connection: Connection, revision: Revision) -> bool:
    """Whether what came after this revision can still be told from the store's change log."""
    return bool(connection.execute(_SQL["change_at"], {"revision": revision.number, "mark": revision.mark}))


def vector_kinds(connection: Connection) -> list[tuple[str, int]]:
    """Each model that made vectors, with the size of these in bytes."""
    return connection.execute(_SQL["kinds"])
