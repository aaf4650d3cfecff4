"""Import of Claude Code session logs: messages with their speakers, times and projects."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.transfer.claude_code import ClaudeCodeLog
from scrubjay.features.transfer.records import MAX_CONTENT, ProjectRef
from tests.features.transfer.files import NOW, lines, read_records

COMMON: dict[str, Any] = {
    "sessionId": "5b9d",
    "cwd": "/home/ada/shop",
    "version": "2.0.14",
    "gitBranch": "main",
    "timestamp": "2026-01-05T09:30:00.123Z",
    "isSidechain": False,
}


def log_line(kind: str, uuid: str, content: Any, message: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        **COMMON,
        "type": kind,
        "uuid": uuid,
        "message": {"role": kind, "content": content, **(message or {})},
        **more,
    }


LOG = lines(
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    {"type": "summary", "summary": "Fixing the cart", "leafUuid": "u9"},
    log_line("user", "u1", "Why is the cart empty after login?"),
    log_line(
        "assistant", "u2", [{"type": "thinking", "thinking": "Look at the session."}], {"id": "msg_1", "model": "opus"}
    ),
    log_line(
        "assistant", "u3", [{"type": "text", "text": "The session is renewed."}], {"id": "msg_1", "model": "opus"}
    ),
    log_line("assistant", "u4", [{"type": "tool_use", "name": "Read", "input": {}}], {"id": "msg_1"}),
    log_line("user", "u5", [{"type": "tool_result", "tool_use_id": "t", "content": "file"}], toolUseResult={}),
    log_line("user", "u6", "<command-name>/clear</command-name>"),
    log_line("user", "u7", "Caveat: something", isMeta=True),
    log_line("user", "u8", [{"type": "text", "text": "Please fix it."}, {"type": "image", "source": {}}]),
)


def test_101_each_message_becomes_a_turn_with_speaker_session_time_and_project() -> None:
    reader = ClaudeCodeLog(NOW)
    found = read_records(reader, LOG)
    assert [(one.transfer.memory.speaker, one.transfer.memory.content) for one in found] == [
        ("user", "Why is the cart empty after login?"),
        ("assistant", "The session is renewed."),
        ("user", "Please fix it."),
    ]
    answer = found[1].transfer.memory
    assert (answer.kind, answer.session_id) == (MemoryKind.TURN, "5b9d")
    assert answer.occurred_at == datetime(2026, 1, 5, 9, 30, 0, 123000, tzinfo=UTC)
    assert answer.details == {"prompt": "", "thought": "Look at the session.", "response": "The session is renewed."}
    assert answer.provenance == {
        "source": "claude-code",
        "origin": "u3",
        "version": "2.0.14",
        "gitBranch": "main",
        "model": "opus",
    }
    assert {one.project for one in found} == {ProjectRef("/home/ada/shop")}
    assert [one.origin for one in found] == ["claude-code:u1", "claude-code:u3", "claude-code:u8"]


def test_101_everything_else_is_counted_by_type() -> None:
    reader = ClaudeCodeLog(NOW)
    read_records(reader, LOG)
    assert reader.ignored == Counter(
        {
            "line of type file-history-snapshot": 1,
            "line of type summary": 1,
            "tool_use in a message": 1,
            "tool_result in a message": 1,
            "message written by the program": 2,
            "image in a message": 1,
        }
    )


def test_101_a_thought_without_a_message_is_counted() -> None:
    reader = ClaudeCodeLog(NOW)
    thinking = [{"type": "thinking", "thinking": "hm"}]
    log = lines(
        log_line("assistant", "u1", thinking, {"id": "msg_1"}),
        log_line("user", "u2", "Go on."),
        log_line("assistant", "u3", thinking, {"id": "msg_2"}),
    )
    assert [one.transfer.memory.details["thought"] for one in read_records(reader, log)] == [""]
    assert reader.ignored == Counter({"thought without a message": 2})


def test_101_a_very_long_text_is_split_without_loss() -> None:
    text = "x" * (2 * MAX_CONTENT + 1)
    found = read_records(ClaudeCodeLog(NOW), lines(log_line("user", "u1", text)))
    assert "".join(one.transfer.memory.content for one in found) == text
    assert [one.transfer.memory.provenance["part"] for one in found] == [1, 2, 3]
    assert len({one.origin for one in found}) == 3


def test_101_messages_written_by_the_program_are_left_out() -> None:
    """Version 2 writes summaries after compaction, reminders, notifications of background tasks and its own answers."""
    reader = ClaudeCodeLog(NOW)
    log = lines(
        {"type": "last-prompt", "lastPrompt": "Why?", "sessionId": "5b9d"},
        {"type": "queue-operation", "operation": "enqueue", "content": "And the tests?", "sessionId": "5b9d"},
        {**COMMON, "type": "system", "subtype": "compact_boundary", "uuid": "s1", "content": "Conversation compacted"},
        log_line("user", "u1", "This session is being continued from a previous one.", isCompactSummary=True),
        log_line("user", "u2", "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"),
        log_line("user", "u3", [{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
        log_line("user", "u4", "<system-reminder>\nThe list is empty.\n</system-reminder>"),
        log_line("assistant", "u5", [{"type": "text", "text": "No response requested."}], {"model": "<synthetic>"}),
        log_line("assistant", "u6", [{"type": "text", "text": "API Error: 529"}], isApiErrorMessage=True),
        log_line("assistant", "u7", [{"type": "redacted_thinking", "data": "EmwK"}], {"id": "msg_3"}),
    )
    assert read_records(reader, log) == []
    assert reader.ignored == Counter(
        {
            "message written by the program": 6,
            "line of type last-prompt": 1,
            "line of type queue-operation": 1,
            "line of type system": 1,
            "redacted_thinking in a message": 1,
        }
    )


def test_101_blocks_inserted_into_user_messages_are_left_out() -> None:
    opened = "<ide_opened_file>The user opened /home/ada/shop/cart.py.</ide_opened_file>"
    reminder = "<system-reminder>\nDo not mention this.\n</system-reminder>"
    log = lines(
        log_line("user", "u1", [{"type": "text", "text": opened}, {"type": "text", "text": "Mend it."}]),
        log_line("user", "u2", f"{reminder}\n\nAnd <b>test</b> it.\n{reminder}"),
    )
    found = [one.transfer.memory.content for one in read_records(ClaudeCodeLog(NOW), log)]
    assert found == ["Mend it.", "And <b>test</b> it."]


def test_101_queued_prompts_are_imported() -> None:
    def queued(uuid: str, **fields: Any) -> dict[str, Any]:
        return {**COMMON, "type": "attachment", "uuid": uuid, "attachment": {"type": "queued_command", **fields}}

    reader = ClaudeCodeLog(NOW)
    note = "<task-notification>done</task-notification>"
    log = lines(
        queued("u1", commandMode="prompt", prompt="Check the tests too.", origin={"kind": "human"}),
        queued("u2", commandMode="prompt", prompt=[{"type": "text", "text": "And the docs."}]),
        queued("u3", commandMode="task-notification", prompt=note, origin={"kind": "task-notification"}),
        queued("u4", commandMode="prompt", prompt="from a peer", origin={"kind": "peer"}),
        {**COMMON, "type": "attachment", "uuid": "u5", "attachment": {"type": "todo_reminder", "content": []}},
    )
    found = [one.transfer.memory for one in read_records(reader, log)]
    assert [(one.speaker, one.content, one.details["prompt"]) for one in found] == [
        ("user", "Check the tests too.", "Check the tests too."),
        ("user", "And the docs.", "And the docs."),
    ]
    assert reader.ignored == Counter({"message written by the program": 2, "line of type attachment": 1})


def test_101_the_prompt_of_a_subagent_has_the_speaker_agent() -> None:
    log = lines(
        log_line("user", "u1", "Find all callers of cart().", isSidechain=True, agentId="a1"),
        log_line("assistant", "u2", [{"type": "text", "text": "There are three."}], isSidechain=True, agentId="a1"),
    )
    found = [one.transfer.memory for one in read_records(ClaudeCodeLog(NOW), log)]
    assert [(one.speaker, one.provenance["isSidechain"]) for one in found] == [("agent", True), ("assistant", True)]
