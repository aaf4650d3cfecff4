"""Read-only access to a store for the hook command: few imports, no waiting for writers, no changes."""

import json
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.core.errors import StoreUnusable
from scrubjay.core.lazy import lazy_module
from scrubjay.db.sqlite.checksums import without_checksums
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.schema import newest_version
from scrubjay.db.sqlite.schema_version import newer_schema, schema_version

if TYPE_CHECKING:
    from collections.abc import Generator

    from scrubjay.features.permissions import rows
    from scrubjay.features.permissions.models import PermissionRule
    from scrubjay.features.summaries import endings, selection
else:
    rows = lazy_module("scrubjay.features.permissions.rows")
    endings = lazy_module("scrubjay.features.summaries.endings")
    selection = lazy_module("scrubjay.features.summaries.selection")

_SQL = load_queries(__file__, "hook_queries")
# The agent waits for the hook. A reader waits for a writer only while SQLite recovers the write-ahead log.
BUSY_SECONDS = 0.2
FIRST_VERSION_WITH_RULES = 13
FIRST_VERSION_WITH_PLANS = 14
# As in `features.tasks.models`, which imports too much for a hook.
TASK_PRIORITIES = ("low", "medium", "high", "urgent")
GOAL_PRIORITIES = ("low", "medium", "high", "critical")
SUMMARY_PREFIX = "summary:"
# The last session is looked for among the latest memories; of a session without a summary, the latest turns are read.
LATEST_MEMORIES, LATEST_TURNS = 5_000, 20
# Rows of older stores have no checksums. A server of this release adds them when it starts.
FIRST_VERSION_WITH_CHECKSUMS = 20
# Best matches that are checked for the minimum number of terms.
MAX_CANDIDATES = 20


class MemoryNote(NamedTuple):
    """The part of a memory that is shown to an agent."""

    id: str
    category: str | None
    content: str


class PlanNote(NamedTuple):
    """The part of a task or goal that is shown to an agent."""

    title: str
    priority: str
    status: str
    id: str


class EnclosingProject(NamedTuple):
    """The project that a folder belongs to."""

    id: str
    path: str
    name: str


@contextmanager
def open_hook_reader(database: Path) -> "Generator[HookReader]":
    """Open a read-only connection to a store and close it at the end.

    Raise `StoreUnusable` for a store that a newer release has migrated. An older one is read: no server of this release
    has migrated it yet, and a query that needs a missing table fails.
    """
    connection = Connection(database, BUSY_SECONDS, read_only=True)
    try:
        if (version := schema_version(connection)) > (known := newest_version()):
            raise newer_schema(connection, version, known)
        yield HookReader(connection)
    finally:
        connection.close()


class HookReader:
    """The queries of the hook command."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rules(self, paths: Sequence[str]) -> "list[PermissionRule]":
        """Return the rules that apply in a folder, given its path and all parent paths.

        Raise `StoreUnusable` for an empty store: the rules of the store that it replaced are not known.
        """
        version = schema_version(self._connection)
        if version <= 0:
            raise StoreUnusable("the store is empty", hint="restore it with `scrubjay store restore`")
        if version < FIRST_VERSION_WITH_RULES:
            return []
        return rows.rules_at(self._connection, paths, has_checksums=version >= FIRST_VERSION_WITH_CHECKSUMS)

    def project(self, paths: Sequence[str]) -> EnclosingProject | None:
        """Return the nearest project, given the path of a folder and all parent paths."""
        found = self._execute(_SQL["nearest_project"], {"paths": json.dumps([*paths])})
        return EnclosingProject(*found[0]) if found else None

    def latest(self, project_id: str | None, kinds: Sequence[str], limit: int) -> list[MemoryNote]:
        """Return the newest memories of these kinds that are global or belong to the project."""
        values = {"project_id": project_id, "session_id": None, "kinds": json.dumps([*kinds]), "limit": limit}
        return [MemoryNote(*row) for row in self._execute(_SQL["latest"], values)]

    def tasks(self, project_id: str | None, limit: int) -> list[PlanNote]:
        """Return the open tasks that are global or belong to the project, most urgent first."""
        return self._plans(_SQL["tasks"], TASK_PRIORITIES, project_id, limit)

    def goals(self, project_id: str | None, limit: int) -> list[PlanNote]:
        """Return the unfinished goals that are global or belong to the project, most urgent first."""
        return self._plans(_SQL["goals"], GOAL_PRIORITIES, project_id, limit)

    def last_work(self, project_id: str | None, own_session: str | None) -> "endings.SessionEnding | None":
        """Return how the last session with turns in the project ended, other than the caller's own."""
        where = {"project_id": project_id, "session_id": None}
        recent = {**where, "memories": LATEST_MEMORIES, "limit": 2}
        for session_id, _ in self._execute(_SQL["latest_sessions"], recent):
            if session_id != own_session:
                return self._ending(session_id, where)
        return None

    def _ending(self, session_id: str, where: Mapping[str, Any]) -> "endings.SessionEnding | None":
        found = self._execute(_SQL["summary"], {**where, "key": SUMMARY_PREFIX + session_id})
        turns = self._execute(_SQL["turns"], {**where, "session": session_id, "limit": LATEST_TURNS})
        if found:
            content, details = found[0][0], json.loads(found[0][1])
            if not turns or details.get("turns", details.get("memoryCount", turns[0][3])) >= turns[0][3]:
                return endings.ending_of_summary(content, details)
        texts = [
            (prompt or "", response or "") if prompt or response else ("", text) for prompt, response, text, _ in turns
        ]
        outcome = selection.extract_outcome(texts[::-1])
        return endings.SessionEnding(title=outcome.title, outcome=outcome) if outcome.lines else None

    def _plans(self, sql: str, priorities: tuple[str, ...], project_id: str | None, limit: int) -> list[PlanNote]:
        if schema_version(self._connection) < FIRST_VERSION_WITH_PLANS:
            return []
        found = self._execute(sql, {"project_id": project_id, "limit": limit})
        return [PlanNote(title, priorities[int(rank)], status, plan_id) for title, rank, status, plan_id in found]

    def matching(
        self, project_id: str | None, kinds: Sequence[str], terms: Sequence[str], *, min_terms: int, limit: int
    ) -> list[MemoryNote]:
        """Return the best memories that contain at least `min_terms` of the terms."""
        match = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
        values = {
            "project_id": project_id,
            "session_id": None,
            "kinds": json.dumps([*kinds]),
            "match": match,
            "limit": MAX_CANDIDATES,
        }
        found = self._execute(_SQL["matching"], values) if terms else []
        wanted = set(terms)
        return [MemoryNote(*note) for *note, words in found if len(wanted.intersection(words.split())) >= min_terms][
            :limit
        ]

    def _execute(self, sql: str, values: Mapping[str, Any]) -> list[Any]:
        has_checksums = schema_version(self._connection) >= FIRST_VERSION_WITH_CHECKSUMS
        return self._connection.execute(sql if has_checksums else without_checksums(sql), values)
