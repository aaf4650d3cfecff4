"""Which files answer questions about code, through the public tools, beside searching for the words with ripgrep."""

import argparse
import json
import math
import os
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import anyio

from benchmarks.report import Row
from recollect.app.lifespan import running
from recollect.app.settings import Settings
from recollect.codebase.words import query_words, words_of
from recollect.toolkit.context import CallContext
from recollect.toolkit.dispatcher import Dispatcher

REPOSITORIES_VARIABLE = "CODE_BENCH_REPOS"
DEEPEST = 10
BARS = {"nl": 0.90, "commits": 0.72, "symbols": 0.948}
# As the data's own page tells of a peer; it is not run here.
PEERS = {"nl": {"semble": 0.831}, "commits": {"semble": 0.546}, "symbols": {"codegraph": 0.890}}
NEAR_LINES = 2

Query = dict[str, Any]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/bench/code"), help="the folder that holds open/nl.jsonl and others"
    )
    parser.add_argument(
        "--repositories",
        type=Path,
        default=Path(os.environ.get(REPOSITORIES_VARIABLE, "code-repositories")),
        help=f"a folder with one checkout for each name in repos.json, at its commit (or {REPOSITORIES_VARIABLE})",
    )
    parser.add_argument("--sets", default="nl,commits,symbols", help="which sets of questions, between commas")
    parser.add_argument("--only", default="", help="only these repositories, between commas")


def measure(options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    return anyio.run(_measure, options)


async def _measure(options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    scores: dict[str, list[float]] = defaultdict(list)
    words_alone: dict[str, list[float]] = defaultdict(list)
    milliseconds: list[float] = []
    notes: list[str] = []
    wanted = {name for name in options.only.split(",") if name}
    for name in options.sets.split(","):
        by_folder: dict[tuple[str, str], list[Query]] = defaultdict(list)
        for line in (options.data / "open" / f"{name}.jsonl").read_text("utf-8").splitlines():
            query: Query = json.loads(line)
            if not wanted or query["repo"] in wanted:
                # Only the folder that a natural question is about is indexed, as for the peers.
                by_folder[query["repo"], query["root"] if name == "nl" else ""].append(query)
        for (repository, folder), queries in sorted(by_folder.items()):
            root = (options.repositories / repository / folder).resolve()
            before = len(scores[name])
            with tempfile.TemporaryDirectory() as home:
                async with running(Settings(home=Path(home))) as app:
                    index_id = await _indexed(app.dispatcher, root)
                    for query in queries:
                        began = time.process_time()
                        found = await _found(app.dispatcher, index_id, query["query"])
                        milliseconds.append((time.process_time() - began) * 1000)
                        scores[name].append(_score(name, query, folder, found))
                        if name != "symbols":
                            by_words = [(path, 0, 0) for path in _by_ripgrep(root, query["query"])]
                            words_alone[name].append(_score(name, query, folder, by_words))
            notes.append(f"{name} {repository}: {fmean(scores[name][before:]):.3f} of {len(queries)}")
    rows = [
        Row(
            f"{name}: {'first is right' if name == 'symbols' else 'NDCG@10'}",
            fmean(found),
            {**PEERS[name], **({"ripgrep": fmean(words_alone[name])} if words_alone[name] else {})},
            at_least=BARS[name],
        )
        for name, found in scores.items()
        if found
    ]
    rows.append(Row("a search, CPU ms p50", median(milliseconds)))
    return rows, notes


async def _indexed(dispatcher: Dispatcher, root: Path) -> str:
    answer = await dispatcher.call("build_repo_index", {"path": str(root)}, CallContext(surface="python"))
    return answer.model_dump()["result"]["index_id"]


async def _found(dispatcher: Dispatcher, index_id: str, query: str) -> list[tuple[str, int, int]]:
    arguments = {"index_id": index_id, "query": query, "k": DEEPEST, "context_lines": 0}
    answer = await dispatcher.call("search_repo", arguments, CallContext(surface="python"))
    return [(one["path"], *one["lines"]) for one in answer.model_dump()["results"]]


def _score(name: str, query: Query, folder: str, found: Sequence[tuple[str, int, int]]) -> float:
    shown = [(f"{folder}/{path}" if folder else path, first, last) for path, first, last in found]
    if name == "symbols":
        if not shown:
            return 0.0
        path, first, last = shown[0]
        return float(path == query["path"] and first - NEAR_LINES <= query["line"] <= last + NEAR_LINES)
    files = list(dict.fromkeys(path for path, *_ in shown))[:DEEPEST]
    right = list(dict.fromkeys(one["path"] for one in (*query["relevant"], *query["secondary"])))
    gained = sum(1 / math.log2(files.index(path) + 2) for path in right if path in files)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(len(right), DEEPEST)))


def _by_ripgrep(root: Path, query: str) -> list[str]:
    """The files with the most of the question's words, counted with ripgrep where it is installed, else with grep."""
    program = ["rg", "--count-matches", "-i", "-F"] if shutil.which("rg") else ["git", "grep", "-c", "-i", "-F"]
    having: dict[str, int] = defaultdict(int)
    often: dict[str, int] = defaultdict(int)
    stems = {word for word, _ in query_words(query)}
    for written in dict.fromkeys(part for part in query.replace("`", " ").split() if stems & {*words_of(part)}):
        told = subprocess.run([*program, "-e", written.strip("?.,:;()")], cwd=root, capture_output=True).stdout
        for line in told.decode("utf-8", "replace").splitlines():
            path, _, count = line.rpartition(":")
            having[path] += 1
            often[path] += int(count) if count.isdigit() else 1
    return sorted(having, key=lambda path: (-having[path], -often[path], path))[:DEEPEST]
