"""Repair of a damaged store: what is intact is recovered, and what is not is named."""

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from scrubjay import __version__
from scrubjay.app import sqlite_maintenance
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.app.store_repair import RepairReport, repair_store
from scrubjay.core.errors import Busy, NotFound, StoreUnusable, Unavailable
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.schema import newest_version
from tests.contracts.samples import EVERYTHING, GLOBAL_ONLY, link, vector, write
from tests.db.sqlite.conftest import ROOT, names_in

MEMORIES = 60


@pytest.fixture
async def filled(home: Path) -> Path:
    """Return a closed store with memories, whose log is in the database file."""
    store = await SqliteStore.open(home)
    for number in range(MEMORIES):
        content = f"drawer number {number} " * (1 + number % 40)
        links = (link(f"a.py::f{number}", text="code"),) if number % 5 == 0 else ()
        await store.memories.put([write(content, id=f"mem_{number}", vector=vector(number, 1), links=links)])
    await store.close()
    return home


def repair(home: Path, *, only_report: bool = False) -> RepairReport:
    return repair_store(home, 5.0, only_report=only_report)


def problems(home: Path) -> list[str]:
    """Return what a check finds, without what a rebuild of derived data repairs."""
    found = sqlite_maintenance.check_store(home / "scrubjay.db", None, 5.0).problems
    return [one for one in found if "no vector" not in one and "text index" not in one]


def read_files(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()}


async def contents(home: Path) -> dict[str, str]:
    store = await SqliteStore.open(home)
    found = {one.id: one.content for one in await store.memories.find(GLOBAL_ONLY, EVERYTHING, 1000)}
    await store.close()
    return found


def change(home: Path, before: bytes, after: bytes) -> None:
    path = home / "scrubjay.db"
    data = path.read_bytes()
    assert before in data
    assert len(before) == len(after)
    path.write_bytes(data.replace(before, after))


async def test_a_repair_leaves_out_a_damaged_memory_by_id_and_keeps_the_old_file(filled: Path) -> None:
    before = await contents(filled)
    change(filled, b"drawer number 7 drawer", b"erawer number 7 drawer")
    damaged = (filled / "scrubjay.db").read_bytes()
    report = repair(filled)
    assert report.lost == ["memory mem_7 (row 8): its checksum does not match its values"]
    assert (report.uncertain, report.without_search_data, report.recovered["memory"]) == ([], 0, MEMORIES - 1)
    assert report.replaced is not None
    # The bytes that say how the file is journaled may differ.
    assert (report.replaced.parent, report.replaced.read_bytes()[100:]) == (filled, damaged[100:])
    assert await contents(filled) == {name: text for name, text in before.items() if name != "mem_7"}
    assert problems(filled) == []
    assert [name for name in names_in(filled) if "repairing" in name] == []


async def test_a_repair_of_an_intact_store_loses_nothing(filled: Path) -> None:
    before = await contents(filled)
    report = repair(filled)
    assert (report.lost, report.uncertain, report.without_search_data) == ([], [], 0)
    assert await contents(filled) == before
    assert sqlite_maintenance.check_store(filled / "scrubjay.db", filled / "derived", 5.0).problems == []


@pytest.mark.parametrize(
    "change", ["UPDATE schema_history SET program = 'another'", "DROP TABLE schema_history"], ids=["another", "none"]
)
async def test_a_repaired_store_names_the_release_that_repaired_it(filled: Path, change: str) -> None:
    connection = Connection(filled / "scrubjay.db", 5.0)
    connection.execute(change)
    connection.close()
    report = repair(filled)
    assert (report.lost, report.uncertain) == ([], [])
    connection = Connection(filled / "scrubjay.db", 5.0)
    history = connection.execute("SELECT version, program FROM schema_history ORDER BY version")
    connection.close()
    assert history == [(version, __version__) for version in range(1, newest_version() + 1)]


async def test_a_dry_run_changes_nothing(filled: Path) -> None:
    change(filled, b"drawer number 7 drawer", b"erawer number 7 drawer")
    before = read_files(filled)
    report = repair(filled, only_report=True)
    assert (len(report.lost), report.replaced) == (1, None)
    assert "Nothing was changed." in report.lines()
    after = read_files(filled)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) <= {"scrubjay.db-wal", "scrubjay.db-shm"}


async def test_a_repair_is_refused_while_the_store_is_open(filled: Path) -> None:
    store = await SqliteStore.open(filled)
    await store.memories.put([write("a later memory", id="mem_later")])
    before = (filled / "scrubjay.db").read_bytes()
    with pytest.raises(Busy, match="open"):
        repair(filled)
    assert (filled / "scrubjay.db").read_bytes() == before
    assert [name for name in names_in(filled) if "damaged" in name or "repairing" in name] == []
    await store.close()
    assert repair(filled).recovered["memory"] == MEMORIES + 1


def test_a_missing_store_cannot_be_repaired(empty_home: Path) -> None:
    with pytest.raises(NotFound):
        repair(empty_home)
    assert names_in(empty_home) == []


async def test_a_damaged_audience_widens_no_scope(filled: Path) -> None:
    store = await SqliteStore.open(filled)
    await store.memories.put([write("a private memory", id="mem_p", scope="session", session_id="s1")])
    await store.close()
    connection = Connection(filled / "scrubjay.db", 5.0)
    connection.execute(
        """DROP TRIGGER audience_checksum_changed; PRAGMA ignore_check_constraints = 1;
        UPDATE audience SET scope = 'sfssion' WHERE scope = 'session'"""
    )
    connection.close()
    report = repair(filled)
    assert (len(report.uncertain), report.lost) == (1, [])
    assert "its memories are now private to the session recovered-2" in report.uncertain[0]
    assert "mem_p" not in await contents(filled)
    assert problems(filled) == []


@pytest.mark.parametrize("seed", range(30))
async def test_a_repaired_store_is_intact_and_has_only_true_rows(filled: Path, seed: int) -> None:
    choose, path = random.Random(seed), filled / "scrubjay.db"
    data = bytearray(path.read_bytes())
    for _ in range(12):
        data[choose.randrange(100, len(data))] ^= 1 << choose.randrange(8)
    path.write_bytes(data)
    try:
        report = repair(filled)
    except StoreUnusable:
        assert path.read_bytes()[100:] == data[100:]
        return
    assert problems(filled) == []
    found = await contents(filled)
    for name, text in found.items():
        number = int(name.removeprefix("mem_"))
        assert text == f"drawer number {number} " * (1 + number % 40)
    named = {word for line in report.lost for word in line.split() if word.startswith("mem_")}
    nameless = sum(line.startswith("memory") and "mem_" not in line for line in report.lost)
    hidden = sum("recovered-" in line for line in report.uncertain) * MEMORIES
    assert len(found) + len(named) + nameless + hidden >= MEMORIES


# Repairs a store, but kills itself before the file operation in the home with this number.
REPAIR = """
import os, signal, sys
from pathlib import Path
from scrubjay.app.store_repair import repair_store

home, left = sys.argv[1], int(sys.argv[2])

def kill_at_step(event, arguments):
    global left
    if event in ("open", "os.link", "os.rename", "os.remove") and str(arguments[0]).startswith(home):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill_at_step)
repair_store(Path(home), 5.0, only_report=False)
"""


def repair_until(home: Path, damaged: bytes, step: int) -> int:
    """Repair this database in a child process that kills itself before a step, and return its exit status."""
    for path in home.glob("scrubjay.db*"):
        path.unlink()
    (home / "scrubjay.db").write_bytes(damaged)
    return subprocess.run([sys.executable, "-c", REPAIR, str(home), str(step)], cwd=ROOT).returncode


async def test_a_repair_killed_at_any_step_leaves_the_old_or_the_new_store(filled: Path) -> None:
    before = await contents(filled)
    change(filled, b"drawer number 7 drawer", b"erawer number 7 drawer")
    damaged = (filled / "scrubjay.db").read_bytes()
    remaining = {name: text for name, text in before.items() if name != "mem_7"}
    outcomes: list[bool] = []
    for step in range(100):
        returncode = repair_until(filled, damaged, step)
        outcomes.append((filled / "scrubjay.db").read_bytes()[100:] != damaged[100:])
        assert len(problems(filled)) == (0 if outcomes[-1] else 2)
        assert await contents(filled) == remaining
        repair(filled)
        assert await contents(filled) == remaining
        kept = [data[100:] for name, data in read_files(filled).items() if ".damaged-" in name]
        assert damaged[100:] in kept
        assert [name for name in names_in(filled) if "repairing" in name] == []
        if returncode == 0:
            break
        assert returncode == -signal.SIGKILL
    # Both happened: kills before the exchange of the files, and after it.
    assert (outcomes[0], outcomes[-1]) == (False, True)
    assert 5 < len(outcomes) < 100


async def test_a_store_with_a_damaged_schema_version_is_not_replaced(filled: Path) -> None:
    connection = Connection(filled / "scrubjay.db", 5.0)
    connection.pragma("user_version", 3)
    connection.close()
    with pytest.raises(StoreUnusable, match="schema version 3"):
        repair(filled)
    assert [name for name in names_in(filled) if "damaged" in name or "repairing" in name] == []


def fill_disk(disk: Path, *, leave: int) -> None:
    """Fill a small disk up to this number of bytes."""
    with (disk / "filling").open("wb") as file:
        file.write(bytes(shutil.disk_usage(disk).free - leave))


@pytest.fixture
async def filled_small(small_disk: Path) -> Path:
    """Return a closed store with a damaged memory on a small disk."""
    home = small_disk / "home"
    store = await SqliteStore.open(home)
    await store.memories.put([write(f"drawer number {number}", id=f"mem_{number}") for number in range(9)])
    await store.close()
    change(home, b"drawer number 7", b"erawer number 7")
    return home


LOST = ["memory mem_7 (row 8): its checksum does not match its values"]


async def test_a_repair_on_a_full_disk_is_reported_or_refused_and_changes_nothing(filled_small: Path) -> None:
    fill_disk(filled_small.parent, leave=300_000)
    before = (filled_small / "scrubjay.db").read_bytes()
    assert repair(filled_small, only_report=True).lost == LOST
    with pytest.raises(Unavailable, match="the folder of the store cannot be written"):
        repair(filled_small)
    assert (filled_small / "scrubjay.db").read_bytes()[100:] == before[100:]
    assert [name for name in names_in(filled_small) if "repairing" in name or "damaged" in name] == []
    (filled_small.parent / "filling").unlink()
    assert repair(filled_small).lost == LOST


async def test_a_store_on_a_disk_without_any_space_is_refused_with_the_reason(filled_small: Path) -> None:
    fill_disk(filled_small.parent, leave=0)
    with pytest.raises(Unavailable, match="disk of the store is full"):
        await SqliteStore.open(filled_small)


async def test_a_store_on_a_read_only_disk_is_reported_but_not_repaired(filled_small: Path) -> None:
    await anyio.run_process(["mount", "-o", "remount,ro", str(filled_small.parent)])
    assert repair(filled_small, only_report=True).lost == LOST
    with pytest.raises(Unavailable, match="Read-only file system"):
        repair(filled_small)
