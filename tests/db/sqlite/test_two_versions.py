"""A newer release migrates a store, or `code.db`, that a process of this release has open."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from scrubjay import __version__
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import StoreUnusable
from scrubjay.core.paths import CODE_DATABASE
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.schema import load_migrations, migrate, newest_version
from scrubjay.features.code.sqlite import SCHEMA, SqliteCode
from scrubjay.features.hooks.hook_reader import open_hook_reader
from scrubjay.features.memory.models import MemoryKind
from tests.contracts.samples import GLOBAL_ONLY, query, search, vector, write
from tests.db.sqlite.children import NEWER_PROGRAM
from tests.db.sqlite.conftest import Start

Operation = Callable[[SqliteStore, Path], Awaitable[object]]

WRITES: dict[str, Operation] = {
    "put": lambda store, home: store.memories.put([write("too late")]),
    "delete": lambda store, home: store.memories.delete(GLOBAL_ONLY, ["mem_a"]),
    "protect": lambda store, home: store.memories.protect(GLOBAL_ONLY, ["mem_a"], True),
    "rebuild": lambda store, home: store.memories.begin_rebuild(resume=False),
    "job": lambda store, home: store.jobs.add("index", {}, owner=None),
    "claim": lambda store, home: store.jobs.claim(["index"], "me"),
    "project": lambda store, home: store.projects.ensure("/p", None),
    "usage": lambda store, home: store.usage.add({"recall": 1}),
    "import": lambda store, home: store.transfer.begin("imp", "sum"),
    "vacuum": lambda store, home: store.vacuum(),
}
READS: dict[str, Operation] = {
    "get": lambda store, home: store.memories.get(GLOBAL_ONLY, "mem_a"),
    "search": lambda store, home: search(store, query("kept", vector=vector(1, 0))),
    "counts": lambda store, home: store.memories.counts(),
    "scan": lambda store, home: store.memories.scan(None, 10),
    "active project": lambda store, home: store.projects.active("me"),
    "model": lambda store, home: store.embeddings.state(),
    "export": lambda store, home: store.transfer.read_snapshot([MemoryKind.GENERAL], lambda snapshot: None),
    "ping": lambda store, home: store.ping(),
    "info": lambda store, home: store.info(),
    "check": lambda store, home: store.check(),
    "backup": lambda store, home: store.backup(home.parent / "copy.db"),
}


def finish(start: Start, role: str, home: Path) -> str:
    """Run another process in this role to its end, and return what it printed."""
    child = start(role, home)
    printed = child.communicate(timeout=30)[0]
    assert child.returncode == 0
    return printed.strip()


@pytest.mark.parametrize("used_before", [True, False], ids=["used", "unused"])
@pytest.mark.parametrize("name", [*WRITES, *READS])
async def test_an_open_store_that_a_newer_process_migrated_is_refused(
    store: SqliteStore, home: Path, start: Start, name: str, used_before: bool
) -> None:
    operation = (WRITES | READS)[name]
    if used_before:  # its connections are then open
        await store.memories.put([write("kept", id="mem_a", vector=vector(1, 0))])
        await search(store, query("kept", vector=vector(1, 0)))
        await store.projects.active("me")
    newer = newest_version() + 1
    assert finish(start, "migrate_as_newer_release", home) == str(newer)
    with pytest.raises(StoreUnusable) as refusal:
        await operation(store, home)
    assert refusal.value.message == (
        f"scrubjay.db has schema version {newer} (written by scrubjay {NEWER_PROGRAM}); this process is scrubjay"
        f" {__version__}, which supports versions up to {newest_version()}"
    )
    assert refusal.value.hint == (
        f"stop this process, upgrade scrubjay if it is older, and start scrubjay {NEWER_PROGRAM} or newer"
    )
    connection = Connection(home / "scrubjay.db", 1.0, read_only=True)
    counts = [connection.value(f"SELECT count(*) FROM {table}") for table in ("memory", "job", "project", "tool_usage")]
    connection.close()
    assert counts == [int(used_before), 0, 0, 0], "nothing was written"


async def test_keys_of_a_store_that_a_newer_process_migrated_are_not_read(
    store: SqliteStore, home: Path, start: Start
) -> None:
    await store.keys.prepare()
    ring = store.keys.ring()
    assert ring is not None
    finish(start, "migrate_as_newer_release", home)
    with pytest.raises(StoreUnusable, match=NEWER_PROGRAM):
        store.keys.ring()
    with pytest.raises(StoreUnusable, match=NEWER_PROGRAM):
        store.keys.ring(ring.revision)


async def test_a_store_of_a_newer_release_is_refused_at_start_and_names_the_release(home: Path, start: Start) -> None:
    await (await SqliteStore.open(home)).close()
    finish(start, "migrate_as_newer_release", home)
    with pytest.raises(StoreUnusable, match=f"written by scrubjay {NEWER_PROGRAM}"):
        await SqliteStore.open(home)
    with (
        pytest.raises(StoreUnusable, match=f"written by scrubjay {NEWER_PROGRAM}"),
        open_hook_reader(home / "scrubjay.db"),
    ):
        pass


async def test_a_version_that_no_release_recorded_is_refused_too(store: SqliteStore, home: Path) -> None:
    connection = Connection(home / "scrubjay.db", 1.0)
    connection.pragma("user_version", 99)
    with pytest.raises(StoreUnusable, match="has schema version 99; this process") as refusal:
        await store.memories.put([write("too late")])
    assert "the newer scrubjay that wrote the file" in str(refusal.value.hint)
    connection.pragma("user_version", newest_version())
    connection.close()
    await store.memories.put([write("in time")])


async def test_an_older_version_under_an_open_store_is_refused(store: SqliteStore, home: Path) -> None:
    connection = Connection(home / "scrubjay.db", 1.0)
    connection.pragma("user_version", 3)
    connection.close()
    with pytest.raises(StoreUnusable, match="replaced by one of schema version 3") as refusal:
        await store.memories.put([write("too late")])
    assert "start it again" in str(refusal.value.hint)


@pytest.mark.parametrize("replaced", [True, False], ids=["replaced", "removed"])
async def test_a_database_that_was_replaced_under_an_open_store_is_refused(
    store: SqliteStore, home: Path, replaced: bool
) -> None:
    await store.memories.put([write("kept")])
    await store.projects.active("me")
    await store.backup(home / "copy.db")
    (home / "copy.db").replace(home / ("scrubjay.db" if replaced else "elsewhere.db"))
    if not replaced:
        (home / "scrubjay.db").unlink()
    # Reads on a connection that was opened before. A new one cannot open the file at all, or reads the new one.
    for operation in (*WRITES.values(), READS["active project"], READS["model"]):
        with pytest.raises(StoreUnusable, match="replaced or removed while this process had it open") as refusal:
            await operation(store, home)
        assert "start it again" in str(refusal.value.hint)


async def test_a_connection_that_is_opened_after_the_database_was_replaced_is_refused_too(
    store: SqliteStore, home: Path
) -> None:
    await store.backup(home / "copy.db")
    (home / "copy.db").replace(home / "scrubjay.db")
    for operation in READS["active project"], READS["model"]:
        with pytest.raises(StoreUnusable, match="replaced or removed while this process had it open"):
            await operation(store, home)
    problem = store.problem()
    assert problem is not None
    assert "replaced or removed" in problem.message


async def test_a_database_that_cannot_be_read_any_more_is_a_problem_of_the_store(
    store: SqliteStore, home: Path
) -> None:
    await store.memories.put([write("kept")])
    await store.close()
    store = await SqliteStore.open(home)
    assert store.problem() is None
    os.truncate(home / "scrubjay.db", 4096)
    with pytest.raises(StoreUnusable):
        await store.memories.counts()
    assert isinstance(store.problem(), StoreUnusable)
    await store.close()


async def test_a_new_store_records_the_release_that_made_it(store: SqliteStore, home: Path) -> None:
    connection = Connection(home / "scrubjay.db", 1.0, read_only=True)
    assert connection.execute("SELECT version, program FROM schema_history") == [(newest_version(), __version__)]
    connection.close()


def test_each_migration_records_the_release_that_applied_it(tmp_path: Path) -> None:
    connection = Connection(tmp_path / "x.db", 1.0)
    migrate(connection, load_migrations(), "1.2.3")
    history = connection.execute("SELECT version, program FROM schema_history")
    assert history == [(migration.version, "1.2.3") for migration in load_migrations()]


async def test_an_open_code_index_that_a_newer_process_changed_is_refused(tmp_path: Path, start: Start) -> None:
    store = await SqliteCode.open(tmp_path)
    await store.index("idx_a")
    await store.indexes()
    assert finish(start, "recreate_code_as_newer_release", tmp_path) == str(SCHEMA + 1)
    for operation in (
        lambda: store.index("idx_a"),
        lambda: store.indexes(),
        lambda: store.delete("idx_a"),
        lambda: store.sweep(1),
        lambda: store.vectors.put_vectors("model", {"k": b"v"}),
    ):
        with pytest.raises(StoreUnusable, match=f"code.db has schema version {SCHEMA + 1} .*{NEWER_PROGRAM}"):
            await operation()
    await store.close()


async def test_a_code_index_of_a_newer_release_is_refused_and_not_dropped(tmp_path: Path, start: Start) -> None:
    await (await SqliteCode.open(tmp_path)).close()
    finish(start, "recreate_code_as_newer_release", tmp_path)
    before = (tmp_path / CODE_DATABASE).read_bytes()
    with pytest.raises(StoreUnusable, match=NEWER_PROGRAM) as refusal:
        await SqliteCode.open(tmp_path)
    assert "delete the file" in str(refusal.value.hint)
    assert (tmp_path / CODE_DATABASE).read_bytes() == before
