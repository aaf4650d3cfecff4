"""The change log of memories, from which derived files and in-memory copies are updated incrementally."""

from dataclasses import dataclass

from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries

_SQL = load_queries(__file__)


@dataclass(frozen=True, slots=True)
class Revision:
    """A position in the change log: a copy at this revision contains everything up to it."""

    number: int
    mark: int


def latest_revision(connection: Connection) -> Revision:
    [(number, mark)] = connection.execute(_SQL["latest_change"])
    return Revision(number, mark)


def is_in_log(connection: Connection, revision: Revision) -> bool:
    """Return whether the log still has this entry, so that all changes after it can be read from the log."""
    return bool(connection.execute(_SQL["change_at"], {"revision": revision.number, "mark": revision.mark}))


def vector_kinds(connection: Connection) -> list[tuple[str, int]]:
    """Return the models that have vectors, each with the size of its vectors in bytes."""
    return connection.execute(_SQL["kinds"])
