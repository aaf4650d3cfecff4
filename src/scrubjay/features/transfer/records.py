"""What a file brings, whoever wrote it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Kind, Memory
from scrubjay.features.transfer.models import Moved
from scrubjay.features.transfer.source_file import SourceFile

# As much as `remember` takes; what is longer comes in several parts.
MAX_CONTENT = 100_000
MAX_LABEL = 500
# In the year 5138; a greater number counts milliseconds.
_LATEST_SECOND = 1e11


@dataclass(frozen=True, slots=True)
class Place:
    """A project as a file knows it."""

    path: str
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A memory that a file brings."""

    moved: Moved
    place: Place | None = None
    """The project that it belongs to, when the file says so."""
    origin: str | None = None
    """What tells it from all others of its source; None when it has an id of its own and a scope."""


class Format(Protocol):
    """Reads files of one kind, each with a new one of these."""

    name: str
    left_out: Counter[str]
    """What was seen and brings nothing, by what it is."""

    def arrivals(self, file: SourceFile) -> Iterator[Arrival]:
        """What the file brings, in its order. `InvalidRequest` when it is torn, or not what it claims to be."""
        ...

    def holds(self) -> frozenset[Kind]:
        """The kinds of memories that the file, once read, is a whole copy of; none when it is a part of something."""
        ...


def foreign(
    source: str,
    origin: str,
    content: str,
    *,
    now: datetime,
    kind: Kind = Kind.GENERAL,
    place: Place | None = None,
    provenance: Mapping[str, Any] | None = None,
    session_id: str | None = None,
    **fields: Any,
) -> Iterator[Arrival]:
    """A memory made of what another program wrote; several parts when it is very long."""
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
        yield Arrival(moved=Moved(memory), place=place, origin=f"{source}:{origin}")
        return
    parts = [content[start : start + MAX_CONTENT] for start in range(0, len(content), MAX_CONTENT)]
    for number, part in enumerate(parts, start=1):
        told = {**memory.provenance, "part": number, "parts": len(parts)}
        # What the kind has of its own would be as long again in every part.
        piece = replace(memory, content=part, provenance=told, details={}, key=None)
        yield Arrival(moved=Moved(piece), place=place, origin=f"{source}:{origin}#{number}")


def message(
    source: str, origin: str, *, is_prompt: bool, text: str, thought: str = "", now: datetime, **fields: Any
) -> Iterator[Arrival]:
    """One thing that was said in a conversation, as a turn of which only this is known."""
    details = {"prompt": text if is_prompt else "", "thought": thought, "response": "" if is_prompt else text}
    return foreign(source, origin, text, now=now, kind=Kind.TURN, details=details, **fields)


def text_of(value: Any) -> str:
    """The value, if it is a text; else nothing."""
    return value.strip() if isinstance(value, str) else ""


def label_of(value: Any) -> str | None:
    """The value as a label, if it can be one."""
    return text_of(value)[:MAX_LABEL] or None


def moment_of(value: Any) -> datetime | None:
    """The moment that a text of ISO 8601 or a number of (milli)seconds since 1970 tells; None when it tells none."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000 if value > _LATEST_SECOND else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
