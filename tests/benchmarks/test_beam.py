"""The BEAM benchmark reads chats with their questions and can measure another commit."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.beam import read_chats
from benchmarks.conversations import Conversation, Question, Turn

CHAT: list[dict[str, Any]] = [
    {
        "batch_number": 1,
        "time_anchor": "March-15-2024",
        "turns": [
            [
                {"id": 0, "role": "user", "content": "Help me. ->-> 1,1"},
                {"id": 1, "role": "assistant", "content": "Gladly."},
            ]
        ],
    },
    {"batch_number": 2, "time_anchor": None, "turns": [[{"id": 2, "role": "user", "content": "a -> b ->-> N/A"}]]},
]
QUESTIONS: dict[str, list[dict[str, Any]]] = {
    "abstention": [{"question": "Not stated?"}],
    "knowledge_update": [{"question": "Which?", "source_chat_ids": {"old": [0], "new": ["2", True, None, 99]}}],
}


def write_chat(folder: Path) -> None:
    (folder / "probing_questions").mkdir(parents=True)
    (folder / "chat.json").write_text(json.dumps(CHAT), "utf-8")
    (folder / "probing_questions" / "probing_questions.json").write_text(json.dumps(QUESTIONS), "utf-8")


def test_messages_are_turns_and_questions_without_sources_are_left_out(tmp_path: Path) -> None:
    write_chat(tmp_path / "3")
    assert read_chats(tmp_path, "odd") == [
        Conversation(
            [
                Turn("0", "user", "Help me.", "batch 1", datetime(2024, 3, 15, 0, 0, 20, tzinfo=UTC)),
                Turn("1", "assistant", "Gladly.", "batch 1", datetime(2024, 3, 15, 0, 0, 40, tzinfo=UTC)),
                Turn("2", "user", "a -> b", "batch 2", datetime(2024, 1, 1, 0, 0, 20, tzinfo=UTC)),
            ],
            [Question("Which?", frozenset({"0", "2"}), "knowledge update")],
        )
    ]


def test_chats_are_chosen_by_their_number(tmp_path: Path) -> None:
    for number in (1, 2, 10):
        write_chat(tmp_path / str(number))
    assert [len(read_chats(tmp_path, chosen)) for chosen in ("odd", "even", "all")] == [1, 2, 3]


def test_the_error_about_missing_chats_names_the_variable(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="SCRUBJAY_BEAM"):
        read_chats(tmp_path, "odd")
