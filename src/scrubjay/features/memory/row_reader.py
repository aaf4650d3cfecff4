"""Reading of memories by row number, without those whose rows are damaged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from scrubjay.db.damage_report import report_damage
from scrubjay.db.sqlite.checksums import UNREADABLE, DamagedRow
from scrubjay.db.sqlite.columns import json_text
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.damage import DamagedTable
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.memory.link_rows import with_links
from scrubjay.features.memory.models import Memory, MemoryPage
from scrubjay.features.memory.rows import memory_from

_SQL = load_queries(__file__)

# Damaged audiences, by the connection that found them. Every connection looks once, because it has to read them all.
_damaged_audiences: WeakKeyDictionary[Connection, Sequence[int]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class RowsRead:
    """The intact memories among the requested rows."""

    memories: Mapping[int, Memory]
    """By row number, in the order requested."""
    damaged: int
    """Number of requested rows that are damaged or unreadable."""

    def undamaged(self) -> Sequence[Memory]:
        """Return the memories; raise `DamagedRow` if rows were found and all are damaged."""
        if self.damaged and not self.memories:
            raise DamagedRow("memory")
        return [*self.memories.values()]


def read_memories(
    connection: Connection, values: Mapping[str, Any], seqs: Sequence[int], *, links: bool = False
) -> RowsRead:
    """Read the memories in these rows of the current snapshot, with their links to code if `links`.

    `values` include those of the visibility; rows that are not visible count as damaged.
    """
    _report_damaged_audiences(connection)
    if not seqs:
        return RowsRead({}, 0)
    try:
        rows = connection.execute(_SQL["by_seqs"], {**values, "seqs": json_text(list(seqs))})
    except UNREADABLE:
        rows = [row for seq in seqs for row in _read_alone(connection, values, seq)]
    read: dict[int, Memory] = {}
    is_linked = False
    for linked, *row in rows:
        try:
            read[row[0]] = memory_from(row)
        except DamagedRow:
            continue
        is_linked |= bool(linked)
    memories = {seq: read[seq] for seq in seqs if seq in read}
    damaged = [seq for seq in seqs if seq not in read]
    for seq in damaged:
        report_damage("memory", seq)
    return RowsRead(with_links(connection, memories) if links and is_linked else memories, len(damaged))


def page_row_by_row(
    connection: Connection, values: Mapping[str, Any], *, newest_first: bool, by_time: bool = True
) -> MemoryPage:
    """Return a page of memories of a store with damaged pages, which a query over all rows cannot read.

    `values` are those of the query for the page. Without `by_time` the order is that of the rows.
    """
    damaged, listed = 0, list[tuple[int, int]]()
    for row in DamagedTable(connection, "memory").rows():
        seq: int = row.key[0]
        if row.problem is not None:
            damaged += 1
            report_damage("memory", seq)
        elif found := connection.execute(_SQL["sorted_alone"], {**values, "seq": seq}):
            listed.append((found[0][0] if by_time else 0, seq))
    listed.sort(reverse=newest_first)
    chosen = [seq for _, seq in listed[values["offset"] :][: values["limit"]]]
    read = read_memories(connection, values, chosen)
    return MemoryPage(len(listed), [*read.memories.values()], damaged + read.damaged)


def _report_damaged_audiences(connection: Connection) -> None:
    """Report the audiences whose memories no query finds, because every column of an audience decides who it is."""
    if connection not in _damaged_audiences:
        try:
            _damaged_audiences[connection] = [seq for (seq,) in connection.execute(_SQL["damaged_audiences"])]
        except UNREADABLE:
            _damaged_audiences[connection] = [0]
    for audience in _damaged_audiences[connection]:
        report_damage("audience", audience)


def _read_alone(connection: Connection, values: Mapping[str, Any], seq: int) -> Sequence[Any]:
    """Return the row with this number, in a list; an empty list if it cannot be read."""
    try:
        return connection.execute(_SQL["by_seqs"], {**values, "seqs": json_text([seq])})
    except UNREADABLE:
        return []
