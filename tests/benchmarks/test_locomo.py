"""The LoCoMo benchmark reads its data and scores answers by its protocol."""

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.conversations import Conversation, Question, Score, Turn, compare, score
from benchmarks.locomo import read_conversations
from benchmarks.report import ReportRow

SAMPLE: dict[str, Any] = {
    "conversation": {
        "speaker_a": "Ada",
        "session_10_date_time": "12:05 am on 3 June, 2023",
        "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "Look!", "blip_caption": "a red kite"}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            {"speaker": "Ada", "dia_id": "D2:1", "text": "Hello: Ben"},
            {"speaker": "Ben", "dia_id": "D2:2", "text": "Hi."},
        ],
    },
    "qa": [
        {"question": "Who has a kite?", "evidence": ["D10:1; D2:2", "D:2:1"], "category": 1},
        {"question": "About a turn that there is not?", "evidence": ["D9:9"], "category": 4},
        {"question": "About nothing?", "category": 5},
    ],
}


def test_sessions_are_ordered_and_questions_without_evidence_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "sample.json"
    path.write_text(json.dumps([SAMPLE]), "utf-8")
    assert read_conversations(path) == [
        Conversation(
            [
                Turn("D2:1", "Ada", "Hello: Ben", "session_2", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
                Turn("D2:2", "Ben", "Hi.", "session_2", datetime(2023, 5, 8, 13, 56, 20, tzinfo=UTC)),
                Turn(
                    "D10:1",
                    "Ben",
                    "Look! [shared photo: a red kite]",
                    "session_10",
                    datetime(2023, 6, 3, 0, 5, tzinfo=UTC),
                ),
            ],
            [Question("Who has a kite?", frozenset({"D10:1", "D2:1", "D2:2"}), "multi-hop")],
        )
    ]


def test_the_error_about_missing_data_names_the_variable(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="SCRUBJAY_BENCH"):
        read_conversations(tmp_path / "nothing.json")


def test_recall_and_ndcg_depend_on_the_rank_of_the_evidence() -> None:
    question = Question("?", frozenset({"a", "b"}), "temporal")
    others = [f"other {number}" for number in range(30)]
    assert score(question, ["a", "b", *others]).found == {"R@5": 1, "R@10": 1, "R@20": 1, "NDCG@10": 1}
    late = score(question, [*others[:5], "b", *others[5:15], "a"]).found
    assert late == {"R@5": 0, "R@10": 0.5, "R@20": 1, "NDCG@10": (1 / math.log2(7)) / (1 + 1 / math.log2(3))}
    assert score(question, []) == Score("temporal", {"R@5": 0, "R@10": 0, "R@20": 0, "NDCG@10": 0})


def test_limits_apply_to_all_questions_and_categories_follow() -> None:
    categories = ("multi-hop", "temporal", "open-domain", "single-hop", "adversarial")
    ours = [Score(category, {"R@10": 1.0}) for category in categories]
    fts5 = [Score(category, {"R@10": 0.5}) for category in categories]
    assert compare(ours, {"FTS5": fts5}, {"R@10": 0.82, "temporal: R@10": 0.7}) == [
        ReportRow("all: R@10", 1.0, {"FTS5": 0.5}, at_least=0.82),
        *(
            ReportRow(f"{category} (1): R@10", 1.0, {"FTS5": 0.5}, at_least=0.7 if category == "temporal" else None)
            for category in categories
        ),
    ]
