"""Rows of the links between memories and code, read and written in an open transaction."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scrubjay.db.damage_report import report_damage
from scrubjay.db.sqlite.checksums import UNREADABLE
from scrubjay.db.sqlite.columns import json_text, microseconds, moment
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.memory.links import CodeLink, CodeState, LinkOrigin
from scrubjay.features.memory.models import Memory

logger = logging.getLogger("scrubjay.db")

_SQL = load_queries(__file__, "link_queries")


def with_links(connection: Connection, found: Mapping[int, Memory]) -> dict[int, Memory]:
    """Return these memories, by row number, with their links."""
    links = read_links(connection, found)
    return {seq: replace(memory, links=links[seq]) if seq in links else memory for seq, memory in found.items()}


def read_links(connection: Connection, seqs: Iterable[int]) -> Mapping[int, tuple[CodeLink, ...]]:
    """Return the links by row number of the memory; a memory without intact links has no entry."""
    found: dict[int, list[CodeLink]] = defaultdict(list)
    try:
        rows = connection.execute(_SQL["of_memories"], {"seqs": json_text([*seqs])})
    except UNREADABLE as error:
        report_damage("memory_link", "unreadable")
        logger.warning("links to code cannot be read; the store is damaged", extra={"reason": str(error)})
        return {}
    for seq, *row in rows:
        found[seq].append(link_from(row))
    return {seq: tuple(links) for seq, links in found.items()}


def replace_links(connection: Connection, seq: int, links: Iterable[CodeLink]) -> None:
    """Replace all links of the memory in this row."""
    connection.execute(_SQL["delete"], {"seq": seq})
    add_links(connection, seq, links)


def add_links(connection: Connection, seq: int, links: Iterable[CodeLink], sql: str = _SQL["add"]) -> None:
    for link in links:
        connection.execute(sql, _values(link) | {"seq": seq})


def copy_links(connection: Connection, seq: int, copy: int) -> None:
    connection.execute(_SQL["copy"], {"seq": seq, "copy": copy})


def link_from(row: Sequence[Any]) -> CodeLink:
    """Return the link in a row with the query fragment `columns` of `link_queries.sql`."""
    root, name, origin, path, symbol, blob, digest, commit, first_line, last_line, linked_at, text = row
    code = None
    if path is not None:
        code = CodeState(
            path=path,
            symbol=symbol,
            blob=blob,
            digest=digest,
            commit=commit,
            first_line=first_line,
            last_line=last_line,
            text=text,
        )
    return CodeLink(root=root, name=name, origin=LinkOrigin(origin), code=code, linked_at=moment(linked_at))


def _values(link: CodeLink) -> dict[str, Any]:
    code = link.code
    return {
        "root": link.root,
        "name": link.name,
        "origin": link.origin,
        "path": code and code.path,
        "symbol": code and code.symbol,
        "blob": code and code.blob,
        "digest": code and code.digest,
        "commit_id": code and code.commit,
        "first_line": code and code.first_line,
        "last_line": code and code.last_line,
        "linked_at": microseconds(link.linked_at),
        "text": code and code.text,
    }
