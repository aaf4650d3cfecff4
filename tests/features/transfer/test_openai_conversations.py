"""Import of OpenAI's conversation export: the messages of the current branch."""

import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.transfer.openai_conversations import OpenAIConversations
from tests.features.transfer.files import NOW, read_records


def node(name: str, parent: str | None, role: str | None = None, parts: list[Any] | None = None, **content: Any) -> Any:
    message: Any = None
    if role is not None:
        body = {"content_type": "text", "parts": parts, **content}
        author: Any = {"role": role, "name": None, "metadata": {}}
        message = {"id": name, "author": author, "create_time": 1767600000.5, "content": body, "metadata": {}}
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


def test_101_the_messages_of_the_current_branch_become_turns() -> None:
    reader = OpenAIConversations(NOW)
    found = read_records(reader, json.dumps([CONVERSATION, {"no": "conversation"}]).encode())
    question, answer = (one.transfer.memory for one in found)
    assert (question.speaker, question.content) == ("user", "Which cheese melts best?")
    assert (answer.speaker, answer.content, answer.kind) == ("assistant", "Raclette.", MemoryKind.TURN)
    assert (answer.session_id, answer.occurred_at) == ("c-1", datetime(2026, 1, 5, 8, 0, 0, 500000, tzinfo=UTC))
    assert answer.details == {"prompt": "", "thought": "", "response": "Raclette."}
    assert answer.provenance == {"source": "openai", "origin": "answer2", "conversation": "Cheese"}
    assert reader.ignored == Counter(
        {
            "message of role system": 1,
            "message of another branch": 1,
            "content of type code": 1,
            "picture or file in a message": 1,
            "entry without a conversation": 1,
        }
    )


def test_101_without_a_current_node_every_message_is_imported() -> None:
    conversation = {**CONVERSATION, "current_node": None}
    found = read_records(OpenAIConversations(NOW), json.dumps([conversation]).encode())
    assert [one.transfer.memory.content for one in found] == ["Which cheese melts best?", "Feta.", "Raclette."]


def test_101_reading_a_conversation_with_a_cycle_terminates() -> None:
    mapping = {"a": node("a", "b", "user", ["one"]), "b": node("b", "a", "assistant", ["two"]), "odd": 7}
    conversation = {"id": "c", "mapping": mapping, "current_node": "b"}
    found = read_records(OpenAIConversations(NOW), json.dumps([conversation]).encode())
    assert [one.transfer.memory.content for one in found] == ["one", "two"]


def test_101_only_visible_and_voice_messages_are_imported() -> None:
    """Exports since 2024 contain hidden context, tool calls, thoughts, voice and markers of sources and entities."""
    voice = {"content_type": "audio_transcription", "text": "Is it ripe?", "direction": "in", "decoding_id": None}
    sound: dict[str, Any] = {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {}}
    text = 'It is \ue200entity\ue202["food","Brie","cheese"]\ue201.\ue200cite\ue202turn0search1\ue201'
    nodes = [
        node("profile", None, "user", content_type="user_editable_context", user_profile="I am Ada."),
        node("context", "profile", "system", content_type="model_editable_context", model_set_context="Likes Brie."),
        node("spoken", "context", "user", [voice, sound], content_type="multimodal_text"),
        node(
            "thoughts", "spoken", "assistant", content_type="thoughts", thoughts=[{"summary": "s", "content": "Look."}]
        ),
        node("search", "thoughts", "assistant", ["search('ripe')"]),
        node("quote", "search", "tool", content_type="tether_quote", text="found"),
        node("more", "quote", "assistant", content_type="thoughts", thoughts=[{"summary": "Done", "content": ""}, 7]),
        node("recap", "more", "assistant", content_type="reasoning_recap", content="Thought for 3s"),
        node("answer", "recap", "assistant", [text]),
        node("secret", "answer", "assistant", ["a hidden message"]),
        node("last", "secret", "assistant", content_type="thoughts", thoughts=[{"content": "Too late."}]),
    ]
    mapping = {one["id"]: one for one in nodes}
    for hidden in ("profile", "secret"):
        mapping[hidden]["message"]["metadata"] = {"is_visually_hidden_from_conversation": True}
    mapping["search"]["message"]["recipient"] = "web.run"
    mapping["answer"]["message"] |= {"create_time": None, "recipient": "all", "channel": "final"}
    conversation = {"id": "c", "create_time": 1.0, "mapping": mapping, "current_node": "last"}
    reader = OpenAIConversations(NOW)
    question, answer = (one.transfer.memory for one in read_records(reader, json.dumps([conversation]).encode()))
    assert (question.speaker, question.content) == ("user", "Is it ripe?")
    assert answer.details == {"prompt": "", "thought": "Look.\nDone", "response": "It is Brie."}
    assert answer.occurred_at == question.occurred_at == datetime(2026, 1, 5, 8, 0, 0, 500000, tzinfo=UTC)
    assert reader.ignored == Counter(
        {
            "hidden message": 2,
            "message of role system": 1,
            "message of role tool": 1,
            "message to a tool": 1,
            "content of type reasoning_recap": 1,
            "picture or file in a message": 1,
            "thought without a message": 1,
        }
    )
