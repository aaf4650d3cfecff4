"""Measure retrieval of conversation turns that answer a question (LoCoMo), compared with plain FTS5."""

import argparse
import json
import math
import os
import re
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import anyio

from benchmarks.report import ReportRow
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.models.onnx_folder import read_folder
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher

FOLDER_VARIABLE = "SCRUBJAY_BENCH"
DEFAULT_FOLDER = "../shared/bench"

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
BARS = {"R@10": 0.82, "NDCG@10": 0.66}
"""Limits of the bundled model; `--onnx` models have none."""
MAX_DEPTH = 20
BATCH = 1_000

Search = Callable[[str], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of a conversation."""

    id: str
    speaker: str
    text: str
    session: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    evidence: frozenset[str]
    """Ids of the turns that answer the question."""
    category: str


@dataclass(frozen=True, slots=True)
class Conversation:
    turns: Sequence[Turn]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True)
class Score:
    """Metrics of one question."""

    category: str
    found: dict[str, float]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get(FOLDER_VARIABLE, DEFAULT_FOLDER)),
        help=f"folder with memory/locomo_open.json (or {FOLDER_VARIABLE}; default {DEFAULT_FOLDER})",
    )
    parser.add_argument("--onnx", metavar="FOLDER", help="embed with a sentence-transformers ONNX folder")


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    conversations = read_conversations(options.data / "memory" / "locomo_open.json")
    ours: list[Score] = []
    fts5: list[Score] = []
    cpu = 0.0
    for conversation in conversations:
        started = time.process_time()
        ours += anyio.run(_score_ours, conversation, options.onnx)
        cpu += time.process_time() - started
        fts5 += anyio.run(_score_fts5, conversation)
    turns = sum(len(conversation.turns) for conversation in conversations)
    notes = [
        f"{len(conversations)} conversations, {turns} turns, {len(ours)} questions with evidence, unchanged",
        f"remembering all turns and answering all questions took {cpu:.1f} s CPU",
    ]
    return compare(ours, fts5, {} if options.onnx else BARS), notes


def compare(ours: Sequence[Score], fts5: Sequence[Score], bars: dict[str, float]) -> list[ReportRow]:
    """Return rows for all questions, with limits, then for each category."""
    rows = [
        ReportRow(f"all: {name}", _mean(ours, name), {"FTS5": _mean(fts5, name)}, at_least=bars.get(name))
        for name in ours[0].found
    ]
    for category in CATEGORIES.values():
        mine = [score for score in ours if score.category == category]
        theirs = [score for score in fts5 if score.category == category]
        rows += [
            ReportRow(f"{category} ({len(mine)}): {name}", _mean(mine, name), {"FTS5": _mean(theirs, name)})
            for name in mine[0].found
        ]
    return rows


def score(question: Question, ranked: Sequence[str]) -> Score:
    """Return recall at three depths and NDCG@10."""
    gains = [1 / math.log2(rank + 2) for rank in range(10)]
    reached = sum(gain for gain, turn in zip(gains, ranked, strict=False) if turn in question.evidence)
    found = {
        f"R@{depth}": len(question.evidence.intersection(ranked[:depth])) / len(question.evidence)
        for depth in (5, 10, MAX_DEPTH)
    }
    return Score(question.category, {**found, "NDCG@10": reached / sum(gains[: len(question.evidence)])})


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


def _mean(scores: Sequence[Score], name: str) -> float:
    return fmean(score.found[name] for score in scores)


async def _answer(conversation: Conversation, search: Search) -> list[Score]:
    return [score(question, await search(question.text)) for question in conversation.questions]


# -- Scrubjay: the public tools, one store per conversation ------------------------------------------


async def _score_ours(conversation: Conversation, onnx_folder: str | None) -> list[Score]:
    choice = {"provider": "onnx", "model": onnx_folder} if onnx_folder else {"model": "static-v1"}
    expected = f"onnx/{read_folder(onnx_folder).name}" if onnx_folder else "static-v1"
    with tempfile.TemporaryDirectory() as home:
        settings = Settings.model_validate({"home": home, "embedding": choice})
        async with running(settings) as application:
            turns = await _remember(application.dispatcher, conversation.turns)
            health: Any = await application.dispatcher.call("health_check", {}, _context())
            model = health.components["embedding"].facts.get("model")
            if model != expected:
                raise RuntimeError(f"{expected} was requested, but the server uses {model}")
            return await _answer(conversation, partial(_recall, application.dispatcher, turns))


async def _remember(dispatcher: Dispatcher, turns: Sequence[Turn]) -> dict[str, str]:
    """Store the turns and return the turn id of each memory id."""
    turn_of: dict[str, str] = {}
    for first in range(0, len(turns), BATCH):
        batch = turns[first : first + BATCH]
        memories = [
            {
                "content": turn.text,
                "speaker": turn.speaker,
                "session_id": turn.session,
                "occurred_at": turn.said_at.isoformat(),
            }
            for turn in batch
        ]
        stored: Any = await dispatcher.call("remember_many", {"memories": memories}, _context())
        turn_of |= {memory.id: turn.id for memory, turn in zip(stored.memories, batch, strict=True)}
    return turn_of


async def _recall(dispatcher: Dispatcher, turn_of: dict[str, str], question: str) -> list[str]:
    recalled: Any = await dispatcher.call("recall", {"query": question, "limit": MAX_DEPTH}, _context())
    return [turn_of[memory.id] for memory in recalled.memories]


def _context() -> CallContext:
    return CallContext(surface="python")


# -- the baseline: SQLite FTS5 -----------------------------------------------------------------------

# Without this list FTS5 scores lower.
_STOP_WORDS = frozenset(
    """
    a an and are as at be by did do does for from had has have he her his how i in is it its of on or she that the their
    they this to was were what when where which who whom why will with would you your
    """.split()  # noqa: SIM905 - read as words, not as a list
)


async def _score_fts5(conversation: Conversation) -> list[Score]:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE turns USING fts5(id UNINDEXED, text, tokenize = 'porter unicode61')")
    rows = [(turn.id, f"{turn.speaker}: {turn.text}") for turn in conversation.turns]
    database.executemany("INSERT INTO turns VALUES (?, ?)", rows)

    async def search(question: str) -> list[str]:
        words = re.findall(r"\w+", question.lower())
        content_words = [word for word in words if word not in _STOP_WORDS] or words
        match = " OR ".join(f'"{word}"' for word in content_words)
        best = "SELECT id FROM turns WHERE turns MATCH ? ORDER BY bm25(turns) LIMIT ?"
        return [turn for (turn,) in database.execute(best, (match, MAX_DEPTH))]

    try:
        return await _answer(conversation, search)
    finally:
        database.close()
