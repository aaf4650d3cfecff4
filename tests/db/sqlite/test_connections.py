"""Connections to the database, and the transactions on them."""

from pathlib import Path

import apsw
import pytest

from scrubjay.core.errors import StoreUnusable
from scrubjay.db.sqlite.connections import Connection, in_snapshot, in_transaction, refuse_old_sqlite


@pytest.mark.parametrize("version", ["3.40.1", "3.51.3", "3.52.0", "2.99.9"])
def test_a_sqlite_that_can_damage_a_shared_store_is_refused(version: str) -> None:
    with pytest.raises(StoreUnusable, match=version):
        refuse_old_sqlite(version)


@pytest.mark.parametrize("version", ["3.53.0", "3.54.1", "3.100.0", "4.0.0", apsw.sqlite_lib_version()])
def test_a_fixed_sqlite_is_accepted(version: str) -> None:
    refuse_old_sqlite(version)


def test_connections_have_durable_writes_foreign_keys_and_secure_delete(tmp_path: Path) -> None:
    connection = Connection(tmp_path / "x.db", 2.5)
    settings = {name: connection.pragma(name) for name in ("synchronous", "foreign_keys", "secure_delete")}
    assert settings == {"synchronous": 2, "foreign_keys": 1, "secure_delete": 1}
    assert connection.pragma("busy_timeout") == 2500


def test_a_read_only_connection_cannot_write(tmp_path: Path) -> None:
    Connection(tmp_path / "x.db", 1.0).execute("CREATE TABLE t (x)")
    with pytest.raises(apsw.ReadOnlyError):
        Connection(tmp_path / "x.db", 1.0, read_only=True).execute("INSERT INTO t VALUES (1)")


def test_every_statement_of_a_script_runs(tmp_path: Path) -> None:
    connection = Connection(tmp_path / "x.db", 1.0)
    assert connection.execute("CREATE TABLE t (x); SELECT 1; INSERT INTO t VALUES (2)") == [(1,)]
    assert connection.execute("SELECT x FROM t") == [(2,)]
    assert (connection.value("SELECT x FROM t"), connection.value("SELECT x FROM t WHERE x > 2")) == (2, None)


def test_a_failed_transaction_changes_nothing_and_the_next_one_works(tmp_path: Path) -> None:
    connection = Connection(tmp_path / "x.db", 1.0)
    connection.execute("CREATE TABLE t (x)")

    def fail(connection: Connection) -> None:
        connection.execute("INSERT INTO t VALUES (1)")
        raise LookupError("a bug")

    with pytest.raises(LookupError):
        in_transaction(connection, fail)
    in_transaction(connection, lambda connection: connection.execute("INSERT INTO t VALUES (2)"))
    assert connection.execute("SELECT x FROM t") == [(2,)]


def test_a_snapshot_does_not_see_concurrent_writes(tmp_path: Path) -> None:
    reader, writer = Connection(tmp_path / "x.db", 1.0), Connection(tmp_path / "x.db", 1.0)
    writer.pragma("journal_mode", "wal")
    writer.execute("CREATE TABLE t (x)")

    def read(connection: Connection) -> tuple[int, int]:
        before = connection.value("SELECT count(*) FROM t")
        writer.execute("INSERT INTO t VALUES (1)")
        return before, connection.value("SELECT count(*) FROM t")

    assert in_snapshot(reader, read) == (0, 0)
    assert in_snapshot(reader, read) == (1, 1)


def test_insert_returns_its_own_rowid_even_if_a_trigger_inserts_another_row(tmp_path: Path) -> None:
    connection = Connection(tmp_path / "x.db", 1.0)
    connection.execute("CREATE TABLE t (x); CREATE TABLE log (x); INSERT INTO log VALUES (1), (2), (3)")
    connection.execute("CREATE TRIGGER copy_to_log AFTER INSERT ON t BEGIN INSERT INTO log VALUES (NEW.x); END")
    assert [connection.insert("INSERT INTO t VALUES (:x)", {"x": x}) for x in (7, 8)] == [1, 2]
    assert connection.execute("SELECT rowid, x FROM log WHERE x > 3") == [(4, 7), (5, 8)]
