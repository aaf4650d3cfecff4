"""Conversion of rows to permission rules. Imports little, because hooks must start fast."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from scrubjay.db.sqlite.checksums import DamagedRow
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.permissions.models import Effect, MatchType, PermissionRule

_SQL = load_queries(__file__)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def rules_by(connection: Connection, query: str, values: Mapping[str, Any]) -> list[PermissionRule]:
    """Return the rules that a query returns."""
    return [_rule(row) for row in connection.execute(query, values)]


def rules_at(connection: Connection, paths: Sequence[str], *, has_checksums: bool = True) -> list[PermissionRule]:
    """Return the rules that apply in a folder, given its path and all parent paths.

    Raise `DamagedRow` if any rule is damaged: without it, a call that it denies would be allowed.
    """
    if has_checksums and connection.execute(_SQL["damaged"]):
        raise DamagedRow("permission_rule")
    return rules_by(connection, _SQL["holding_at"], {"paths": json.dumps([*paths])})


def _rule(row: Sequence[Any]) -> PermissionRule:
    """Convert a row of the query fragment `columns`."""
    rule_id, effect, tool_name, match_type, pattern, field, project_id, note, created_at, created_by = row
    return PermissionRule(
        id=rule_id,
        effect=Effect(effect),
        tool_name=tool_name,
        match_type=MatchType(match_type),
        pattern=pattern,
        field=field,
        project_id=project_id,
        note=note,
        created_at=_EPOCH + timedelta(microseconds=created_at),
        created_by=created_by,
    )
