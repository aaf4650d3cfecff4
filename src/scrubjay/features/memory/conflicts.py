"""Comparison of two memories about one subject: which one is valid."""

from enum import Enum, auto

from scrubjay.features.memory.models import Memory

# A newer memory does not supersede an older one if its confidence is lower by more than this.
MAX_CONFIDENCE_GAP = 0.25


class MemoryRelation(Enum):
    """Relation of a new memory to a stored one."""

    SAME = auto()
    """Both have the same content."""
    SUPERSEDES = auto()
    """The stored memory is valid until the new one starts."""
    PRECEDES = auto()
    """The new memory is valid until the stored one starts."""
    CONFLICTS = auto()
    """It is unclear which one is valid."""


def compare_memories(new: Memory, old: Memory) -> MemoryRelation:
    """Compare two memories by start of validity and confidence."""
    if new.content == old.content:
        return MemoryRelation.SAME
    if new.true_since > old.true_since:
        return (
            MemoryRelation.CONFLICTS
            if new.confidence < old.confidence - MAX_CONFIDENCE_GAP
            else MemoryRelation.SUPERSEDES
        )
    if new.true_since < old.true_since:
        return (
            MemoryRelation.CONFLICTS
            if old.confidence < new.confidence - MAX_CONFIDENCE_GAP
            else MemoryRelation.PRECEDES
        )
    return MemoryRelation.CONFLICTS
