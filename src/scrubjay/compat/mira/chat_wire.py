"""Request and response bodies of Mira's chat, and the events of its stream."""

import json
from typing import Annotated, Any, Literal, TypeVar, assert_never

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.chat import service as chat
from scrubjay.tooling.validation import printable, refuse_unstorable

Json = dict[str, Any]
EVENT_TYPES = (
    *("start", "thinking", "delta", "reasoning", "tool_planning", "round_start", "tool_start", "tool_result"),
    *("done", "error"),
)
MAX_MESSAGE_CHARACTERS = 100_000
MAX_MESSAGES = 200
SessionId = Annotated[str, Field(min_length=1, max_length=400)]


class MiraChatMessage(BaseModel):
    """A message of a chat."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["user", "assistant"]
    content: Annotated[str, Field(max_length=MAX_MESSAGE_CHARACTERS)]


class StreamRequest(BaseModel):
    """A message whose answer is streamed."""

    model_config = ConfigDict(extra="forbid")

    message: Annotated[str, Field(min_length=1, max_length=MAX_MESSAGE_CHARACTERS, pattern=r"\S")] = Field(
        description="The user's message."
    )
    session_id: SessionId | None = Field(default=None, description="Conversation id. Default: the client's own.")


class MiraChatRequest(StreamRequest):
    """A message whose answer is returned at once."""

    history: Annotated[list[MiraChatMessage], Field(max_length=MAX_MESSAGES)] | None = Field(
        default=None, description="Earlier messages. Default: the stored messages of the conversation."
    )


class UsedTool(BaseModel):
    """A tool that the language model used."""

    name: str
    call_id: str
    success: bool


class ChatAnswer(BaseModel):
    """The answer to a message."""

    content: str
    session_id: str
    method: Literal["language_model", "memory"] = Field(
        description="`language_model`, or `memory` when the answer was composed from memories alone."
    )
    model: str | None
    memories: list[str] = Field(description="Ids of the memories recalled for the answer.")
    tools: list[UsedTool] = Field(description="Tools used, in order.")
    remembered: bool = Field(description="Whether both messages are stored; settings and the key's scopes decide.")
    degraded: str | None = Field(description="Why recall returned less than usual; null when it did not.")


class StoredMessage(BaseModel):
    """A stored message of a chat."""

    id: str = Field(description="Id of the memory that stores the message.")
    role: Literal["user", "assistant"]
    content: str
    created_at: str


class ModelTest(BaseModel):
    """Result of a test of the language model."""

    configured: bool
    model: str | None
    reachable: bool
    latency_ms: float | None
    error: str | None


T = TypeVar("T", bound=BaseModel)


def read(kind: type[T], body: Json) -> T:
    """Validate a body. Raises `InvalidRequest` that lists the first five invalid fields."""
    refuse_unstorable(body)
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        message = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in problems[:5])
        raise InvalidRequest(printable(message)) from None


def event_of(event: chat.ChatEvent) -> Json:
    """Return a chat event in Mira's format."""
    match event:
        case chat.ChatStarted():
            return {"type": "start"}
        case chat.ThinkingStarted():
            return {"type": "thinking"}
        case chat.TextDelta(content):
            return {"type": "delta", "content": content}
        case chat.ReasoningDelta(content):
            return {"type": "reasoning", "content": content}
        case chat.ToolsRequested(tools):
            return {"type": "tool_planning", "tools": list(tools)}
        case chat.ToolRoundStarted(number, tool_count):
            return {"type": "round_start", "round": number, "tool_count": tool_count}
        case chat.ToolCallStarted(name, call_id):
            return {"type": "tool_start", "name": name, "call_id": call_id}
        case chat.ToolCallEnded(name, call_id, success):
            return {"type": "tool_result", "name": name, "call_id": call_id, "success": success}
        case chat.ChatCompleted():
            return {"type": "done", "content": event.content}
        case _:
            assert_never(event)


def error_event(message: str) -> Json:
    return {"type": "error", "message": message}


def encode_event(event: Json) -> bytes:
    """Encode an event as one server-sent event."""
    return b"data: " + json.dumps(event, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"
