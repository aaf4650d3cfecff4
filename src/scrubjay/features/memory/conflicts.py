"""Which of two memories about one subject is true, as far as it can be told."""

from enum import Enum, auto

from scrubjay.features.memory.models import Memory

# One that is less sure than the other by more than this does not take its place by being newer.
MUCH_LESS_SURE = 0.25


class Verdict(Enum):
    """What a new memory is to one that is there."""

    SAME = auto()
    """They say the same."""
    SUPERSEDES = auto()
    """What was there is true until the new one begins to be."""
    PRECEDES = auto()
    """The new one was true before, until the other began to be."""
    CONFLICTS = auto()
    """Nobody can tell."""


def judge(new: Memory, old: Memory) -> Verdict:
    """By when each began to be true, and by how sure each is."""
    if new.content == old.content:
        return Verdict.SAME
    if new.true_since > old.true_since:
        return Verdict.CONFLICTS if new.confidence < old.confidence - MUCH_LESS_SURE else Verdict.SUPERSEDES
    if new.true_since < old.true_since:
        return Verdict.CONFLICTS if old.confidence < new.confidence - MUCH_LESS_SURE else Verdict.PRECEDES
    return Verdict.CONFLICTS
