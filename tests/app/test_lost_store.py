"""A home whose database is missing or empty beside other files of a used store is refused, with the way to restore."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay.app.lost_store import describe_store, find_traces, restore_store
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Conflict, InvalidRequest, StoreUnusable
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.schema import APPLICATION_ID, Migration, connect_and_migrate, load_migrations, newest_version
from tests.contracts.samples import query, search, vector, write
from tests.surfaces.callers import PROGRAM, environment

AUDIT_CALL = '{"id":"aud_1","kind":"call","decision":"allowed","caller":"owner","tool":"%s","outcome":"%s"}\n'


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments], env=environment(home), cwd=home.parent, capture_output=True, text=True, timeout=60
    )


def contents(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def put(home: Path, name: str, content: bytes = b"x") -> None:
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_bytes(content)


TRACES: dict[str, Callable[[Path], None]] = {
    "derived/memories-potion-256-3.bin": lambda home: put(home, "derived/memories-potion-256-3.bin"),
    "audit.jsonl": lambda home: put(home, "audit.jsonl", (AUDIT_CALL % ("remember", "ok")).encode()),
    "audit.jsonl.2": lambda home: put(home, "audit.jsonl.2", (AUDIT_CALL % ("recall", "ok")).encode()),
    "code.db": lambda home: put(home, "code.db"),
    "server.json": lambda home: put(home, "server.json"),
    "backups/copy.db": lambda home: put(home, "backups/copy.db", b"S" * 68 + APPLICATION_ID.to_bytes(4, "big")),
    "last-backup.json": lambda home: put(home, "last-backup.json", b"{}"),
    "scrubjay.db-wal": lambda home: put(home, "scrubjay.db-wal"),
}
NO_TRACES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda home: None,
    "a lock": lambda home: put(home, "scrubjay.lock", b""),
    "an audit log of calls that need no store": lambda home: put(
        home, "audit.jsonl", (AUDIT_CALL % ("audit_log", "ok") + AUDIT_CALL % ("remember", "unavailable")).encode()
    ),
    "settings and hooks": lambda home: [put(home, name) for name in ("skills.json", "installed.json", "hooks/x.json")],
    "an empty log": lambda home: put(home, "scrubjay.db-wal", b""),
    "caches": lambda home: [put(home, name) for name in ("derived/skills/x.json", "derived/sandbox/x.cwasm")],
    "files to import": lambda home: [put(home, name) for name in ("backups/scrubjay-2026.jsonl", "backups/graph/x")],
}


def make_missing(home: Path) -> None:
    (home / "scrubjay.db").unlink(missing_ok=True)


def make_empty(home: Path) -> None:
    (home / "scrubjay.db").write_bytes(b"")


def make_empty_with_header(home: Path) -> None:
    """What `sqlite3 scrubjay.db VACUUM` leaves."""
    (home / "scrubjay.db").unlink(missing_ok=True)
    connection = Connection(home / "scrubjay.db", 1.0)
    connection.execute("VACUUM")
    connection.close()


LOSSES = {"missing": make_missing, "empty": make_empty, "without tables": make_empty_with_header}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


# A log beside a database that has a header belongs to it.
LOST = [(trace, loss) for trace in TRACES for loss in LOSSES if (trace, loss) != ("scrubjay.db-wal", "without tables")]


@pytest.mark.parametrize(("trace", "loss"), LOST)
async def test_an_empty_database_beside_a_trace_of_a_store_is_refused_unchanged(
    home: Path, trace: str, loss: str
) -> None:
    LOSSES[loss](home)
    TRACES[trace](home)
    before = contents(home)
    with pytest.raises(StoreUnusable) as refusal:
        await SqliteStore.open(home)
    assert f"scrubjay.db in {home} is missing or empty" in refusal.value.message
    assert trace in refusal.value.message
    assert "scrubjay store init" in str(refusal.value.hint)
    (home / "scrubjay.lock").unlink()
    assert contents(home) == before


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("files", NO_TRACES)
async def test_a_home_without_traces_starts(home: Path, files: str, loss: str) -> None:
    LOSSES[loss](home)
    NO_TRACES[files](home)
    store = await SqliteStore.open(home)
    await store.memories.put([write("first")])
    await store.close()


async def test_a_used_store_starts_again(home: Path) -> None:
    for trace in TRACES.values():
        trace(home)
    make_missing(home)
    store = await SqliteStore.open(home, accepts_loss=True)
    await store.memories.put([write("kept")])
    await store.close()
    store = await SqliteStore.open(home)
    assert [memory.content for memory in await store.memories.scan(None, 10)] == ["kept"]
    await store.close()


def test_a_fresh_home_leaves_no_trace_before_it_has_a_database(home: Path) -> None:
    for arguments in (
        ("server", "audit-log"),
        ("sandbox", "sandbox-status"),
        ("web", "web-parse", "<b>x</b>"),
        ("code", "repo-map"),
        ("server", "cortex-status"),
    ):
        run(home, *arguments)
        assert (home / "scrubjay.db").exists() or find_traces(home) == [], arguments
    assert run(home, "memory", "remember", "it works").returncode == 0


async def used_home(home: Path) -> None:
    store = await SqliteStore.open(home)
    await store.memories.put([write("kept", vector=vector(1, 0))])
    await store.close()
    put(home, "audit.jsonl", (AUDIT_CALL % ("remember", "ok")).encode())


async def test_every_command_refuses_a_lost_store_and_names_the_newest_backup(home: Path) -> None:
    await used_home(home)
    (home / "backups").mkdir()
    assert run(home, "store", "backup", str(home / "backups" / "old.db")).returncode == 0
    assert run(home, "store", "backup", str(home.parent / "new.db")).returncode == 0
    put(home, "backups/not-a-backup.db", b"text")
    os.utime(home / "backups" / "old.db", (1, 1))
    make_empty(home)
    hint = f"the newest backup is {home.parent / 'new.db'}"
    for command in (["store", "check"], ["doctor"], ["memory", "recall", "kept"], ["serve", "--port", "0"]):
        done = run(home, *command)
        assert (done.returncode, command) == (11, command)
        assert "is missing or empty" in done.stderr
        assert hint in done.stderr
        assert f"scrubjay store restore {home.parent / 'new.db'}" in done.stderr
    (home.parent / "new.db").unlink()
    assert f"scrubjay store restore {home / 'backups' / 'old.db'}" in run(home, "store", "check").stderr
    restored = run(home, "store", "restore", str(home / "backups" / "old.db"), "--json")
    assert (restored.returncode, restored.stderr) == (0, "")
    assert json.loads(restored.stdout)["location"] == str(home)
    assert run(home, "store", "check").returncode == 0
    store = await SqliteStore.open(home)
    assert len((await search(store, query("kept", vector=vector(1, 0)))).candidates) == 1
    await store.close()


async def test_an_export_is_named_when_it_is_the_only_backup(home: Path) -> None:
    await used_home(home)
    assert run(home, "transfer", "export-database").returncode == 0
    make_missing(home)
    export = home / next(name for name in contents(home) if name.startswith("backups/"))
    done = run(home, "store", "check")
    assert f"the newest backup is {export}" in done.stderr
    assert f"run `scrubjay store init`, then `scrubjay transfer import-database {export.name}`" in done.stderr
    assert run(home, "store", "init").returncode == 0
    assert run(home, "transfer", "import-database", export.name).returncode == 0
    assert "kept" in run(home, "memory", "list-memories").stdout


async def test_a_store_is_started_from_nothing_on_purpose(home: Path) -> None:
    await used_home(home)
    make_missing(home)
    put(home, "scrubjay.db-wal", b"the rest of the lost store")
    done = run(home, "store", "init")
    assert (done.returncode, done.stderr) == (0, "")
    assert (home / "scrubjay.db-wal.lost").read_bytes() == b"the rest of the lost store"
    assert run(home, "store", "check").returncode == 0
    again = run(home, "store", "init")
    assert again.returncode != 0
    assert "already" in again.stderr
    store = await SqliteStore.open(home)
    assert (await store.memories.counts()).memories == 0
    await store.close()


async def test_a_store_that_is_there_is_never_replaced(home: Path) -> None:
    await used_home(home)
    store = await SqliteStore.open(home)
    await store.backup(home.parent / "copy.db")
    with pytest.raises(Conflict, match="already"):
        restore_store(home.parent / "copy.db", home, 1.0)
    await store.close()
    with pytest.raises(Conflict, match="already"):
        restore_store(home.parent / "copy.db", home, 1.0)


@pytest.mark.parametrize("content", [b"", b"dear diary, " * 1000, None])
async def test_only_a_backup_is_restored(home: Path, content: bytes | None) -> None:
    await used_home(home)
    make_missing(home)
    if content is not None:
        put(home.parent, "copy.db", content)
    with pytest.raises((StoreUnusable, InvalidRequest)):
        restore_store(home.parent / "copy.db", home, 1.0)
    assert set(contents(home)) == {"audit.jsonl", "scrubjay.lock"}


async def test_a_damaged_backup_is_refused(home: Path) -> None:
    await used_home(home)
    store = await SqliteStore.open(home)
    await store.memories.put([write(f"{number} " + "x" * 3000) for number in range(50)])
    await store.backup(home.parent / "copy.db")
    await store.close()
    content = bytearray((home.parent / "copy.db").read_bytes())
    content[len(content) // 2 :] = b"\xff" * (len(content) - len(content) // 2)
    put(home.parent, "copy.db", bytes(content))
    make_missing(home)
    with pytest.raises(StoreUnusable, match="damaged"):
        restore_store(home.parent / "copy.db", home, 1.0)
    assert not (home / "scrubjay.db").exists()


async def test_a_backup_of_an_older_release_is_migrated_and_a_newer_one_refused(home: Path) -> None:
    steps = load_migrations()
    connect_and_migrate(home.parent / "old.db", 1.0, steps[:12]).close()
    newer = Migration(len(steps) + 1, "newer", "CREATE TABLE newer (x)")
    connect_and_migrate(home.parent / "new.db", 1.0, [*steps, newer], program="98.7.6").close()
    with pytest.raises(StoreUnusable, match=r"98\.7\.6"):
        restore_store(home.parent / "new.db", home, 1.0)
    put(home, "scrubjay.db-wal", b"the log of the lost store must not be applied to the restored one")
    restore_store(home.parent / "old.db", home, 1.0)
    store = await SqliteStore.open(home)
    assert (await store.info()).schema_version == newest_version()
    assert (await store.check()).problems == []
    await store.close()


@pytest.mark.parametrize("loss", LOSSES)
async def test_the_doctor_describes_a_store_and_refuses_a_lost_one(home: Path, loss: str) -> None:
    assert describe_store(home / "new", 1.0) == f"{home / 'new'}, no store yet"
    assert not (home / "new").exists()
    await used_home(home)
    assert describe_store(home, 1.0).startswith(f"{home}, schema version {newest_version()}, ")
    LOSSES[loss](home)
    with pytest.raises(StoreUnusable, match="missing or empty"):
        describe_store(home, 1.0)
