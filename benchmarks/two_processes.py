"""Two servers write to one store of 100,000 memories: what either acknowledges, both find with the next question."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.contest import OURS, Contest
from benchmarks.corpus_preparation import prepare
from benchmarks.environment import environment
from benchmarks.report import Row
from benchmarks.retrieval_speed import QUESTIONS, SPARE, add_work_option
from benchmarks.stdio_child import OURS as OUR_SERVER
from benchmarks.stdio_child import StdioChild

ROWS = 100_000
ROUNDS = 50


def add_options(parser: argparse.ArgumentParser) -> None:
    add_work_option(parser)
    parser.add_argument("--rows", type=int, default=ROWS, help="the size of the store")


def measure(options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    corpus = prepare(options.work, [options.rows], SPARE, QUESTIONS)
    contest = Contest(options.work, corpus.folder, {OURS: Path(sys.executable)}, budget=0)
    contest.build(OURS, options.rows)
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        home = Path(scratch) / "home"
        shutil.copytree(contest.store(OURS, options.rows), home)
        return _exchange(home), [
            f"{options.rows:,} memories, two `scrubjay mcp` servers, both writing and asking at once"
        ]


def _exchange(home: Path) -> list[Row]:
    """Both write at the same time; then, at the same time, both ask for both."""
    servers = [StdioChild(OUR_SERVER, environment(str(home))) for _ in range(2)]
    found = [0, 0]
    with ThreadPoolExecutor(len(servers)) as pool:
        for number in range(ROUNDS):
            contents = [f"Server {name} saw crane {number * 7919} being repainted." for name in ("Ada", "Boris")]
            kept = list(pool.map(_remember, servers, contents))
            for place, answers in enumerate(pool.map(_recall, servers, [contents] * len(servers))):
                found[place] += sum(memory in answer for memory, answer in zip(kept, answers, strict=True))
    for server in servers:
        server.close()
    wanted = ROUNDS * len(servers)
    return [
        Row(f"found at once by the {which} server, of {wanted} that both acknowledged", count, at_least=wanted)
        for which, count in zip(("first", "second"), found, strict=True)
    ]


def _remember(server: StdioChild, content: str) -> str:
    return server.call("remember", {"content": content})["id"]


def _recall(server: StdioChild, contents: Sequence[str]) -> list[set[str]]:
    """The memories that each question finds, as far as their meaning was compared too."""
    answers: list[set[str]] = []
    for content in contents:
        recalled = server.call("recall", {"query": content, "limit": 5, "explain": True})
        answers.append({memory["id"] for memory in recalled["memories"] if _was_compared(memory["explanation"])})
    return answers


def _was_compared(explanation: Mapping[str, Any]) -> bool:
    return any(signal["signal"] == "meaning" and signal["value"] > 0 for signal in explanation["signals"])
