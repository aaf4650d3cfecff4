"""Control a code search engine in a child process, on a copy of a checkout that may be changed."""

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
from benchmarks.process_environment import clean_environment
from benchmarks.process_meter import ProcessMeter
from benchmarks.report import PROJECT

ANSWER_TIMEOUT_SECONDS = 3_600.0
"""Seconds after which an engine is killed."""
REPETITIONS = 5
NEW_FUNCTION = {
    ".py": "\n\ndef {name}(value):\n    return value\n",
    ".go": "\n\nfunc {name}(value int) int {{ return value }}\n",
    ".rs": "\n\nfn {name}(value: i32) -> i32 {{ value }}\n",
    ".js": "\n\nfunction {name}(value) {{ return value }}\n",
    ".ts": "\n\nfunction {name}(value: number) {{ return value }}\n",
}


class EngineFailed(Exception):
    """An engine exited or did not answer in time."""


@dataclass(frozen=True, slots=True)
class Timings:
    """Wall and CPU seconds of the same operations."""

    seconds: Sequence[float]
    cpu: Sequence[float]

    @property
    def p50(self) -> float:
        return median(self.seconds)

    @property
    def p95(self) -> float:
        return quantiles(self.seconds, n=20, method="inclusive")[-1] if len(self.seconds) > 1 else self.seconds[0]


@dataclass(frozen=True, slots=True)
class ColdIndexCost:
    """Cost of building an index from scratch: wall seconds, CPU seconds of all processes, peak memory in megabytes."""

    seconds: float
    cpu: float
    largest: float
    together: float


class EngineProcess:
    """An engine in a child process, on one folder."""

    def __init__(self, name: str, root: Path, home: Path, peers: Path, settings: Mapping[str, str]) -> None:
        self.name, self.root, self.home = name, root, home
        entry = ENGINES[name]
        python = str(peers / "bin" / "python") if entry.own_python else sys.executable
        folders = map(str, (root, home, entry.installed(peers)))
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.code_worker", name, *folders],
            cwd=PROJECT,
            env={**clean_environment(str(home)), **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._meter = ProcessMeter(self._process.pid)
        self._answers: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read_answers, daemon=True)
        self._reader.start()

    def index(self) -> ColdIndexCost:
        self._ask("search", queries=[])  # wait until the engine has started
        before = self._meter.cpu()
        seconds = self._ask("index")["seconds"]
        self._meter.sample()
        return ColdIndexCost(seconds, self._meter.cpu() - before, self._meter.largest, self._meter.together)

    def search(self, queries: Sequence[str], symbols: bool = False) -> tuple[list[list[Hit]], Timings]:
        answer = self._ask("search", queries=queries, symbols=symbols)
        return [[Hit(*hit) for hit in found] for found in answer["found"]], Timings(answer["seconds"], answer["cpu"])

    def check_unchanged(self) -> Timings:
        """Measure `REPETITIONS` checks of an unchanged folder."""
        answers = [self._ask("check_unchanged") for _ in range(REPETITIONS)]
        return Timings([one["seconds"] for one in answers], [one["cpu"] for one in answers])

    def change(self) -> tuple[Timings, int]:
        """Add a function to some files, one after another; return the times until a search finds each, and the hits."""
        answers: list[dict[str, Any]] = []
        for number, path in enumerate(pick_evenly(source_files(self.root), REPETITIONS)):
            name = f"quetzal_marker_{number}"
            added = NEW_FUNCTION[Path(path).suffix].format(name=name)
            answers.append(self._ask("change", path=path, added=added, name=name))
        times = Timings([one["seconds"] for one in answers], [one["cpu"] for one in answers])
        return times, sum(one["found"] for one in answers)

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):  # the process may have ended
            self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._meter.close()
        self._reader.join()
        self._process.stdout.close()

    def _ask(self, command: str, **request: Any) -> dict[str, Any]:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps({"command": command, **request}) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=ANSWER_TIMEOUT_SECONDS)
        except BrokenPipeError:
            line = ""
        except queue.Empty:
            self._process.kill()
            raise EngineFailed(
                f"{self.name} did not {command} {self.root.name} within {ANSWER_TIMEOUT_SECONDS:.0f} s"
            ) from None
        if not line:
            raise EngineFailed(f"{self.name} exited during {command} of {self.root.name}; see its stderr above")
        return json.loads(line)

    def _read_answers(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")


@contextmanager
def start_engine(
    name: str, checkout: Path, folder: str, peers: Path, settings: Mapping[str, str] | None = None
) -> Generator[EngineProcess]:
    """Start an engine on a copy of the checkout, or of its subfolder `folder` if that is not empty."""
    with tempfile.TemporaryDirectory() as scratch:
        # The copy has the name of the original, because the name is part of search results.
        copy, home = Path(scratch) / "checkout" / checkout.name, Path(scratch) / "home"
        shutil.copytree(checkout, copy, symlinks=True)
        home.mkdir()
        # Git's index contains inode data; without this refresh, git would read all copied files at each status.
        subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=copy, capture_output=True)
        running = EngineProcess(name, copy / folder, home, peers, settings or {})
        try:
            yield running
        finally:
            running.close()


def source_files(root: Path) -> list[str]:
    """Return the tracked files to which a function can be added."""
    listed = subprocess.run(["git", "ls-files", "-z", "."], cwd=root, capture_output=True, check=True).stdout
    names = listed.decode("utf-8", "surrogateescape").split("\0")
    return sorted(name for name in names if Path(name).suffix in NEW_FUNCTION and (root / name).is_file())


def pick_evenly(names: Sequence[str], wanted: int) -> list[str]:
    """Return `wanted` names at even distances."""
    wanted = min(wanted, len(names))
    return [names[len(names) * (2 * index + 1) // (2 * wanted)] for index in range(wanted)]


def installed_engines(wanted: Sequence[str], peers: Path) -> tuple[list[str], list[str]]:
    """Return our engine and the installed ones of `wanted`, and a note for each missing one."""
    missing = [name for name in wanted if ENGINES[name].installed(peers) is None]
    notes = [f"{name} is not installed in {peers}: `make bench-code` installs it" for name in missing]
    return [OURS, *(name for name in wanted if name not in missing)], notes
