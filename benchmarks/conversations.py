"""Score how well recall finds the turns of a conversation that answer a question, in this commit and in another."""

import argparse
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from statistics import fmean
from typing import Any

import anyio

from benchmarks.report import PROJECT, ReportRow
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.models.onnx_folder import read_folder
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher

MAX_DEPTH = 20
BATCH = 500
# Commits before November 2026 refuse longer texts, so another commit gets the beginning of them.
MAX_CHARACTERS_ELSEWHERE = 100_000
FTS5 = "FTS5"

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


@dataclass(frozen=True, slots=True)
class Scores:
    """Metrics of all questions, and the CPU seconds of remembering and recalling."""

    questions: Sequence[Score]
    cpu: float


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--onnx", metavar="FOLDER", help="embed with a sentence-transformers ONNX folder")
    parser.add_argument(
        "--previous", metavar="COMMIT", help="measure this commit on the same questions, and print both"
    )


def measure_conversations(
    conversations: Sequence[Conversation], options: argparse.Namespace, bars: dict[str, float]
) -> tuple[list[ReportRow], list[str]]:
    """Return the metrics of all questions and of each kind, beside FTS5 and the previous commit if one is given."""
    ours = measure_ours(conversations, options.onnx)
    beside: dict[str, Sequence[Score]] = {
        FTS5: [found for one in conversations for found in anyio.run(_score_fts5, one)]
    }
    notes = [
        f"{len(conversations)} conversations, {sum(len(one.turns) for one in conversations)} turns,"
        f" {len(ours.questions)} questions with evidence, unchanged",
        f"remembering all turns and answering all questions took {ours.cpu:.1f} s CPU",
    ]
    if options.previous:
        previous = measure_commit(options.previous, conversations, options.onnx)
        beside = {options.previous[:10]: previous.questions} | beside
        notes.append(f"{options.previous} took {previous.cpu:.1f} s CPU")
    return compare(ours.questions, beside, {} if options.onnx else bars), notes


def compare(ours: Sequence[Score], beside: Mapping[str, Sequence[Score]], bars: dict[str, float]) -> list[ReportRow]:
    """Return rows for all questions, then for each category. `bars` are limits, by metric or `category: metric`."""
    rows = [
        ReportRow(
            f"all: {name}",
            _mean(ours, name),
            {other: _mean(scores, name) for other, scores in beside.items()},
            at_least=bars.get(name),
        )
        for name in ours[0].found
    ]
    for category in dict.fromkeys(score.category for score in ours):
        mine = _of_category(ours, category)
        rows += [
            ReportRow(
                f"{category} ({len(mine)}): {name}",
                _mean(mine, name),
                {other: _mean(_of_category(scores, category), name) for other, scores in beside.items()},
                at_least=bars.get(f"{category}: {name}"),
            )
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


def _of_category(scores: Iterable[Score], category: str) -> list[Score]:
    return [score for score in scores if score.category == category]


def _mean(scores: Sequence[Score], name: str) -> float:
    return fmean(score.found[name] for score in scores)


async def _answer(conversation: Conversation, search: Search) -> list[Score]:
    return [score(question, await search(question.text)) for question in conversation.questions]


# -- Scrubjay: the public tools, one store per conversation ------------------------------------------


def measure_ours(conversations: Sequence[Conversation], onnx_folder: str | None) -> Scores:
    started = time.process_time()
    found = [found for one in conversations for found in anyio.run(_score_ours, one, onnx_folder)]
    return Scores(found, time.process_time() - started)


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


# -- another commit: its sources, the same questions -------------------------------------------------


def measure_commit(commit: str, conversations: Sequence[Conversation], onnx_folder: str | None) -> Scores:
    """Measure the sources of another commit of this repository in a child process."""
    archived = subprocess.run(["git", "archive", commit, "src"], cwd=PROJECT, capture_output=True, check=False)
    if archived.returncode:
        raise SystemExit(f"git knows no commit {commit}: {archived.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(archived.stdout)) as sources:
            sources.extractall(folder, filter="data")
        shortened = [
            replace(one, turns=[replace(turn, text=turn.text[:MAX_CHARACTERS_ELSEWHERE]) for turn in one.turns])
            for one in conversations
        ]
        asked = json.dumps({"conversations": [asdict(one) for one in shortened], "onnx": onnx_folder}, default=_plain)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(folder) / "src"), str(PROJECT)])}
        child = subprocess.run(
            [sys.executable, "-m", "benchmarks.conversations"],
            input=asked,
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    if child.returncode:
        raise SystemExit(f"{commit} could not be measured: {child.stderr.strip()[-2000:]}")
    answer = json.loads(child.stdout)
    return Scores([Score(**one) for one in answer["questions"]], answer["cpu"])


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else sorted(value)


def _answer_parent() -> None:
    """Measure the conversations of stdin with the sources on the path, and print the scores."""
    asked = json.load(sys.stdin)
    conversations = [
        Conversation(
            [Turn(**turn | {"said_at": datetime.fromisoformat(turn["said_at"])}) for turn in one["turns"]],
            [Question(**question | {"evidence": frozenset(question["evidence"])}) for question in one["questions"]],
        )
        for one in asked["conversations"]
    ]
    print(json.dumps(asdict(measure_ours(conversations, asked["onnx"]))))


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


if __name__ == "__main__":
    _answer_parent()
