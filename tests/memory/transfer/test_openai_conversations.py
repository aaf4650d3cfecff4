"""OpenAI's export of conversations: what was said in the branch that was last seen."""

import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from recollect.domain.memories import Kind
from recollect.memory.transfer.openai_conversations import OpenAIConversations
from tests.memory.transfer.files import NOW, arrivals


def node(name: str, parent: str | None, role: str | None = None, parts: list[Any] | None = None, **content: Any) -> Any:
    message: Any = None
    if role is not None:
        told = {"content_type": "text", "parts": parts, **content}
        author: Any = {"role": role, "name": None, "metadata": {}}
        message = {"id": name, "author": author, "create_time": 1767600000.5, "content": told, "metadata": {}}
    return {"id": name, "message": message, "parent": parent, "children": []}


CONVERSATION = {
    "title": "Cheese",
    "create_time": 1767600000.0,
    "conversation_id": "c-1",
    "current_node": "answer2",
    "mapping": {
        "root": node("root", None),
        "system": node("system", "root", "system", [""]),
        "question": node("question", "system", "user", ["Which cheese melts best?", {"asset_pointer": "file"}]),
        "answer1": node("answer1", "question", "assistant", ["Feta."]),
        "code": node("code", "question", "assistant", content_type="code", text="print()"),
        "answer2": node("answer2", "code", "assistant", ["Raclette."]),
    },
}


def test_101_what_was_said_in_the_branch_last_seen_becomes_turns() -> None:
    reading = OpenAIConversations(NOW)
    found = arrivals(reading, json.dumps([CONVERSATION, {"no": "conversation"}]).encode())
    question, answer = (one.moved.memory for one in found)
    assert (question.speaker, question.content) == ("user", "Which cheese melts best?")
    assert (answer.speaker, answer.content, answer.kind) == ("assistant", "Raclette.", Kind.TURN)
    assert (answer.session_id, answer.occurred_at) == ("c-1", datetime(2026, 1, 5, 8, 0, 0, 500000, tzinfo=UTC))
    assert answer.details == {"prompt": "", "thought": "", "response": "Raclette."}
    assert answer.provenance == {"source": "openai", "origin": "answer2", "conversation": "Cheese"}
    assert reading.left_out == Counter(
        {
            "message of role system": 1,
            "message of another branch": 1,
            "content of type code": 1,
            "picture or file in a message": 1,
            "entry that is no conversation": 1,
        }
    )


def test_101_without_a_last_message_every_one_is_taken() -> None:
    conversation = {**CONVERSATION, "current_node": None}
    found = arrivals(OpenAIConversations(NOW), json.dumps([conversation]).encode())
    assert [one.moved.memory.content for one in found] == ["Which cheese melts best?", "Feta.", "Raclette."]


def test_101_a_conversation_that_goes_in_circles_ends() -> None:
    mapping = {"a": node("a", "b", "user", ["one"]), "b": node("b", "a", "assistant", ["two"]), "odd": 7}
    conversation = {"id": "c", "mapping": mapping, "current_node": "b"}
    found = arrivals(OpenAIConversations(NOW), json.dumps([conversation]).encode())
    assert [one.moved.memory.content for one in found] == ["one", "two"]
