"""Resolution of conflicts between memories on one subject."""

from datetime import UTC, datetime, timedelta

import pytest

from scrubjay.core.scopes import Scope
from scrubjay.features.memory.conflicts import MemoryRelation, compare_memories
from scrubjay.features.memory.models import Memory

NOW = datetime(2026, 3, 1, tzinfo=UTC)
EARLIER, LATER = NOW - timedelta(days=1), NOW + timedelta(days=1)


def memory(content: str, since: datetime = NOW, confidence: float = 1.0) -> Memory:
    return Memory(
        id=f"mem_{content}",
        scope=Scope.GLOBAL,
        project_id=None,
        session_id=None,
        content=content,
        confidence=confidence,
        recorded_at=NOW,
        updated_at=NOW,
        valid_from=since,
    )


@pytest.mark.parametrize(
    ("since", "confidence", "verdict"),
    [
        (LATER, 1.0, MemoryRelation.SUPERSEDES),
        (LATER, 0.8, MemoryRelation.SUPERSEDES),
        (LATER, 0.7, MemoryRelation.CONFLICTS),
        (EARLIER, 1.0, MemoryRelation.PRECEDES),
        (EARLIER, 0.2, MemoryRelation.PRECEDES),
        (NOW, 1.0, MemoryRelation.CONFLICTS),
        (NOW, 0.1, MemoryRelation.CONFLICTS),
    ],
)
def test_the_later_memory_supersedes_unless_its_confidence_is_much_lower(
    since: datetime, confidence: float, verdict: MemoryRelation
) -> None:
    assert compare_memories(memory("new", since, confidence), memory("old")) is verdict


def test_an_earlier_memory_conflicts_with_a_later_one_of_much_lower_confidence() -> None:
    assert compare_memories(memory("new", EARLIER, 0.9), memory("old", NOW, 0.5)) is MemoryRelation.CONFLICTS


@pytest.mark.parametrize("since", [EARLIER, NOW, LATER])
def test_memories_with_equal_content_do_not_conflict(since: datetime) -> None:
    assert compare_memories(memory("same", since, 0.1), memory("same")) is MemoryRelation.SAME


def test_validity_starts_at_valid_from_else_occurred_at_else_recorded_at() -> None:
    timed = Memory(
        id="mem_1", scope=Scope.GLOBAL, project_id=None, session_id=None, content="x", recorded_at=NOW, updated_at=LATER
    )
    assert timed.true_since == NOW
