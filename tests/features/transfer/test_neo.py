"""Import of Neo's backups: turns and summaries."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from scrubjay.core.ids import deterministic_id, last_id
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.transfer.neo import NeoBackup
from tests.features.transfer.files import NOW, lines, read_records

TURN: dict[str, Any] = {
    "id": "mem_2025-10-08T10:00:00.000Z",
    "embedding": [0.1, 0.2],
    "metadata": {
        "prompt": "How do we deploy?",
        "thought": "They use Fly.",
        "response": "With fly deploy.",
        "sessionId": "session-1",
        "timestamp": "2025-10-08T10:00:00.000Z",
        "type": "agent-interaction",
        "branch": "main",
    },
    "document": "User Prompt: How do we deploy?\nAgent Thought: They use Fly.\nAgent Response: With fly deploy.",
}
SUMMARY: dict[str, Any] = {
    "id": "summary_session-1",
    "embedding": None,
    "metadata": {
        "sessionId": "session-1",
        "timestamp": "2025-10-08T11:00:00.000Z",
        "title": "Deploying",
        "summary": "We deployed with Fly.",
        "category": "feature",
        "memoryCount": 4,
        "quality": 80,
        "productivity": 70,
        "impact": 60,
        "complexity": 20,
        "technologies": "fly.io, docker",
    },
    "document": "We deployed with Fly.",
}


def test_101_a_turn_keeps_its_parts_session_and_time() -> None:
    reader = NeoBackup(NOW)
    (record,) = read_records(reader, lines(TURN))
    memory = record.transfer.memory
    assert record.origin == "neo:mem_2025-10-08T10:00:00.000Z"
    assert (memory.kind, memory.content, memory.session_id) == (MemoryKind.TURN, TURN["document"], "session-1")
    assert memory.details == {
        "prompt": "How do we deploy?",
        "thought": "They use Fly.",
        "response": "With fly deploy.",
    }
    assert (memory.occurred_at, memory.recorded_at) == (datetime(2025, 10, 8, 10, tzinfo=UTC), NOW)
    assert memory.metadata == {"branch": "main"}
    assert memory.provenance == {"source": "neo", "origin": TURN["id"]}
    assert reader.complete_kinds() == {MemoryKind.TURN}


def test_101_a_summary_has_the_key_of_its_sessions_summary() -> None:
    reader = NeoBackup(NOW)
    (record,) = read_records(reader, lines(SUMMARY))
    memory = record.transfer.memory
    assert (memory.kind, memory.key, memory.category) == (MemoryKind.SUMMARY, "summary:session-1", "feature")
    assert memory.content == "Deploying\n\nWe deployed with Fly."
    assert memory.tags == ("summary-of-session", "fly.io", "docker")
    assert memory.details == {
        "level": 1,
        "sessionId": "session-1",
        "title": "Deploying",
        "summary": "We deployed with Fly.",
        "memoryCount": 4,
        "quality": 80,
        "productivity": 70,
        "impact": 60,
        "complexity": 20,
        "technologies": ["fly.io", "docker"],
        "method": "llm",
        "turns": 4,
        "through": last_id("mem", round(datetime(2025, 10, 8, 11, tzinfo=UTC).timestamp() * 1000)),
    }
    assert reader.complete_kinds() == {MemoryKind.SUMMARY}


def test_101_a_record_without_a_document_is_built_from_its_parts_and_one_without_text_is_counted() -> None:
    reader = NeoBackup(NOW)
    no_document = {**TURN, "document": None}
    no_text = {"id": "x", "metadata": {"sessionId": "s"}, "document": None}
    (record,) = read_records(reader, lines(no_document, no_text, {"id": "y"}))
    assert record.transfer.memory.content == TURN["document"]
    assert reader.ignored == Counter({"record without text": 1, "line that is neither turn nor summary": 1})


def test_101_a_summary_covers_the_turns_up_to_its_time() -> None:
    moment = 1_760_000_000_000
    assert (
        deterministic_id("mem", moment, "anything") <= last_id("mem", moment) < deterministic_id("mem", moment + 1, "")
    )
    assert (
        deterministic_id("mem", moment, "one")
        == deterministic_id("mem", moment, "one")
        != deterministic_id("mem", moment, "two")
    )


def test_101_the_text_of_a_summary_is_its_document_and_times_are_numbers() -> None:
    """Neo's own services write no text into the metadata."""
    reader = NeoBackup(NOW)
    metadata: dict[str, Any] = {**SUMMARY["metadata"], "timestamp": 1_759_921_200_000, "models": "gemini"}
    del metadata["summary"]
    plan = {"sessionId": "session-1", "timestamp": 1_759_921_200_000.5, "type": "implementation_plan"}
    turn = {**TURN["metadata"], "timestamp": 1_759_917_600_000}
    documents = (
        {**SUMMARY, "metadata": metadata},
        {"id": "plan_1", "embedding": [0.5], "metadata": plan, "document": "1. Write the Dockerfile."},
        {**TURN, "metadata": turn},
    )
    summary, planned, turn_memory = (one.transfer.memory for one in read_records(reader, lines(*documents)))
    assert (summary.kind, summary.content) == (MemoryKind.SUMMARY, "Deploying\n\nWe deployed with Fly.")
    assert (summary.details["summary"], summary.metadata) == ("We deployed with Fly.", {"models": "gemini"})
    assert summary.occurred_at == datetime(2025, 10, 8, 11, tzinfo=UTC)
    assert (planned.kind, planned.category, planned.content) == (
        MemoryKind.CONTEXT,
        "implementation_plan",
        "1. Write the Dockerfile.",
    )
    assert (turn_memory.kind, turn_memory.occurred_at) == (MemoryKind.TURN, datetime(2025, 10, 8, 10, tzinfo=UTC))
    assert (reader.complete_kinds(), reader.ignored) == ({MemoryKind.TURN, MemoryKind.SUMMARY}, Counter())
