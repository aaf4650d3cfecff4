"""Measure the cost of our code index on a small, a large and a very large repository."""

import argparse
import re
from pathlib import Path

from benchmarks.code_engine import OURS
from benchmarks.code_search import (
    COLD,
    SEARCH_P50,
    SEARCH_P95,
    add_repositories_option,
    change_figures,
    cold_figures,
    load_note,
)
from benchmarks.engine_process import (
    ANSWER_TIMEOUT_SECONDS,
    EngineFailed,
    EngineProcess,
    pick_evenly,
    source_files,
    start_engine,
)
from benchmarks.report import PROJECT, ReportRow

REPOSITORIES = "flask,django,home-assistant"
QUESTIONS = 50
DATABASE = "code.db"
WORKER_BYTES = "SCRUBJAY_CODE_WORKER_BYTES"
_WORD = re.compile(r"[A-Za-z]{3,}")


def add_options(parser: argparse.ArgumentParser) -> None:
    add_repositories_option(parser)
    parser.add_argument("--only", default=REPOSITORIES, help="repositories, comma-separated")
    parser.add_argument("--worker-bytes", default="", help=f"memory limit of a worker ({WORKER_BYTES})")


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    rows: list[ReportRow] = []
    notes: list[str] = []
    settings = {WORKER_BYTES: options.worker_bytes} if options.worker_bytes else {}
    for repository in options.only.split(","):
        figures: dict[str, float | None] = {COLD: None}
        try:
            with start_engine(OURS, (options.repositories / repository).resolve(), "", PROJECT, settings) as running:
                figures = {**_figures(running)}
        except EngineFailed as failure:
            notes.append(str(failure))
        rows += [
            ReportRow(f"{repository}: {figure}", value, at_most=ANSWER_TIMEOUT_SECONDS if figure == COLD else None)
            for figure, value in figures.items()
        ]
    return rows, [*notes, *(f"{name}={value}" for name, value in settings.items()), load_note()]


def _figures(running: EngineProcess) -> dict[str, float]:
    files = [path for path in running.root.rglob("*") if ".git" not in path.parts and path.is_file()]
    figures = {"files": float(len(files)), "MB": sum(path.stat().st_size for path in files) / 1e6}
    figures |= cold_figures(running.index())
    figures["code.db, MB"] = sum(path.stat().st_size for path in running.home.glob(f"{DATABASE}*")) / 1e6
    _, times = running.search(_questions(running.root))
    return {**figures, SEARCH_P50: times.p50 * 1000, SEARCH_P95: times.p95 * 1000, **change_figures(running)}


def _questions(root: Path) -> list[str]:
    """Return words of file names as questions, because not every repository has written questions."""
    return [
        " ".join(_WORD.findall("/".join(Path(path).parts[-3:]))) for path in pick_evenly(source_files(root), QUESTIONS)
    ]
