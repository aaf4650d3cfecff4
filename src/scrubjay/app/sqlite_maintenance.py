"""Verify and copy a store."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from scrubjay.core.atomic_files import already_exists, publish
from scrubjay.core.errors import InvalidRequest, ScrubjayError, StoreUnusable, Unavailable
from scrubjay.core.lazy import lazy_module
from scrubjay.core.temporary_files import temporary_beside
from scrubjay.db.database import CheckReport
from scrubjay.db.sqlite.change_log import vector_kinds
from scrubjay.db.sqlite.checksums import COVERED_TABLES, DAMAGE
from scrubjay.db.sqlite.connections import Connection, in_snapshot, is_read_only_medium
from scrubjay.db.sqlite.damage import CheckedRow, DamagedTable
from scrubjay.db.sqlite.errors import translate_error, translated_errors
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.schema import newest_version

if TYPE_CHECKING:
    from scrubjay.features.memory import index as memory_index
else:
    memory_index = lazy_module("scrubjay.features.memory.index")  # imports numpy

_SQL = load_queries(__file__, "store_queries")

_CHECKED = ("pages and indexes", "rows", "references", "text index", "vectors", "counts", "derived files")

# Queries that count rows, and the finding if there are any.
_COUNTS = {
    _SQL["not_indexed"]: "memories are not in the text index",
    _SQL["orphaned_index_entries"]: "entries of the text index have no memory",
    _SQL["without_vector"]: "memories have no vector",
    _SQL["episodes_not_indexed"]: "complete episodes are not in the text index",
    _SQL["orphaned_episode_entries"]: "entries of the episodes' text index have no complete episode",
    _SQL["episodes_miscounted"]: "episodes have another number of steps than their stored count",
}


def check_store(database: Path, derived: Path | None, busy_seconds: float) -> CheckReport:
    """Verify one snapshot of the whole store. Whatever cannot be read is reported as a problem, not raised."""
    try:
        connection = Connection(database, busy_seconds, read_only=True, schema=newest_version())
        try:
            problems = in_snapshot(connection, lambda connection: list(_problems(connection, derived)))
        finally:
            connection.close()
    except apsw.Error as error:
        failure = translate_error(error)
        if isinstance(failure, ScrubjayError) and not isinstance(failure, StoreUnusable):
            raise failure from error
        problems = [str(failure)]
    return CheckReport(_CHECKED, problems)


def copy_store(database: Path, target: Path, busy_seconds: float) -> None:
    """Write a compact copy, verify it, and only then give it its name."""
    if not target.parent.is_dir():
        raise InvalidRequest(f"the folder {target.parent} does not exist", hint="create it first")
    if target.exists():
        raise already_exists(target)
    temporary = temporary_beside(target)
    try:
        copy_database(database, temporary, busy_seconds)
        report = check_store(temporary, None, busy_seconds)
        if report.problems:
            raise StoreUnusable(
                "the store is damaged, and so is the copy: " + "; ".join(report.problems[:3]),
                hint="`scrubjay store check` lists all damage",
            )
        publish(temporary, target)
    except OSError as error:
        raise Unavailable(f"cannot write {target} ({error.strerror})", hint="choose another path") from error
    finally:
        temporary.unlink(missing_ok=True)


def copy_database(database: Path, target: Path, busy_seconds: float) -> None:
    """Write a compact copy of a database to a new file, readable only by its owner."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    is_read_only = is_read_only_medium(database)
    with translated_errors():
        connection = Connection(database, busy_seconds, read_only=is_read_only)
    try:
        connection.pragma("query_only", 0)  # which would forbid to write the copy
        connection.execute(_SQL["copy"], {"target": str(target)})
    except apsw.FullError as error:
        raise Unavailable(f"no space left in {target.parent}", hint="choose another path") from error
    except apsw.Error as error:
        raise translate_error(error) from error
    finally:
        connection.close()


def _problems(connection: Connection, derived: Path | None) -> Iterator[str]:
    checks: Sequence[tuple[str, Callable[[], Iterator[str]]]] = [
        ("pages and indexes", lambda: _damaged_pages(connection)),
        ("rows", lambda: _damaged_rows(connection)),
        ("references and counts", lambda: _inconsistencies(connection)),
        ("derived files", lambda: _derived_problems(connection, derived)),
    ]
    for name, check in checks:
        try:
            yield from check()
        except (*DAMAGE, apsw.Error) as error:
            yield f"the {name} could not be checked to the end ({error})"


def _damaged_pages(connection: Connection) -> Iterator[str]:
    for (finding,) in connection.stream(_SQL["damaged_pages"]):
        if finding != "ok":
            yield finding


def _damaged_rows(connection: Connection) -> Iterator[str]:
    for table in COVERED_TABLES:
        for row in DamagedTable(connection, table).rows():
            if row.problem is not None:
                yield describe_row(table, row)


def describe_row(table: str, row: CheckedRow) -> str:
    """Return what is wrong with a row, with its table and its id."""
    key = ", ".join(map(str, row.key))
    return f"{table} {row.id} (row {key}): {row.problem}" if row.id else f"{table} row {key}: {row.problem}"


def _inconsistencies(connection: Connection) -> Iterator[str]:
    for table, count in connection.execute(_SQL["broken_references"]):
        yield f"{count} rows of {table} refer to rows that do not exist"
    for query, finding in _COUNTS.items():
        if count := connection.value(query):
            yield f"{count} {finding}"
    for counted, kept in connection.execute(_SQL["miscounted"]):
        yield f"there are {counted} memories, but the stored count is {kept}"


def _derived_problems(connection: Connection, derived: Path | None) -> Iterator[str]:
    if derived is not None and derived.exists():
        for model, vector_bytes in vector_kinds(connection):
            yield from memory_index.MemoryIndex(derived, model, vector_bytes).problems(connection)
