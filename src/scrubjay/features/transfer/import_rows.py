"""How memories that come from elsewhere are written into their tables, or into tables just like these."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from scrubjay.core.scopes import Scope
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.fts_terms import indexed
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import optional_microseconds
from scrubjay.features.memory.link_rows import add_links
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.models import Derived
from scrubjay.features.memory.rows import memory_values
from scrubjay.features.transfer.models import Moved

_SQL = load_queries(__file__)
_MEMORIES = load_queries(__file__, "../memory/queries")
_LINKS = load_queries(__file__, "../memory/link_queries")

# What the ids of what memories were before begin with.
VERSION = "old_"

# What writes a memory into the tables in use.
IN_USE: Mapping[str, str] = {
    "lacks_successor": _SQL["lacks_successor"],
    "note_use": _SQL["note_use"],
    "keep_link": _LINKS["keep"],
    # Brings no place for what has the id, or the key in the same audience, of another.
    "add": f"{_MEMORIES['add']} ON CONFLICT DO NOTHING RETURNING seq",
    "keep_vector": _MEMORIES["keep_vector"],
    "index_terms": _MEMORIES["index_terms"],
}


@dataclass(frozen=True, slots=True)
class IncomingRow:
    """A memory as its tables take it, except its audience."""

    memory: dict[str, Any]
    links: tuple[CodeLink, ...]
    terms: str
    vectors: tuple[tuple[str, bytes], ...]


def incoming_row(moved: Moved, derived: Derived) -> IncomingRow:
    memory = memory_values(moved.memory) | {
        "scope": moved.memory.scope.value,
        "project_id": moved.memory.project_id,
        "traits": derived.traits,
        "uses": moved.uses,
        "used_at": optional_microseconds(moved.used_at),
    }
    vectors = ((derived.model, derived.vector),)
    if derived.vector_to_come is not None:
        vectors += (derived.vector_to_come,)
    return IncomingRow(memory, moved.memory.links, indexed(derived.passages), vectors)


def keep(connection: Connection, rows: Iterable[IncomingRow], sql: Mapping[str, str] = IN_USE) -> Mapping[int, str]:
    """Keep those whose id and key are free; their places, and the terms of each."""
    audience_of: Callable[..., int] = cache(partial(_audience_of, connection))
    kept: dict[int, IncomingRow] = {}
    for row in rows:
        memory = row.memory
        memory["audience_id"] = audience_of(memory["scope"], memory["project_id"], memory["session_id"])
        if memory["id"].startswith(VERSION) and connection.value(sql["lacks_successor"], memory):
            continue
        if (seq := connection.value(sql["add"], memory)) is None:
            continue
        if memory["uses"]:
            connection.execute(sql["note_use"], memory | {"seq": seq})
        add_links(connection, seq, row.links, sql["keep_link"])
        kept[seq] = row
    for seq, row in kept.items():
        for model, vector in row.vectors:
            connection.execute(sql["keep_vector"], {"seq": seq, "model": model, "vector": vector})
    # Last, because each statement that could be undone by itself makes the text index write a segment of its own.
    for seq, row in kept.items():
        connection.execute(sql["index_terms"], {"seq": seq, "terms": row.terms})
    return {seq: row.terms for seq, row in kept.items()}


def rebuilds(connection: Connection) -> bool:
    """Whether a text index is being made that will take the place of the one in use."""
    return bool(connection.execute(_MEMORIES["rebuilt_to"]))


def _audience_of(connection: Connection, scope: str, project_id: str | None, session_id: str | None) -> int:
    values = {
        "scope": scope,
        "project_id": None if scope == Scope.GLOBAL else project_id,
        "session_id": session_id if scope == Scope.SESSION else None,
    }
    found = connection.value(_MEMORIES["find_audience"], values)
    return connection.value(_MEMORIES["add_audience"], values) if found is None else found
