"""Permission rules in SQLite."""

from collections.abc import Sequence
from dataclasses import asdict

from scrubjay.core.errors import NotFound
from scrubjay.db.sqlite.columns import microseconds
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.permissions.models import MatchType, PermissionRule
from scrubjay.features.permissions.rows import rules_at, rules_by

_SQL = load_queries(__file__)


class SqlitePermissions:
    """Implements `PermissionStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def add(self, rule: PermissionRule) -> tuple[PermissionRule, bool]:
        values = {**asdict(rule), "created_at": microseconds(rule.created_at)}

        def work(connection: Connection) -> tuple[PermissionRule, bool]:
            known = load_queries(__file__, "../projects/queries")["get"]
            if rule.project_id is not None and not connection.execute(known, {"id": rule.project_id}):
                raise NotFound(
                    f"project {rule.project_id[:80]!r} not found", hint="call list_projects to see all projects"
                )
            connection.execute(_SQL["add"], values)
            (stored,) = rules_by(connection, _SQL["same"], values)
            return stored, stored.id == rule.id

        return await self._writer.write(work)

    async def list(self, project_id: str | None) -> Sequence[PermissionRule]:
        return await self._readers.read(
            lambda connection: rules_by(connection, _SQL["of_project"], {"project_id": project_id})
        )

    async def holding_at(self, paths: Sequence[str]) -> Sequence[PermissionRule]:
        return await self._readers.read(lambda connection: rules_at(connection, paths))

    async def count(self, match_type: MatchType | None = None) -> int:
        return await self._readers.read(
            lambda connection: int(connection.execute(_SQL["count"], {"match_type": match_type})[0][0])
        )

    async def get(self, rule_id: str) -> PermissionRule | None:
        rules = await self._readers.read(lambda connection: rules_by(connection, _SQL["get"], {"id": rule_id}))
        return rules[0] if rules else None

    async def remove(self, rule_id: str) -> PermissionRule | None:
        def work(connection: Connection) -> PermissionRule | None:
            rules = rules_by(connection, _SQL["get"], {"id": rule_id})
            if not rules:
                return None
            connection.execute(_SQL["remove"], {"id": rule_id})
            return rules[0]

        return await self._writer.write(work)
