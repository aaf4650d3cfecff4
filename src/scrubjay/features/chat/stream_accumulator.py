"""Accumulate the streamed answer of a language model."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final, cast

from scrubjay.models.chat_proxy import ProxiedResponse
from scrubjay.models.sse import ServerEvent

Json = dict[str, Any]

# Text beyond this is dropped while streaming; a stored turn holds less (`exchange_recorder.MAX_PART_CHARACTERS`).
MAX_TEXT_CHARACTERS: Final = 40_000
# Larger than the arguments of any tool.
_MAX_ARGUMENT_CHARACTERS: Final = 1_000_000
MAX_TOOL_CALLS: Final = 64
FINISH_REASONS: Final = frozenset({"stop", "length", "content_filter"})


@dataclass(slots=True)
class RequestedToolCall:
    """A tool call of the model, complete once the stream ended."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class StreamAccumulator:
    """Collects text, tool calls, finish reason and error of an answer's first choice."""

    def __init__(self) -> None:
        self.text = ""
        self.finish_reason: str | None = None
        self.failure: str | None = None
        """Error message that the service sent within the stream."""
        self.calls: dict[int, RequestedToolCall] = {}
        self._done = False

    @property
    def is_complete_answer(self) -> bool:
        """True when the answer ended without an error and has text."""
        return bool(self.text.strip()) and self.finish_reason in FINISH_REASONS and self.failure is None

    async def chunks(self, forwarded: ProxiedResponse) -> AsyncGenerator[tuple[ServerEvent, Json | None]]:
        """Yield each event, except `[DONE]`, with its JSON; keep-alive events have None.

        Raises the error of `forwarded.broken` when the stream is malformed or incomplete.
        """
        if not forwarded.is_stream:
            raise forwarded.broken("did not send the requested stream")
        async for event in forwarded.events():
            data = event.data.strip()
            if data == b"[DONE]":
                self._done = True
                break
            chunk = _object(data) if data else None
            if data and chunk is None:
                raise forwarded.broken("sent something other than chat completion chunks")
            if chunk is not None:
                self._add(chunk)
            yield event, chunk
        if not (self._done or self.finish_reason or self.failure is not None):
            raise forwarded.broken("ended the stream before the answer was complete")

    def _add(self, chunk: Json) -> None:
        if error := chunk.get("error"):  # some services send null in every chunk
            self.failure = str(cast(Json, error).get("message") if isinstance(error, dict) else error)
        for choice in _first_choices(chunk):
            delta = _mapping(choice.get("delta"))
            text = delta.get("content")
            if isinstance(text, str) and len(self.text) < MAX_TEXT_CHARACTERS:
                self.text += text
            calls = delta.get("tool_calls")
            for position, call in enumerate(cast(list[Any], calls) if isinstance(calls, list) else []):
                self._add_tool_call(position, _mapping(call))
            if isinstance(reason := choice.get("finish_reason"), str):
                self.finish_reason = reason

    def _add_tool_call(self, position: int, delta: Json) -> None:
        sent = delta.get("index")  # some services omit it
        index = sent if isinstance(sent, int) else position
        if index not in self.calls and len(self.calls) >= MAX_TOOL_CALLS:
            return
        call = self.calls.setdefault(index, RequestedToolCall())
        function = _mapping(delta.get("function"))
        call.id = call.id or str(delta.get("id") or "")
        call.name += str(function.get("name") or "")
        if len(call.arguments) < _MAX_ARGUMENT_CHARACTERS:
            call.arguments += str(function.get("arguments") or "")


def delta_text(chunk: Json) -> tuple[str, str]:
    """Return the answer text and the reasoning text of a chunk. Services differ in the name of the reasoning field."""
    text = reasoning = ""
    for choice in _first_choices(chunk):
        delta = _mapping(choice.get("delta"))
        text += _text(delta.get("content"))
        reasoning += _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
    return text, reasoning


def _first_choices(chunk: Json) -> list[Json]:
    choices = chunk.get("choices")
    found = [_mapping(choice) for choice in cast(list[Any], choices)] if isinstance(choices, list) else []
    return [choice for choice in found if choice.get("index") in (None, 0)]


def _mapping(value: Any) -> Json:
    return cast(Json, value) if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(data: bytes) -> Json | None:
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast(Json, found) if isinstance(found, dict) else None
