"""The parent's side of the code benchmarks: an engine in a child process, on a checkout that may be changed."""

import json
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.code_engine import ENGINES, OURS, Hit
from benchmarks.code_meter import Meter
from benchmarks.environment import environment
from benchmarks.report import PROJECT

PATIENCE = 3_600.0
"""Seconds after which an answer is no longer waited for."""
TIMES = 5
NEW_FUNCTION = {
    ".py": "\n\ndef {name}(value):\n    return value\n",
    ".go": "\n\nfunc {name}(value int) int {{ return value }}\n",
    ".rs": "\n\nfn {name}(value: i32) -> i32 {{ value }}\n",
    ".js": "\n\nfunction {name}(value) {{ return value }}\n",
    ".ts": "\n\nfunction {name}(value: number) {{ return value }}\n",
}


class Failed(Exception):
    """An engine ended, or did not answer in time."""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds by the clock and of CPU, of the same things."""

    seconds: Sequence[float]
    cpu: Sequence[float]

    @property
    def p50(self) -> float:
        return median(self.seconds)

    @property
    def p95(self) -> float:
        return quantiles(self.seconds, n=20, method="inclusive")[-1] if len(self.seconds) > 1 else self.seconds[0]


@dataclass(frozen=True, slots=True)
class Cold:
    """Making an index from nothing: seconds, CPU of all processes, and their memory at its height in megabytes."""

    seconds: float
    cpu: float
    largest: float
    together: float


class Trial:
    """One engine on one folder."""

    def __init__(self, name: str, root: Path, home: Path, peers: Path, settings: Mapping[str, str]) -> None:
        self.name, self.root, self.home = name, root, home
        entry = ENGINES[name]
        python = str(peers / "bin" / "python") if entry.own_python else sys.executable
        folders = map(str, (root, home, entry.installed(peers)))
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.code_child", name, *folders],
            cwd=PROJECT,
            env={**environment(str(home)), **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._meter = Meter(self._process.pid)
        self._answers: queue.Queue[str] = queue.Queue()
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def index(self) -> Cold:
        self._ask("search", queries=[])  # so that its start is over
        before = self._meter.cpu()
        seconds = self._ask("index")["seconds"]
        self._meter.look()
        return Cold(seconds, self._meter.cpu() - before, self._meter.largest, self._meter.together)

    def search(self, queries: Sequence[str], symbols: bool = False) -> tuple[list[list[Hit]], Times]:
        answer = self._ask("search", queries=queries, symbols=symbols)
        return [[Hit(*hit) for hit in found] for found in answer["found"]], Times(answer["seconds"], answer["cpu"])

    def look(self) -> Times:
        """Seeing that nothing changed, some times."""
        answers = [self._ask("look") for _ in range(TIMES)]
        return Times([one["seconds"] for one in answers], [one["cpu"] for one in answers])

    def change(self) -> tuple[Times, int]:
        """A function more in some files, one after another, each until it is found; and how many were found."""
        answers: list[dict[str, Any]] = []
        for number, path in enumerate(spread(source_files(self.root), TIMES)):
            name = f"quetzal_marker_{number}"
            added = NEW_FUNCTION[Path(path).suffix].format(name=name)
            answers.append(self._ask("change", path=path, added=added, name=name))
        times = Times([one["seconds"] for one in answers], [one["cpu"] for one in answers])
        return times, sum(one["found"] for one in answers)

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):  # it may have ended
            self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._meter.close()
        self._listening.join()
        self._process.stdout.close()

    def _ask(self, do: str, **order: Any) -> dict[str, Any]:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps({"do": do, **order}) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=PATIENCE)
        except BrokenPipeError:
            line = ""
        except queue.Empty:
            self._process.kill()
            raise Failed(f"{self.name} did not {do} {self.root.name} within {PATIENCE:.0f} s") from None
        if not line:
            raise Failed(f"{self.name} ended while it was asked to {do} {self.root.name}; its last words are above")
        return json.loads(line)

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")


@contextmanager
def trial(
    name: str, checkout: Path, folder: str, peers: Path, settings: Mapping[str, str] | None = None
) -> Generator[Trial]:
    """An engine on a copy of the checkout; of which only `folder` is to be indexed, when it is not empty."""
    with tempfile.TemporaryDirectory() as scratch:
        # Kept under its own name: it is part of what is found.
        copy, home = Path(scratch) / "checkout" / checkout.name, Path(scratch) / "home"
        shutil.copytree(checkout, copy, symlinks=True)
        home.mkdir()
        # Git knows files by their place on the disk too; else it would read all of them whenever it is asked.
        subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=copy, capture_output=True)
        running = Trial(name, copy / folder, home, peers, settings or {})
        try:
            yield running
        finally:
            running.close()


def source_files(root: Path) -> list[str]:
    """The files of the checkout that a function can be added to."""
    listed = subprocess.run(["git", "ls-files", "-z", "."], cwd=root, capture_output=True, check=True).stdout
    names = listed.decode("utf-8", "surrogateescape").split("\0")
    return sorted(name for name in names if Path(name).suffix in NEW_FUNCTION and (root / name).is_file())


def spread(names: Sequence[str], wanted: int) -> list[str]:
    """So many of them, from beginning to end."""
    wanted = min(wanted, len(names))
    return [names[len(names) * (2 * place + 1) // (2 * wanted)] for place in range(wanted)]


def taking_part(wanted: Sequence[str], peers: Path) -> tuple[list[str], list[str]]:
    """Ours and those of the wanted peers that are installed; and what there is to be told about the others."""
    missing = [name for name in wanted if ENGINES[name].installed(peers) is None]
    notes = [f"{name} is not installed in {peers}: `make bench-code` installs it" for name in missing]
    return [OURS, *(name for name in wanted if name not in missing)], notes
