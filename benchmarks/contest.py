"""The parent's side of the speed benchmark: contestants in child processes, their stores, and what they may spend."""

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

from benchmarks.contestant import CONTESTANTS
from benchmarks.corpus import CHUNK
from benchmarks.environment import environment
from benchmarks.report import PROJECT, commit

OURS = next(iter(CONTESTANTS))
# Processes that wait for a disk use no CPU; after so many times their budget they are given up as well.
PATIENCE = 5
# Ours is measured whatever it costs.
UNBOUNDED = 1e6


class OverBudget(Exception):
    """A contestant used more CPU than it was given."""


class Contender:
    """A contestant's process."""

    def __init__(self, name: str, python: Path, store: Path, corpus: Path) -> None:
        self.name = name
        command = [str(python), "-m", "benchmarks.contest_child", name, str(store), str(corpus)]
        self._process = subprocess.Popen(
            command, cwd=PROJECT, env=environment(str(store)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._measured = psutil.Process(self._process.pid)
        self._answers: queue.Queue[str] = queue.Queue()
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def ask(self, do: str, budget: float, **order: Any) -> dict[str, Any]:
        """The answer, or `OverBudget` when it would cost more than `budget` CPU seconds: the process then is ended."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"do": do, **order}) + "\n")
        self._process.stdin.flush()
        before = self._cpu()
        for _ in range(int(PATIENCE * budget) + 1):
            try:
                line = self._answers.get(timeout=1)
            except queue.Empty:
                if self._cpu() - before > budget:
                    break
                continue
            if not line:
                raise RuntimeError(f"{self.name} ended while it was asked to {do}; its last words are above")
            return json.loads(line)
        self._process.kill()
        self._process.wait()
        raise OverBudget

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):  # it may have been ended
            self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listening.join()
        self._process.stdout.close()

    def _cpu(self) -> float:
        times = self._measured.cpu_times()
        return times.user + times.system

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")


@dataclass(frozen=True, slots=True)
class Built:
    """What became of building a store."""

    rows: int
    """How many of the wanted rows were kept before the budget was spent."""
    cpu: float
    """CPU seconds until they could be searched."""
    budget: float
    commit: str
    indexed: bool
    """Whether what it makes for searching was made within the budget too."""


class Contest:
    """Who takes part, where their stores are, and what each may spend."""

    def __init__(self, work: Path, corpus: Path, pythons: Mapping[str, Path], budget: float) -> None:
        self.pythons = pythons
        self.work = work
        self._corpus = corpus
        self._budgets = {name: UNBOUNDED if name == OURS else budget for name in pythons}

    def enter(self, name: str, store: Path) -> Contender:
        return Contender(name, self.pythons[name], store, self._corpus)

    def store(self, name: str, rows: int) -> Path:
        return self.work / f"{self._corpus.name}-{rows}-{name}"

    def build(self, name: str, rows: int) -> Built:
        """The store of the first `rows` rows, made unless it was made before or given up with no smaller budget."""
        store, record = self.store(name, rows), self._record(name, rows)
        if record.exists():
            built = Built(**json.loads(record.read_text("utf-8")))
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

    def _build(self, name: str, rows: int, store: Path) -> Built:
        budget = self._budgets[name]
        contender = self.enter(name, store)
        spent, kept, indexed = 0.0, 0, False
        try:
            for first in range(0, rows, CHUNK):
                spent += sum(contender.ask("add", budget - spent, first=first, last=first + CHUNK)["cpu"])
                kept = first + CHUNK
            spent += sum(contender.ask("finish", budget - spent)["cpu"])
            indexed = True
        except OverBudget:
            pass
        contender.close()
        return Built(kept, spent, budget, commit(), indexed)
