"""Writes imported memories into the memory tables or into staging tables of the same schema."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from scrubjay.core.scopes import Scope
from scrubjay.db.sqlite.columns import optional_microseconds
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.fts_terms import index_text
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.memory.link_rows import add_links
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.rows import memory_values
from scrubjay.features.memory.writes import SearchData
from scrubjay.features.transfer.models import TransferMemory

_SQL = load_queries(__file__)
_MEMORIES = load_queries(__file__, "../memory/queries")
_LINKS = load_queries(__file__, "../memory/link_queries")

# Prefix of ids of former versions of memories.
VERSION_PREFIX = "old_"

# Statements that write a memory into the live tables.
LIVE_STATEMENTS: Mapping[str, str] = {
    "lacks_successor": _SQL["lacks_successor"],
    "note_use": _SQL["note_use"],
    "keep_link": _LINKS["add"],
    # Brings no place for what has the id, or the key in the same audience, of another.
    "add": f"{_MEMORIES['add']} ON CONFLICT DO NOTHING RETURNING seq",
    "keep_vector": _MEMORIES["put_vector"],
    "index_terms": _MEMORIES["index_terms"],
}


@dataclass(frozen=True, slots=True)
class IncomingRow:
    """A memory's table values, except its audience."""

    memory: dict[str, Any]
    links: tuple[CodeLink, ...]
    terms: str
    vectors: tuple[tuple[str, bytes], ...]


def incoming_row(transfer: TransferMemory, derived: SearchData) -> IncomingRow:
    memory = memory_values(transfer.memory) | {
        "scope": transfer.memory.scope.value,
        "project_id": transfer.memory.project_id,
        "traits": derived.traits,
        "uses": transfer.uses,
        "used_at": optional_microseconds(transfer.used_at),
    }
    vectors = ((derived.model, derived.vector),)
    if derived.next_vector is not None:
        vectors += (derived.next_vector,)
    return IncomingRow(memory, transfer.memory.links, index_text(derived.passages), vectors)


def insert_rows(
    connection: Connection, rows: Iterable[IncomingRow], sql: Mapping[str, str] = LIVE_STATEMENTS
) -> Mapping[int, str]:
    """Insert the rows whose id and key are free; return the terms of each by row number."""
    audience_of: Callable[..., int] = cache(partial(_audience_of, connection))
    inserted: dict[int, IncomingRow] = {}
    for row in rows:
        memory = row.memory
        memory["audience_id"] = audience_of(memory["scope"], memory["project_id"], memory["session_id"])
        if memory["id"].startswith(VERSION_PREFIX) and connection.value(sql["lacks_successor"], memory):
            continue
        if (seq := connection.value(sql["add"], memory)) is None:
            continue
        if memory["uses"]:
            connection.execute(sql["note_use"], memory | {"seq": seq})
        add_links(connection, seq, row.links, sql["keep_link"])
        inserted[seq] = row
    for seq, row in inserted.items():
        for model, vector in row.vectors:
            connection.execute(sql["keep_vector"], {"seq": seq, "model": model, "vector": vector})
    # Last, because every statement with a savepoint makes the text index write a separate segment.
    for seq, row in inserted.items():
        connection.execute(sql["index_terms"], {"seq": seq, "terms": row.terms})
    return {seq: row.terms for seq, row in inserted.items()}


def is_rebuilding(connection: Connection) -> bool:
    """Return True while a new text index is being built."""
    return bool(connection.execute(_MEMORIES["rebuilt_to"]))


def _audience_of(connection: Connection, scope: str, project_id: str | None, session_id: str | None) -> int:
    values = {
        "scope": scope,
        "project_id": None if scope == Scope.GLOBAL else project_id,
        "session_id": session_id if scope == Scope.SESSION else None,
    }
    found = connection.value(_MEMORIES["find_audience"], values)
    return connection.value(_MEMORIES["add_audience"], values) if found is None else found
