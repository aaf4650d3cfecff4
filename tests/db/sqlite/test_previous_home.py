"""A store written under the previous name, Recollect, is taken over completely."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import DATABASE, SqliteStore
from scrubjay.core.errors import Unavailable
from tests.contracts.samples import vector, write
from tests.db.sqlite.conftest import names_in

CONTENT = "We chose PostgreSQL because the team knows it."


async def write_previous_store(home: Path) -> str:
    """Write a store as the previous version would have left it, and return the id of its memory."""
    store = await SqliteStore.open(home)
    memory_write = write(CONTENT, vector=vector(1, 0))
    await store.memories.put([memory_write])
    await store.close()
    (home / DATABASE).rename(home / "recollect.db")
    (home / "scrubjay.lock").rename(home / "recollect.lock")
    (home / "backups").mkdir()
    (home / "backups" / "one.jsonl").write_text("{}\n")
    return memory_write.memory.id


async def content_of(home: Path, memory: str) -> str:
    store = await SqliteStore.open(home)
    contents = {stored.id: stored.content for stored in await store.memories.scan(None, 10)}
    await store.close()
    return contents[memory]


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
    memory = await write_previous_store(user / ".recollect")
    assert await content_of(user / ".scrubjay", memory) == CONTENT
    assert names_in(user) == [".scrubjay"]
    assert {DATABASE, "scrubjay.lock", "backups"} <= set(names_in(user / ".scrubjay"))
    assert (user / ".scrubjay" / "backups" / "one.jsonl").read_text() == "{}\n"
    assert "previous name, was moved" in caplog.text


async def test_a_home_named_by_the_user_is_taken_over_in_place(user: Path) -> None:
    home = user / "elsewhere"
    memory = await write_previous_store(home)
    assert await content_of(home, memory) == CONTENT
    assert not list(home.glob("recollect*"))


async def test_another_home_leaves_the_previous_default_store_alone(user: Path) -> None:
    await write_previous_store(user / ".recollect")
    store = await SqliteStore.open(user / "elsewhere")
    await store.close()
    assert (user / ".recollect" / "recollect.db").exists()


async def test_an_existing_store_is_not_replaced(user: Path) -> None:
    store = await SqliteStore.open(user / ".scrubjay")
    current = write("current", vector=vector(1, 0))
    await store.memories.put([current])
    await store.close()
    await write_previous_store(user / ".recollect")
    assert await content_of(user / ".scrubjay", current.memory.id) == "current"
    assert (user / ".recollect" / "recollect.db").exists()


async def test_spooled_files_in_the_new_home_are_merged_with_the_old_ones(user: Path) -> None:
    memory = await write_previous_store(user / ".recollect")
    (user / ".scrubjay" / "backups").mkdir(parents=True)
    (user / ".scrubjay" / "backups" / "two.jsonl").write_text("2\n")
    assert await content_of(user / ".scrubjay", memory) == CONTENT
    assert names_in(user / ".scrubjay" / "backups") == ["one.jsonl", "two.jsonl"]


async def test_a_store_in_use_is_refused_and_not_changed(user: Path) -> None:
    memory = await write_previous_store(user / ".recollect")
    with reader_of(user / ".recollect" / "recollect.db") as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        with pytest.raises(Unavailable, match="in use by a process of the previous version"):
            await SqliteStore.open(user / ".scrubjay", busy_seconds=0.1)
        assert not (user / ".scrubjay").exists()
        child.communicate()
    assert await content_of(user / ".scrubjay", memory) == CONTENT


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
async def test_a_move_killed_midway_loses_nothing(user: Path, renames: int) -> None:
    memory = await write_previous_store(user / ".recollect")
    home = user / ".scrubjay"
    assert open_and_be_killed(home, renames) == -signal.SIGKILL
    assert not (home / DATABASE).exists()
    assert await content_of(home, memory) == CONTENT
    assert (home / "backups" / "one.jsonl").exists()
