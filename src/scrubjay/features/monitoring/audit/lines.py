"""Lines of the audit log. Imports little, because a hook without a server writes its decision itself."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from scrubjay.core.secrets import masked

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


def new_entry(created: float, kind: str, decision: str, fields: Mapping[str, Any]) -> Entry:
    """Return an entry; `created` is in seconds since the epoch."""
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
