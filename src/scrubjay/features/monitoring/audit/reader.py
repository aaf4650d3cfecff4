"""Looking into the audit log: the newest entries first, page by page."""

import json
import os
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.monitoring.audit.file import SharedLines

_BLOCK_BYTES = 256 * 1024
# Processes write what happened in the last second, so that lines are not quite in the order of their times.
_DISORDER = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which entries somebody wants to see."""

    exactly: Mapping[str, str] = field(default_factory=dict[str, str])
    """Fields that have these values."""
    since: datetime | None = None
    until: datetime | None = None
    before: str | None = None
    """The id of the entry after which to go on, as the page before ended with it."""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Page:
    """Entries, the newest first."""

    entries: list[dict[str, Any]]
    more: bool
    unreadable: int
    """Lines that are no entries, such as one that a power cut ended in the middle."""


def read_page(lines: SharedLines, wanted: Wanted) -> Page:
    """The entries that are wanted, on the thread of the caller."""
    entries: list[dict[str, Any]] = []
    unreadable = 0
    passed = wanted.before is None
    # To look for bytes is many times as fast as to read JSON.
    marks = [json.dumps({name: value}, separators=(",", ":"))[1:-1].encode() for name, value in wanted.exactly.items()]
    beginning = f'{{"id":"{wanted.before}"'.encode()
    for line in _backwards(lines):
        if not passed:
            passed = line.startswith(beginning)
            continue
        if not all(mark in line for mark in marks):
            continue
        try:
            entry: dict[str, Any] = json.loads(line)
            time = datetime.fromisoformat(entry["time"])
        except (ValueError, TypeError, KeyError):
            unreadable += 1
            continue
        if wanted.since is not None and time < wanted.since:
            if time < wanted.since - _DISORDER:
                break
            continue
        if wanted.until is not None and time > wanted.until:
            continue
        if any(str(entry.get(name)) != value for name, value in wanted.exactly.items()):
            continue
        if len(entries) == wanted.limit:
            return Page(entries, True, unreadable)
        entries.append(entry)
    if not passed:
        raise InvalidRequest(
            "the audit log has no entry of that cursor, or not any more", hint="begin again without the cursor"
        )
    return Page(entries, False, unreadable)


def _backwards(lines: SharedLines) -> Generator[bytes]:
    """Every line of all files, the newest first."""
    files = lines.open_all()
    try:
        for file in files:
            yield from _lines_of(file)
    finally:
        for file in files:
            os.close(file)


def _lines_of(file: int) -> Generator[bytes]:
    place = os.fstat(file).st_size
    rest = b""
    while place:
        begin = max(0, place - _BLOCK_BYTES)
        rest = os.pread(file, place - begin, begin) + rest
        place = begin
        first, *whole = rest.split(b"\n")
        yield from (line for line in reversed(whole) if line)
        rest = first
    if rest:
        yield rest
