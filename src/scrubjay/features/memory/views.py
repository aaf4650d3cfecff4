"""Memories in the results of tools."""

from datetime import datetime
from typing import Any

from pydantic import Field

from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Memory, MemoryKind
from scrubjay.tooling.declaration import Result


class MemoryView(Result):
    """A memory."""

    id: str
    content: str
    scope: Scope
    project: str | None = Field(description="Id of its project; null for a global memory.")
    session_id: str | None
    key: str | None
    category: str | None
    importance: float
    confidence: float
    speaker: str | None
    tags: list[str]
    metadata: dict[str, Any]
    occurred_at: datetime | None
    recorded_at: datetime
    updated_at: datetime
    kind: MemoryKind
    details: dict[str, Any] = Field(description="Values specific to its kind.")
    provenance: dict[str, Any] = Field(description="Tool, client and source that it comes from.")
    subject: str | None = Field(description="Subject, in lower case.")
    valid_from: datetime | None = Field(description="Start of validity; null: since it happened.")
    valid_until: datetime | None = Field(description="End of validity; null: still valid.")
    superseded_by: str | None = Field(description="Id of the memory that supersedes it.")
    protected: bool = Field(description="True if it is never forgotten automatically.")
    conflicts: list[str] = Field(description="Ids of conflicting memories about its subject.")


def memory_fields(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "content": memory.content,
        "scope": memory.scope,
        "project": memory.project_id,
        "session_id": memory.session_id,
        "key": memory.key,
        "category": memory.category,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "speaker": memory.speaker,
        "tags": list(memory.tags),
        "metadata": dict(memory.metadata),
        "occurred_at": memory.occurred_at,
        "recorded_at": memory.recorded_at,
        "updated_at": memory.updated_at,
        "kind": memory.kind,
        "details": dict(memory.details),
        "provenance": dict(memory.provenance),
        "subject": memory.subject,
        "valid_from": memory.valid_from,
        "valid_until": memory.valid_until,
        "superseded_by": memory.superseded_by,
        "protected": memory.protected,
        "conflicts": list(memory.conflicts),
    }
