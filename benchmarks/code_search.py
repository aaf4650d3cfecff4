"""Measure accuracy and cost of code search through the public tools, compared with other engines."""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.code_engine import OURS, PEERS
from benchmarks.code_questions import SETS, SYMBOLS, Query, read_questions, score
from benchmarks.engine_process import (
    REPETITIONS,
    ColdIndexCost,
    EngineFailed,
    EngineProcess,
    Timings,
    installed_engines,
    start_engine,
)
from benchmarks.process_environment import clean_environment
from benchmarks.report import PROJECT, ReportRow

REPOSITORIES_VARIABLE = "CODE_BENCH_REPOS"
PEERS_FOLDER = PROJECT / ".venv" / "peers"
COST = "django"
"""The repository to which the cost limits apply."""
BARS = {"nl": 0.90, "commits": 0.72, SYMBOLS: 0.948}

COLD = "cold index, s"
COLD_CPU = "cold index, CPU s of all processes"
LARGEST = "cold index, MB of the largest process"
TOGETHER = "cold index, MB of all processes at one time"
LOOK = "nothing changed, s"
LOOK_CPU = "nothing changed, CPU s"
CHANGE = "one changed file until it is found, s"
CHANGE_CPU = "one changed file until it is found, CPU s"
FRESH = f"changes found, of {REPETITIONS}"
SEARCH_P50 = "a search, ms p50"
SEARCH_P95 = "a search, ms p95"
SEARCH_CPU = "a search, CPU ms p50"
COMMAND_LOOK = "command line: nothing changed, s"
COMMAND_SEARCH = "command line: a search, s"
COST_BARS = {COLD: 10.0, LARGEST: 500.0, LOOK: 0.3, CHANGE: 0.15, SEARCH_P50: 10.0, SEARCH_P95: 30.0}


@dataclass(frozen=True, slots=True)
class EngineOutcome:
    """Scores and costs of one engine on one folder."""

    scores: Mapping[str, Sequence[float]]
    """Scores of each question, by set."""
    cpu: Sequence[float]
    """CPU seconds of each search."""
    costs: Mapping[str, float]
    """Empty when costs were not measured."""


def add_repositories_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--repositories",
        type=Path,
        default=Path(os.environ.get(REPOSITORIES_VARIABLE, "code-repositories")),
        help=f"folder with a checkout of each repository (or {REPOSITORIES_VARIABLE})",
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/bench/code"), help="folder with open/nl.jsonl and the other sets"
    )
    add_repositories_option(parser)
    parser.add_argument("--sets", default=",".join(SETS), help="sets of questions, comma-separated")
    parser.add_argument("--only", default="", help="only these repositories, comma-separated")
    parser.add_argument(
        "--peers", default=",".join(PEERS), help="engines to compare with, comma-separated; missing ones are reported"
    )
    parser.add_argument("--peers-folder", type=Path, default=PEERS_FOLDER, help="folder where the peers are installed")
    parser.add_argument("--cost", default=COST, help="repository whose costs are measured")


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    wanted = [name for name in options.peers.split(",") if name]
    if unknown := {*wanted} - {*PEERS}:
        sys.exit(f"unknown peers: {', '.join(sorted(unknown))}; choose from {', '.join(PEERS)}")
    peers = options.peers_folder.resolve()
    engines, notes = installed_engines(wanted, peers)
    scores: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in options.sets.split(",")}
    costs: dict[str, dict[str, float]] = defaultdict(dict)
    cpu: dict[str, list[float]] = defaultdict(list)
    asked = read_questions(options.data, [*scores], {name for name in options.only.split(",") if name})
    for (repository, folder), by_set in asked.items():
        is_costed = repository == options.cost and not folder
        for engine in [*engines]:
            try:
                with start_engine(engine, (options.repositories / repository).resolve(), folder, peers) as running:
                    outcome = _outcome(running, by_set, folder, is_costed)
            except EngineFailed as failure:
                if engine == OURS:
                    raise
                engines.remove(engine)  # an average over fewer questions would not be comparable
                notes.append(f"{failure}; its averages are omitted")
                continue
            cpu[engine].extend(outcome.cpu)
            for name, own in outcome.scores.items():
                scores[name][engine].extend(own)
                if engine == OURS:
                    notes.append(f"{name} {repository}: {fmean(own):.3f} of {len(own)}")
            for figure, value in outcome.costs.items():
                costs[figure][engine] = value
    rows = [
        _row(f"{name}: {'first is right' if name == SYMBOLS else 'NDCG@10'}", means, engines, at_least=BARS[name])
        for name, by_engine in scores.items()
        if (means := {engine: fmean(values) for engine, values in by_engine.items()})
    ]
    rows.append(_row(SEARCH_CPU, {engine: median(spent) * 1000 for engine, spent in cpu.items()}, engines))
    bars = COST_BARS if options.cost == COST else {}
    rows += [
        _row(f"{options.cost}: {figure}", by_engine, engines, at_most=bars.get(figure))
        for figure, by_engine in costs.items()
    ]
    return rows, [*notes, load_note()]


def load_note() -> str:
    now, _, long = os.getloadavg()
    return f"system load at the end {now:.1f}, over 15 minutes {long:.1f}, on {os.cpu_count()} cores"


def _row(name: str, values: Mapping[str, float], engines: Sequence[str], **bars: float | None) -> ReportRow:
    return ReportRow(name, values.get(OURS), {one: values.get(one) for one in engines if one != OURS}, **bars)


def _outcome(
    running: EngineProcess, by_set: Mapping[str, Sequence[Query]], folder: str, is_costed: bool
) -> EngineOutcome:
    cold = running.index()
    scores: dict[str, list[float]] = {}
    seconds: list[float] = []
    cpu: list[float] = []
    for name, queries in by_set.items():
        found, times = running.search([query["query"] for query in queries], symbols=name == SYMBOLS)
        scores[name] = [score(name, query, folder, own) for query, own in zip(queries, found, strict=True)]
        seconds += times.seconds
        cpu += times.cpu
    if not is_costed:
        return EngineOutcome(scores, cpu, {})
    asked = Timings(seconds, cpu)
    costs = {
        **cold_figures(cold),
        SEARCH_P50: asked.p50 * 1000,
        SEARCH_P95: asked.p95 * 1000,
        **change_figures(running),
    }
    if running.name == OURS:
        costs |= _by_command_line(running, by_set)
    return EngineOutcome(scores, cpu, costs)


def cold_figures(cold: ColdIndexCost) -> dict[str, float]:
    return {COLD: cold.seconds, COLD_CPU: cold.cpu, LARGEST: cold.largest, TOGETHER: cold.together}


def change_figures(running: EngineProcess) -> dict[str, float]:
    looked = running.check_unchanged()
    changed, found = running.change()
    return {
        LOOK: looked.p50,
        LOOK_CPU: median(looked.cpu),
        CHANGE: changed.p50,
        CHANGE_CPU: median(changed.cpu),
        FRESH: found,
    }


def _by_command_line(running: EngineProcess, by_set: Mapping[str, Sequence[Query]]) -> dict[str, float]:
    """Measure the command line on the same store, one process per command, while the server keeps running."""
    query = next(iter(by_set.values()))[0]["query"]
    looked, index = zip(
        *(_command(running, "ensure_repo_index", path=str(running.root)) for _ in range(REPETITIONS)), strict=True
    )
    searched = [
        _command(running, "search_repo", index_id=index[0]["index_id"], query=query)[0] for _ in range(REPETITIONS)
    ]
    return {COMMAND_LOOK: median(looked), COMMAND_SEARCH: median(searched)}


def _command(running: EngineProcess, tool: str, **arguments: str) -> tuple[float, dict[str, Any]]:
    command = [sys.executable, "-m", "scrubjay.app", "code", tool, "--json", json.dumps(arguments)]
    began = time.perf_counter()
    completed = subprocess.run(
        command, env=clean_environment(str(running.home)), cwd=running.root, capture_output=True, check=True
    )
    return time.perf_counter() - began, json.loads(completed.stdout)
