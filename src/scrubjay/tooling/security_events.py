"""Events that whoever guards a server wants to know of: every refusal, every change of a key. Never a secret."""

import logging
import uuid
from typing import Any

from scrubjay.core.callers import READ_ONLY, Caller
from scrubjay.core.errors import Forbidden
from scrubjay.core.secrets import masked
from scrubjay.tooling.validation import printable

logger = logging.getLogger("scrubjay.security")


def security_event(kind: str, /, *, level: int = logging.WARNING, **what: Any) -> str:
    """Log what happened as one record with these fields; the id under which it is found.

    The usual fields are reason, address, path, method, key_id and request_id.
    """
    event_id = str(uuid.uuid4())
    told = {name: _told(value) for name, value in what.items() if value is not None}
    logger.log(level, kind, extra={"event": kind, "event_id": event_id, **told})
    return event_id


def closed(caller: Caller, family: str, /, *, read_only: bool, what: str, **told: Any) -> Forbidden:
    """The refusal of something that the caller's scopes do not open, of which the log is told, with these fields."""
    needed = f"{family}{READ_ONLY if read_only else ''}"
    who: dict[str, Any] = {"caller": caller.name, "key_id": caller.key_id}
    event_id = security_event("forbidden", reason=f"{what} needs the scope {needed}", **{**who, **told})
    return Forbidden(
        f"the key {caller.name!r} does not open {what}",
        hint=f"it needs the scope {needed}",
        details={"scope": needed, "security_event_id": event_id},
    )


def _told(value: Any) -> Any:
    return printable(masked(value[:2000])) if isinstance(value, str) else value
