"""What searching and remembering cost as a store grows, beside Chroma, sqlite-vec and LanceDB on the same rows."""

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

from benchmarks.contest import OURS, Contender, Contest, OverBudget
from benchmarks.contestant import CONTESTANTS, WANTED
from benchmarks.corpus import CHUNK
from benchmarks.corpus_files import CorpusFiles
from benchmarks.corpus_preparation import prepare, questions_name, reworded_name
from benchmarks.environment import environment
from benchmarks.report import PROJECT, Row
from benchmarks.stdio_child import OURS as OUR_SERVER
from benchmarks.stdio_child import StdioChild

WORK_VARIABLE = "SCRUBJAY_BENCH_WORK"
DEFAULT_WORK = "~/.cache/scrubjay-benchmarks"
PEERS_PYTHON = PROJECT / ".venv" / "peers" / "bin" / "python"

QUESTIONS = 100
BLOCK = 10
"""So many questions a turn: the machine drifts, and all shall drift alike."""
WARM_UP = 5
WRITES = 50
STARTS = 5
UNHURRIED = 600.0
"""CPU seconds that a few calls may take: who needs more is broken."""
SPARE = 2 * CHUNK
"""Rows beyond the corpus: the first chunk is written one by one, the second at once."""

Figures = dict[str, dict[str, float]]
"""The measured values by measure and contestant."""


@dataclass(frozen=True, slots=True)
class Bar:
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
    SEARCH_P50: Bar(at_most={100_000: 8, 1_000_000: 30}),
    SEARCH_P95: Bar(),
    RARE_P50: Bar(),
    TEXT_P50: Bar(),
    TARGET: Bar(),
    RECALL: Bar(at_least=dict.fromkeys(ANY_SIZE, 0.99)),
    RARE_RECALL: Bar(at_least=dict.fromkeys(ANY_SIZE, 0.98)),
    AFTER_WRITE_P50: Bar(),
    WRITE_P50: Bar(at_most={1_000_000: 2}),
    IMPORT: Bar(at_least=dict.fromkeys(ANY_SIZE, 5_000)),
    BUILD: Bar(),
    FIRST: Bar(at_most={1_000_000: 0.6}),
    FIRST_STDIO: Bar(),
    RESIDENT: Bar(at_most={1_000_000: 800}),
    OWN: Bar(),
    DISK: Bar(),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add_work_option(parser)
    parser.add_argument("--rows", default="10000,100000,1000000", help="sizes, joined by commas")
    parser.add_argument("--only", default=",".join(CONTESTANTS), help="contestants, joined by commas")
    parser.add_argument("--peers", type=Path, default=PEERS_PYTHON, help="the Python that the others are installed in")
    parser.add_argument("--budget", type=float, default=900, help="CPU seconds that each of the others has to build")
    parser.add_argument("--patience", type=float, default=60, help="CPU seconds that each has for a kind of search")
    parser.add_argument("--fresh", action="store_true", help="build our own stores anew")


def add_work_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(os.environ.get(WORK_VARIABLE, DEFAULT_WORK)).expanduser(),
        help=f"where corpus and stores are kept between runs (or {WORK_VARIABLE}; by default {DEFAULT_WORK})",
    )


def measure(options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    sizes = [int(rows) for rows in options.rows.split(",")]
    if any(rows < CHUNK or rows % CHUNK for rows in sizes):
        raise SystemExit(f"--rows takes multiples of {CHUNK:,}")
    pythons = {OURS: Path(sys.executable)} | {
        name: options.peers for name in options.only.split(",") if name in CONTESTANTS and name != OURS
    }
    if len(pythons) > 1 and not options.peers.exists():
        raise SystemExit(f"{options.peers} is missing: make it from requirements/bench.txt, or say --only {OURS}")
    corpus = prepare(options.work, sizes, SPARE, QUESTIONS)
    contest = Contest(options.work, corpus.folder, pythons, options.budget)
    figures: dict[int, Figures] = {}
    notes = [
        "CPU of the whole process; search is recall by the question's text (it embeds, asks text and vectors, ranks),"
        " for the others a search by a ready vector; both return ten whole memories",
        "chromadb: HNSW; sqlite-vec: exact float32 with FTS5; lancedb: IVF_PQ, refined tenfold, from 100,000 rows on",
    ]
    for rows in sizes:
        if options.fresh:
            contest.discard(OURS, rows)
        figures[rows], said = _measure_size(contest, corpus, rows, options.patience)
        notes += said
    return rows_of(figures), notes


def rows_of(figures: Mapping[int, Figures]) -> list[Row]:
    """By measure and then by size, so that one sees how each cost grows."""
    others = dict.fromkeys(name for by_measure in figures.values() for name in by_measure[DISK] if name != OURS)
    return [
        Row(
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


def _measure_size(contest: Contest, corpus: CorpusFiles, rows: int, patience: float) -> tuple[Figures, list[str]]:
    figures: Figures = {measure: {} for measure in MEASURES}
    notes: list[str] = []
    names: list[str] = []
    for name in contest.pythons:
        _tell(f"{rows:,}: the store of {name}")
        built = contest.build(name, rows)
        if built.rows < rows:
            notes.append(f"{rows:,}: {name} kept {built.rows:,} rows within {built.budget:.0f} s CPU and was given up")
            continue
        names.append(name)
        if built.indexed:
            figures[BUILD][name] = rows / built.cpu
        else:
            notes.append(f"{rows:,}: {name} did not finish its index within {built.budget:.0f} s CPU; searched without")
        if name == OURS:
            notes.append(f"{rows:,}: our store was built at {built.commit}")
        figures[DISK][name] = _megabytes(contest.store(name, rows))
    _tell(f"{rows:,}: searching")
    _measure_searching(contest, corpus, rows, names, patience, figures)
    _tell(f"{rows:,}: starting")
    _measure_starts(contest, rows, names, patience, figures)
    _tell(f"{rows:,}: writing")
    _measure_writing(contest, rows, names, patience, figures)
    return figures, notes


def _measure_searching(
    contest: Contest, corpus: CorpusFiles, rows: int, names: Sequence[str], patience: float, figures: Figures
) -> None:
    """Processes that only serve, in turns."""
    questions, reworded = questions_name(rows), reworded_name(rows)
    with _entered(contest, {name: contest.store(name, rows) for name in names}) as contenders:
        for contender in contenders:
            contender.ask("search", UNHURRIED, way="search", questions=questions, first=0, last=WARM_UP)
        targets = [probe.target for probe in corpus.questions(questions)]
        for name, (costs, found) in _in_turns(contenders, patience, way="search", questions=questions).items():
            figures[SEARCH_P50][name] = median(costs) * 1000
            figures[SEARCH_P95][name] = quantiles(costs, n=20)[-1] * 1000
            hits = [target in rows_found for target, rows_found in zip(targets, found, strict=False)]
            figures[TARGET][name] = sum(hits) / len(hits)
        for name, (costs, _) in _in_turns(contenders, patience, way="search", questions=questions, rare=True).items():
            figures[RARE_P50][name] = median(costs) * 1000
        for name, (costs, found) in _in_turns(contenders, patience, way="text", questions=questions).items():
            if None not in found:
                figures[TEXT_P50][name] = median(costs) * 1000
        for measure, rare in ((RECALL, False), (RARE_RECALL, True)):
            exact = corpus.exact(corpus.questions(reworded), rows, rare=rare, depth=WANTED)
            answers = _in_turns(contenders, patience, way="nearest", questions=reworded, rare=rare)
            for name, (_, found) in answers.items():
                figures[measure][name] = exact.recall(found)
        for contender in contenders:
            portrait = contender.ask("self_portrait", patience)
            figures[RESIDENT][contender.name] = portrait["resident"]
            figures[OWN][contender.name] = portrait["own"]


def _measure_starts(contest: Contest, rows: int, names: Sequence[str], patience: float, figures: Figures) -> None:
    starts: dict[str, list[float]] = {name: [] for name in names}
    over_stdio: list[float] = []
    for number in range(STARTS):
        for name in names:
            with _entered(contest, {name: contest.store(name, rows)}) as (contender,):
                order = {"way": "search", "questions": questions_name(rows), "first": number, "last": number + 1}
                contender.ask("search", UNHURRIED, **order)
                starts[name] += contender.ask("self_portrait", patience)["cpu"]
        server = StdioChild(OUR_SERVER, environment(str(contest.store(OURS, rows))))
        server.call("recall", {"query": f"what was decided about number {number}?"})
        over_stdio.append(server.cpu())
        server.close()
    figures[FIRST] |= {name: median(cpu) for name, cpu in starts.items()}
    figures[FIRST_STDIO][OURS] = median(over_stdio)


def _measure_writing(contest: Contest, rows: int, names: Sequence[str], patience: float, figures: Figures) -> None:
    """On copies, so that the stores stay as they are for the next run."""
    questions = questions_name(rows)
    written: dict[str, list[float]] = {name: [] for name in names}
    after: dict[str, list[float]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory(dir=contest.work) as scratch:
        copies = {name: Path(scratch) / name for name in names}
        for name, copy in copies.items():
            shutil.copytree(contest.store(name, rows), copy)
        with _entered(contest, copies) as contenders:
            for contender in contenders:
                contender.ask("search", UNHURRIED, way="search", questions=questions, first=0, last=WARM_UP)
            for first in range(rows, rows + WRITES, BLOCK):
                for contender in contenders:
                    order = {"first": first, "last": first + BLOCK, "questions": questions}
                    answer = contender.ask("write_and_search", UNHURRIED, **order)
                    written[contender.name] += answer["cpu"]
                    after[contender.name] += answer["after"]
            for name in names:
                figures[WRITE_P50][name] = median(written[name]) * 1000
                figures[AFTER_WRITE_P50][name] = median(after[name]) * 1000
            for contender in contenders:
                try:
                    cost = contender.ask("add", patience, first=rows + CHUNK, last=rows + SPARE)["cpu"]
                    # Until it can be found: what was put off is paid by the first question.
                    cost += contender.ask("search", patience, way="search", questions=questions, first=0, last=1)["cpu"]
                except OverBudget:
                    continue
                figures[IMPORT][contender.name] = CHUNK / sum(cost)


def _in_turns(
    contenders: Sequence[Contender], patience: float, **order: Any
) -> dict[str, tuple[list[float], list[Any]]]:
    """What each question cost and found, for as many blocks as the contender's patience lasted."""
    costs: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    found: dict[str, list[Any]] = {contender.name: [] for contender in contenders}
    for first in range(0, QUESTIONS, BLOCK):
        for contender in contenders:
            if sum(costs[contender.name]) < patience:
                answer = contender.ask("search", UNHURRIED, first=first, last=first + BLOCK, **order)
                costs[contender.name] += answer["cpu"]
                found[contender.name] += answer["found"]
    return {name: (costs[name], found[name]) for name in costs}


@contextmanager
def _entered(contest: Contest, stores: Mapping[str, Path]) -> Generator[list[Contender]]:
    contenders: list[Contender] = []
    try:
        for name, store in stores.items():
            contenders.append(contest.enter(name, store))
        yield contenders
    finally:
        for contender in contenders:
            contender.close()


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
