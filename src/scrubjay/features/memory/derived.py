"""Memories that are made of other memories, and writes that keep their search data."""

from dataclasses import replace
from typing import Any

from scrubjay.features.memory.models import Derived, Memory, MemoryWrite

# A change that leaves the content as it is leaves what search needs of it as it is.
_UNCHANGED = Derived(passages=(), traits=0, vector=b"", model="")


def changed(memory: Memory, **fields: Any) -> MemoryWrite:
    """Return a write of these fields alone."""
    return MemoryWrite(memory=replace(memory, **fields), derived=_UNCHANGED, given=frozenset(fields), revises=memory.id)


def is_extracted(memory: Memory) -> bool:
    """Return True for a memory that only says what turns say."""
    return "method" in memory.provenance and "from" in memory.provenance


def sources_of(memory: Memory) -> set[str]:
    """Return the ids of the memories that this one is made of."""
    return {*memory.provenance.get("from", ())}
