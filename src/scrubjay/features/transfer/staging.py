"""Staging tables for imports that replace all memories.

Slow work happens before and after the swap in short transactions: filling the staging tables, dropping the old ones.
The swap only renames tables, independent of their size. After a crash, leftovers are recognised by their prefix:
`coming_` for staged tables, `gone_` for replaced ones.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from scrubjay.core.errors import Conflict
from scrubjay.db.sqlite.columns import json_text, json_value
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.memory.quota_rows import enforce_quota_on_growth
from scrubjay.features.transfer.import_rows import LIVE_STATEMENTS, IncomingRow, insert_rows, is_rebuilding

_SQL = load_queries(__file__, "staging_queries")
_MEMORIES = load_queries(__file__, "../memory/queries")

STAGED_PREFIX, REPLACED_PREFIX = "coming_", "gone_"
# Referencing tables before referenced ones: the order in which they can be dropped.
TABLES = ("memory_terms", "memory_vector", "memory_use", "memory_link", "client_memories", "memory")
_TABLE = re.compile(rf'"?\b({"|".join(TABLES)})\b"?')


@dataclass(frozen=True, slots=True)
class ReplaceResult:
    """Counts of a replacement."""

    imported: int
    skipped: int
    """Staged memories dropped because a remaining one has the same id or key."""
    erased: int


def _for_staging(sql: str) -> str:
    """Rewrite the statement for the staging tables."""
    return _TABLE.sub(STAGED_PREFIX + r"\1", sql)


_STAGING_STATEMENTS = {name: _for_staging(sql) for name, sql in LIVE_STATEMENTS.items()}


def stage(connection: Connection, import_id: str, rows: Iterable[IncomingRow]) -> int:
    """Stage these rows; return how many had a free id and key among the staged ones."""
    _ensure_stage(connection, import_id)
    # Row numbers stay unique across live and staged tables despite concurrent writes; staged ones sort last.
    connection.execute(_SQL["align_sequences"])
    inserted = insert_rows(connection, rows, _STAGING_STATEMENTS)
    connection.execute(_SQL["align_sequences"])
    return len(inserted)


def has_current_schema(connection: Connection, import_id: str) -> bool:
    """Return True unless this import's staging tables have an outdated schema."""
    owner = _owner(connection)
    return owner["import_id"] != import_id or owner["schema"] == connection.pragma("user_version")


def abandon(connection: Connection, import_id: str) -> None:
    """Discard what this import has staged."""
    if _owner(connection)["import_id"] == import_id:
        connection.execute(_SQL["forget_owner"])


def replace_live(connection: Connection, import_id: str, kinds: Collection[MemoryKind], most: int) -> ReplaceResult:
    """Replace all memories of these kinds by the staged ones. Memories of other kinds remain.

    `most` is the maximum number of memories per client; 0 means no limit.
    """
    _ensure_stage(connection, import_id)
    values = {"kinds": json_text(sorted(kinds))}
    staged = connection.value(_SQL["count_coming"])
    [(erased, stays)] = connection.execute(_SQL["census"], values)
    if stays:
        _copy_remaining(connection, values)
    imported = connection.value(_SQL["count_coming"]) - stays
    if most:
        enforce_quota_on_growth(connection, most)
    connection.execute(_SQL["forget_calls"], values)
    connection.execute(_SQL["forget_mentions"], values)
    connection.execute(_SQL["forget_jobs"], values)
    connection.execute(_SQL["forget_job_mentions"], values)
    connection.execute(_SQL["forget_items"], values)
    connection.execute(_SQL["align_sequences"])
    _rename(connection)
    connection.execute(_SQL["update_count"])
    connection.execute(_SQL["forget_owner"])
    if is_rebuilding(connection):
        connection.execute(_SQL["erase_terms_next"])
        connection.execute(_SQL["index_terms_next"])
    connection.execute(_MEMORIES["truncate_change_log"])
    connection.execute(_MEMORIES["restart_change_log"])
    return ReplaceResult(imported, staged - imported, erased)


def drop_one_leftover(connection: Connection, import_id: str) -> bool:
    """Drop one leftover table or index of other imports; return False if none is left."""
    for name in _leftover_tables(connection, import_id):
        connection.execute(f"DROP TABLE {name}")
        return True
    for name, sql in connection.execute(_SQL["misnamed_indexes"]):
        connection.execute(f"DROP INDEX {name}")
        connection.execute(sql.replace(name, name.removeprefix(STAGED_PREFIX), 1))
        return True
    return False


def _leftover_tables(connection: Connection, import_id: str) -> Iterator[str]:
    """Yield unneeded tables in an order in which they can be dropped."""
    there = {name for (name,) in connection.execute(_SQL["tables"])}
    yield from (name for table in TABLES if (name := REPLACED_PREFIX + table) in there)
    owner = _owner(connection)["import_id"]
    if owner != import_id and not connection.execute(_SQL["is_under_way"], {"import_id": owner}):
        yield from (name for table in TABLES if (name := STAGED_PREFIX + table) in there)


def _ensure_stage(connection: Connection, import_id: str) -> None:
    owner = _owner(connection)["import_id"]
    if owner == import_id:
        return
    if owner is not None and connection.execute(_SQL["is_under_way"], {"import_id": owner}):
        raise Conflict(
            "another import that replaces all memories is running",
            hint="wait until it has ended, or cancel its job",
            details={"job_id": owner},
        )
    while drop_one_leftover(connection, import_id):
        pass
    for name, sql in connection.execute(_SQL["definitions"]):
        connection.execute(
            re.sub(rf"\b(INDEX|TRIGGER) {name}\b", rf"\1 {STAGED_PREFIX}{name}", _for_staging(sql), count=1)
        )
    connection.execute(_SQL["configure_coming"])
    connection.execute(_SQL["begin_sequences"])
    owner = json_text({"import_id": import_id, "schema": connection.pragma("user_version")})
    connection.execute(_SQL["note_owner"], {"owner": owner})


def _owner(connection: Connection) -> dict[str, Any]:
    """Return import id and schema version of the staging tables; None values if there are none."""
    known = connection.value(_SQL["owner"])
    return {"import_id": None, "schema": None} if known is None else json_value(known)


def _copy_remaining(connection: Connection, values: dict[str, Any]) -> None:
    """Copy memories of other kinds to the staging tables; staged ones with the same id or key are dropped."""
    in_the_way = connection.execute(_SQL["in_the_way"], values)
    _drop(connection, in_the_way)
    if in_the_way:
        _drop(connection, connection.execute(_SQL["without_successor"], values))
    for bring in (_SQL["copy_memories"], _SQL["copy_vectors"], _SQL["copy_uses"], _SQL["copy_links"]):
        connection.execute(bring, values)
    connection.execute(_SQL["copy_terms"], values)


def _drop(connection: Connection, places: Iterable[tuple[int]]) -> None:
    for (seq,) in places:
        connection.execute(_SQL["drop_coming"], {"seq": seq})
        connection.execute(_SQL["drop_coming_terms"], {"seq": seq})


def _rename(connection: Connection) -> None:
    # Renaming a table also rewrites triggers that refer to it, so all triggers are dropped and created again.
    triggers = connection.execute(_SQL["triggers"])
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for before, after in (("", REPLACED_PREFIX), (STAGED_PREFIX, "")):
        for table in TABLES:
            connection.execute(f"ALTER TABLE {before}{table} RENAME TO {after}{table}")
    for name, sql in triggers:
        if not name.startswith(STAGED_PREFIX):
            connection.execute(sql)
