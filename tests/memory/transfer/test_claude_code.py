"""Session logs of Claude Code: what was said, by whom, when and where."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from recollect.domain.memories import Kind
from recollect.memory.transfer.arrivals import Place
from recollect.memory.transfer.claude_code import ClaudeCodeLog
from tests.memory.transfer.files import NOW, arrivals, lines

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
