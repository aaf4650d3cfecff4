"""A store that was written under the previous name, Recollect, is taken over whole."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import DATABASE, SqliteStore
from scrubjay.core.errors import Unavailable
from tests.contracts.samples import vector, write
from tests.db.sqlite.conftest import names_in

KEPT = "We chose PostgreSQL because the team knows it."


async def keep_one(home: Path) -> str:
    """Write a store as the previous version would have left it, and return the id of its memory."""
    store = await SqliteStore.open(home)
    kept = write(KEPT, vector=vector(1, 0))
    await store.memories.put([kept])
    await store.close()
    (home / DATABASE).rename(home / "recollect.db")
    (home / "scrubjay.lock").rename(home / "recollect.lock")
    (home / "backups").mkdir()
    (home / "backups" / "one.jsonl").write_text("{}\n")
    return kept.memory.id


async def content_of(home: Path, memory: str) -> str:
    store = await SqliteStore.open(home)
    found = {one.id: one.content for one in await store.memories.scan(None, 10)}
    await store.close()
    return found[memory]


READER = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.pragma("journal_mode", "wal")
list(connection.execute("SELECT count(*) FROM memory"))
print("open", flush=True)
sys.stdin.read()
"""


def reader_of(database: Path) -> subprocess.Popen[str]:
    """Start a process that has the database open until its standard input ends."""
    command = [sys.executable, "-c", READER, str(database)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def open_and_be_killed(home: Path, renames: int) -> int:
    """Open the store in a process that is killed after this many renames, and return its exit code."""
    return subprocess.run([sys.executable, "-c", KILLED, str(home), str(renames)], check=False).returncode


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


async def test_the_default_home_takes_over_the_store_of_the_previous_name(
    user: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = await keep_one(user / ".recollect")
    assert await content_of(user / ".scrubjay", memory) == KEPT
    assert names_in(user) == [".scrubjay"]
    assert {DATABASE, "scrubjay.lock", "backups"} <= set(names_in(user / ".scrubjay"))
    assert (user / ".scrubjay" / "backups" / "one.jsonl").read_text() == "{}\n"
    assert "previous name, was moved" in caplog.text


async def test_a_home_that_the_user_names_is_taken_over_in_place(user: Path) -> None:
    home = user / "elsewhere"
    memory = await keep_one(home)
    assert await content_of(home, memory) == KEPT
    assert not list(home.glob("recollect*"))


async def test_another_home_leaves_the_store_of_the_previous_name_alone(user: Path) -> None:
    await keep_one(user / ".recollect")
    store = await SqliteStore.open(user / "elsewhere")
    await store.close()
    assert (user / ".recollect" / "recollect.db").exists()


async def test_a_store_that_is_there_already_is_not_replaced(user: Path) -> None:
    store = await SqliteStore.open(user / ".scrubjay")
    mine = write("mine", vector=vector(1, 0))
    await store.memories.put([mine])
    await store.close()
    await keep_one(user / ".recollect")
    assert await content_of(user / ".scrubjay", mine.memory.id) == "mine"
    assert (user / ".recollect" / "recollect.db").exists()


async def test_files_that_hooks_left_in_the_new_home_stay_beside_the_old_ones(user: Path) -> None:
    memory = await keep_one(user / ".recollect")
    (user / ".scrubjay" / "backups").mkdir(parents=True)
    (user / ".scrubjay" / "backups" / "two.jsonl").write_text("2\n")
    assert await content_of(user / ".scrubjay", memory) == KEPT
    assert names_in(user / ".scrubjay" / "backups") == ["one.jsonl", "two.jsonl"]


async def test_a_store_that_a_process_has_open_is_refused_and_stays_whole(user: Path) -> None:
    memory = await keep_one(user / ".recollect")
    with reader_of(user / ".recollect" / "recollect.db") as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        with pytest.raises(Unavailable, match="in use by a process of the previous version"):
            await SqliteStore.open(user / ".scrubjay", busy_seconds=0.1)
        assert not (user / ".scrubjay").exists()
        child.communicate()
    assert await content_of(user / ".scrubjay", memory) == KEPT


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from scrubjay.app.sqlite_store import SqliteStore

left, rename = int(sys.argv[2]), Path.rename

def rename_until_killed(self, target):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return rename(self, target)

Path.rename = rename_until_killed
asyncio.run(SqliteStore.open(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("renames", range(2))
async def test_a_process_that_is_killed_midway_loses_nothing(user: Path, renames: int) -> None:
    memory = await keep_one(user / ".recollect")
    home = user / ".scrubjay"
    assert open_and_be_killed(home, renames) == -signal.SIGKILL
    assert not (home / DATABASE).exists()
    assert await content_of(home, memory) == KEPT
    assert (home / "backups" / "one.jsonl").exists()
