"""Recover the readable rows of a damaged store into a new database."""

import fcntl
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from scrubjay.app.sqlite_maintenance import describe_row
from scrubjay.app.sqlite_store import DATABASE, LOCK
from scrubjay.core.errors import Busy, NotFound, StoreUnusable, Unavailable
from scrubjay.core.temporary_files import temporary_beside
from scrubjay.db.sqlite.checksums import COVERED_TABLES
from scrubjay.db.sqlite.connections import Connection, in_snapshot, in_transaction
from scrubjay.db.sqlite.damage import CHECKSUM, CheckedRow, DamagedTable
from scrubjay.db.sqlite.errors import translate_error
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.schema import load_migrations, migrate, refuse_foreign_file
from scrubjay.db.sqlite.schema_version import schema_version

_SQL = load_queries(__file__, "repair_queries")

# Rows that other rows belong to. A damaged one that is readable is kept, because all that belongs to it would be lost.
_PARENTS = frozenset({"project", "session", "task", "goal", "episode", "entity", "agent_message", "pattern"})
# Tables that the new database fills itself: counts, the change log, the state of running imports, and the release that
# migrated it, which is this one.
_COMPUTED = frozenset(
    {"client_memories", "memory_change", "access_revision", "sqlite_sequence", "incoming_plan", "schema_history"}
)
# Text indexes, each with the table of its rows.
_TEXT_INDEXES = {"memory_terms": "memory", "episode_terms": "episode"}
# Their lost rows are not reported one by one: a rebuild computes vectors again, and uses only influence ranking.
_SEARCH_DATA = frozenset({"memory_vector", "memory_use"})
# Tables that have rows from the beginning.
_SEEDED = frozenset({"meta", "forgetting", "audience"})
# A store without one of these tables would be empty, or open to callers without a key.
_ESSENTIAL = frozenset({"memory", "audience", "access_key"})
# Failures of the disk or of another process, not of the database.
_OUTSIDE = (apsw.BusyError, apsw.LockedError, apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError)
# More than the number of tables that refer to each other in a chain: dropping a row can make its children orphans.
_MAX_DEPTH = 10


@dataclass(slots=True)
class RepairReport:
    """What a repair did, or would do."""

    recovered: dict[str, int] = field(default_factory=dict[str, int])
    """Number of recovered rows, by table."""
    lost: list[str] = field(default_factory=list[str])
    """Rows that are not recovered, each with its table, its id and the reason."""
    uncertain: list[str] = field(default_factory=list[str])
    """Damaged rows that are kept because other rows belong to them."""
    without_search_data: int = 0
    """Memories whose terms or vector are lost; a rebuild computes them again."""
    replaced: Path | None = None
    """The damaged database under its new name; None if nothing was replaced."""

    def lines(self) -> Sequence[str]:
        """Return the report for people."""
        count = sum(self.recovered.values())
        lines = [f"Recovered {count:,} rows, {self.recovered.get('memory', 0):,} of them memories."]
        lines += [f"Not recovered: {one}" for one in self.lost]
        lines += [f"Kept, but uncertain: {one}" for one in self.uncertain]
        if self.replaced is None:
            return [*lines, "Nothing was changed."]
        lines.append(f"The damaged database is kept as {self.replaced}.")
        if self.without_search_data:
            lines.append(
                f"{self.without_search_data} memories have no search data: run `scrubjay server rebuild-derived`."
            )
        return lines


def repair_store(home: Path, busy_seconds: float, *, only_report: bool) -> RepairReport:
    """Recover the readable rows of the store in this folder into a new database and put it in place of the old one.

    The old database stays in the folder under another name. With `only_report`, nothing is changed. A process killed at
    any time leaves either the old or the new database in place. Raises `Busy` while another process has the store
    open, unless `only_report`, and `StoreUnusable` if the schema is unreadable.
    """
    database = home / DATABASE
    if not database.is_file() or not database.stat().st_size:
        raise NotFound(f"there is no store in {home}", hint="set SCRUBJAY_HOME to the folder of the store")
    try:
        if only_report:
            # Elsewhere, because the home may be full or read-only.
            with TemporaryDirectory(prefix="scrubjay-repair-") as folder:
                return _recover(database, Path(folder) / DATABASE, busy_seconds)
        with _locked(home / LOCK):
            return _repair(database, busy_seconds)
    except (OSError, apsw.FullError) as error:
        place = "the temporary folder" if only_report else "the folder of the store"
        reason = error.strerror if isinstance(error, OSError) else error
        raise Unavailable(
            f"{place} cannot be written ({reason}); nothing was changed",
            hint="free as much space there as the database has, on a disk that can be written, then try again",
        ) from error


def _repair(database: Path, busy_seconds: float) -> RepairReport:
    """Recover the rows and exchange the databases, under the lock of writers."""
    _close_log(database, busy_seconds)
    _remove_leftovers(database)
    fresh = _fresh_name(database)
    try:
        report = _recover(database, fresh, busy_seconds)
        report.replaced = _exchange(database, fresh)
    finally:
        _remove_database(fresh)
    return report


# -- files -----------------------------------------------------------------------------------------


@contextmanager
def _locked(lock: Path) -> Generator[None]:
    """Hold the lock of writers, which also keeps a starting server from opening the store."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise _in_use(lock.parent) from error
        yield
    finally:
        os.close(descriptor)


def _close_log(database: Path, busy_seconds: float) -> None:
    """Bring the write-ahead log into the database, which SQLite does only while no other process has it open."""
    try:
        connection = Connection(database, min(busy_seconds, 1.0), ignore_schema_damage=True)
        try:
            connection.pragma("journal_mode", "delete")
        finally:
            connection.close()
    except (apsw.BusyError, apsw.LockedError) as error:
        raise _in_use(database.parent) from error
    except _OUTSIDE as error:
        raise translate_error(error) from error
    except apsw.Error as error:
        raise _unreadable(error) from error


def _in_use(home: Path) -> Busy:
    return Busy(f"another process has the store in {home} open", hint="stop all Scrubjay servers, then try again")


def _unreadable(error: BaseException) -> StoreUnusable:
    return StoreUnusable(
        f"the schema of the store cannot be read ({error}), so no row can be recovered",
        hint="restore a backup of the file; the damaged one was not changed",
    )


def _fresh_name(database: Path) -> Path:
    return temporary_beside(database.with_name(f"{database.name}.repairing"))


def _remove_leftovers(database: Path) -> None:
    """Remove the unfinished database of a repair that was killed."""
    for path in database.parent.glob(f"{database.name}.repairing.*"):
        path.unlink(missing_ok=True)


def _remove_database(database: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{database}{suffix}").unlink(missing_ok=True)


def _exchange(database: Path, fresh: Path) -> Path:
    """Put the new database in place of the old one atomically; return the new name of the old one."""
    _sync(fresh)
    kept = _kept_name(database)
    os.link(database, kept)
    _sync(database.parent)
    fresh.replace(database)
    _sync(database.parent)
    return kept


def _kept_name(database: Path) -> Path:
    """Return the name for the damaged database: that of a killed repair, if it linked it already, or a new one."""
    for path in database.parent.glob(f"{database.name}.damaged-*"):
        if path.samefile(database):
            path.unlink()
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    names = (database.with_name(f"{database.name}.damaged-{now}{suffix}") for suffix in ("", "-2", "-3", "-4"))
    return next(name for name in names if not name.exists())


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# -- rows ------------------------------------------------------------------------------------------


def _recover(database: Path, fresh: Path, busy_seconds: float) -> RepairReport:
    """Write the new database."""
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        old = Connection(database, busy_seconds, read_only=True, ignore_schema_damage=True)
        try:
            refuse_foreign_file(old)
            new = Connection(fresh, busy_seconds)
            try:
                return in_snapshot(old, lambda old: _Recovery(old, new).run())
            finally:
                new.close()
        finally:
            old.close()
    except apsw.FullError:
        raise
    except _OUTSIDE as error:
        raise translate_error(error) from error
    except (apsw.Error, UnicodeDecodeError) as error:
        raise _unreadable(error) from error


class _Recovery:
    """Copies the readable rows of one database to a new one."""

    def __init__(self, old: Connection, new: Connection) -> None:
        self._old = old
        self._new = new
        self._report = RepairReport()

    def run(self) -> RepairReport:
        migrations = load_migrations()
        # The schema of the old database first, so that migrations change the recovered rows as they would have.
        version = schema_version(self._old)
        if version > len(migrations):
            raise StoreUnusable(
                f"the store has schema version {version}; this program supports versions up to {len(migrations)}",
                hint="repair the store with the version that wrote it",
            )
        migrate(self._new, migrations[:version])
        known = self._new.execute("PRAGMA table_info(memory)")
        if len(known) != len(self._old.execute("PRAGMA table_info(memory)") or known):
            raise StoreUnusable(
                f"the store says that it has schema version {version}, but its tables have another",
                hint="restore a backup of the file; the rows of the damaged one were not changed",
            )
        self._new.pragma("foreign_keys", 0)
        in_transaction(self._new, lambda _: self._copy())
        self._new.pragma("foreign_keys", 1)
        migrate(self._new, migrations)
        self._new.pragma("journal_mode", "delete")  # one complete file without a log
        return self._report

    def _copy(self) -> None:
        triggers = self._new.execute(_SQL["triggers"])
        for name, _ in triggers:
            self._new.execute(f"DROP TRIGGER {name}")
        tables = [name for (name,) in self._new.execute(_SQL["tables"]) if name not in _COMPUTED]
        for table in sorted(tables, key=lambda name: name == "audience"):  # last: compared with projects and memories
            self._copy_table(table)
        for (lost,) in self._new.execute(_SQL["lost_audiences"]):
            self._rescue_audience(CheckedRow((lost,), None, None, "it is lost"))
        self._drop_orphans()
        for index, table in _TEXT_INDEXES.items():
            self._copy_terms(index, table)
        for query in (_SQL["drop_state"], _SQL["count_memories"], _SQL["count_steps"], _SQL["count_clients"]):
            self._new.execute(query)
        if CHECKSUM in DamagedTable(self._new, "memory").columns:
            self._report.without_search_data = self._new.value(_SQL["without_search_data"])
        for _, sql in triggers:
            self._new.execute(sql)
        self._report.recovered = {
            table: self._new.value(f"SELECT count(*) FROM {table}") for table in COVERED_TABLES if table in tables
        }

    def _copy_table(self, name: str) -> None:
        columns = DamagedTable(self._new, name).columns
        try:
            table = DamagedTable(self._old, name, columns)
        except (apsw.Error, UnicodeDecodeError) as error:
            if name in _ESSENTIAL:
                raise StoreUnusable(
                    f"the definition of the table {name} cannot be read ({error}), so the store cannot be repaired",
                    hint="restore a backup of the file; the rows of the damaged one were not changed",
                ) from error
            self._report.lost.append(f"{name}: the table cannot be read ({error})")
            return
        for row in table.rows():
            self._copy_row(table, row)

    def _copy_row(self, table: DamagedTable, row: CheckedRow) -> None:
        name, problem = table.name, row.problem
        if problem is None or name in _PARENTS:
            refusal = self._insert(table, row, keep_checksum=problem is None)
            if refusal is None:
                if problem is not None:
                    self._report.uncertain.append(describe_row(name, row))
                return
            problem = problem or refusal
        elif name == "audience":
            self._rescue_audience(row)
            return
        elif name == "access_key":
            self._revoke_key(row)
            return
        if name not in _SEARCH_DATA:
            self._report.lost.append(describe_row(name, CheckedRow(row.key, row.id, row.values, problem)))

    def _insert(self, table: DamagedTable, row: CheckedRow, *, keep_checksum: bool) -> str | None:
        """Insert a row; return why the table refuses it, or None."""
        if row.values is None:
            return row.problem
        columns = [column for column in table.columns if keep_checksum or column != CHECKSUM]
        marks = ", ".join(f":{column}" for column in columns)
        values = {column: row.values[column] for column in columns}
        verb = "INSERT OR REPLACE" if table.name in _SEEDED else "INSERT"
        try:
            self._new.execute(f"{verb} INTO {table.name} ({', '.join(columns)}) VALUES ({marks})", values)
        except apsw.Error as error:
            return f"its values are not valid ({error})"
        return None

    def _rescue_audience(self, row: CheckedRow) -> None:
        """Keep an audience if its values are consistent, else make it a session of its own, which widens no scope."""
        values = {"id": row.key[0], "scope": None, "project_id": None, "session_id": None, **(row.values or {})}
        if row.values is not None and self._new.value(_SQL["is_audience"], values):
            self._new.execute(_SQL["add_audience"], values)
            self._report.uncertain.append(describe_row("audience", row))
            return
        session = f"recovered-{row.key[0]}"
        self._new.execute(
            _SQL["add_audience"], values | {"scope": "session", "project_id": None, "session_id": session}
        )
        self._report.uncertain.append(
            f"{describe_row('audience', row)}; its memories are now private to the session {session}"
        )

    def _revoke_key(self, row: CheckedRow) -> None:
        """Keep the row of a key as a revoked key: a store without keys would be open to callers without a key."""
        number = self._new.value(_SQL["count_keys"])
        self._new.execute(_SQL["add_revoked_key"], {"id": f"recovered-{number}", "digest": os.urandom(32)})
        self._report.lost.append(f"{describe_row('access_key', row)}; the key is revoked")

    def _drop_orphans(self) -> None:
        """Delete rows whose parents are lost, and report those with content of users."""
        for _ in range(_MAX_DEPTH):
            for name, rowid, parent in self._new.execute(_SQL["orphans"]):
                if rowid is None:  # a table without row numbers: nothing that users wrote
                    self._drop_keyed_orphans(name)
                    continue
                row = DamagedTable(self._new, name).row((rowid,))
                if name in COVERED_TABLES and name != "memory_link" and row.values is not None:
                    problem = f"the {parent} that it belongs to is lost"
                    self._report.lost.append(describe_row(name, CheckedRow(row.key, row.id, row.values, problem)))
                self._new.execute(f"DELETE FROM {name} WHERE rowid = :rowid", {"rowid": rowid})

    def _drop_keyed_orphans(self, name: str) -> None:
        for _, _, parent, column, target, *_ in self._new.execute(f'PRAGMA foreign_key_list("{name}")'):
            with suppress(apsw.Error):
                self._new.execute(
                    f"DELETE FROM {name} WHERE {column} NOT IN (SELECT {target or 'rowid'} FROM {parent})"
                )

    def _copy_terms(self, index: str, table: str) -> None:
        """Copy the terms of the recovered rows to the text index; those that cannot be read are left out."""
        there = {seq for (seq,) in self._new.execute(f"SELECT seq FROM {table}")}
        for seq, terms in self._readable_terms(index):
            if seq in there:
                self._new.execute(
                    f"INSERT INTO {index} (rowid, terms) VALUES (:seq, :terms)", {"seq": seq, "terms": terms}
                )

    def _readable_terms(self, index: str) -> Iterator[tuple[int, str]]:
        try:
            table = DamagedTable(self._old, f"{index}_content")
        except (apsw.Error, UnicodeDecodeError):
            return
        for row in table.rows():
            if row.values is not None and isinstance(row.values["c0"], str):
                yield row.values["id"], row.values["c0"]
