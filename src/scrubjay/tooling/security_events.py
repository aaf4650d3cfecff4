"""Publish security events: refusals, and changes of keys."""

import logging
import uuid
from typing import Any, TypedDict, Unpack

from scrubjay.core.callers import READ_ONLY, Caller
from scrubjay.core.errors import Forbidden
from scrubjay.core.secrets import masked
from scrubjay.tooling.events import Decision, RequestRefused, SecurityEvent
from scrubjay.tooling.process_events import PROCESS_EVENTS
from scrubjay.tooling.validation import printable


class SecurityFields(TypedDict, total=False):
    """Optional fields of a security event; None is the same as absent."""

    decision: Decision
    reason: str | None
    address: str | None
    path: str | None
    method: str | None
    caller: str | None
    key_id: str | None
    client: str | None
    surface: str | None
    tool: str | None
    resource: str | None
    request_id: str | None
    trace_id: str | None


def security_event(kind: str, /, *, level: int = logging.WARNING, **fields: Unpack[SecurityFields]) -> str:
    """Publish a security event with secrets masked; return its id."""
    event_id = str(uuid.uuid4())
    PROCESS_EVENTS.publish(SecurityEvent(event=kind, event_id=event_id, level=level, **_without_secrets(fields)))
    return event_id


def request_refused(kind: str, /, *, outcome: str, **fields: Unpack[SecurityFields]) -> str:
    """Publish that a request was refused before it reached a protocol; return the id of the event."""
    event_id = str(uuid.uuid4())
    PROCESS_EVENTS.publish(RequestRefused(event=kind, event_id=event_id, outcome=outcome, **_without_secrets(fields)))
    return event_id


def scope_error(caller: Caller, family: str, /, *, read_only: bool, what: str, **fields: Any) -> Forbidden:
    """Publish that the caller's scopes do not allow `what`; return the `Forbidden` error to raise."""
    needed = f"{family}{READ_ONLY if read_only else ''}"
    who: dict[str, Any] = {"caller": caller.name, "key_id": caller.key_id}
    event_id = security_event("forbidden", reason=f"{what} needs the scope {needed}", **{**who, **fields})
    return Forbidden(
        f"the key {caller.name!r} may not access {what}",
        hint=f"it needs the scope {needed}",
        details={"scope": needed, "security_event_id": event_id},
    )


def _without_secrets(fields: SecurityFields) -> dict[str, Any]:
    return {
        name: printable(masked(value[:2000])) if isinstance(value, str) else value for name, value in fields.items()
    }
