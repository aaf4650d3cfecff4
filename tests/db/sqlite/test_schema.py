"""Migration of a database file to the schema of the program."""

import signal
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import StoreUnusable
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.schema import (
    APPLICATION_ID,
    Migration,
    connect_and_migrate,
    load_migrations,
    migrate,
    schema_version,
)
from scrubjay.db.sqlite.schema_snapshot import (
    CONDITIONS,
    SCRIPT,
    SchemaSnapshot,
    load_snapshot,
    render_conditions,
    render_snapshot,
)
from tests.contracts.samples import write
from tests.db.sqlite.conftest import Start

STEPS = [
    Migration(1, "people", "CREATE TABLE person (name TEXT); INSERT INTO person VALUES ('Ada') RETURNING name;"),
    Migration(2, "ages", "ALTER TABLE person ADD COLUMN age INTEGER; UPDATE person SET age = 36;"),
    Migration(3, "towns", "CREATE TABLE town (name TEXT); INSERT INTO town SELECT name || 'ville' FROM person;"),
]


def migrated(database: Path, steps: Sequence[Migration]) -> Connection:
    connection = Connection(database, 1.0)
    migrate(connection, steps)
    return connection


def test_every_migration_is_applied_once_to_an_empty_file(tmp_path: Path) -> None:
    connection = migrated(tmp_path / "x.db", STEPS)
    assert connection.execute("SELECT person.name, age, town.name FROM person, town") == [("Ada", 36, "Adaville")]
    assert (schema_version(connection), connection.pragma("application_id")) == (3, APPLICATION_ID)
    assert connection.pragma("journal_mode") == "wal"
    migrate(connection, STEPS)
    assert connection.execute("SELECT count(*) FROM person") == [(1,)]


@pytest.mark.parametrize("version", [1, 2])
def test_an_older_store_is_migrated_from_any_version(tmp_path: Path, version: int) -> None:
    migrated(tmp_path / "x.db", STEPS[:version]).close()
    connection = migrated(tmp_path / "x.db", STEPS)
    assert connection.execute("SELECT person.name, age, town.name FROM person, town") == [("Ada", 36, "Adaville")]
    assert schema_version(connection) == 3


def test_a_failed_migration_leaves_the_previous_version_intact(tmp_path: Path) -> None:
    broken = [*STEPS[:1], Migration(2, "broken", "DELETE FROM person; CREATE TABLE person (again TEXT);")]
    with pytest.raises(apsw.SQLError):
        migrated(tmp_path / "x.db", broken)
    connection = Connection(tmp_path / "x.db", 1.0)
    assert schema_version(connection) == 1
    assert connection.execute("SELECT name FROM person") == [("Ada",)]
    migrate(connection, STEPS)
    assert schema_version(connection) == 3


def test_a_kill_during_a_migration_leaves_the_previous_version(tmp_path: Path, start: Start) -> None:
    steps = tmp_path / "steps"
    steps.mkdir()
    for step in STEPS:
        dying = step.sql + "\n-- die here" if step.version == 2 else step.sql
        (steps / f"{step.version:04}_{step.name}.sql").write_text(dying)
    child = start("migrate_and_die", tmp_path)
    assert child.communicate(timeout=20)[0] == ""
    assert child.returncode == -signal.SIGKILL
    connection = Connection(tmp_path / "scrubjay.db", 1.0)
    assert schema_version(connection) == 1
    assert connection.execute("SELECT * FROM person") == [("Ada",)]
    migrate(connection, STEPS)
    assert connection.execute("SELECT person.name, age, town.name FROM person, town") == [("Ada", 36, "Adaville")]
    assert connection.execute("PRAGMA integrity_check") == [("ok",)]


def test_migrations_are_numbered_without_gaps(tmp_path: Path) -> None:
    (tmp_path / "0001_first.sql").write_text("SELECT 1")
    (tmp_path / "0003_third.sql").write_text("SELECT 3")
    (tmp_path / "README").write_text("not a step")
    with pytest.raises(ValueError, match="0003_third"):
        load_migrations(tmp_path)
    (tmp_path / "0002_second.sql").write_text("SELECT 2")
    assert load_migrations(tmp_path) == [
        Migration(1, "first", "SELECT 1"),
        Migration(2, "second", "SELECT 2"),
        Migration(3, "third", "SELECT 3"),
    ]
    assert [migration.version for migration in load_migrations()] == list(range(1, len(load_migrations()) + 1))


def test_a_new_database_is_what_the_migrations_make(tmp_path: Path) -> None:
    steps = load_migrations()
    stepwise = migrated(tmp_path / "stepwise.db", steps)
    new = connect_and_migrate(tmp_path / "new.db", 1.0, steps)
    assert contents(new) == contents(stepwise)
    assert definitions(new) == definitions(stepwise)
    assert (schema_version(new), new.pragma("application_id")) == (len(steps), APPLICATION_ID)


def contents(connection: Connection) -> dict[str, list[object]]:
    """Return the rows of every table, except versions and counts of changed settings, which may differ."""
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    differing = ("schema_history", "memory_terms_data", "episode_terms_data")
    rows = {name: connection.execute(f'SELECT * FROM "{name}"') for name in tables if name not in differing}
    rows["memory_change"] = connection.execute("SELECT revision, seq FROM memory_change")  # the third is random
    return rows


def definitions(connection: Connection) -> dict[str, list[object]]:
    """Return the definitions of each kind; those of triggers in the order in which they fire."""
    query = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = :type ORDER BY {order}"
    orders = {"table": "name", "index": "name", "view": "name", "trigger": "rowid"}
    return {kind: connection.execute(query.format(order=order), {"type": kind}) for kind, order in orders.items()}


def test_the_script_of_the_schema_and_the_conditions_for_intact_rows_are_up_to_date(tmp_path: Path) -> None:
    connection = migrated(tmp_path / "x.db", load_migrations())
    assert render_snapshot(connection) == SCRIPT.read_text()
    assert render_conditions(connection) == CONDITIONS.read_text()


def test_an_existing_database_and_one_of_fewer_migrations_are_not_made_from_the_snapshot(tmp_path: Path) -> None:
    migrated(tmp_path / "x.db", STEPS[:1]).close()
    for name, steps, snapshot in (
        ("x.db", STEPS, SchemaSnapshot(3, "CREATE TABLE of_snapshot (x)")),
        ("y.db", STEPS, SchemaSnapshot(4, "CREATE TABLE of_snapshot (x)")),
    ):
        connection = Connection(tmp_path / name, 1.0)
        migrate(connection, steps, snapshot=snapshot)
        tables = connection.execute("SELECT name FROM sqlite_schema ORDER BY name")
        assert tables == [("person",), ("schema_history",), ("town",)]


def test_a_newer_migration_runs_after_the_snapshot(tmp_path: Path) -> None:
    newer = Migration(load_snapshot().version + 1, "newer", "CREATE TABLE newer (x)")
    connection = connect_and_migrate(tmp_path / "x.db", 1.0, [*load_migrations(), newer])
    assert schema_version(connection) == newer.version
    assert connection.execute("SELECT * FROM newer") == []


def test_jobs_of_an_older_store_that_named_forgotten_memories_are_erased(tmp_path: Path) -> None:
    steps = load_migrations()
    connection = migrated(tmp_path / "x.db", steps[:9])
    connection.execute("INSERT INTO audience (id, scope) VALUES (1, 'global')")
    connection.execute(
        "INSERT INTO memory (id, audience_id, importance, confidence, recorded_at, updated_at, tags, metadata,"
        " content) VALUES ('mem_a', 1, 0.5, 1, 0, 0, '[]', '{}', 'x')"
    )
    jobs = (("summarize_sessions", "mem_a"), ("summarize_sessions", "mem_gone"), ("forget_faded", "mem_gone"))
    for number, (kind, memory) in enumerate(jobs):
        connection.execute(
            "INSERT INTO job (id, kind, payload, state, attempts, created_at, result) "
            "VALUES (:id, :kind, '{\"sessionId\": 1}', 'completed', 1, 0, :result)",
            {"id": str(number), "kind": kind, "result": f'{{"sessions": [{{"memoryId": "{memory}", "title": "t"}}]}}'},
        )
    migrate(connection, steps)
    assert [one is None for (one,) in connection.execute("SELECT result FROM job ORDER BY seq")] == [False, True, False]
    connection.execute("DELETE FROM memory WHERE id = 'mem_a'")
    rows = connection.execute("SELECT payload, result, message FROM job ORDER BY seq LIMIT 2")
    assert rows == [("{}", None, "erased: it named a forgotten memory")] * 2
    assert connection.execute("SELECT * FROM job_memory") == []


@pytest.mark.parametrize(("keys", "owned"), [(0, ["/a"]), (1, [])])
def test_projects_of_an_older_store_are_the_owners_if_it_never_had_keys(
    tmp_path: Path, keys: int, owned: list[str]
) -> None:
    steps = load_migrations()
    (number,) = [step.version for step in steps if "ADD COLUMN set_by_owner" in step.sql]
    connection = migrated(tmp_path / "x.db", steps[: number - 1])
    connection.execute("INSERT INTO project (id, path, name, created_at) VALUES ('prj_a', '/a', 'a', 1)")
    for _ in range(keys):
        connection.execute(
            "INSERT INTO access_key (id, name, digest, scopes, created_at) VALUES ('k', 'k', x'00', '', 1)"
        )
    migrate(connection, steps)
    assert [path for (path,) in connection.execute("SELECT path FROM project WHERE set_by_owner")] == owned


async def test_a_store_newer_than_the_program_is_refused_unchanged(home: Path) -> None:
    store = await SqliteStore.open(home)
    await store.memories.put([write("precious")])
    await store.close()
    connection = Connection(home / "scrubjay.db", 1.0)
    connection.pragma("user_version", 9999)
    connection.close()
    before = (home / "scrubjay.db").read_bytes()
    with pytest.raises(StoreUnusable, match="9999") as refusal:
        await SqliteStore.open(home)
    assert refusal.value.hint is not None
    assert "upgrade scrubjay" in refusal.value.hint
    assert (home / "scrubjay.db").read_bytes() == before


async def test_a_file_that_is_not_a_database_is_refused_unchanged(empty_home: Path) -> None:
    home = empty_home
    (home / "scrubjay.db").write_bytes(b"dear diary, " * 1000)
    with pytest.raises(StoreUnusable):
        await SqliteStore.open(home)
    assert (home / "scrubjay.db").read_bytes() == b"dear diary, " * 1000


@pytest.mark.parametrize("application_id", [0, 42])
async def test_a_database_of_another_program_is_refused_unchanged(empty_home: Path, application_id: int) -> None:
    home = empty_home
    connection = Connection(home / "scrubjay.db", 1.0)
    connection.execute("CREATE TABLE theirs (x)")
    connection.pragma("application_id", application_id)
    connection.close()
    before = (home / "scrubjay.db").read_bytes()
    with pytest.raises(StoreUnusable, match="another program"):
        await SqliteStore.open(home)
    assert (home / "scrubjay.db").read_bytes() == before


def test_processes_that_open_a_new_store_concurrently_create_it_once(empty_home: Path, start: Start) -> None:
    children = [start("open_once", empty_home) for _ in range(4)]
    newest = str(len(load_migrations()))
    assert [child.communicate(timeout=30)[0].strip() for child in children] == [newest] * 4
