"""Session logs of Claude Code: what was said, by whom, when and where."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from scrubjay.features.memory.models import Kind
from scrubjay.features.transfer.claude_code import ClaudeCodeLog
from scrubjay.features.transfer.records import Place
from tests.features.transfer.files import NOW, arrivals, lines

COMMON: dict[str, Any] = {
    "sessionId": "5b9d",
    "cwd": "/home/ada/shop",
    "version": "2.0.14",
    "gitBranch": "main",
    "timestamp": "2026-01-05T09:30:00.123Z",
    "isSidechain": False,
}


def said(kind: str, uuid: str, content: Any, message: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
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
    said("user", "u1", "Why is the cart empty after login?"),
    said(
        "assistant", "u2", [{"type": "thinking", "thinking": "Look at the session."}], {"id": "msg_1", "model": "opus"}
    ),
    said("assistant", "u3", [{"type": "text", "text": "The session is renewed."}], {"id": "msg_1", "model": "opus"}),
    said("assistant", "u4", [{"type": "tool_use", "name": "Read", "input": {}}], {"id": "msg_1"}),
    said("user", "u5", [{"type": "tool_result", "tool_use_id": "t", "content": "file"}], toolUseResult={}),
    said("user", "u6", "<command-name>/clear</command-name>"),
    said("user", "u7", "Caveat: something", isMeta=True),
    said("user", "u8", [{"type": "text", "text": "Please fix it."}, {"type": "image", "source": {}}]),
)


def test_101_each_thing_said_is_a_turn_with_its_speaker_session_time_and_project() -> None:
    reading = ClaudeCodeLog(NOW)
    found = arrivals(reading, LOG)
    assert [(one.moved.memory.speaker, one.moved.memory.content) for one in found] == [
        ("user", "Why is the cart empty after login?"),
        ("assistant", "The session is renewed."),
        ("user", "Please fix it."),
    ]
    answer = found[1].moved.memory
    assert (answer.kind, answer.session_id) == (Kind.TURN, "5b9d")
    assert answer.occurred_at == datetime(2026, 1, 5, 9, 30, 0, 123000, tzinfo=UTC)
    assert answer.details == {"prompt": "", "thought": "Look at the session.", "response": "The session is renewed."}
    assert answer.provenance == {
        "source": "claude-code",
        "origin": "u3",
        "version": "2.0.14",
        "gitBranch": "main",
        "model": "opus",
    }
    assert {one.place for one in found} == {Place("/home/ada/shop")}
    assert [one.origin for one in found] == ["claude-code:u1", "claude-code:u3", "claude-code:u8"]


def test_101_everything_else_is_counted_by_what_it_is() -> None:
    reading = ClaudeCodeLog(NOW)
    arrivals(reading, LOG)
    assert reading.left_out == Counter(
        {
            "line of type file-history-snapshot": 1,
            "line of type summary": 1,
            "tool_use in a message": 1,
            "tool_result in a message": 1,
            "message that nobody said": 2,
            "image in a message": 1,
        }
    )


def test_101_a_thought_that_no_words_follow_is_counted() -> None:
    reading = ClaudeCodeLog(NOW)
    thinking = [{"type": "thinking", "thinking": "hm"}]
    log = lines(
        said("assistant", "u1", thinking, {"id": "msg_1"}),
        said("user", "u2", "Go on."),
        said("assistant", "u3", thinking, {"id": "msg_2"}),
    )
    assert [one.moved.memory.details["thought"] for one in arrivals(reading, log)] == [""]
    assert reading.left_out == Counter({"thought without words": 2})


def test_101_a_very_long_text_comes_in_parts_that_lose_nothing() -> None:
    text = "x" * 250_000
    found = arrivals(ClaudeCodeLog(NOW), lines(said("user", "u1", text)))
    assert "".join(one.moved.memory.content for one in found) == text
    assert [one.moved.memory.provenance["part"] for one in found] == [1, 2, 3]
    assert len({one.origin for one in found}) == 3


def test_101_what_the_program_says_in_the_users_name_is_nobodys_word() -> None:
    """As version 2 writes it: summaries after compacting, reminders, news of background tasks, its own answers."""
    reading = ClaudeCodeLog(NOW)
    log = lines(
        {"type": "last-prompt", "lastPrompt": "Why?", "sessionId": "5b9d"},
        {"type": "queue-operation", "operation": "enqueue", "content": "And the tests?", "sessionId": "5b9d"},
        {**COMMON, "type": "system", "subtype": "compact_boundary", "uuid": "s1", "content": "Conversation compacted"},
        said("user", "u1", "This session is being continued from a previous one.", isCompactSummary=True),
        said("user", "u2", "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"),
        said("user", "u3", [{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
        said("user", "u4", "<system-reminder>\nThe list is empty.\n</system-reminder>"),
        said("assistant", "u5", [{"type": "text", "text": "No response requested."}], {"model": "<synthetic>"}),
        said("assistant", "u6", [{"type": "text", "text": "API Error: 529"}], isApiErrorMessage=True),
        said("assistant", "u7", [{"type": "redacted_thinking", "data": "EmwK"}], {"id": "msg_3"}),
    )
    assert arrivals(reading, log) == []
    assert reading.left_out == Counter(
        {
            "message that nobody said": 6,
            "line of type last-prompt": 1,
            "line of type queue-operation": 1,
            "line of type system": 1,
            "redacted_thinking in a message": 1,
        }
    )


def test_101_what_the_program_puts_between_the_users_words_is_left_out() -> None:
    opened = "<ide_opened_file>The user opened /home/ada/shop/cart.py.</ide_opened_file>"
    reminder = "<system-reminder>\nDo not mention this.\n</system-reminder>"
    log = lines(
        said("user", "u1", [{"type": "text", "text": opened}, {"type": "text", "text": "Mend it."}]),
        said("user", "u2", f"{reminder}\n\nAnd <b>test</b> it.\n{reminder}"),
    )
    found = [one.moved.memory.content for one in arrivals(ClaudeCodeLog(NOW), log)]
    assert found == ["Mend it.", "And <b>test</b> it."]


def test_101_what_was_asked_while_the_program_was_busy_is_on_a_line_of_another_kind() -> None:
    def queued(uuid: str, **told: Any) -> dict[str, Any]:
        return {**COMMON, "type": "attachment", "uuid": uuid, "attachment": {"type": "queued_command", **told}}

    reading = ClaudeCodeLog(NOW)
    note = "<task-notification>done</task-notification>"
    log = lines(
        queued("u1", commandMode="prompt", prompt="Check the tests too.", origin={"kind": "human"}),
        queued("u2", commandMode="prompt", prompt=[{"type": "text", "text": "And the docs."}]),
        queued("u3", commandMode="task-notification", prompt=note, origin={"kind": "task-notification"}),
        queued("u4", commandMode="prompt", prompt="from a peer", origin={"kind": "peer"}),
        {**COMMON, "type": "attachment", "uuid": "u5", "attachment": {"type": "todo_reminder", "content": []}},
    )
    found = [one.moved.memory for one in arrivals(reading, log)]
    assert [(one.speaker, one.content, one.details["prompt"]) for one in found] == [
        ("user", "Check the tests too.", "Check the tests too."),
        ("user", "And the docs.", "And the docs."),
    ]
    assert reading.left_out == Counter({"message that nobody said": 2, "line of type attachment": 1})


def test_101_what_a_helper_is_asked_an_agent_asks() -> None:
    log = lines(
        said("user", "u1", "Find all callers of cart().", isSidechain=True, agentId="a1"),
        said("assistant", "u2", [{"type": "text", "text": "There are three."}], isSidechain=True, agentId="a1"),
    )
    found = [one.moved.memory for one in arrivals(ClaudeCodeLog(NOW), log)]
    assert [(one.speaker, one.provenance["isSidechain"]) for one in found] == [("agent", True), ("assistant", True)]
