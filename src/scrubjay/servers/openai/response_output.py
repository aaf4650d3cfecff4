"""A response as it is made, out of the pieces of a chat completion, with the events that tell of each step."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from scrubjay.core.ids import new_id
from scrubjay.servers.openai.answers import told
from scrubjay.servers.openai.wire import Json, Recalled, ResponsesRequest, place_of

_ECHOED: Final = (
    "temperature",
    "top_p",
    "metadata",
    "user",
    "parallel_tool_calls",
    "max_output_tokens",
    "reasoning",
    "text",
    "truncation",
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A kind of what a message says."""

    type: str
    field: str
    """Which of the part has the words."""
    empty: Json
    """What else a part has."""
    beside: Json
    """What else its events tell."""


_TEXT: Final = _Part("output_text", "text", {"annotations": [], "logprobs": []}, {"logprobs": []})
_REFUSAL: Final = _Part("refusal", "refusal", {}, {})
# By the field of a chat completion that has it, and by its type.
_PARTS: Final = {"content": _TEXT, "refusal": _REFUSAL}
_KINDS: Final = {kind.type: kind for kind in _PARTS.values()}


class ResponseInTheMaking:
    """Takes pieces of the first choice of a chat completion; gives the events of a response."""

    def __init__(self, request: ResponsesRequest, body: Json, recalled: Recalled, model: str) -> None:
        self._sequence = 0
        self._items: list[Json] = []
        self._calls: dict[int, int] = {}
        """Where the call of each index is among the items."""
        self._message: int | None = None
        self._reason: str | None = None
        self._response: Json = {
            "id": new_id("resp"),
            "object": "response",
            "created_at": int(time.time()),
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "instructions": request.instructions,
            "model": model,
            "output": [],
            "previous_response_id": None,
            "store": False,
            "tools": request.tools or [],
            "tool_choice": request.tool_choice if request.tool_choice is not None else "auto",
            "usage": None,
            **dict.fromkeys(("temperature", "top_p", "metadata")),
            "parallel_tool_calls": True,
            **{name: body[name] for name in _ECHOED if body.get(name) is not None},
            "scrubjay": told(recalled),
        }

    def begin(self) -> Iterator[bytes]:
        yield self._event("response.created", response=self._response)
        yield self._event("response.in_progress", response=self._response)

    def take(self, chunk: Json) -> Iterator[bytes]:
        """What a piece adds."""
        if isinstance(model := chunk.get("model"), str) and model:
            self._response["model"] = model
        if isinstance(usage := chunk.get("usage"), dict):
            self._response["usage"] = _usage(cast(Json, usage))
        choices: list[Json] = chunk.get("choices") or []
        for choice in choices:
            if place_of(choice) == 0:
                yield from self._take(choice.get("delta") or choice.get("message") or {})
                self._reason = choice.get("finish_reason") or self._reason

    def end(self) -> Iterator[bytes]:
        """The ends of all items, and of the response."""
        for place in range(len(self._items)):
            yield from self._end_item(place)
        cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(self._reason or "")
        self._response["status"] = "incomplete" if cut else "completed"
        if cut:
            self._response["incomplete_details"] = {"reason": cut}
        self._response["output"] = self._items
        yield self._event(f"response.{self._response['status']}", response=self._response)

    def fail(self, error: Json) -> bytes:
        """The event that tells of a failure on the way."""
        fields = {name: error[name] for name in ("code", "message", "param")}
        return self._event("error", **fields)

    @property
    def response(self) -> Json:
        return self._response

    def _take(self, delta: Json) -> Iterator[bytes]:
        for field, kind in _PARTS.items():
            said: Any = delta.get(field)
            if isinstance(said, str) and said:
                yield from self._say(kind, said)
        calls: list[Json] = delta.get("tool_calls") or []
        for order, call in enumerate(calls):
            yield from self._take_call(place_of(call, order), call)

    def _say(self, kind: _Part, said: str) -> Iterator[bytes]:
        if self._message is None:
            yield from self._begin_message()
        place = cast(int, self._message)
        parts: list[Json] = self._items[place]["content"]
        if not parts or parts[-1]["type"] != kind.type:
            parts.append({"type": kind.type, kind.field: "", **kind.empty})
            yield self._event("response.content_part.added", part=parts[-1], **self._where(place, len(parts) - 1))
        parts[-1][kind.field] += said
        where = self._where(place, len(parts) - 1)
        yield self._event(f"response.{kind.type}.delta", delta=said, **kind.beside, **where)

    def _begin_message(self) -> Iterator[bytes]:
        place = self._message = len(self._items)
        item: Json = {
            "id": new_id("msg"),
            "type": "message",
            "status": "in_progress",
            "role": "assistant",
            "content": [],
        }
        self._items.append(item)
        yield self._event("response.output_item.added", output_index=place, item=item)

    def _take_call(self, index: int, call: Json) -> Iterator[bytes]:
        function: Json = call.get("function") or {}
        if index not in self._calls:
            self._calls[index] = len(self._items)
            item: Json = {
                "id": new_id("fc"),
                "type": "function_call",
                "status": "in_progress",
                "call_id": str(call.get("id") or new_id("call")),
                "name": str(function.get("name") or ""),
                "arguments": "",
            }
            self._items.append(item)
            yield self._event("response.output_item.added", output_index=self._calls[index], item=item)
        place = self._calls[index]
        item = self._items[place]
        if arguments := function.get("arguments"):
            item["arguments"] += arguments
            yield self._event(
                "response.function_call_arguments.delta", delta=arguments, item_id=item["id"], output_index=place
            )

    def _end_item(self, place: int) -> Iterator[bytes]:
        item = self._items[place]
        item["status"] = "completed"
        if item["type"] == "message":
            for index, part in enumerate(item["content"]):
                kind, where = _KINDS[part["type"]], self._where(place, index)
                told = {kind.field: part[kind.field], **kind.beside}
                yield self._event(f"response.{kind.type}.done", **told, **where)
                yield self._event("response.content_part.done", part=part, **where)
        else:
            done = {"arguments": item["arguments"], "name": item["name"], "item_id": item["id"]}
            yield self._event("response.function_call_arguments.done", output_index=place, **done)
        yield self._event("response.output_item.done", output_index=place, item=item)

    def _where(self, place: int, index: int) -> Json:
        return {"item_id": self._items[place]["id"], "output_index": place, "content_index": index}

    def _event(self, kind: str, **fields: Any) -> bytes:
        data = {"type": kind, "sequence_number": self._sequence, **fields}
        self._sequence += 1
        return f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode()


def _usage(usage: Json) -> Json:
    prompt, completion = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    cached: Json = usage.get("prompt_tokens_details") or {}
    thought: Json = usage.get("completion_tokens_details") or {}
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": cached.get("cached_tokens") or 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": thought.get("reasoning_tokens") or 0},
        "total_tokens": usage.get("total_tokens") or prompt + completion,
    }
