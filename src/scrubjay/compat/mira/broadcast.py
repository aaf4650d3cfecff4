"""Telling something to all who listen: `POST /api/broadcast`."""

from starlette.responses import Response

from scrubjay.compat.mira.envelope import success
from scrubjay.compat.mira.event_wire import ANNOUNCED, MOST_ANNOUNCED_BYTES, write
from scrubjay.compat.mira.handler import Asked
from scrubjay.core.errors import InvalidRequest, TooLarge
from scrubjay.core.secrets import redacted
from scrubjay.tooling.call_events import CallEvents
from scrubjay.tooling.security_events import closed
from scrubjay.tooling.validation import refuse_unstorable

# Who may not begin a session has nothing to tell others in theirs.
FAMILY = "sessions"


class Broadcast:
    """Publishes events of clients. What the server itself tells cannot be said by anybody else."""

    def __init__(self, events: CallEvents) -> None:
        self._events = events

    async def __call__(self, asked: Asked) -> Response:
        caller, payload = asked.context.caller, asked.body
        if not caller.may_call(FAMILY, read_only=False):
            context = asked.context
            raise closed(caller, FAMILY, read_only=False, what="broadcasts", surface=context.surface, **context.who)
        refuse_unstorable(payload)
        if payload.get("type") not in ANNOUNCED:
            raise InvalidRequest("this type of event cannot be broadcast", hint=f"these can: {', '.join(ANNOUNCED)}")
        if len(write(payload)) > MOST_ANNOUNCED_BYTES:
            raise TooLarge(f"an event is at most {MOST_ANNOUNCED_BYTES} bytes long", hint="send less")
        told = self._events.announce({**redacted(payload), "broadcast_by": caller.name})
        return success({"event_id": told.id, "listeners": self._events.listeners})
