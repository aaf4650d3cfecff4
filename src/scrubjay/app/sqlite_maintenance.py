"""Proves a store whole, and copies it."""

import os
from collections.abc import Iterator
from pathlib import Path

import apsw

from scrubjay.app.store import CheckReport
from scrubjay.core.atomic_files import publish, taken, temporary_beside
from scrubjay.core.errors import InvalidRequest, StoreUnusable, Unavailable
from scrubjay.db.sqlite.change_log import vector_kinds
from scrubjay.db.sqlite.connections import Connection, in_snapshot
from scrubjay.db.sqlite.errors import translated
from scrubjay.db.sqlite.named_queries import load_queries

_SQL = load_queries(__file__, "store_queries")

_CHECKED = ("pages and indexes", "references", "text index", "vectors", "counts", "derived files")


def check_store(database: Path, derived: Path | None, busy_seconds: float) -> CheckReport:
    """Read one state of the whole store; what cannot even be read is a problem too."""
    try:
        connection = Connection(database, busy_seconds, read_only=True)
        try:
            problems = in_snapshot(connection, lambda connection: list(_problems(connection, derived)))
        finally:
            connection.close()
    except apsw.Error as error:
        failure = translated(error)
        if not isinstance(failure, StoreUnusable):
            raise failure from error
        problems = [failure.message]
    return CheckReport(_CHECKED, problems)


def copy_store(database: Path, target: Path, busy_seconds: float) -> None:
    """Write a compact, checked copy that appears under its name only when it is whole."""
    if not target.parent.is_dir():
        raise InvalidRequest(f"the folder {target.parent} does not exist", hint="make it first")
    if target.exists():
        raise taken(target)
    temporary = temporary_beside(target)
    try:
        _copy(database, temporary, busy_seconds)
        report = check_store(temporary, None, busy_seconds)
        if report.problems:
            raise StoreUnusable(
                "the copy has problems, because the store has: " + "; ".join(report.problems[:3]),
                hint="`scrubjay store check` tells what is damaged",
            )
        publish(temporary, target)
    except OSError as error:
        raise Unavailable(f"{target} cannot be written ({error.strerror})", hint="choose another place") from error
    finally:
        temporary.unlink(missing_ok=True)


def _copy(database: Path, target: Path, busy_seconds: float) -> None:
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    connection = Connection(database, busy_seconds)
    try:
        connection.execute(_SQL["copy"], {"target": str(target)})
    except apsw.FullError as error:
        raise Unavailable(f"there is no space left in {target.parent}", hint="choose another place") from error
    except apsw.Error as error:
        raise translated(error) from error
    finally:
        connection.close()


def _problems(connection: Connection, derived: Path | None) -> Iterator[str]:
    for (finding,) in connection.execute(_SQL["damaged_pages"]):
        if finding != "ok":
            yield finding
    for table, count in connection.execute(_SQL["broken_references"]):
        yield f"{count} rows of {table} refer to something that is not there"
    if count := connection.value(_SQL["not_indexed"]):
        yield f"{count} memories are not in the text index"
    if count := connection.value(_SQL["indexed_in_vain"]):
        yield f"{count} entries of the text index have no memory"
    if count := connection.value(_SQL["without_vector"]):
        yield f"{count} memories have no vector"
    for counted, kept in connection.execute(_SQL["miscounted"]):
        yield f"there are {counted} memories, and {kept} are counted"
    if count := connection.value(_SQL["episodes_not_indexed"]):
        yield f"{count} complete episodes are not in the text index"
    if count := connection.value(_SQL["episodes_indexed_in_vain"]):
        yield f"{count} entries of the episodes' text index have no complete episode"
    if count := connection.value(_SQL["episodes_miscounted"]):
        yield f"{count} episodes have more or fewer steps than are counted"
    if derived is not None and derived.exists():
        from scrubjay.features.memory.index import MemoryIndex

        for model, vector_bytes in vector_kinds(connection):
            yield from MemoryIndex(derived, model, vector_bytes).problems(connection)
