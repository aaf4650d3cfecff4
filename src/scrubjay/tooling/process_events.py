"""The event bus of this process, and the log entries written for its events."""

import logging
from dataclasses import fields
from typing import Any

from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import (
    CallEnded,
    PermissionDecided,
    RequestEnded,
    Requester,
    RequestFailed,
    RequestRefused,
    ResourceRead,
    SecurityEvent,
)

PROCESS_EVENTS = EventBus()
"""Receives all events of this process, from every application and server."""

_calls = logging.getLogger("scrubjay.calls")
_edge = logging.getLogger("scrubjay.edge")
_security = logging.getLogger("scrubjay.security")

_SECURITY_FIELDS = tuple(one.name for one in fields(SecurityEvent) if one.name not in ("level", "decision", "time"))


def known(**values: Any) -> dict[str, Any]:
    """Return the values that are neither None nor empty."""
    return {name: value for name, value in values.items() if value is not None and value != ()}


def requester_fields(requester: Requester | None) -> dict[str, str]:
    """Return the known fields of a requester, by the names used in logs and in the audit log."""
    if requester is None:
        return {}
    return known(
        caller=requester.caller,
        key_id=requester.key_id,
        address=requester.address,
        trace_id=requester.trace_id,
        request_id=requester.request_id,
    )


def security_fields(event: SecurityEvent) -> dict[str, Any]:
    """Return the known fields of a security event, by the names used in logs and in the audit log."""
    found = {name: getattr(event, name) for name in _SECURITY_FIELDS}
    return known(**found, outcome=event.outcome if isinstance(event, RequestRefused) else None)


def call_fields(event: CallEnded) -> dict[str, Any]:
    """Return the fields of a call for logs and the audit log: of the arguments only ids, of the answer nothing."""
    found: dict[str, Any] = {
        "tool": event.name,
        "surface": event.context.surface,
        "outcome": event.outcome,
        "ms": event.milliseconds,
        **event.context.who,
    }
    if event.ids:
        found["ids"] = event.ids
    return found


def read_fields(event: ResourceRead) -> dict[str, Any]:
    return {
        "resource": event.uri,
        "surface": event.context.surface,
        "outcome": event.outcome,
        "ms": event.milliseconds,
        **event.context.who,
    }


def request_fields(event: RequestEnded) -> dict[str, Any]:
    return {
        "method": event.method,
        "path": event.path,
        "surface": event.surface,
        "outcome": event.outcome,
        "decision": event.decision,
        "ms": event.milliseconds,
        **requester_fields(event.requester),
    }


def permission_fields(event: PermissionDecided) -> dict[str, Any]:
    return {
        "decision": event.decision,
        "surface": event.surface,
        **known(tool=event.tool, client=event.client, ids=event.rule_ids),
        **requester_fields(event.requester),
    }


def _log_call(event: CallEnded) -> None:
    if _calls.isEnabledFor(logging.INFO):
        _calls.info("call", extra=call_fields(event))


def _log_read(event: ResourceRead) -> None:
    _calls.info("read", extra=read_fields(event))


def _log_request(event: RequestEnded) -> None:
    if _calls.isEnabledFor(logging.INFO):
        _calls.info("request", extra=request_fields(event))


def _log_permission(event: PermissionDecided) -> None:
    _calls.info("verdict", extra=permission_fields(event))


def _log_failure(event: RequestFailed) -> None:
    fields = {"path": event.path, "method": event.method, **requester_fields(event.requester)}
    _edge.error("a request failed unexpectedly", extra={**fields, **event.place})


def _log_security(event: SecurityEvent) -> None:
    shown = security_fields(event)
    if event.decision != "refused":
        shown["decision"] = event.decision
    _security.log(event.level, event.event, extra=shown)


PROCESS_EVENTS.subscribe(CallEnded, _log_call)
PROCESS_EVENTS.subscribe(ResourceRead, _log_read)
PROCESS_EVENTS.subscribe(RequestEnded, _log_request)
PROCESS_EVENTS.subscribe(PermissionDecided, _log_permission)
PROCESS_EVENTS.subscribe(RequestFailed, _log_failure)
PROCESS_EVENTS.subscribe(SecurityEvent, _log_security)
PROCESS_EVENTS.subscribe(RequestRefused, _log_security)
