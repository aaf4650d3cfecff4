"""Measure retrieval in long chats with an assistant (BEAM), compared with plain FTS5.

Each message is a memory. The evidence of a question are the messages that its author names as its sources; questions
without any, such as those that cannot be answered, are left out.
"""

import argparse
import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.conversations import Conversation, Question, Turn, measure_conversations
from benchmarks.conversations import add_options as add_common_options
from benchmarks.report import ReportRow

FOLDER_VARIABLE = "SCRUBJAY_BEAM"
SIZES = ("100K", "500K", "1M")
BARS = {"R@10": 0.64, "event ordering: R@10": 0.30, "summarization: R@10": 0.20}
"""Limits of the bundled model for the odd chats of 100K."""

# Marks at the end of a message, which say from which part of the plan it was generated.
_PLAN_MARK = re.compile(r"\s*->->\s*[\d,N/A]+\s*$")
_MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
_ANCHOR = re.compile(r"(\w{3})\w*-(\d+)-(\d{4})")
_NO_TIME = datetime(2024, 1, 1, tzinfo=UTC)


def add_options(parser: argparse.ArgumentParser) -> None:
    folder = os.environ.get(FOLDER_VARIABLE)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(folder) if folder else None,
        help=f"folder chats of a checkout of BEAM, with 100K/1/chat.json (or {FOLDER_VARIABLE})",
    )
    parser.add_argument("--size", choices=SIZES, default="100K", help="size of the chats (default 100K)")
    parser.add_argument(
        "--chats", choices=("odd", "even", "all"), default="odd", help="numbers of the chats (default odd)"
    )
    add_common_options(parser)


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    if options.data is None:
        raise SystemExit(f"set --data or {FOLDER_VARIABLE} to the folder chats of a checkout of BEAM")
    bars = BARS if (options.size, options.chats) == ("100K", "odd") else {}
    return measure_conversations(read_chats(options.data / options.size, options.chats), options, bars)


def read_chats(folder: Path, chosen: str) -> list[Conversation]:
    """Return the chats with an odd or even number, or all, in the order of their numbers."""
    numbers = sorted(int(path.parent.name) for path in folder.glob("*/chat.json") if path.parent.name.isdigit())
    parities = {"odd": (1,), "even": (0,), "all": (0, 1)}[chosen]
    chats = [_read_chat(folder / str(number)) for number in numbers if number % 2 in parities]
    if not chats:
        raise SystemExit(f"{folder} contains no chats: set --data or {FOLDER_VARIABLE}")
    return chats


def _read_chat(folder: Path) -> Conversation:
    turns: dict[str, Turn] = {}
    for batch in json.loads((folder / "chat.json").read_text("utf-8")):
        began, session = _start(batch.get("time_anchor")), f"batch {batch['batch_number']}"
        messages = [message for exchange in batch["turns"] for message in exchange]
        for number, message in enumerate(messages, start=1):
            text = _PLAN_MARK.sub("", message["content"])
            said_at = began + timedelta(seconds=20 * number)
            turns[str(message["id"])] = Turn(str(message["id"]), message["role"], text, session, said_at)
    asked = json.loads((folder / "probing_questions" / "probing_questions.json").read_text("utf-8"))
    questions = [
        Question(question["question"], evidence, kind.replace("_", " "))
        for kind, of_kind in asked.items()
        for question in of_kind
        if (evidence := frozenset(_ids(question.get("source_chat_ids"))) & turns.keys())
    ]
    return Conversation([*turns.values()], questions)


def _start(anchor: str | None) -> datetime:
    if anchor is None or (found := _ANCHOR.match(anchor)) is None:
        return _NO_TIME
    month = [name[:3] for name in _MONTHS].index(found[1].lower()) + 1
    return datetime(int(found[3]), month, int(found[2]), tzinfo=UTC)


def _ids(value: Any) -> Iterator[str]:
    """Yield the message ids in lists and objects of any depth."""
    match value:
        case bool() | None:
            return
        case int():
            yield str(value)
        case str():
            if value.isdigit():
                yield value
        case dict():
            yield from _ids([*value.values()])
        case _:
            for one in value:
                yield from _ids(one)
