"""All memories of a store out into a file and into another store: CPU, memory, and whether all of them arrived."""

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

from benchmarks.contest import OURS, Contest
from benchmarks.corpus_preparation import prepare
from benchmarks.environment import environment
from benchmarks.report import Row
from benchmarks.retrieval_speed import QUESTIONS, SPARE, add_work_option

ROWS = 1_000_000
FILE = "all.jsonl"
# Whoever waits for longer to write is told that the store is busy.
BUSY_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Stage:
    """What one command did and took."""

    result: dict[str, Any]
    cpu: float
    megabytes: float
    """The most memory that it ever had."""
    waited: float
    """The longest, in seconds, that somebody else had to wait before they could write."""


@dataclass(slots=True)
class Waits:
    """How long somebody waited each time they wanted to write."""

    seconds: list[float] = field(default_factory=lambda: [0.0])


def add_options(parser: argparse.ArgumentParser) -> None:
    add_work_option(parser)
    parser.add_argument("--rows", type=int, default=ROWS, help="the size of the store")


def measure(options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    corpus = prepare(options.work, [options.rows], SPARE, QUESTIONS)
    contest = Contest(options.work, corpus.folder, {OURS: Path(sys.executable)}, budget=0)
    contest.build(OURS, options.rows)
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        old, new = Path(scratch) / "old", Path(scratch) / "new"
        shutil.copytree(contest.store(OURS, options.rows), old)
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
        Row("memories in the file", out.result["memories"], at_least=rows),
        Row("memories that arrived in an empty store", merged.result["imported"], at_least=rows),
        Row("known ones skipped by a second import", again.result["skipped"], at_least=rows),
        Row("memories that took the place of all others", replaced.result["imported"], at_least=rows),
        Row("out, memories/s of CPU", rows / out.cpu, at_least=10_000),
        Row("into an empty store, memories/s of CPU", rows / merged.cpu, at_least=1_500),
        Row("in the place of all others, memories/s of CPU", rows / replaced.cpu, at_least=1_000),
        Row("out, MB at most", out.megabytes, at_most=300),
        Row("into an empty store, MB at most", merged.megabytes, at_most=300),
        Row("in the place of all others, MB at most", replaced.megabytes, at_most=300),
        Row("others waited to write while all was replaced, s at most", replaced.waited, at_most=BUSY_SECONDS),
    ], notes


def _command(home: Path, tool: str, arguments: dict[str, Any]) -> Stage:
    """Call a tool as a person would, and wait until its job has ended."""
    command = [sys.executable, "-m", "scrubjay.app", "transfer", tool, "--json", json.dumps(arguments)]
    with tempfile.TemporaryFile("w+") as answer, _others_write(home) as waits:
        process = subprocess.Popen(
            command, stdout=answer, stderr=subprocess.DEVNULL, env=environment(str(home)), cwd=home
        )
        megabytes = 0.0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            megabytes = max(megabytes, _most_megabytes(process.pid))
            time.sleep(0.05)
        _, status, used = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        answer.seek(0)
        said = answer.read()
    if process.returncode:
        raise RuntimeError(f"{tool} failed: {said}")
    return Stage(json.loads(said)["result"], used.ru_utime + used.ru_stime, megabytes, max(waits.seconds))


@contextmanager
def _others_write(home: Path) -> Generator[Waits]:
    """Want the lock of those who write again and again, as another process would."""
    waits, over = Waits(), threading.Event()
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


def _most_megabytes(process: int) -> float:
    """The most memory that it had until now. Not by `ru_maxrss`, which begins with what its parent has."""
    status = Path(f"/proc/{process}/status").read_text("utf-8")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0  # none when it has just ended
