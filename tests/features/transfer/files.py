"""Builders of import files for tests."""

import io
import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Memory, MemoryKind
from scrubjay.features.projects.models import Project
from scrubjay.features.transfer.formats import (
    Included,
    Totals,
    end_line,
    header_line,
    memory_line,
    project_line,
)
from scrubjay.features.transfer.models import TransferMemory
from scrubjay.features.transfer.records import Format, ImportRecord
from scrubjay.features.transfer.source_file import ImportSource

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def lines(*documents: Any) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def source(data: bytes) -> ImportSource:
    return ImportSource(io.BytesIO(data), "the-file")


def read_records(format: Format, data: bytes) -> list[ImportRecord]:
    return list(format.records(source(data)))


def transfer_memory(content: str, uses: int = 0, **fields: Any) -> TransferMemory:
    defaults: dict[str, Any] = {
        "id": new_id("mem"),
        "scope": Scope.GLOBAL,
        "project_id": None,
        "session_id": None,
        "recorded_at": NOW,
        "updated_at": NOW,
    }
    return TransferMemory(Memory(content=content, **(defaults | fields)), uses, NOW if uses else None)


def own_file(
    memories: Iterable[TransferMemory] = (),
    projects: Iterable[Project] = (),
    include: Iterable[Included] = ("memories", "summaries"),
) -> bytes:
    """Return a complete file in our own format."""
    projects, memories = list(projects), list(memories)
    body = header_line([*include], NOW) + b"".join([*map(project_line, projects), *map(memory_line, memories)])
    counts: Counter[MemoryKind] = Counter(one.memory.kind for one in memories)
    totals = Totals(projects=len(projects), memories=dict(counts), sha256=sha256(body).hexdigest())
    return body + end_line(totals)


def with_valid_checksum(data: bytes) -> bytes:
    """Return the file with the checksum in its end line recomputed."""
    start = data.rindex(b'{"end"')
    body, end = data[:start], json.loads(data[start:])
    end["end"]["sha256"] = sha256(body).hexdigest()
    return body + json.dumps(end, separators=(",", ":")).encode() + b"\n"
