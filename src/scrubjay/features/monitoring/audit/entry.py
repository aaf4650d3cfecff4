"""Audit entries: who did what and what was decided; never the contents of a call."""

from collections.abc import Callable, Mapping
from typing import Any

from scrubjay.core.errors import ErrorCode
from scrubjay.features.monitoring.audit.lines import Entry, new_entry
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


def call_entry(event: CallEnded) -> Entry:
    return new_entry(event.time, "call", decision_of(event.outcome), call_fields(event))


def read_entry(event: ResourceRead) -> Entry:
    return new_entry(event.time, "read", decision_of(event.outcome), read_fields(event))


def request_entry(event: RequestEnded) -> Entry:
    return new_entry(event.time, "request", event.decision, request_fields(event))


def failure_entry(event: RequestFailed) -> Entry:
    fields = {"method": event.method, "path": event.path, **requester_fields(event.requester)}
    return new_entry(event.time, "request", "failed", {**fields, "outcome": ErrorCode.INTERNAL})


def permission_entry(event: PermissionDecided) -> Entry:
    return new_entry(event.time, "verdict", event.decision, permission_fields(event))


def refusal_entry(event: RequestRefused) -> Entry:
    return new_entry(event.time, "refusal", "refused", security_fields(event))


def security_entry(event: SecurityEvent) -> Entry:
    return new_entry(event.time, "security", event.decision, security_fields(event))


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
