"""Neo's backups: turns and summaries."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from scrubjay.core.ids import last_id, settled_id
from scrubjay.features.memory.models import Kind
from scrubjay.features.transfer.neo import NeoBackup
from tests.features.transfer.files import NOW, arrivals, lines

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


def test_101_a_turn_keeps_its_parts_its_session_and_its_time() -> None:
    reading = NeoBackup(NOW)
    (arrival,) = arrivals(reading, lines(TURN))
    memory = arrival.moved.memory
    assert arrival.origin == "neo:mem_2025-10-08T10:00:00.000Z"
    assert (memory.kind, memory.content, memory.session_id) == (Kind.TURN, TURN["document"], "session-1")
    assert memory.details == {
        "prompt": "How do we deploy?",
        "thought": "They use Fly.",
        "response": "With fly deploy.",
    }
    assert (memory.occurred_at, memory.recorded_at) == (datetime(2025, 10, 8, 10, tzinfo=UTC), NOW)
    assert memory.metadata == {"branch": "main"}
    assert memory.provenance == {"source": "neo", "origin": TURN["id"]}
    assert reading.holds() == {Kind.TURN}


def test_101_a_summary_is_one_of_its_session_under_the_key_of_summaries() -> None:
    reading = NeoBackup(NOW)
    (arrival,) = arrivals(reading, lines(SUMMARY))
    memory = arrival.moved.memory
    assert (memory.kind, memory.key, memory.category) == (Kind.SUMMARY, "summary:session-1", "feature")
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
    assert reading.holds() == {Kind.SUMMARY}


def test_101_a_record_without_a_document_is_made_of_its_parts_and_one_without_text_is_counted() -> None:
    reading = NeoBackup(NOW)
    no_document = {**TURN, "document": None}
    nothing = {"id": "x", "metadata": {"sessionId": "s"}, "document": None}
    (arrival,) = arrivals(reading, lines(no_document, nothing, {"id": "y"}))
    assert arrival.moved.memory.content == TURN["document"]
    assert reading.left_out == Counter({"record without text": 1, "line that is neither turn nor summary": 1})


def test_101_a_summary_is_made_of_the_turns_up_to_its_time_and_of_no_later_one() -> None:
    moment = 1_760_000_000_000
    assert settled_id("mem", moment, "anything") <= last_id("mem", moment) < settled_id("mem", moment + 1, "")
    assert settled_id("mem", moment, "one") == settled_id("mem", moment, "one") != settled_id("mem", moment, "two")


def test_101_the_text_of_a_summary_is_its_document_and_times_are_numbers() -> None:
    """As Neo's own services write it: nothing of the text is in the metadata."""
    reading = NeoBackup(NOW)
    metadata: dict[str, Any] = {**SUMMARY["metadata"], "timestamp": 1_759_921_200_000, "models": "gemini"}
    del metadata["summary"]
    plan = {"sessionId": "session-1", "timestamp": 1_759_921_200_000.5, "type": "implementation_plan"}
    turn = {**TURN["metadata"], "timestamp": 1_759_917_600_000}
    documents = (
        {**SUMMARY, "metadata": metadata},
        {"id": "plan_1", "embedding": [0.5], "metadata": plan, "document": "1. Write the Dockerfile."},
        {**TURN, "metadata": turn},
    )
    summary, planned, said = (one.moved.memory for one in arrivals(reading, lines(*documents)))
    assert (summary.kind, summary.content) == (Kind.SUMMARY, "Deploying\n\nWe deployed with Fly.")
    assert (summary.details["summary"], summary.metadata) == ("We deployed with Fly.", {"models": "gemini"})
    assert summary.occurred_at == datetime(2025, 10, 8, 11, tzinfo=UTC)
    assert (planned.kind, planned.category, planned.content) == (
        Kind.CONTEXT,
        "implementation_plan",
        "1. Write the Dockerfile.",
    )
    assert (said.kind, said.occurred_at) == (Kind.TURN, datetime(2025, 10, 8, 10, tzinfo=UTC))
    assert (reading.holds(), reading.left_out) == ({Kind.TURN, Kind.SUMMARY}, Counter())
