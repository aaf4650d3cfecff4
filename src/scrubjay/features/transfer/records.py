"""Records of an imported file, independent of its format."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Memory, MemoryKind
from scrubjay.features.transfer.models import TransferMemory
from scrubjay.features.transfer.source_file import ImportSource

# The limit of `remember`; longer texts are split.
MAX_CONTENT = 2_000_000
MAX_LABEL = 500
# Year 5138; greater numbers are milliseconds.
_LATEST_SECOND = 1e11


@dataclass(frozen=True, slots=True)
class ProjectRef:
    """A project as named in a file."""

    path: str
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRecord:
    """A memory of an imported file."""

    transfer: TransferMemory
    project: ProjectRef | None = None
    """Project of the memory, if the file names one."""
    origin: str | None = None
    """Unique id within its source; None if the memory has its own id and scope."""


class Format(Protocol):
    """Reader of one format. A new instance reads each file."""

    name: str
    ignored: Counter[str]
    """Number of ignored entries by type."""

    def records(self, file: ImportSource) -> Iterator[ImportRecord]:
        """Yield the records in file order; raise `InvalidRequest` if the file is truncated or invalid."""
        ...

    def complete_kinds(self) -> frozenset[MemoryKind]:
        """Return the kinds of memories that the file contains completely; call it after reading. Empty if partial."""
        ...


class PartialFormat:
    """Base of formats whose files are never a complete copy, such as the log of one session."""

    def __init__(self, now: datetime) -> None:
        self.ignored: Counter[str] = Counter()
        self._now = now

    def complete_kinds(self) -> frozenset[MemoryKind]:
        """Return no kind."""
        return frozenset()


def make_record(
    source: str,
    origin: str,
    content: str,
    *,
    now: datetime,
    kind: MemoryKind = MemoryKind.GENERAL,
    project: ProjectRef | None = None,
    provenance: Mapping[str, Any] | None = None,
    session_id: str | None = None,
    **fields: Any,
) -> Iterator[ImportRecord]:
    """Create a memory from another program's record; a very long text is split into parts."""
    memory = Memory(
        id="",
        scope=Scope.PROJECT,
        project_id=None,
        session_id=session_id,
        content=content,
        recorded_at=now,
        updated_at=now,
        kind=kind,
        provenance={"source": source, "origin": origin, **(provenance or {})},
        **fields,
    )
    if len(content) <= MAX_CONTENT:
        yield ImportRecord(transfer=TransferMemory(memory), project=project, origin=f"{source}:{origin}")
        return
    parts = [content[start : start + MAX_CONTENT] for start in range(0, len(content), MAX_CONTENT)]
    for number, part in enumerate(parts, start=1):
        provenance = {**memory.provenance, "part": number, "parts": len(parts)}
        # The details would repeat the whole text in every part.
        piece = replace(memory, content=part, provenance=provenance, details={}, key=None)
        yield ImportRecord(transfer=TransferMemory(piece), project=project, origin=f"{source}:{origin}#{number}")


def make_turn(
    source: str, origin: str, *, is_prompt: bool, text: str, thought: str = "", now: datetime, **fields: Any
) -> Iterator[ImportRecord]:
    """Create a turn from one message of a conversation."""
    details = {"prompt": text if is_prompt else "", "thought": thought, "response": "" if is_prompt else text}
    return make_record(source, origin, text, now=now, kind=MemoryKind.TURN, details=details, **fields)


def clean_text(value: Any) -> str:
    """Return the stripped string, or "" for other types."""
    return value.strip() if isinstance(value, str) else ""


def to_label(value: Any) -> str | None:
    """Return the value as a label of at most `MAX_LABEL` characters, or None."""
    return clean_text(value)[:MAX_LABEL] or None


def parse_time(value: Any) -> datetime | None:
    """Parse ISO 8601 text or (milli)seconds since 1970; return None if invalid."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000 if value > _LATEST_SECOND else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
