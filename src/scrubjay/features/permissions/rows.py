"""Rules about what agents may do, as they stand in SQLite's rows. Loads little: hooks read them in a hurry."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.features.permissions.models import Effect, MatchType, PermissionRule

_SQL = load_queries(__file__)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def rules_by(connection: Connection, query: str, values: Mapping[str, Any]) -> list[PermissionRule]:
    """The rules that a query for their columns gives."""
    return [_rule(row) for row in connection.execute(query, values)]


def rules_at(connection: Connection, paths: Sequence[str]) -> list[PermissionRule]:
    """The rules that hold in a folder, given the paths of it and of all that it is in."""
    return rules_by(connection, _SQL["holding_at"], {"paths": json.dumps([*paths])})


def _rule(row: Sequence[Any]) -> PermissionRule:
    """The rule in a row of the query fragment `columns`."""
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
