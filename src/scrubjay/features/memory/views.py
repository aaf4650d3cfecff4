"""Memories in the results of tools."""

from datetime import datetime
from typing import Any

from pydantic import Field

from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Memory, MemoryKind
from scrubjay.features.memory.passages import MAX_WHOLE_CHARACTERS, Passage, beginning
from scrubjay.tooling.declaration import Result
from scrubjay.tooling.optional_fields import is_empty


class PassageView(Result):
    """Place of a passage in a long text."""

    start: int = Field(description="Characters of the text before the passage.")
    end: int = Field(description="Characters of the text up to the end of the passage.")
    first_line: int = Field(description="Number of its first line; the text begins with line 1.")
    last_line: int = Field(description="Number of its last line.")
    length: int = Field(description="Characters of the whole text, which read_memory returns.")


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
    passage: PassageView | None = Field(
        default=None,
        exclude_if=is_empty,
        description="Present if the text is long: content is then only a passage of it, and this is its place. "
        "read_memory returns the rest.",
    )


def passage_view(passage: Passage) -> PassageView:
    return PassageView(
        start=passage.start,
        end=passage.end,
        first_line=passage.first_line,
        last_line=passage.last_line,
        length=passage.length,
    )


def shown_fields(
    memory: Memory, passage: Passage | None = None, *, max_whole: int = MAX_WHOLE_CHARACTERS
) -> dict[str, Any]:
    """Like `memory_fields`, but of a text over `max_whole` only a passage: the given one, or the beginning."""
    fields = memory_fields(memory)
    if passage is None and len(memory.content) > max_whole:
        passage = beginning(memory.content)
    if passage is not None:
        fields["content"], fields["passage"] = passage.text, passage_view(passage)
    return fields


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
        "passage": None,
    }
