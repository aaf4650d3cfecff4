"""The bodies of Mira's chat, and its stream of events."""

import json
from typing import Annotated, Any, Literal, TypeVar, assert_never

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.chat import service as talking
from scrubjay.tooling.validation import printable, refuse_unstorable

Json = dict[str, Any]
EVENT_TYPES = (
    *("start", "thinking", "delta", "reasoning", "tool_planning", "round_start", "tool_start", "tool_result"),
    *("done", "error"),
)
MAX_MESSAGE = 100_000
MOST_MESSAGES = 200
SessionId = Annotated[str, Field(min_length=1, max_length=400)]


class ChatMessage(BaseModel):
    """One message of a chat."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["user", "assistant"]
    content: Annotated[str, Field(max_length=MAX_MESSAGE)]


class StreamRequest(BaseModel):
    """A message to be answered piece by piece."""

    model_config = ConfigDict(extra="forbid")

    message: Annotated[str, Field(min_length=1, max_length=MAX_MESSAGE, pattern=r"\S")] = Field(
        description="What is asked."
    )
    session_id: SessionId | None = Field(default=None, description="The conversation; by default the client's own.")


class ChatRequest(StreamRequest):
    """A message to be answered in one piece."""

    history: Annotated[list[ChatMessage], Field(max_length=MOST_MESSAGES)] | None = Field(
        default=None, description="What was said before; by default what is kept of the conversation."
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
    method: Literal["language_model", "memory"] = Field(description="Who answered: a model, or memories alone.")
    model: str | None
    memories: list[str] = Field(description="The ids of the memories that were recalled for it.")
    tools: list[UsedTool] = Field(description="In the order in which they were used.")
    remembered: bool = Field(description="Whether both sides are kept, as the settings and the key allow.")
    degraded: str | None = Field(description="Why less was recalled than should have been.")


class KeptMessage(BaseModel):
    """One message of the history."""

    id: str = Field(description="The memory that has it.")
    role: Literal["user", "assistant"]
    content: str
    created_at: str


class ModelTest(BaseModel):
    """Whether there is a language model, and whether it answers."""

    configured: bool
    model: str | None
    reachable: bool
    latency_ms: float | None
    error: str | None


T = TypeVar("T", bound=BaseModel)


def read(kind: type[T], body: Json) -> T:
    """The body as this model; `InvalidRequest` tells what does not fit."""
    refuse_unstorable(body)
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        said = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in problems[:5])
        raise InvalidRequest(printable(said)) from None


def event_of(event: talking.Event) -> Json:
    """What happens, as Mira's clients know it."""
    match event:
        case talking.Started():
            return {"type": "start"}
        case talking.Thinking():
            return {"type": "thinking"}
        case talking.Delta(content):
            return {"type": "delta", "content": content}
        case talking.Reasoning(content):
            return {"type": "reasoning", "content": content}
        case talking.ToolPlanning(tools):
            return {"type": "tool_planning", "tools": list(tools)}
        case talking.RoundStarted(number, tool_count):
            return {"type": "round_start", "round": number, "tool_count": tool_count}
        case talking.ToolStarted(name, call_id):
            return {"type": "tool_start", "name": name, "call_id": call_id}
        case talking.ToolEnded(name, call_id, success):
            return {"type": "tool_result", "name": name, "call_id": call_id, "success": success}
        case talking.Done():
            return {"type": "done", "content": event.content}
        case _:
            assert_never(event)


def error_event(message: str) -> Json:
    return {"type": "error", "message": message}


def sent(event: Json) -> bytes:
    """As one event of a stream."""
    return b"data: " + json.dumps(event, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"
