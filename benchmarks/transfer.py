"""Measure export and import of all memories of a store: CPU, memory and completeness."""

import argparse
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.corpus_preparation import prepare
from benchmarks.process_environment import clean_environment
from benchmarks.report import ReportRow
from benchmarks.retrieval_speed import QUESTIONS, SPARE, add_work_option
from benchmarks.store_process import OURS, StoreBuilder

ROWS = 1_000_000
FILE = "all.jsonl"
# A writer that waits longer gets the error that the store is busy.
BUSY_SECONDS = 10


@dataclass(frozen=True, slots=True)
class CommandCost:
    """Result and cost of one command."""

    result: dict[str, Any]
    cpu: float
    megabytes: float
    """Peak memory."""
    waited: float
    """Longest time in seconds that another writer waited for the lock."""


@dataclass(slots=True)
class LockWaits:
    """Seconds that a competing writer waited for the lock, each time."""

    seconds: list[float] = field(default_factory=lambda: [0.0])


def add_options(parser: argparse.ArgumentParser) -> None:
    add_work_option(parser)
    parser.add_argument("--rows", type=int, default=ROWS, help="size of the store")


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    corpus = prepare(options.work, [options.rows], SPARE, QUESTIONS)
    builder = StoreBuilder(options.work, corpus.folder, {OURS: Path(sys.executable)}, budget=0)
    builder.build(OURS, options.rows)
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        old, new = Path(scratch) / "old", Path(scratch) / "new"
        shutil.copytree(builder.store(OURS, options.rows), old)
        out = _command(old, "export_database", {"path": FILE})
        new.mkdir()
        shutil.move(old / "backups", new / "backups")
        shutil.rmtree(old)
        merged = _command(new, "import_database", {"file": FILE})
        again = _command(new, "import_database", {"file": FILE})
        replaced = _command(new, "import_database", {"file": FILE, "mode": "replace"})
    rows = options.rows
    notes = [
        f"{rows:,} memories, {out.result['bytes'] / 1e6:,.0f} MB; each step is one `scrubjay` command with its start",
        f"CPU seconds: out {out.cpu:.1f}, in {merged.cpu:.1f}, in once more {again.cpu:.1f}, "
        f"in the place of all {replaced.cpu:.1f}",
    ]
    return [
        ReportRow("memories in the file", out.result["memories"], at_least=rows),
        ReportRow("memories that arrived in an empty store", merged.result["imported"], at_least=rows),
        ReportRow("known ones skipped by a second import", again.result["skipped"], at_least=rows),
        ReportRow("memories that took the place of all others", replaced.result["imported"], at_least=rows),
        ReportRow("out, memories/s of CPU", rows / out.cpu, at_least=10_000),
        ReportRow("into an empty store, memories/s of CPU", rows / merged.cpu, at_least=1_500),
        ReportRow("in the place of all others, memories/s of CPU", rows / replaced.cpu, at_least=1_000),
        ReportRow("out, MB at most", out.megabytes, at_most=300),
        ReportRow("into an empty store, MB at most", merged.megabytes, at_most=300),
        ReportRow("in the place of all others, MB at most", replaced.megabytes, at_most=300),
        ReportRow("others waited to write while all was replaced, s at most", replaced.waited, at_most=BUSY_SECONDS),
    ], notes


def _command(home: Path, tool: str, arguments: dict[str, Any]) -> CommandCost:
    """Call a tool on the command line and wait until its job has ended."""
    command = [sys.executable, "-m", "scrubjay.app", "transfer", tool, "--json", json.dumps(arguments)]
    with tempfile.TemporaryFile("w+") as answer, _competing_writer(home) as waits:
        process = subprocess.Popen(
            command, stdout=answer, stderr=subprocess.DEVNULL, env=clean_environment(str(home)), cwd=home
        )
        megabytes = 0.0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            megabytes = max(megabytes, _peak_megabytes(process.pid))
            time.sleep(0.05)
        _, status, used = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        answer.seek(0)
        output = answer.read()
    if process.returncode:
        raise RuntimeError(f"{tool} failed: {output}")
    return CommandCost(json.loads(output)["result"], used.ru_utime + used.ru_stime, megabytes, max(waits.seconds))


@contextmanager
def _competing_writer(home: Path) -> Generator[LockWaits]:
    """Take the writer lock repeatedly, as another process would."""
    waits, over = LockWaits(), threading.Event()
    lock = os.open(home / "scrubjay.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def want() -> None:
        while not over.wait(0.1):
            since = time.monotonic()
            fcntl.flock(lock, fcntl.LOCK_EX)
            waits.seconds.append(time.monotonic() - since)
            fcntl.flock(lock, fcntl.LOCK_UN)

    other = threading.Thread(target=want)
    other.start()
    try:
        yield waits
    finally:
        over.set()
        other.join()
        os.close(lock)


def _peak_megabytes(process: int) -> float:
    """Return peak memory so far. `ru_maxrss` is unsuitable: it starts with the parent's value."""
    status = Path(f"/proc/{process}/status").read_text("utf-8")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0  # no entry when the process has just ended
