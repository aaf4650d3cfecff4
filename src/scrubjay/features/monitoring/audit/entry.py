"""Audit entries: who did what and what was decided; never the contents of a call."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from scrubjay.core.errors import ErrorCode
from scrubjay.core.secrets import masked
from scrubjay.tooling.events import (
    CallEnded,
    PermissionDecided,
    RequestEnded,
    RequestFailed,
    RequestRefused,
    ResourceRead,
    SecurityEvent,
    decision_of,
)
from scrubjay.tooling.process_events import (
    call_fields,
    permission_fields,
    read_fields,
    request_fields,
    requester_fields,
    security_fields,
)

Entry = dict[str, Any]

# The texts of an entry, in the order of a line. Besides them, only `ms` and `ids` are written.
_TEXTS = (
    "caller",
    "key_id",
    "client",
    "address",
    "surface",
    "tool",
    "resource",
    "method",
    "path",
    "event",
    "event_id",
    "reason",
    "outcome",
    "request_id",
    "trace_id",
)
_MAX_CHARACTERS = 200
# Our own request ids are skipped: each is new, and searching them for secrets took most of the writer's time.
_OWN_REQUEST_ID = re.compile(r"req_[0-9a-z]{26}", re.ASCII)


def call_entry(event: CallEnded) -> Entry:
    return _entry(event.time, "call", decision_of(event.outcome), call_fields(event))


def read_entry(event: ResourceRead) -> Entry:
    return _entry(event.time, "read", decision_of(event.outcome), read_fields(event))


def request_entry(event: RequestEnded) -> Entry:
    return _entry(event.time, "request", event.decision, request_fields(event))


def failure_entry(event: RequestFailed) -> Entry:
    fields = {"method": event.method, "path": event.path, **requester_fields(event.requester)}
    return _entry(event.time, "request", "failed", {**fields, "outcome": ErrorCode.INTERNAL})


def permission_entry(event: PermissionDecided) -> Entry:
    return _entry(event.time, "verdict", event.decision, permission_fields(event))


def refusal_entry(event: RequestRefused) -> Entry:
    return _entry(event.time, "refusal", "refused", security_fields(event))


def security_entry(event: SecurityEvent) -> Entry:
    return _entry(event.time, "security", event.decision, security_fields(event))


# Events that are recorded, each with the function that returns its entry.
ENTRY_OF: Mapping[type[Any], Callable[[Any], Entry]] = {
    CallEnded: call_entry,
    ResourceRead: read_entry,
    RequestEnded: request_entry,
    RequestFailed: failure_entry,
    RequestRefused: refusal_entry,
    PermissionDecided: permission_entry,
    SecurityEvent: security_entry,
}


def _entry(created: float, kind: str, decision: str, fields: Mapping[str, Any]) -> Entry:
    return {**fields, "created": created, "kind": kind, "decision": decision}


def line_of(entry_id: str, entry: Mapping[str, Any]) -> bytes:
    """Return the entry as one line, without secrets."""
    time = datetime.fromtimestamp(entry["created"], UTC).isoformat(timespec="microseconds")
    line: dict[str, Any] = {"id": entry_id, "time": time, "kind": entry["kind"], "decision": entry["decision"]}
    line |= {name: _text(name, entry[name]) for name in _TEXTS if name in entry}
    line |= {name: entry[name] for name in ("ms", "ids") if name in entry}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def _text(name: str, value: object) -> str:
    text = str(value)
    return text if name == "request_id" and _OWN_REQUEST_ID.fullmatch(text) else _without_secrets(text)


@lru_cache(maxsize=4096)  # names recur, and the search for secrets is slow
def _without_secrets(text: str) -> str:
    return masked(text)[:_MAX_CHARACTERS]
