"""The SQLite store: one folder, opened by any number of processes on one machine."""

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import apsw

from scrubjay.app.lost_store import BACKUPS, DATABASE, LOCK, record_backup, refuse_loss, set_log_aside
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import ScrubjayError, Unavailable
from scrubjay.core.lazy import lazy_module
from scrubjay.core.paths import create_private, make_private
from scrubjay.core.temporary_files import remove_abandoned
from scrubjay.db.database import CheckReport, StoreInfo
from scrubjay.db.sqlite.connections import Connection, file_identity, is_read_only_medium, refuse_old_sqlite
from scrubjay.db.sqlite.errors import disk_full
from scrubjay.db.sqlite.mounts import refuse_network_file_system
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.previous_home import adopt_previous_home
from scrubjay.db.sqlite.schema import Migration, connect_and_migrate, load_migrations, newest_version
from scrubjay.db.sqlite.schema_version import schema_version
from scrubjay.db.sqlite.threads import Readers, ReadOnlyWriter, Writer
from scrubjay.features.embeddings.sqlite import SqliteEmbeddings
from scrubjay.features.memory.link_sqlite import SqliteLinks
from scrubjay.features.memory.sqlite import SqliteMemories
from scrubjay.features.projects.sqlite import SqliteProjects
from scrubjay.tooling.jobs.sqlite import SqliteJobs
from scrubjay.tooling.usage.sqlite import SqliteUsage

if TYPE_CHECKING:
    from scrubjay.app import sqlite_maintenance
    from scrubjay.features.chat import persona_sqlite as chat_persona_sqlite
    from scrubjay.features.discussions import sqlite as discussions_sqlite
    from scrubjay.features.episodes import sqlite as episodes_sqlite
    from scrubjay.features.episodes.patterns import rows as episodes_patterns_rows
    from scrubjay.features.episodes.patterns import sqlite as episodes_patterns_sqlite
    from scrubjay.features.forgetting import sqlite as forgetting_sqlite
    from scrubjay.features.hooks import prompt_sqlite as hooks_prompt_sqlite
    from scrubjay.features.keys import sqlite as keys_sqlite
    from scrubjay.features.knowledge import sqlite as knowledge_sqlite
    from scrubjay.features.permissions import sqlite as permissions_sqlite
    from scrubjay.features.sessions import sqlite as sessions_sqlite
    from scrubjay.features.summaries import sqlite as summaries_sqlite
    from scrubjay.features.tasks import goal_sqlite as tasks_goal_sqlite
    from scrubjay.features.tasks import sqlite as tasks_sqlite
    from scrubjay.features.transfer import sqlite as transfer_sqlite
    from scrubjay.features.working_memory import sqlite as working_memory_sqlite

    cached = property  # as the Protocol declares it
else:
    from functools import cached_property as cached

    sqlite_maintenance = lazy_module("scrubjay.app.sqlite_maintenance")
    chat_persona_sqlite = lazy_module("scrubjay.features.chat.persona_sqlite")
    discussions_sqlite = lazy_module("scrubjay.features.discussions.sqlite")
    episodes_patterns_rows = lazy_module("scrubjay.features.episodes.patterns.rows")
    episodes_patterns_sqlite = lazy_module("scrubjay.features.episodes.patterns.sqlite")
    episodes_sqlite = lazy_module("scrubjay.features.episodes.sqlite")
    forgetting_sqlite = lazy_module("scrubjay.features.forgetting.sqlite")
    hooks_prompt_sqlite = lazy_module("scrubjay.features.hooks.prompt_sqlite")
    keys_sqlite = lazy_module("scrubjay.features.keys.sqlite")
    knowledge_sqlite = lazy_module("scrubjay.features.knowledge.sqlite")
    permissions_sqlite = lazy_module("scrubjay.features.permissions.sqlite")
    sessions_sqlite = lazy_module("scrubjay.features.sessions.sqlite")
    summaries_sqlite = lazy_module("scrubjay.features.summaries.sqlite")
    tasks_goal_sqlite = lazy_module("scrubjay.features.tasks.goal_sqlite")
    tasks_sqlite = lazy_module("scrubjay.features.tasks.sqlite")
    transfer_sqlite = lazy_module("scrubjay.features.transfer.sqlite")
    working_memory_sqlite = lazy_module("scrubjay.features.working_memory.sqlite")

_SQL = load_queries(__file__, "store_queries")

DERIVED = "derived"
# Folders of the home in which processes write temporary files.
_TEMPORARY_FILES = ("", DERIVED, f"{DERIVED}/sandbox", f"{DERIVED}/skills", BACKUPS)
# With less free space than this, writes fail sooner or later: the write-ahead log grows before it is reused.
MIN_FREE_BYTES = 1024 * 1024
# The first process that opens a store needs space for the index of its log, or SQLite reports an input or output error.
MIN_FREE_TO_OPEN = 64 * 1024


class SqliteStore:
    """The SQLite implementation of `scrubjay.app.store.Store`. Use it only on the event loop that opened it."""

    def __init__(
        self,
        home: Path,
        writer: Writer,
        readers: Readers,
        *,
        clock: Clock,
        lease_seconds: float,
        busy_seconds: float,
    ) -> None:
        self._database = home / DATABASE
        self._derived = home / DERIVED
        self._writer = writer
        self._readers = readers
        self._busy_seconds = busy_seconds
        self._clock = clock
        self.memories = SqliteMemories(writer, readers, self._derived)
        self.embeddings = SqliteEmbeddings(writer, readers, self._derived)
        self.jobs = SqliteJobs(writer, readers, clock, lease_seconds)
        self.projects = SqliteProjects(writer, readers, clock)
        self.usage = SqliteUsage(writer, readers)
        self.links = SqliteLinks(writer, readers)

    # Stores that most processes do not use are imported on first access.

    @cached
    def forgetting(self) -> "forgetting_sqlite.SqliteForgetting":
        return forgetting_sqlite.SqliteForgetting(self._writer, self._readers)

    @cached
    def permissions(self) -> "permissions_sqlite.SqlitePermissions":
        return permissions_sqlite.SqlitePermissions(self._writer, self._readers)

    @cached
    def tasks(self) -> "tasks_sqlite.SqliteTasks":
        return tasks_sqlite.SqliteTasks(self._writer, self._readers)

    @cached
    def goals(self) -> "tasks_goal_sqlite.SqliteGoals":
        return tasks_goal_sqlite.SqliteGoals(self._writer, self._readers)

    @cached
    def episodes(self) -> "episodes_sqlite.SqliteEpisodes":
        return episodes_sqlite.SqliteEpisodes(self._writer, self._readers, episodes_patterns_rows.write_lessons)

    @cached
    def patterns(self) -> "episodes_patterns_sqlite.SqlitePatterns":
        return episodes_patterns_sqlite.SqlitePatterns(self._writer, self._readers)

    @cached
    def knowledge(self) -> "knowledge_sqlite.SqliteKnowledge":
        return knowledge_sqlite.SqliteKnowledge(self._writer, self._readers)

    @cached
    def prompts(self) -> "hooks_prompt_sqlite.SqlitePrompts":
        return hooks_prompt_sqlite.SqlitePrompts(self._writer)

    @cached
    def discussions(self) -> "discussions_sqlite.SqliteDiscussions":
        return discussions_sqlite.SqliteDiscussions(self._writer, self._readers)

    @cached
    def personas(self) -> "chat_persona_sqlite.SqlitePersonas":
        return chat_persona_sqlite.SqlitePersonas(self._writer, self._readers)

    @cached
    def keys(self) -> "keys_sqlite.SqliteKeys":
        return keys_sqlite.SqliteKeys(self._writer, self._readers)

    @cached
    def sessions(self) -> "sessions_sqlite.SqliteSessions":
        return sessions_sqlite.SqliteSessions(self._writer, self._readers, self._clock)

    @cached
    def summaries(self) -> "summaries_sqlite.SqliteSummaries":
        return summaries_sqlite.SqliteSummaries(self._readers)

    @cached
    def transfer(self) -> "transfer_sqlite.SqliteTransfer":
        return transfer_sqlite.SqliteTransfer(self._writer, self._readers, self._database, self._busy_seconds)

    @cached
    def working(self) -> "working_memory_sqlite.SqliteWorking":
        return working_memory_sqlite.SqliteWorking(self._writer, self._readers)

    @classmethod
    async def open(
        cls,
        home: Path,
        *,
        clock: Clock = system_clock,
        lease_seconds: float = 30.0,
        busy_seconds: float = 10.0,
        readers: int = 2,
        accepts_loss: bool = False,
    ) -> "SqliteStore":
        """Open the store in this folder; create it if it is missing, migrate it if its schema is older.

        Raise `StoreUnusable` if it is damaged, written by another program or a newer version, on a network file
        system, or if its database was lost. `accepts_loss` then creates an empty one.
        """
        refuse_old_sqlite(apsw.sqlite_lib_version())
        refuse_network_file_system(home)
        await asyncio.to_thread(adopt_previous_home, home, DATABASE, busy_seconds)
        await asyncio.to_thread(remove_abandoned, [home / folder for folder in _TEMPORARY_FILES])
        database = home / DATABASE
        if _size(database) and is_read_only_medium(database):
            writer: Writer = ReadOnlyWriter()
        else:
            writer = _open_writer(home, busy_seconds, accepts_loss)
            try:
                await writer.run_exclusive(lambda connection: None)  # connects, which migrates
            except BaseException as error:
                await writer.close()
                if isinstance(error, Unavailable) and _free_bytes(home) < MIN_FREE_TO_OPEN:
                    raise disk_full() from error
                raise
        connect = partial(
            Connection,
            database,
            busy_seconds,
            read_only=True,
            schema=newest_version(),
            identity=file_identity(database),
        )
        return cls(
            home,
            writer,
            Readers(connect, readers),
            clock=clock,
            lease_seconds=lease_seconds,
            busy_seconds=busy_seconds,
        )

    async def info(self) -> StoreInfo:
        version = await self._readers.read(schema_version)
        files = [*self._database.parent.glob(f"{DATABASE}*"), *self._derived.glob("*")]
        return StoreInfo("sqlite", str(self._database.parent), version, sum(map(_size, files)))

    async def ping(self) -> None:
        await self._readers.read(lambda connection: connection.value(_SQL["ping"]))
        await self._writer.write(lambda connection: None)

    def problem(self) -> ScrubjayError | None:
        if (failure := self._writer.last_failure or self._readers.last_failure) is not None:
            return failure
        try:
            self._readers.check_schema_inline()
            free = shutil.disk_usage(self._database.parent).free
        except ScrubjayError as error:
            return error
        except OSError as error:
            return Unavailable(f"the store's folder cannot be read ({error.strerror})", hint="check SCRUBJAY_HOME")
        return None if free >= MIN_FREE_BYTES else disk_full()

    async def check(self) -> CheckReport:
        self._readers.check_open()
        return await asyncio.to_thread(
            sqlite_maintenance.check_store, self._database, self._derived, self._busy_seconds
        )

    async def backup(self, target: Path) -> StoreInfo:
        version = await self._readers.read(schema_version)
        await asyncio.to_thread(sqlite_maintenance.copy_store, self._database, target, self._busy_seconds)
        record_backup(self._database.parent, target)
        return StoreInfo("sqlite", str(target), version, _size(target))

    async def vacuum(self) -> StoreInfo:
        def work(connection: Connection) -> None:
            connection.check_schema()
            connection.execute("VACUUM")
            with suppress(apsw.BusyError):  # another connection reads an older snapshot: a later checkpoint truncates
                connection.checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)

        await self._writer.run_exclusive(work)
        return await self.info()

    async def close(self) -> None:
        """Finish all queued writes and close the files. Closing twice is safe."""
        with anyio.CancelScope(shield=True):  # accepted writes are finished, even when the process is stopping
            await self._readers.close()
            await self._writer.close()


def _open_writer(home: Path, busy_seconds: float, accepts_loss: bool) -> Writer:
    migrations = load_migrations()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_private(home)
        return Writer(lambda: _connect(home, busy_seconds, migrations, accepts_loss), home / LOCK, busy_seconds)
    except OSError as error:
        raise Unavailable(
            f"cannot create a store in {home} ({error.strerror})",
            hint="set SCRUBJAY_HOME to a folder that you can write to",
        ) from error


def _connect(home: Path, busy_seconds: float, migrations: Sequence[Migration], accepts_loss: bool) -> Connection:
    """Open the writer's connection, under the lock; create the database unless it was lost."""
    database = home / DATABASE
    if not _size(database):
        if accepts_loss:
            set_log_aside(home)
        else:
            refuse_loss(home, with_log=True)
        create_private(database)  # before SQLite does, whose files others can read
    before_creation = None if accepts_loss else partial(refuse_loss, home, with_log=False)
    return connect_and_migrate(database, busy_seconds, migrations, before_creation=before_creation)


def _free_bytes(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return MIN_FREE_BYTES


def _size(path: Path) -> int:
    """Return the file's size; 0 if it was deleted since it was listed."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0
