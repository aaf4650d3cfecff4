"""A memory as tools show it."""

from datetime import datetime
from typing import Any

from pydantic import Field

from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Kind, Memory
from scrubjay.tooling.declaration import Result


class MemoryView(Result):
    """A memory."""

    id: str
    content: str
    scope: Scope
    project: str | None = Field(description="The id of its project.")
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
    kind: Kind
    details: dict[str, Any] = Field(description="What only memories of its kind have.")
    provenance: dict[str, Any] = Field(description="Where it comes from.")
    subject: str | None = Field(description="What it is about.")
    valid_from: datetime | None = Field(description="Since when it is true; null: since it happened.")
    valid_until: datetime | None = Field(description="When it ceased to be true, or will.")
    superseded_by: str | None = Field(description="The id of the memory that is true instead.")
    protected: bool = Field(description="Whether it is kept from fading.")
    conflicts: list[str] = Field(description="The ids of memories about its subject that may be true instead.")


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
