"""Publish a client's event to all listeners: `POST /api/broadcast`."""

from starlette.responses import Response

from scrubjay.compat.mira.envelope import success
from scrubjay.compat.mira.event_wire import BROADCAST_TYPES, MAX_BROADCAST_BYTES, write
from scrubjay.compat.mira.handler import ApiRequest
from scrubjay.core.errors import InvalidRequest, TooLarge
from scrubjay.core.secrets import redacted
from scrubjay.tooling.call_events import CallEvents
from scrubjay.tooling.security_events import scope_error
from scrubjay.tooling.validation import refuse_unstorable

# A caller that may not start a session may not send events into the sessions of others.
FAMILY = "sessions"


class Broadcast:
    """Publishes events of clients. Event types that the server itself publishes are refused."""

    def __init__(self, events: CallEvents) -> None:
        self._events = events

    async def __call__(self, request: ApiRequest) -> Response:
        caller, payload = request.context.caller, request.body
        if not caller.may_call(FAMILY, read_only=False):
            context = request.context
            raise scope_error(
                caller, FAMILY, read_only=False, what="broadcasts", surface=context.surface, **context.who
            )
        refuse_unstorable(payload)
        if payload.get("type") not in BROADCAST_TYPES:
            raise InvalidRequest(
                "this type of event cannot be broadcast", hint=f"use one of {', '.join(BROADCAST_TYPES)}"
            )
        if len(write(payload)) > MAX_BROADCAST_BYTES:
            raise TooLarge(f"the event is larger than {MAX_BROADCAST_BYTES} bytes", hint="send a shorter event")
        announcement = self._events.announce({**redacted(payload), "broadcast_by": caller.name})
        return success({"event_id": announcement.id, "listeners": self._events.listeners})
