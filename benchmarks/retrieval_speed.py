"""Measure the cost of search and writes as a store grows, compared with Chroma, sqlite-vec and LanceDB."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.corpus import CHUNK
from benchmarks.corpus_files import CorpusFiles
from benchmarks.corpus_preparation import prepare, questions_name, reworded_name
from benchmarks.process_environment import clean_environment
from benchmarks.report import PROJECT, ReportRow
from benchmarks.stdio_child import OURS as OUR_SERVER
from benchmarks.stdio_child import StdioChild
from benchmarks.store_adapter import RESULT_LIMIT, STORES
from benchmarks.store_process import OURS, OverBudget, StoreBuilder, StoreProcess

WORK_VARIABLE = "SCRUBJAY_BENCH_WORK"
DEFAULT_WORK = "~/.cache/scrubjay-benchmarks"
PEERS_PYTHON = PROJECT / ".venv" / "peers" / "bin" / "python"

QUESTIONS = 100
QUESTIONS_PER_TURN = 10
"""Systems take turns after this many questions, so that changes in machine speed affect all of them alike."""
WARM_UP = 5
WRITES = 50
STARTS = 5
GENEROUS_SECONDS = 600.0
"""CPU seconds for a few calls; a system that needs more is broken."""
SPARE = 2 * CHUNK
"""Rows beyond the corpus: the first chunk is written row by row, the second in bulk."""

Measurements = dict[str, dict[str, float]]
"""Measured values by measure and system."""


@dataclass(frozen=True, slots=True)
class SizeBars:
    at_most: Mapping[int, float] = field(default_factory=dict[int, float])
    at_least: Mapping[int, float] = field(default_factory=dict[int, float])


ANY_SIZE = (10_000, 100_000, 1_000_000)
SEARCH_P50 = "search, CPU ms p50"
SEARCH_P95 = "search, CPU ms p95"
RARE_P50 = "search under a 1 % filter, CPU ms p50"
TEXT_P50 = "text search alone, CPU ms p50"
TARGET = "row that the question is about among 10"
RECALL = "recall@10 of the vectors against exact"
RARE_RECALL = "the same under a 1 % filter"
WRITE_P50 = "durable single write, CPU ms p50"
AFTER_WRITE_P50 = "search right after a write, CPU ms p50"
IMPORT = "import of 10,000 more, memories/s of CPU"
BUILD = "import from nothing, memories/s of CPU"
FIRST = "first answer of a new process, CPU s"
FIRST_STDIO = "first answer of a new MCP server over stdio, CPU s"
RESIDENT = "resident memory of a process that serves, MB"
OWN = "of it not shared with the disk cache, MB"
DISK = "disk, MB"

MEASURES = {
    SEARCH_P50: SizeBars(at_most={100_000: 8, 1_000_000: 30}),
    SEARCH_P95: SizeBars(),
    RARE_P50: SizeBars(),
    TEXT_P50: SizeBars(),
    TARGET: SizeBars(),
    RECALL: SizeBars(at_least=dict.fromkeys(ANY_SIZE, 0.99)),
    RARE_RECALL: SizeBars(at_least=dict.fromkeys(ANY_SIZE, 0.98)),
    AFTER_WRITE_P50: SizeBars(),
    WRITE_P50: SizeBars(at_most={1_000_000: 2}),
    IMPORT: SizeBars(at_least=dict.fromkeys(ANY_SIZE, 5_000)),
    BUILD: SizeBars(),
    FIRST: SizeBars(at_most={1_000_000: 0.6}),
    FIRST_STDIO: SizeBars(),
    RESIDENT: SizeBars(at_most={1_000_000: 800}),
    OWN: SizeBars(),
    DISK: SizeBars(),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add_work_option(parser)
    parser.add_argument("--rows", default="10000,100000,1000000", help="store sizes, comma-separated")
    parser.add_argument("--only", default=",".join(STORES), help="systems, comma-separated")
    parser.add_argument(
        "--peers", type=Path, default=PEERS_PYTHON, help="Python in which the other systems are installed"
    )
    parser.add_argument("--budget", type=float, default=900, help="CPU seconds for each other system to build a store")
    parser.add_argument("--patience", type=float, default=60, help="CPU seconds for each system and kind of search")
    parser.add_argument("--fresh", action="store_true", help="rebuild our own stores")


def add_work_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(os.environ.get(WORK_VARIABLE, DEFAULT_WORK)).expanduser(),
        help=f"folder for corpus and stores, reused between runs (or {WORK_VARIABLE}; default {DEFAULT_WORK})",
    )


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    sizes = [int(rows) for rows in options.rows.split(",")]
    if any(rows < CHUNK or rows % CHUNK for rows in sizes):
        raise SystemExit(f"--rows must be multiples of {CHUNK:,}")
    pythons = {OURS: Path(sys.executable)} | {
        name: options.peers for name in options.only.split(",") if name in STORES and name != OURS
    }
    if len(pythons) > 1 and not options.peers.exists():
        raise SystemExit(f"{options.peers} is missing: create it from requirements/bench.txt, or use --only {OURS}")
    corpus = prepare(options.work, sizes, SPARE, QUESTIONS)
    builder = StoreBuilder(options.work, corpus.folder, pythons, options.budget)
    figures: dict[int, Measurements] = {}
    notes = [
        "CPU of the whole process; search is `recall` by text (embed, search words and vectors, rank),"
        " for the others a search by a given vector; both return ten complete memories",
        "chromadb: HNSW; sqlite-vec: exact float32 with FTS5; lancedb: IVF_PQ with refine factor 10 from 100,000 rows",
    ]
    for rows in sizes:
        if options.fresh:
            builder.discard(OURS, rows)
        figures[rows], size_notes = _measure_size(builder, corpus, rows, options.patience)
        notes += size_notes
    return report_rows(figures), notes


def report_rows(figures: Mapping[int, Measurements]) -> list[ReportRow]:
    """Return rows by measure and then by size, which shows how each cost grows."""
    others = dict.fromkeys(name for by_measure in figures.values() for name in by_measure[DISK] if name != OURS)
    return [
        ReportRow(
            f"{rows:>9,}: {measure}",
            by_measure[measure].get(OURS),
            {name: by_measure[measure].get(name) for name in others},
            at_most=bar.at_most.get(rows),
            at_least=bar.at_least.get(rows),
        )
        for measure, bar in MEASURES.items()
        for rows, by_measure in figures.items()
        if by_measure[measure]
    ]


def _measure_size(
    builder: StoreBuilder, corpus: CorpusFiles, rows: int, patience: float
) -> tuple[Measurements, list[str]]:
    figures: Measurements = {measure: {} for measure in MEASURES}
    notes: list[str] = []
    names: list[str] = []
    for name in builder.pythons:
        _print_progress(f"{rows:,}: the store of {name}")
        built = builder.build(name, rows)
        if built.rows < rows:
            notes.append(f"{rows:,}: {name} stored only {built.rows:,} rows within {built.budget:.0f} s CPU; skipped")
            continue
        names.append(name)
        if built.indexed:
            figures[BUILD][name] = rows / built.cpu
        else:
            notes.append(
                f"{rows:,}: {name} did not finish its index within {built.budget:.0f} s CPU; searched without it"
            )
        if name == OURS:
            notes.append(f"{rows:,}: our store was built at {built.commit}")
        figures[DISK][name] = _megabytes(builder.store(name, rows))
    _print_progress(f"{rows:,}: searching")
    _measure_searching(builder, corpus, rows, names, patience, figures)
    _print_progress(f"{rows:,}: starting")
    _measure_starts(builder, rows, names, patience, figures)
    _print_progress(f"{rows:,}: writing")
    _measure_writing(builder, rows, names, patience, figures)
    return figures, notes


def _measure_searching(
    builder: StoreBuilder, corpus: CorpusFiles, rows: int, names: Sequence[str], patience: float, figures: Measurements
) -> None:
    """Measure searches and memory in processes that only search, in turns."""
    questions, reworded = questions_name(rows), reworded_name(rows)
    with _start_stores(builder, {name: builder.store(name, rows) for name in names}) as processes:
        for process in processes:
            process.ask("search", GENEROUS_SECONDS, mode="search", questions=questions, first=0, last=WARM_UP)
        targets = [probe.target for probe in corpus.questions(questions)]
        for name, (costs, found) in _search_in_turns(processes, patience, mode="search", questions=questions).items():
            figures[SEARCH_P50][name] = median(costs) * 1000
            figures[SEARCH_P95][name] = quantiles(costs, n=20)[-1] * 1000
            hits = [target in rows_found for target, rows_found in zip(targets, found, strict=False)]
            figures[TARGET][name] = sum(hits) / len(hits)
        for name, (costs, _) in _search_in_turns(
            processes, patience, mode="search", questions=questions, rare=True
        ).items():
            figures[RARE_P50][name] = median(costs) * 1000
        for name, (costs, found) in _search_in_turns(processes, patience, mode="text", questions=questions).items():
            if None not in found:
                figures[TEXT_P50][name] = median(costs) * 1000
        for measure, rare in ((RECALL, False), (RARE_RECALL, True)):
            exact = corpus.exact(corpus.questions(reworded), rows, rare=rare, depth=RESULT_LIMIT)
            answers = _search_in_turns(processes, patience, mode="nearest", questions=reworded, rare=rare)
            for name, (_, found) in answers.items():
                figures[measure][name] = exact.recall(found)
        for process in processes:
            usage = process.ask("usage", patience)
            figures[RESIDENT][process.name] = usage["resident"]
            figures[OWN][process.name] = usage["own"]


def _measure_starts(
    builder: StoreBuilder, rows: int, names: Sequence[str], patience: float, figures: Measurements
) -> None:
    starts: dict[str, list[float]] = {name: [] for name in names}
    over_stdio: list[float] = []
    for number in range(STARTS):
        for name in names:
            with _start_stores(builder, {name: builder.store(name, rows)}) as (process,):
                request = {"mode": "search", "questions": questions_name(rows), "first": number, "last": number + 1}
                process.ask("search", GENEROUS_SECONDS, **request)
                starts[name] += process.ask("usage", patience)["cpu"]
        server = StdioChild(OUR_SERVER, clean_environment(str(builder.store(OURS, rows))))
        server.call("recall", {"query": f"what was decided about number {number}?"})
        over_stdio.append(server.cpu())
        server.close()
    figures[FIRST] |= {name: median(cpu) for name, cpu in starts.items()}
    figures[FIRST_STDIO][OURS] = median(over_stdio)


def _measure_writing(
    builder: StoreBuilder, rows: int, names: Sequence[str], patience: float, figures: Measurements
) -> None:
    """Measure writes on copies, so that the next run can reuse the stores."""
    questions = questions_name(rows)
    written: dict[str, list[float]] = {name: [] for name in names}
    after: dict[str, list[float]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory(dir=builder.work) as scratch:
        copies = {name: Path(scratch) / name for name in names}
        for name, copy in copies.items():
            shutil.copytree(builder.store(name, rows), copy)
        with _start_stores(builder, copies) as processes:
            for process in processes:
                process.ask("search", GENEROUS_SECONDS, mode="search", questions=questions, first=0, last=WARM_UP)
            for first in range(rows, rows + WRITES, QUESTIONS_PER_TURN):
                for process in processes:
                    request = {"first": first, "last": first + QUESTIONS_PER_TURN, "questions": questions}
                    answer = process.ask("write_and_search", GENEROUS_SECONDS, **request)
                    written[process.name] += answer["cpu"]
                    after[process.name] += answer["after"]
            for name in names:
                figures[WRITE_P50][name] = median(written[name]) * 1000
                figures[AFTER_WRITE_P50][name] = median(after[name]) * 1000
            for process in processes:
                try:
                    cost = process.ask("add", patience, first=rows + CHUNK, last=rows + SPARE)["cpu"]
                    # Includes one search, which pays for deferred index work.
                    cost += process.ask("search", patience, mode="search", questions=questions, first=0, last=1)["cpu"]
                except OverBudget:
                    continue
                figures[IMPORT][process.name] = CHUNK / sum(cost)


def _search_in_turns(
    processes: Sequence[StoreProcess], patience: float, **request: Any
) -> dict[str, tuple[list[float], list[Any]]]:
    """Return costs and results of the questions that each system answered within `patience` CPU seconds."""
    costs: dict[str, list[float]] = {process.name: [] for process in processes}
    found: dict[str, list[Any]] = {process.name: [] for process in processes}
    for first in range(0, QUESTIONS, QUESTIONS_PER_TURN):
        for process in processes:
            if sum(costs[process.name]) < patience:
                answer = process.ask(
                    "search", GENEROUS_SECONDS, first=first, last=first + QUESTIONS_PER_TURN, **request
                )
                costs[process.name] += answer["cpu"]
                found[process.name] += answer["found"]
    return {name: (costs[name], found[name]) for name in costs}


@contextmanager
def _start_stores(builder: StoreBuilder, stores: Mapping[str, Path]) -> Generator[list[StoreProcess]]:
    processes: list[StoreProcess] = []
    try:
        for name, store in stores.items():
            processes.append(builder.enter(name, store))
        yield processes
    finally:
        for process in processes:
            process.close()


def _print_progress(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
