"""What is said over `/ws`: the events that clients hear, and the commands that they give."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import from_json, to_json

from scrubjay.core.errors import InvalidRequest
from scrubjay.tooling.call_events import Announcement, CallEvent, EventId, FileChange
from scrubjay.tooling.validation import printable

Json = dict[str, Any]

# What clients may tell each other. All else tells what the server has done, and only the server says so.
ANNOUNCED: Final = (
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
MOST_ANNOUNCED_BYTES: Final = 10_000


class Ping(BaseModel):
    """Say that you are there."""


class Pong(BaseModel):
    """I am."""


class Sync(BaseModel):
    """Tell again what happened after this event, or lately."""

    last_event_id: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class Cancel(BaseModel):
    """Stop this call, or all calls of this session."""

    call_id: Annotated[str, Field(max_length=200)] | None = None


Command = Ping | Pong | Sync | Cancel
# The `type` of each is its name in small letters.
_COMMANDS: Final = {kind.__name__.lower(): kind for kind in (Ping, Pong, Sync, Cancel)}


def read(text: str) -> Command:
    """What a client says; `InvalidRequest` when nobody can tell."""
    try:
        given = from_json(text, allow_inf_nan=False)
    except ValueError:
        raise InvalidRequest("a command is one JSON object") from None
    match given:
        case {"type": str(name), **fields} if name in _COMMANDS:
            try:
                return _COMMANDS[name].model_validate(fields)
            except ValidationError as error:
                problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
                raise InvalidRequest(printable(f"{problem['loc'][0]}: {problem['msg']}")) from None
        case _:
            raise InvalidRequest(f"a command is an object whose type is one of {', '.join(_COMMANDS)}")


def write(event: Mapping[str, Any]) -> bytes:
    return to_json(event)


def tool_start(event: CallEvent, *, again: bool = False) -> Json:
    return {
        "type": "tool_start",
        "event_id": event.started_id,
        "tool_name": event.tool,
        "arguments": event.arguments,
        **_call_id(event, again),
    }


def tool_result(event: CallEvent, *, again: bool = False) -> Json:
    return {
        "type": "tool_result",
        "event_id": event.ended_id,
        "tool_name": event.tool,
        "result": event.result,
        "success": event.success,
        "duration_ms": event.milliseconds,
        **_call_id(event, again),
    }


def announcement(told: Announcement) -> Json:
    return {**told.payload, "event_id": told.id}


def file_change(told: FileChange) -> Json:
    return {"type": "file_change", "event_id": told.id, "file_path": told.path, "change_type": told.kind}


def connected(session_id: str, event_id: EventId) -> Json:
    return {"type": "connected", "event_id": event_id, "session_id": session_id}


def synced(replayed: int, last: EventId, *, complete: bool, from_history: bool) -> Json:
    """After a replay: how many events it had, where to go on from, whether that is all, and where it comes from."""
    return {
        "type": "synced",
        "replayed": replayed,
        "last_event_id": last,
        "complete": complete,
        "from_history": from_history,
    }


def error(message: str) -> Json:
    return {"type": "error", "message": message, "recoverable": True}


def _call_id(event: CallEvent, again: bool) -> Json:
    """Its own id; told again, it is beside that of the replay, which is not known yet."""
    return {"call_id": "", "replay_of": event.call_id} if again else {"call_id": event.call_id}
