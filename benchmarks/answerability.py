"""Measure whether only stored answers are presented as answers: questions with and without an answer in the store."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.locomo import DEFAULT_FOLDER, FOLDER_VARIABLE
from benchmarks.process_environment import clean_environment
from benchmarks.report import PROJECT, ReportRow
from benchmarks.stdio_child import StdioChild

OWN_STORES = Path(__file__).parent / "answers"
DEVELOPMENT_STORES = OWN_STORES / "development"
"""Stores to look at while choosing a method; the others only check it."""
MIN_KEPT, MAX_PRESENTED = 0.9, 0.25
RECALLED = 5


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A store with questions that it answers, and questions on its topics that it does not answer."""

    name: str
    memories: Sequence[str]
    answerable: Sequence[tuple[str, frozenset[int]]]
    """Each question with the memories that answer it."""
    unanswerable: Sequence[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was presented as the answer of one question."""

    confirmed: frozenset[int]
    """Memories that `recall` confirms."""
    cited: frozenset[int]
    """Memories that the answer of `ask_mimo` cites."""
    is_answered: bool
    """True if `ask_mimo` gave an answer."""
    best_score: float


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get(FOLDER_VARIABLE, DEFAULT_FOLDER)),
        help=f"folder with answers/*.json, in addition to our own stores (or {FOLDER_VARIABLE})",
    )
    parser.add_argument("--development", action="store_true", help="measure only the stores for development")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="compare with an installed checkout of ours")


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    if options.development:
        sets = read_sets(DEVELOPMENT_STORES)
    else:
        sets = [*read_sets(OWN_STORES), *read_sets(options.data / "answers")]
    rows: list[ReportRow] = []
    for questions in sets:
        ours = score(questions, _ask(PROJECT, sys.executable, questions))
        theirs: dict[str, float] = {}
        if options.against:
            theirs = score(questions, _ask(options.against, str(options.against / ".venv/bin/python"), questions))
        for name, value in ours.items():
            beside = {str(options.against.name): theirs[name]} if options.against else {}
            rows.append(
                ReportRow(
                    f"{questions.name}: {name}",
                    value,
                    beside,
                    at_least=MIN_KEPT if name.endswith("kept") else None,
                    at_most=MAX_PRESENTED if name.endswith("presented") else None,
                )
            )
    count = sum(len(one.answerable) for one in sets), sum(len(one.unanswerable) for one in sets)
    return rows, [
        f"{len(sets)} stores, {count[0]} questions with an answer and {count[1]} without one on the same topics",
        "kept: the memory with the answer is presented as one; presented: an answer is given where none is stored",
    ]


def read_sets(folder: Path) -> list[QuestionSet]:
    found: list[QuestionSet] = []
    for file in sorted(folder.glob("*.json")):
        document = json.loads(file.read_text("utf-8"))
        found += [
            QuestionSet(
                store["name"],
                store["memories"],
                [(asked["q"], frozenset(asked["gold"])) for asked in store["answerable"]],
                store["unanswerable"],
            )
            for store in document.get("stores", [document])
        ]
    return found


def score(questions: QuestionSet, outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the shares of kept and presented answers, and how well the best score tells both kinds apart (AUC)."""
    answerable, unanswerable = outcomes[: len(questions.answerable)], outcomes[len(questions.answerable) :]
    gold = [memories for _, memories in questions.answerable]
    return {
        "recall kept": _share([bool(one.confirmed & own) for one, own in zip(answerable, gold, strict=True)]),
        "recall presented": _share([bool(one.confirmed) for one in unanswerable]),
        "ask kept": _share([bool(one.cited & own) for one, own in zip(answerable, gold, strict=True)]),
        "ask presented": _share([one.is_answered for one in unanswerable]),
        "AUC": area_under_curve([one.best_score for one in answerable], [one.best_score for one in unanswerable]),
    }


def area_under_curve(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the probability that a positive score exceeds a negative one; ties count half."""
    wins = sum((one > other) + (one == other) / 2 for one in positive for other in negative)
    return wins / (len(positive) * len(negative))


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values)


def _ask(checkout: Path, python: str, questions: QuestionSet) -> list[Outcome]:
    """Store the memories in a new home of the checkout's server, and ask all questions."""
    with tempfile.TemporaryDirectory() as home:
        module = "scrubjay.app" if (checkout / "src" / "scrubjay").exists() else "recollect.app"
        environment = clean_environment(home)
        environment |= {name.replace("SCRUBJAY_", "RECOLLECT_"): value for name, value in environment.items()}
        server = StdioChild((python, "-m", module, "mcp"), environment)
        try:
            memories = [{"content": content} for content in questions.memories]
            stored = server.call("remember_many", {"memories": memories})["memories"]
            places = {memory["id"]: place for place, memory in enumerate(stored)}
            texts = [*(text for text, _ in questions.answerable), *questions.unanswerable]
            return [_ask_one(server, text, places) for text in texts]
        finally:
            server.close()


def _ask_one(server: StdioChild, question: str, places: dict[str, int]) -> Outcome:
    recalled: list[dict[str, Any]] = server.call("recall", {"query": question, "limit": RECALLED})["memories"]
    answer = server.call("ask_mimo", {"query": question})
    return Outcome(
        confirmed=frozenset(places[memory["id"]] for memory in recalled if memory["confirmed"]),
        cited=frozenset(places[one["id"]] for one in answer["citations"] if one["id"] in places),
        is_answered=answer["synthesis"] is not None,
        best_score=max((memory["score"] for memory in recalled), default=0.0),
    )
