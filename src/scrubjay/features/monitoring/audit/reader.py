"""Reads the audit log page by page, newest entries first."""

import json
import os
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.monitoring.audit.file import SharedLines

_BLOCK_BYTES = 256 * 1024
# Processes write with up to a second of delay, so lines are not exactly ordered by time.
_MAX_DELAY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery:
    """Filter and position for reading entries."""

    exactly: Mapping[str, str] = field(default_factory=dict[str, str])
    """Required field values."""
    since: datetime | None = None
    until: datetime | None = None
    before: str | None = None
    """Id of the last entry of the previous page."""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class AuditPage:
    """One page of entries, newest first."""

    entries: list[dict[str, Any]]
    more: bool
    unreadable: int
    """Number of invalid lines, for example one truncated by a power cut."""


def read_page(lines: SharedLines, query: AuditQuery) -> AuditPage:
    """Return the matching entries; blocks the calling thread."""
    entries: list[dict[str, Any]] = []
    unreadable = 0
    reached_cursor = query.before is None
    # Searching for bytes is many times faster than parsing JSON.
    required_bytes = [
        json.dumps({name: value}, separators=(",", ":"))[1:-1].encode() for name, value in query.exactly.items()
    ]
    cursor_prefix = f'{{"id":"{query.before}"'.encode()
    for line in _lines_backwards(lines):
        if not reached_cursor:
            reached_cursor = line.startswith(cursor_prefix)
            continue
        if not all(part in line for part in required_bytes):
            continue
        try:
            entry: dict[str, Any] = json.loads(line)
            time = datetime.fromisoformat(entry["time"])
        except (ValueError, TypeError, KeyError):
            unreadable += 1
            continue
        if query.since is not None and time < query.since:
            if time < query.since - _MAX_DELAY:
                break
            continue
        if query.until is not None and time > query.until:
            continue
        if any(str(entry.get(name)) != value for name, value in query.exactly.items()):
            continue
        if len(entries) == query.limit:
            return AuditPage(entries, True, unreadable)
        entries.append(entry)
    if not reached_cursor:
        raise InvalidRequest(
            "the audit log has no entry for this cursor; it may have been rotated out",
            hint="start again without cursor",
        )
    return AuditPage(entries, False, unreadable)


def _lines_backwards(lines: SharedLines) -> Generator[bytes]:
    """Yield every line of all files, newest first."""
    files = lines.open_all()
    try:
        for file in files:
            yield from _lines_of(file)
    finally:
        for file in files:
            os.close(file)


def _lines_of(file: int) -> Generator[bytes]:
    position = os.fstat(file).st_size
    rest = b""
    while position:
        begin = max(0, position - _BLOCK_BYTES)
        rest = os.pread(file, position - begin, begin) + rest
        position = begin
        first, *whole = rest.split(b"\n")
        yield from (line for line in reversed(whole) if line)
        rest = first
    if rest:
        yield rest
