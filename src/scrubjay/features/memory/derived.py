"""Memories that were made from other memories, and writes that keep their search data."""

from dataclasses import replace
from typing import Any

from scrubjay.features.memory.models import Memory
from scrubjay.features.memory.writes import MemoryWrite, SearchData

# A write without new content does not change the stored search data, so this is never read.
_UNCHANGED_SEARCH_DATA = SearchData(passages=(), traits=0, vector=b"", model="")


def update_fields(memory: Memory, **fields: Any) -> MemoryWrite:
    """Return a write that changes only these fields."""
    return MemoryWrite(
        memory=replace(memory, **fields), derived=_UNCHANGED_SEARCH_DATA, given=frozenset(fields), revises=memory.id
    )


def is_extracted(memory: Memory) -> bool:
    """Return True if the memory was extracted from turns."""
    return "method" in memory.provenance and "from" in memory.provenance


def get_source_ids(memory: Memory) -> set[str]:
    """Return the ids of the memories that this one was made from."""
    return {*memory.provenance.get("from", ())}
