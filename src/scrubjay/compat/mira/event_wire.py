"""Messages of `/ws`: the events sent to clients and the commands received from them."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import from_json, to_json

from scrubjay.core.errors import InvalidRequest
from scrubjay.tooling.call_events import Announcement, CallEvent, EventId, WatchedFileChange
from scrubjay.tooling.validation import printable

Json = dict[str, Any]

# Types of events that clients may broadcast. All other types report actions of the server.
BROADCAST_TYPES: Final = (
    "thinking",
    "diff_preview",
    "file_change",
    "terminal_output",
    "claude_spawned",
    "claude_stopped",
    "agent_message",
    "agent_response",
    "error",
)
MAX_BROADCAST_BYTES: Final = 10_000


class Ping(BaseModel):
    """Request a `pong`."""


class Pong(BaseModel):
    """Answer to a ping; ignored."""


class Sync(BaseModel):
    """Replay the events after this one; without an id, the most recent ones."""

    last_event_id: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class Cancel(BaseModel):
    """Cancel this call; without an id, all calls of this session."""

    call_id: Annotated[str, Field(max_length=200)] | None = None


Command = Ping | Pong | Sync | Cancel
# The `type` of a command is its class name in lower case.
_COMMANDS: Final = {kind.__name__.lower(): kind for kind in (Ping, Pong, Sync, Cancel)}


def read(text: str) -> Command:
    """Parse a command. Raises `InvalidRequest` for anything else."""
    try:
        given = from_json(text, allow_inf_nan=False)
    except ValueError:
        raise InvalidRequest("a command must be a JSON object") from None
    match given:
        case {"type": str(name), **fields} if name in _COMMANDS:
            try:
                return _COMMANDS[name].model_validate(fields)
            except ValidationError as error:
                problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
                raise InvalidRequest(printable(f"{problem['loc'][0]}: {problem['msg']}")) from None
        case _:
            raise InvalidRequest(f"a command must be an object whose type is one of {', '.join(_COMMANDS)}")


def write(event: Mapping[str, Any]) -> bytes:
    return to_json(event)


def tool_start(event: CallEvent, *, replayed: bool = False) -> Json:
    return {
        "type": "tool_start",
        "event_id": event.started_id,
        "tool_name": event.tool,
        "arguments": event.arguments,
        **_call_id(event, replayed),
    }


def tool_result(event: CallEvent, *, replayed: bool = False) -> Json:
    return {
        "type": "tool_result",
        "event_id": event.ended_id,
        "tool_name": event.tool,
        "result": event.result,
        "success": event.success,
        "duration_ms": event.milliseconds,
        **_call_id(event, replayed),
    }


def announcement(event: Announcement) -> Json:
    return {**event.payload, "event_id": event.id}


def file_change(event: WatchedFileChange) -> Json:
    return {"type": "file_change", "event_id": event.id, "file_path": event.path, "change_type": event.kind}


def connected(session_id: str, event_id: EventId) -> Json:
    return {"type": "connected", "event_id": event_id, "session_id": session_id}


def synced(replayed: int, last: EventId, *, complete: bool, from_history: bool) -> Json:
    """Return the message that ends a replay: number of events, id to resume from, completeness and source."""
    return {
        "type": "synced",
        "replayed": replayed,
        "last_event_id": last,
        "complete": complete,
        "from_history": from_history,
    }


def error(message: str) -> Json:
    return {"type": "error", "message": message, "recoverable": True}


def _call_id(event: CallEvent, replayed: bool) -> Json:
    """Return the fields with the call's id. `Replay` fills in the `call_id` of a replayed event."""
    return {"call_id": "", "replay_of": event.call_id} if replayed else {"call_id": event.call_id}
