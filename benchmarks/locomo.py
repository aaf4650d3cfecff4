"""Measure retrieval of conversation turns that answer a question (LoCoMo), compared with plain FTS5."""

import argparse
import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.conversations import Conversation, Question, Turn, measure_conversations
from benchmarks.conversations import add_options as add_common_options
from benchmarks.report import ReportRow

FOLDER_VARIABLE = "SCRUBJAY_BENCH"
DEFAULT_FOLDER = "../shared/bench"

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
BARS = {"R@10": 0.82, "NDCG@10": 0.66}
"""Limits of the bundled model; `--onnx` models have none."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get(FOLDER_VARIABLE, DEFAULT_FOLDER)),
        help=f"folder with memory/locomo_open.json (or {FOLDER_VARIABLE}; default {DEFAULT_FOLDER})",
    )
    add_common_options(parser)


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    return measure_conversations(read_conversations(options.data / "memory" / "locomo_open.json"), options, BARS)


def read_conversations(path: Path) -> list[Conversation]:
    try:
        samples = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise SystemExit(f"{path} does not exist: set --data or {FOLDER_VARIABLE}") from None
    return [_conversation(sample) for sample in samples]


def _conversation(sample: dict[str, Any]) -> Conversation:
    spoken = sample["conversation"]
    turns: dict[str, Turn] = {}
    for session in sorted((name for name in spoken if re.fullmatch(r"session_\d+", name)), key=_number):
        began = datetime.strptime(spoken[f"{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for index, turn in enumerate(spoken[session]):
            caption = turn.get("blip_caption")
            text = turn["text"] + (f" [shared photo: {caption}]" if caption else "")
            said_at = began + timedelta(seconds=20 * index)
            turns[turn["dia_id"]] = Turn(turn["dia_id"], turn["speaker"], text, session, said_at)
    questions: list[Question] = []
    for asked in sample["qa"]:
        # Evidence is annotated by hand: "D8:6; D9:17" and "D:11:26" occur, and ids of turns that do not exist.
        named = re.findall(r"D:?(\d+):(\d+)", " ".join(asked.get("evidence", [])))
        evidence = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in named) & turns.keys()
        if evidence:
            questions.append(Question(asked["question"], evidence, CATEGORIES[asked["category"]]))
    return Conversation([*turns.values()], questions)


def _number(session: str) -> int:
    return int(session.removeprefix("session_"))
