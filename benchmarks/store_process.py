"""Control the stores of the speed benchmark: each in a child process with a CPU budget."""

import json
import queue
import shutil
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from benchmarks.corpus import CHUNK
from benchmarks.process_environment import clean_environment
from benchmarks.report import PROJECT, describe_commit
from benchmarks.store_adapter import STORES

OURS = next(iter(STORES))
# A process that waits for the disk uses no CPU time. It is also killed after this many times its budget in wall time.
WALL_TIME_FACTOR = 5
# Our own store has no budget.
UNLIMITED_SECONDS = 1e6


class OverBudget(Exception):
    """A store used more CPU time than its budget."""


class StoreProcess:
    """A store in a child process."""

    def __init__(self, name: str, python: Path, store: Path, corpus: Path) -> None:
        self.name = name
        command = [str(python), "-m", "benchmarks.store_worker", name, str(store), str(corpus)]
        self._process = subprocess.Popen(
            command,
            cwd=PROJECT,
            env=clean_environment(str(store)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._measured = psutil.Process(self._process.pid)
        self._answers: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read_answers, daemon=True)
        self._reader.start()

    def ask(self, command: str, budget: float, **request: Any) -> dict[str, Any]:
        """Return the answer. Kill the process and raise `OverBudget` when it uses more than `budget` CPU seconds."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"command": command, **request}) + "\n")
        self._process.stdin.flush()
        before = self._cpu()
        for _ in range(int(WALL_TIME_FACTOR * budget) + 1):
            try:
                line = self._answers.get(timeout=1)
            except queue.Empty:
                if self._cpu() - before > budget:
                    break
                continue
            if not line:
                raise RuntimeError(f"{self.name} exited during {command}; see its stderr above")
            return json.loads(line)
        self._process.kill()
        self._process.wait()
        raise OverBudget

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):  # the process may have been killed
            self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._process.stdout.close()

    def _cpu(self) -> float:
        times = self._measured.cpu_times()
        return times.user + times.system

    def _read_answers(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The outcome of building a store."""

    rows: int
    """Rows stored within the budget."""
    cpu: float
    """CPU seconds until the rows could be searched."""
    budget: float
    commit: str
    indexed: bool
    """True when the search index was also built within the budget."""


class StoreBuilder:
    """Builds the stores of all systems in `work`, each within its budget, and starts processes on them."""

    def __init__(self, work: Path, corpus: Path, pythons: Mapping[str, Path], budget: float) -> None:
        self.pythons = pythons
        self.work = work
        self._corpus = corpus
        self._budgets = {name: UNLIMITED_SECONDS if name == OURS else budget for name in pythons}

    def enter(self, name: str, store: Path) -> StoreProcess:
        return StoreProcess(name, self.pythons[name], store, self._corpus)

    def store(self, name: str, rows: int) -> Path:
        return self.work / f"{self._corpus.name}-{rows}-{name}"

    def build(self, name: str, rows: int) -> BuildResult:
        """Build a store of the first `rows` rows, unless a run before built it or gave up with at least this budget."""
        store, record = self.store(name, rows), self._record(name, rows)
        if record.exists():
            built = BuildResult(**json.loads(record.read_text("utf-8")))
            if built.indexed or built.budget >= self._budgets[name]:
                return built
        self.discard(name, rows)
        built = self._build(name, rows, store)
        if built.rows < rows:
            self.discard(name, rows)
        record.write_text(json.dumps(asdict(built)) + "\n", "utf-8")
        return built

    def discard(self, name: str, rows: int) -> None:
        self._record(name, rows).unlink(missing_ok=True)
        shutil.rmtree(self.store(name, rows), ignore_errors=True)

    def _record(self, name: str, rows: int) -> Path:
        return self.work / f"{self._corpus.name}-{rows}-{name}.json"

    def _build(self, name: str, rows: int, store: Path) -> BuildResult:
        budget = self._budgets[name]
        process = self.enter(name, store)
        spent, stored, indexed = 0.0, 0, False
        try:
            for first in range(0, rows, CHUNK):
                spent += sum(process.ask("add", budget - spent, first=first, last=first + CHUNK)["cpu"])
                stored = first + CHUNK
            spent += sum(process.ask("finish", budget - spent)["cpu"])
            indexed = True
        except OverBudget:
            pass
        process.close()
        return BuildResult(stored, spent, budget, describe_commit(), indexed)
