"""Files of memories as tests make them."""

import io
import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Kind, Memory
from scrubjay.features.projects.models import Project
from scrubjay.features.transfer.formats import (
    Included,
    Totals,
    end_line,
    header_line,
    memory_line,
    project_line,
)
from scrubjay.features.transfer.models import Moved
from scrubjay.features.transfer.records import Arrival, Format
from scrubjay.features.transfer.source_file import SourceFile

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def lines(*documents: Any) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def source(data: bytes) -> SourceFile:
    return SourceFile(io.BytesIO(data), "the-file")


def arrivals(format: Format, data: bytes) -> list[Arrival]:
    return list(format.arrivals(source(data)))


def moved(content: str, uses: int = 0, **fields: Any) -> Moved:
    defaults: dict[str, Any] = {
        "id": new_id("mem"),
        "scope": Scope.GLOBAL,
        "project_id": None,
        "session_id": None,
        "recorded_at": NOW,
        "updated_at": NOW,
    }
    return Moved(Memory(content=content, **(defaults | fields)), uses, NOW if uses else None)


def own_file(
    memories: Iterable[Moved] = (),
    projects: Iterable[Project] = (),
    include: Iterable[Included] = ("memories", "summaries"),
) -> bytes:
    """A whole file of our own."""
    projects, memories = list(projects), list(memories)
    body = header_line([*include], NOW) + b"".join([*map(project_line, projects), *map(memory_line, memories)])
    counts: Counter[Kind] = Counter(one.memory.kind for one in memories)
    totals = Totals(projects=len(projects), memories=dict(counts), sha256=sha256(body).hexdigest())
    return body + end_line(totals)


def signed(data: bytes) -> bytes:
    """The file with the checksum that its lines have."""
    start = data.rindex(b'{"end"')
    body, end = data[:start], json.loads(data[start:])
    end["end"]["sha256"] = sha256(body).hexdigest()
    return body + json.dumps(end, separators=(",", ":")).encode() + b"\n"
