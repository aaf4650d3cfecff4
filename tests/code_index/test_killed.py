"""Indexing that is killed at any moment is completed by the next run, with the same result."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.code_index.index import linker as linking
from scrubjay.code_index.store import StoredDigest
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.code.sqlite import SqliteCode
from tests.code_index.discovery.repository import ENVIRONMENT, new_repository, write
from tests.code_index.indexes import BOUND, IndexContents, index_contents, linker_pids, opened, worker_pids
from tests.liveness import is_alive
from tests.processes import FORKED

QUESTIONS = ["who adds numbers", "f3", "Thing"]
COMMAND = ["-m", "scrubjay.app", "code", "index", "--action", "project", "--path"]


def sources(count: int, value: int) -> dict[str, str]:
    return {
        f"package/m{number}.py": f'"""Adds numbers."""\nfrom package.m{number + 1} import f{number + 1}\n\n\n'
        f"class Thing{number}:\n    def f(self):\n        return f{number + 1}({value})\n\n\n"
        f"def f{number}(x):\n    return Thing{number}().f() + f{number + 1}(x)\n"
        for number in range(count)
    }


def index(home: Path, root: Path) -> None:
    async def build() -> None:
        async with opened(home) as own:
            await own.build(root)

    anyio.run(build)


async def index_of(home: Path, root: Path) -> IndexContents:
    async with opened(home) as own:
        return await index_contents(own, await own.build(root), QUESTIONS)


def killed_after(seconds: float, home: Path, root: Path) -> int | None:
    """Index in a child process, kill it after this time, and return its exit code."""
    process = FORKED.Process(target=index, args=(home, root))
    process.start()
    process.join(seconds)
    process.kill()
    process.join(BOUND)
    return process.exitcode


async def test_after_a_kill_at_any_moment_the_next_run_builds_the_same_index_as_a_clean_run(tmp_path: Path):
    root = new_repository(tmp_path / "repository", sources(12, 1))
    clean = {"old": await index_of(tmp_path / "old", root)}
    write(root, {**sources(15, 2), "package/m3.py": "def f3(x): return x\n"})
    (root / "package" / "m7.py").unlink()
    clean["new"] = await index_of(tmp_path / "new", root)
    assert clean["old"] != clean["new"]

    killed_after(BOUND, tmp_path / "first", root)
    began = time.monotonic()
    assert killed_after(BOUND, tmp_path / "whole", root) == 0
    takes = time.monotonic() - began
    rng = random.Random(20)
    ends: list[int | None] = []
    for number in range(18):
        home = tmp_path / f"home{number}"
        if number % 2:  # update an existing index
            shutil.copytree(tmp_path / "old", home)
        ends.append(killed_after(rng.uniform(0, takes), home, root))
        assert await index_of(home, root) == clean["new"], f"kill number {number + 1}"
    assert ends.count(-signal.SIGKILL) >= 5


def index_until(statement: str, home: Path, root: Path) -> None:
    """Index, and die instead of executing an SQL statement that starts like this."""

    def kill_before(execute: Callable[..., Any]) -> Callable[..., Any]:
        def executed(self: Connection, sql: str, values: Any = None) -> Any:
            if sql.startswith(statement):
                os.kill(os.getpid(), signal.SIGKILL)
            return execute(self, sql, values)

        return executed

    Connection.execute, Connection.value = kill_before(Connection.execute), kill_before(Connection.value)
    Connection.execute_each = kill_before(Connection.execute_each)
    index(home, root)


async def test_a_kill_during_a_write_leaves_no_partial_rows(tmp_path: Path):
    root = new_repository(tmp_path / "repository", sources(5, 1))
    clean = await index_of(tmp_path / "clean", root)
    for statement in ("INSERT INTO code_digest", "INSERT INTO code_file", "INSERT INTO code_link"):
        process = FORKED.Process(target=index_until, args=(statement, tmp_path / statement, root))
        process.start()
        process.join(BOUND)
        assert process.exitcode == -signal.SIGKILL
        assert await index_of(tmp_path / statement, root) == clean


def index_without_end(home: Path, root: Path) -> None:
    """Start indexing with all worker processes, and never finish the first file."""

    async def waiting(self: SqliteCode, version: int, digests: Sequence[StoredDigest]) -> None:
        await anyio.sleep_forever()

    linking.FEW_FILES = 1
    SqliteCode.put_digests = waiting
    index(home, root)


def test_linker_processes_end_when_indexing_is_killed_while_files_are_read(tmp_path: Path):
    root = new_repository(tmp_path / "repository", sources(5, 1))
    process = FORKED.Process(target=index_without_end, args=(tmp_path / "home", root))
    process.start()
    until = time.monotonic() + BOUND
    while not (linkers := linker_pids(process.pid)):
        assert time.monotonic() < until, "no process is ready to resolve uses"
        time.sleep(0.01)
    process.kill()
    process.join(BOUND)
    while any(map(is_alive, linkers)):
        assert time.monotonic() < until, "the processes are still running"
        time.sleep(0.01)


def workers_of(command: subprocess.Popen[bytes]) -> set[int]:
    """Wait until a command has workers and return them; an empty set if it ends without any."""
    until = time.monotonic() + BOUND
    while not (pids := worker_pids(command.pid)) and command.poll() is None:
        assert time.monotonic() < until, "the command neither starts workers nor ends"
        time.sleep(0.01)
    return pids


def test_the_command_can_be_killed_and_run_again_and_its_workers_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SCRUBJAY_HOME", str(tmp_path / "home"))
    root = new_repository(tmp_path / "repository", sources(60, 1))
    command = [sys.executable, *COMMAND, str(root)]
    rng = random.Random(3)
    workers: set[int] = set()
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            workers |= workers_of(process)
            time.sleep(rng.uniform(0, 0.3))
            process.kill()
    until = time.monotonic() + BOUND
    while any(map(is_alive, workers)):
        assert time.monotonic() < until, "workers are still running"
        time.sleep(0.01)
    assert workers
    done = subprocess.run(command, capture_output=True, check=True)
    assert b"60 files" in done.stdout
    assert anyio.run(index_of, tmp_path / "home", root) == anyio.run(index_of, tmp_path / "clean", root)
