"""Read and write the links between memories and code, inside an open transaction."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import json_text, microseconds, moment
from scrubjay.features.memory.links import CodeLink, CodeState, LinkOrigin
from scrubjay.features.memory.models import Memory

_SQL = load_queries(__file__, "link_queries")


def with_links(connection: Connection, found: Mapping[int, Memory]) -> dict[int, Memory]:
    """The memories at these places with what ties them to code."""
    links = links_of(connection, found)
    return {seq: replace(memory, links=links[seq]) if seq in links else memory for seq, memory in found.items()}


def links_of(connection: Connection, seqs: Iterable[int]) -> Mapping[int, tuple[CodeLink, ...]]:
    """The links of the memories at these places; those that have none are not here."""
    found: dict[int, list[CodeLink]] = defaultdict(list)
    for seq, *row in connection.execute(_SQL["of_places"], {"seqs": json_text([*seqs])}):
        found[seq].append(link_from(row))
    return {seq: tuple(links) for seq, links in found.items()}


def keep_links(connection: Connection, seq: int, links: Iterable[CodeLink]) -> None:
    """Let the memory at this place have these links, and no others."""
    connection.execute(_SQL["drop"], {"seq": seq})
    add_links(connection, seq, links)


def add_links(connection: Connection, seq: int, links: Iterable[CodeLink], sql: str = _SQL["keep"]) -> None:
    for link in links:
        connection.execute(sql, _values(link) | {"seq": seq})


def copy_links(connection: Connection, seq: int, copy: int) -> None:
    connection.execute(_SQL["copy"], {"seq": seq, "copy": copy})


def link_from(row: Sequence[Any]) -> CodeLink:
    """The link in a row of the query fragment `columns` in `links.sql`."""
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
