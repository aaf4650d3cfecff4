"""What the audit log keeps of an event: who, what, and the decision; never what was said."""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from scrubjay.core.errors import ErrorCode
from scrubjay.core.secrets import masked

CALLS, EDGE, SECURITY = "scrubjay.calls", "scrubjay.edge", "scrubjay.security"

# The owner, or a limit of the owner's, said no; whatever else goes wrong has failed.
REFUSALS = frozenset(
    {
        ErrorCode.UNAUTHENTICATED,
        ErrorCode.FORBIDDEN,
        ErrorCode.RATE_LIMITED,
        ErrorCode.QUOTA_EXCEEDED,
        ErrorCode.TOO_LARGE,
    }
)

# Nothing else of a log record is ever written.
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
_MOST_CHARACTERS = 200


def entry_of(record: logging.LogRecord) -> dict[str, Any] | None:
    """The entry of a log record, in a form that can be made without delay; None of one that is no event."""
    told = vars(record)
    outcome = told.get("outcome")
    match record.name, record.msg:
        case "scrubjay.calls", "call" | "read":
            decision = "allowed" if outcome == "ok" else "refused" if outcome in REFUSALS else "failed"
            kind = str(record.msg)
        case "scrubjay.security", _ if "outcome" in told:  # the edge refused a request
            kind, decision = "refusal", "refused"
        # Of permission rules, on what an agent wants to do; of requests that call no tool.
        case "scrubjay.calls", "verdict" | "request":
            kind, decision = str(record.msg), str(told["decision"])
        case "scrubjay.edge", "a request broke":
            kind, decision, outcome = "request", "failed", ErrorCode.INTERNAL
        case "scrubjay.security", _:
            kind, decision = "security", str(told.get("decision", "refused"))
        case _:
            return None
    entry = {"created": record.created, "kind": kind, "decision": decision}
    entry |= {name: told[name] for name in (*_TEXTS, "ms", "ids") if told.get(name) is not None}
    return entry | ({"outcome": str(outcome)} if outcome is not None else {})


def line_of(entry_id: str, entry: Mapping[str, Any]) -> bytes:
    """The entry as one line, without secrets."""
    time = datetime.fromtimestamp(entry["created"], UTC).isoformat(timespec="microseconds")
    told: dict[str, Any] = {"id": entry_id, "time": time, "kind": entry["kind"], "decision": entry["decision"]}
    told |= {name: _text(str(entry[name])) for name in _TEXTS if name in entry}
    told |= {name: entry[name] for name in ("ms", "ids") if name in entry}
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


@lru_cache(maxsize=4096)  # the same names come again and again, and to look for secrets takes a while
def _text(given: str) -> str:
    return masked(given)[:_MOST_CHARACTERS]
