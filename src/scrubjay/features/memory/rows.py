"""Conversion between memories and the columns of their table."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from scrubjay.core.scopes import Scope
from scrubjay.db.sqlite.checksums import DamagedRow, is_intact
from scrubjay.db.sqlite.columns import (
    json_text,
    json_value,
    microseconds,
    moment,
    optional_microseconds,
    optional_moment,
)
from scrubjay.features.memory.models import Memory, MemoryKind
from scrubjay.features.memory.writes import Receipt

_SCOPES = {scope.value: scope for scope in Scope}
_KINDS = {kind.value: kind for kind in MemoryKind}
# Number of columns that the checksum covers; they come first.
_CHECKED = 24


def memory_from(row: Sequence[Any]) -> Memory:
    """Return the memory in a row with the query fragment `columns` of `queries.sql`.

    Raises `DamagedRow` if the row is not what was written.
    """
    (
        _seq,
        memory_id,
        _audience_id,
        session_id,
        key,
        category,
        importance,
        confidence,
        speaker,
        occurred_at,
        recorded_at,
        updated_at,
        tags,
        metadata,
        content,
        _traits,
        kind,
        details,
        provenance,
        subject,
        valid_from,
        valid_until,
        superseded_by,
        protected,
        checksum,
        scope,
        project_id,
    ) = row
    if not is_intact(checksum, row[:_CHECKED]) or scope not in _SCOPES or isinstance(project_id, bytes):
        raise DamagedRow("memory", memory_id)
    return Memory(
        id=memory_id,
        scope=_SCOPES[scope],
        project_id=project_id,
        session_id=session_id,
        content=content,
        key=key,
        category=category,
        importance=importance,
        confidence=confidence,
        speaker=speaker,
        tags=() if tags == "[]" else tuple(json_value(tags)),
        metadata={} if metadata == "{}" else json_value(metadata),
        occurred_at=optional_moment(occurred_at),
        recorded_at=(recorded := moment(recorded_at)),
        updated_at=recorded if updated_at == recorded_at else moment(updated_at),
        kind=_KINDS[kind],
        details={} if details == "{}" else json_value(details),
        provenance={} if provenance == "{}" else json_value(provenance),
        subject=subject,
        valid_from=optional_moment(valid_from),
        valid_until=optional_moment(valid_until),
        superseded_by=superseded_by,
        protected=bool(protected),
    )


def memory_values(memory: Memory) -> dict[str, Any]:
    """Return the column values of a memory, except those of its audience (scope, project, session)."""
    return {
        "id": memory.id,
        "session_id": memory.session_id,
        "content": memory.content,
        "key": memory.key,
        "category": memory.category,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "speaker": memory.speaker,
        "tags": json_text(memory.tags) if memory.tags else "[]",
        "metadata": json_text(dict(memory.metadata)) if memory.metadata else "{}",
        "occurred_at": optional_microseconds(memory.occurred_at),
        "recorded_at": (recorded_at := microseconds(memory.recorded_at)),
        "updated_at": recorded_at if memory.updated_at is memory.recorded_at else microseconds(memory.updated_at),
        "kind": memory.kind.value,
        "details": json_text(dict(memory.details)) if memory.details else "{}",
        "provenance": _provenance_text(memory.provenance),
        "subject": memory.subject,
        "valid_from": optional_microseconds(memory.valid_from),
        "valid_until": optional_microseconds(memory.valid_until),
        "superseded_by": memory.superseded_by,
        "protected": int(memory.protected),
    }


def _provenance_text(provenance: Mapping[str, Any]) -> str:
    """Return the provenance as JSON, cached if it is all strings, because many memories share it."""
    if all(type(value) is str for value in provenance.values()):
        return _cached_json(tuple(provenance.items()))
    return json_text(dict(provenance))


@lru_cache(maxsize=256)
def _cached_json(items: tuple[tuple[str, str], ...]) -> str:
    return json_text(dict(items))


def receipt_from(values: Mapping[str, Any]) -> Receipt:
    """Return the receipt stored as this JSON object."""
    lists = (tuple(values[name]) for name in ("superseded", "conflicts", "masked"))
    return Receipt(values["id"], values["outcome"], _SCOPES[values["scope"]], values["project_id"], *lists)
