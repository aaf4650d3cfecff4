"""The embedded store: one folder, opened by any number of processes of one machine."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import apsw

from scrubjay.app.store import CheckReport, StoreInfo
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Unavailable
from scrubjay.db.sqlite.connections import Connection, refuse_old_sqlite
from scrubjay.db.sqlite.mounts import refuse_network_file_system
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.previous_home import adopt_previous_home
from scrubjay.db.sqlite.schema import connect_and_migrate, load_migrations, schema_version
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.embeddings.sqlite import SqliteEmbeddings
from scrubjay.features.memory.link_sqlite import SqliteLinks
from scrubjay.features.memory.sqlite import SqliteMemories
from scrubjay.features.projects.sqlite import SqliteProjects
from scrubjay.tooling.jobs.sqlite import SqliteJobs
from scrubjay.tooling.usage.sqlite import SqliteUsage

if TYPE_CHECKING:
    from scrubjay.features.chat.persona_sqlite import SqlitePersonas
    from scrubjay.features.discussions.sqlite import SqliteDiscussions
    from scrubjay.features.episodes.patterns.sqlite import SqlitePatterns
    from scrubjay.features.episodes.sqlite import SqliteEpisodes
    from scrubjay.features.forgetting.sqlite import SqliteForgetting
    from scrubjay.features.hooks.prompt_sqlite import SqlitePrompts
    from scrubjay.features.keys.sqlite import SqliteKeys
    from scrubjay.features.knowledge.sqlite import SqliteKnowledge
    from scrubjay.features.permissions.sqlite import SqlitePermissions
    from scrubjay.features.sessions.sqlite import SqliteSessions
    from scrubjay.features.summaries.sqlite import SqliteSummaries
    from scrubjay.features.tasks.goal_sqlite import SqliteGoals
    from scrubjay.features.tasks.sqlite import SqliteTasks
    from scrubjay.features.transfer.sqlite import SqliteTransfer
    from scrubjay.features.working_memory.sqlite import SqliteWorking

    cached = property  # which is what an interface asks for
else:
    from functools import cached_property as cached

_SQL = load_queries(__file__, "store_queries")

DATABASE = "scrubjay.db"
LOCK = "scrubjay.lock"
DERIVED = "derived"


class SqliteStore:
    """Satisfies `storage.store.Store`. It is used on the event loop that opened it (asyncio)."""

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

    # What most processes do without is loaded when it is first asked for.

    @cached
    def forgetting(self) -> "SqliteForgetting":
        from scrubjay.features.forgetting.sqlite import SqliteForgetting

        return SqliteForgetting(self._writer, self._readers)

    @cached
    def permissions(self) -> "SqlitePermissions":
        from scrubjay.features.permissions.sqlite import SqlitePermissions

        return SqlitePermissions(self._writer, self._readers)

    @cached
    def tasks(self) -> "SqliteTasks":
        from scrubjay.features.tasks.sqlite import SqliteTasks

        return SqliteTasks(self._writer, self._readers)

    @cached
    def goals(self) -> "SqliteGoals":
        from scrubjay.features.tasks.goal_sqlite import SqliteGoals

        return SqliteGoals(self._writer, self._readers)

    @cached
    def episodes(self) -> "SqliteEpisodes":
        from scrubjay.features.episodes.patterns.rows import keep_learned
        from scrubjay.features.episodes.sqlite import SqliteEpisodes

        return SqliteEpisodes(self._writer, self._readers, keep_learned)

    @cached
    def patterns(self) -> "SqlitePatterns":
        from scrubjay.features.episodes.patterns.sqlite import SqlitePatterns

        return SqlitePatterns(self._writer, self._readers)

    @cached
    def knowledge(self) -> "SqliteKnowledge":
        from scrubjay.features.knowledge.sqlite import SqliteKnowledge

        return SqliteKnowledge(self._writer, self._readers)

    @cached
    def prompts(self) -> "SqlitePrompts":
        from scrubjay.features.hooks.prompt_sqlite import SqlitePrompts

        return SqlitePrompts(self._writer)

    @cached
    def discussions(self) -> "SqliteDiscussions":
        from scrubjay.features.discussions.sqlite import SqliteDiscussions

        return SqliteDiscussions(self._writer, self._readers)

    @cached
    def personas(self) -> "SqlitePersonas":
        from scrubjay.features.chat.persona_sqlite import SqlitePersonas

        return SqlitePersonas(self._writer, self._readers)

    @cached
    def keys(self) -> "SqliteKeys":
        from scrubjay.features.keys.sqlite import SqliteKeys

        return SqliteKeys(self._writer, self._readers)

    @cached
    def sessions(self) -> "SqliteSessions":
        from scrubjay.features.sessions.sqlite import SqliteSessions

        return SqliteSessions(self._writer, self._readers, self._clock)

    @cached
    def summaries(self) -> "SqliteSummaries":
        from scrubjay.features.summaries.sqlite import SqliteSummaries

        return SqliteSummaries(self._readers)

    @cached
    def transfer(self) -> "SqliteTransfer":
        from scrubjay.features.transfer.sqlite import SqliteTransfer

        return SqliteTransfer(self._writer, self._readers, self._database, self._busy_seconds)

    @cached
    def working(self) -> "SqliteWorking":
        from scrubjay.features.working_memory.sqlite import SqliteWorking

        return SqliteWorking(self._writer, self._readers)

    @classmethod
    async def open(
        cls,
        home: Path,
        *,
        clock: Clock = system_clock,
        lease_seconds: float = 30.0,
        busy_seconds: float = 10.0,
        readers: int = 2,
    ) -> "SqliteStore":
        """The store in this folder, made when new and brought to this program's schema when older.

        `StoreUnusable` when it is damaged, not ours, newer than this program or on a network file system.
        """
        refuse_old_sqlite(apsw.sqlite_lib_version())
        refuse_network_file_system(home)
        await asyncio.to_thread(adopt_previous_home, home, DATABASE, busy_seconds)
        database = home / DATABASE
        writer = _writer(home, busy_seconds)
        try:
            await writer.alone(lambda connection: None)  # makes it connect, and so migrate
        except BaseException:
            await writer.close()
            raise
        return cls(
            home,
            writer,
            Readers(lambda: Connection(database, busy_seconds, read_only=True), readers),
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

    async def check(self) -> CheckReport:
        from scrubjay.app.sqlite_maintenance import check_store

        self._readers.refuse_if_gone()
        return await asyncio.to_thread(check_store, self._database, self._derived, self._busy_seconds)

    async def backup(self, target: Path) -> StoreInfo:
        from scrubjay.app.sqlite_maintenance import copy_store

        version = await self._readers.read(schema_version)
        await asyncio.to_thread(copy_store, self._database, target, self._busy_seconds)
        return StoreInfo("sqlite", str(target), version, _size(target))

    async def vacuum(self) -> StoreInfo:
        def work(connection: Connection) -> None:
            connection.execute("VACUUM")
            with suppress(apsw.BusyError):  # somebody still reads an older state: the space is given back later
                connection.checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)

        await self._writer.alone(work)
        return await self.info()

    async def close(self) -> None:
        """Finish every write that was begun or queued, then let go of the files. Closing twice is fine."""
        with anyio.CancelScope(shield=True):  # what was handed in is done, also when the program is told to stop
            await self._readers.close()
            await self._writer.close()


def _writer(home: Path, busy_seconds: float) -> Writer:
    migrations = load_migrations()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Private also in a home that others can read. Never opened when it exists: closing a second descriptor would
        # give up the locks that this process has on the file.
        with suppress(FileExistsError):
            os.close(os.open(home / DATABASE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        return Writer(lambda: connect_and_migrate(home / DATABASE, busy_seconds, migrations), home / LOCK, busy_seconds)
    except OSError as error:
        raise Unavailable(
            f"{home} cannot hold a store ({error.strerror})",
            hint="set SCRUBJAY_HOME to a folder that you can write to",
        ) from error


def _size(path: Path) -> int:
    """The file's size; nothing for one that went away meanwhile."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
