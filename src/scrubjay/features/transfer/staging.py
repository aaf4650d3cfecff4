"""Memories that wait in tables of their own, where nobody sees them, until these tables take the place of others.

What takes long is done before and after, in short transactions: filling the new tables, and clearing the old ones away.
The exchange itself renames tables, however much is in them. What a kill leaves half done is known by its name:
`coming_` is what waits, `gone_` what had its place taken.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from scrubjay.core.errors import Conflict
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import json_text, json_value
from scrubjay.features.memory.models import Kind
from scrubjay.features.memory.quota_rows import refuse_growth_beyond
from scrubjay.features.transfer.import_rows import IN_USE, IncomingRow, keep, rebuilds

_SQL = load_queries(__file__, "staging_queries")
_MEMORIES = load_queries(__file__, "../memory/queries")

COMING, GONE = "coming_", "gone_"
# Those that refer to others come before these, because so they have to go.
TABLES = ("memory_terms", "memory_vector", "memory_use", "memory_link", "client_memories", "memory")
_TABLE = re.compile(rf'"?\b({"|".join(TABLES)})\b"?')


@dataclass(frozen=True, slots=True)
class Exchanged:
    """What an exchange came to."""

    imported: int
    skipped: int
    """How many gave way to what stays."""
    erased: int


def _coming(sql: str) -> str:
    """The same for the tables where memories wait."""
    return _TABLE.sub(COMING + r"\1", sql)


_WAITING = {name: _coming(sql) for name, sql in IN_USE.items()}


def stage(connection: Connection, import_id: str, rows: Iterable[IncomingRow]) -> int:
    """Let these wait; how many found their id and key free among those that do."""
    _ensure_stage(connection, import_id)
    # So no two memories ever have one place, whatever is written meanwhile, and what waits stands behind what is there.
    connection.execute(_SQL["even_out_places"])
    kept = keep(connection, rows, _WAITING)
    connection.execute(_SQL["even_out_places"])
    return len(kept)


def fits(connection: Connection, import_id: str) -> bool:
    """Whether what waits of this import, if anything does, is in tables like those in use."""
    owner = _owner(connection)
    return owner["import_id"] != import_id or owner["schema"] == connection.pragma("user_version")


def abandon(connection: Connection, import_id: str) -> None:
    """What waits of this import is not wanted any more."""
    if _owner(connection)["import_id"] == import_id:
        connection.execute(_SQL["forget_owner"])


def exchange(connection: Connection, import_id: str, kinds: Collection[Kind], most: int) -> Exchanged:
    """Let what waits take the place of all memories of these kinds. Those of other kinds stay.

    `most` is how many memories a client may keep; 0 for as many as it likes.
    """
    _ensure_stage(connection, import_id)
    values = {"kinds": json_text(sorted(kinds))}
    staged = connection.value(_SQL["count_coming"])
    [(erased, stays)] = connection.execute(_SQL["census"], values)
    if stays:
        _bring_what_stays(connection, values)
    imported = connection.value(_SQL["count_coming"]) - stays
    if most:
        refuse_growth_beyond(connection, most)
    connection.execute(_SQL["forget_calls"], values)
    connection.execute(_SQL["forget_told"], values)
    connection.execute(_SQL["forget_jobs"], values)
    connection.execute(_SQL["forget_told_by_jobs"], values)
    connection.execute(_SQL["forget_items"], values)
    connection.execute(_SQL["even_out_places"])
    _rename(connection)
    connection.execute(_SQL["count_anew"])
    connection.execute(_SQL["forget_owner"])
    if rebuilds(connection):
        connection.execute(_SQL["erase_terms_next"])
        connection.execute(_SQL["index_terms_next"])
    connection.execute(_MEMORIES["forget_changes"])
    connection.execute(_MEMORIES["note_great_change"])
    return Exchanged(imported, staged - imported, erased)


def clear_away(connection: Connection, import_id: str) -> bool:
    """Take one short step towards a store without what imports left, but for what waits of this one; False for none."""
    for name in _left_over(connection, import_id):
        connection.execute(f"DROP TABLE {name}")
        return True
    for name, sql in connection.execute(_SQL["misnamed_indexes"]):
        connection.execute(f"DROP INDEX {name}")
        connection.execute(sql.replace(name, name.removeprefix(COMING), 1))
        return True
    return False


def _left_over(connection: Connection, import_id: str) -> Iterator[str]:
    """The tables that nobody needs any more, in an order in which they can go."""
    there = {name for (name,) in connection.execute(_SQL["tables"])}
    yield from (name for table in TABLES if (name := GONE + table) in there)
    owner = _owner(connection)["import_id"]
    if owner != import_id and not connection.execute(_SQL["is_under_way"], {"import_id": owner}):
        yield from (name for table in TABLES if (name := COMING + table) in there)


def _ensure_stage(connection: Connection, import_id: str) -> None:
    owner = _owner(connection)["import_id"]
    if owner == import_id:
        return
    if owner is not None and connection.execute(_SQL["is_under_way"], {"import_id": owner}):
        raise Conflict(
            "another import is about to take the place of all memories",
            hint="wait until it has ended, or cancel it",
            details={"job_id": owner},
        )
    while clear_away(connection, import_id):
        pass
    for name, sql in connection.execute(_SQL["definitions"]):
        connection.execute(re.sub(rf"\b(INDEX|TRIGGER) {name}\b", rf"\1 {COMING}{name}", _coming(sql), count=1))
    connection.execute(_SQL["configure_coming"])
    connection.execute(_SQL["begin_places"])
    told = json_text({"import_id": import_id, "schema": connection.pragma("user_version")})
    connection.execute(_SQL["note_owner"], {"owner": told})


def _owner(connection: Connection) -> dict[str, Any]:
    """Whose memories wait, and in tables of which schema; None for nobody."""
    known = connection.value(_SQL["owner"])
    return {"import_id": None, "schema": None} if known is None else json_value(known)


def _bring_what_stays(connection: Connection, values: dict[str, Any]) -> None:
    """Copy what is of other kinds to what waits. Whatever waits and has its id or key gives way."""
    in_the_way = connection.execute(_SQL["in_the_way"], values)
    _drop(connection, in_the_way)
    if in_the_way:
        _drop(connection, connection.execute(_SQL["without_successor"], values))
    for bring in (_SQL["bring_memories"], _SQL["bring_vectors"], _SQL["bring_uses"], _SQL["bring_links"]):
        connection.execute(bring, values)
    connection.execute(_SQL["bring_terms"], values)


def _drop(connection: Connection, places: Iterable[tuple[int]]) -> None:
    for (seq,) in places:
        connection.execute(_SQL["drop_coming"], {"seq": seq})
        connection.execute(_SQL["drop_coming_terms"], {"seq": seq})


def _rename(connection: Connection) -> None:
    # A trigger would follow the tables that it speaks of to their new names; so all are made anew.
    triggers = connection.execute(_SQL["triggers"])
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for before, after in (("", GONE), (COMING, "")):
        for table in TABLES:
            connection.execute(f"ALTER TABLE {before}{table} RENAME TO {after}{table}")
    for name, sql in triggers:
        if not name.startswith(COMING):
            connection.execute(sql)
