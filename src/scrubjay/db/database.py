"""Protocol of an open database, independent of its engine: information, checks and maintenance."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scrubjay.core.errors import ScrubjayError


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """Engine, location, schema version and size of a store."""

    engine: str
    location: str
    schema_version: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Result of a full check: what was checked, and the problems found."""

    checked: Sequence[str]
    problems: Sequence[str]


class Database(Protocol):
    """An open database. Several processes can have the same one open."""

    async def info(self) -> StoreInfo: ...

    async def ping(self) -> None:
        """Read from the store and acquire its writer lock; raise if either fails. Changes nothing."""
        ...

    def problem(self) -> ScrubjayError | None:
        """Return why the store cannot be used now, as far as is known without waiting; None if nothing is known.

        That is the failure of the last write, a full disk, or a database that another version of the program migrated.
        """
        ...

    async def check(self) -> CheckReport:
        """Verify everything: pages, indexes, text index, vectors, derived files. Reads the whole store."""
        ...

    async def backup(self, target: Path) -> StoreInfo:
        """Write a complete, verified copy while other connections keep working.

        The target appears only when it is complete. Raise `Conflict` if it exists.
        """
        ...

    async def vacuum(self) -> StoreInfo:
        """Return unused space to the file system."""
        ...

    async def close(self) -> None:
        """Finish pending work and close all files. Later calls raise `Unavailable`."""
        ...
