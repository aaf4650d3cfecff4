"""Check that two servers on one store of 100,000 memories find each acknowledged write of both at once."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.corpus_preparation import prepare
from benchmarks.process_environment import clean_environment
from benchmarks.report import ReportRow
from benchmarks.retrieval_speed import QUESTIONS, SPARE, add_work_option
from benchmarks.stdio_child import OURS as OUR_SERVER
from benchmarks.stdio_child import StdioChild
from benchmarks.store_process import OURS, StoreBuilder

ROWS = 100_000
ROUNDS = 50


def add_options(parser: argparse.ArgumentParser) -> None:
    add_work_option(parser)
    parser.add_argument("--rows", type=int, default=ROWS, help="size of the store")


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    corpus = prepare(options.work, [options.rows], SPARE, QUESTIONS)
    builder = StoreBuilder(options.work, corpus.folder, {OURS: Path(sys.executable)}, budget=0)
    builder.build(OURS, options.rows)
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        home = Path(scratch) / "home"
        shutil.copytree(builder.store(OURS, options.rows), home)
        return _exchange(home), [
            f"{options.rows:,} memories, two `scrubjay mcp` servers, both writing and recalling at the same time"
        ]


def _exchange(home: Path) -> list[ReportRow]:
    """Let both servers write at the same time, then recall both memories at the same time."""
    servers = [StdioChild(OUR_SERVER, clean_environment(str(home))) for _ in range(2)]
    found = [0, 0]
    with ThreadPoolExecutor(len(servers)) as pool:
        for number in range(ROUNDS):
            contents = [f"Server {name} saw crane {number * 7919} being repainted." for name in ("Ada", "Boris")]
            stored = list(pool.map(_remember, servers, contents))
            for index, answers in enumerate(pool.map(_recall, servers, [contents] * len(servers))):
                found[index] += sum(memory in answer for memory, answer in zip(stored, answers, strict=True))
    for server in servers:
        server.close()
    wanted = ROUNDS * len(servers)
    return [
        ReportRow(f"found at once by the {which} server, of {wanted} that both acknowledged", count, at_least=wanted)
        for which, count in zip(("first", "second"), found, strict=True)
    ]


def _remember(server: StdioChild, content: str) -> str:
    return server.call("remember", {"content": content})["id"]


def _recall(server: StdioChild, contents: Sequence[str]) -> list[set[str]]:
    """Return the memories that each question finds by vector search too."""
    answers: list[set[str]] = []
    for content in contents:
        recalled = server.call("recall", {"query": content, "limit": 5, "explain": True})
        answers.append({memory["id"] for memory in recalled["memories"] if _found_by_vector(memory["explanation"])})
    return answers


def _found_by_vector(explanation: Mapping[str, Any]) -> bool:
    return any(signal["signal"] == "meaning" and signal["value"] > 0 for signal in explanation["signals"])
