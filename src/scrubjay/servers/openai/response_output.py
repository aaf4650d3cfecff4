"""Build a response, with its stream of events, from the chunks of a chat completion."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from scrubjay.core.ids import new_id
from scrubjay.servers.openai.answers import recalled_fields
from scrubjay.servers.openai.wire import Json, Recalled, ResponsesRequest, index_of

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
class _PartKind:
    """A kind of message part."""

    type: str
    text_field: str
    """The field with the text."""
    extra_fields: Json
    """Initial values of the part's other fields."""
    extra_event_fields: Json
    """Additional fields of its events."""


_TEXT: Final = _PartKind("output_text", "text", {"annotations": [], "logprobs": []}, {"logprobs": []})
_REFUSAL: Final = _PartKind("refusal", "refusal", {}, {})
# Part kinds by the field of a chat completion's delta, and by their type.
_PARTS: Final = {"content": _TEXT, "refusal": _REFUSAL}
_KINDS: Final = {kind.type: kind for kind in _PARTS.values()}


class ResponseBuilder:
    """Converts the chunks of a completion's first choice to the events of a response."""

    def __init__(self, request: ResponsesRequest, body: Json, recalled: Recalled, model: str) -> None:
        self._sequence = 0
        self._items: list[Json] = []
        self._calls: dict[int, int] = {}
        """The item index of each tool call, by the call's index."""
        self._message: int | None = None
        self._finish_reason: str | None = None
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
            "scrubjay": recalled_fields(recalled),
        }

    def start(self) -> Iterator[bytes]:
        yield self._event("response.created", response=self._response)
        yield self._event("response.in_progress", response=self._response)

    def add(self, chunk: Json) -> Iterator[bytes]:
        """Add a chunk; yield its events."""
        if isinstance(model := chunk.get("model"), str) and model:
            self._response["model"] = model
        if isinstance(usage := chunk.get("usage"), dict):
            self._response["usage"] = _usage(cast(Json, usage))
        choices: list[Json] = chunk.get("choices") or []
        for choice in choices:
            if index_of(choice) == 0:
                yield from self._add_delta(choice.get("delta") or choice.get("message") or {})
                self._finish_reason = choice.get("finish_reason") or self._finish_reason

    def finish(self) -> Iterator[bytes]:
        """Complete all items and the response; yield their events."""
        for item_index in range(len(self._items)):
            yield from self._finish_item(item_index)
        cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(self._finish_reason or "")
        self._response["status"] = "incomplete" if cut else "completed"
        if cut:
            self._response["incomplete_details"] = {"reason": cut}
        self._response["output"] = self._items
        yield self._event(f"response.{self._response['status']}", response=self._response)

    def fail(self, error: Json) -> bytes:
        """Return the event for an error after the response started."""
        fields = {name: error[name] for name in ("code", "message", "param")}
        return self._event("error", **fields)

    @property
    def response(self) -> Json:
        return self._response

    def _add_delta(self, delta: Json) -> Iterator[bytes]:
        for field, kind in _PARTS.items():
            text: Any = delta.get(field)
            if isinstance(text, str) and text:
                yield from self._add_text(kind, text)
        calls: list[Json] = delta.get("tool_calls") or []
        for order, call in enumerate(calls):
            yield from self._add_call(index_of(call, order), call)

    def _add_text(self, kind: _PartKind, text: str) -> Iterator[bytes]:
        if self._message is None:
            yield from self._start_message()
        item_index = cast(int, self._message)
        parts: list[Json] = self._items[item_index]["content"]
        if not parts or parts[-1]["type"] != kind.type:
            parts.append({"type": kind.type, kind.text_field: "", **kind.extra_fields})
            yield self._event(
                "response.content_part.added", part=parts[-1], **self._position(item_index, len(parts) - 1)
            )
        parts[-1][kind.text_field] += text
        position = self._position(item_index, len(parts) - 1)
        yield self._event(f"response.{kind.type}.delta", delta=text, **kind.extra_event_fields, **position)

    def _start_message(self) -> Iterator[bytes]:
        item_index = self._message = len(self._items)
        item: Json = {
            "id": new_id("msg"),
            "type": "message",
            "status": "in_progress",
            "role": "assistant",
            "content": [],
        }
        self._items.append(item)
        yield self._event("response.output_item.added", output_index=item_index, item=item)

    def _add_call(self, index: int, call: Json) -> Iterator[bytes]:
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
        item_index = self._calls[index]
        item = self._items[item_index]
        if arguments := function.get("arguments"):
            item["arguments"] += arguments
            yield self._event(
                "response.function_call_arguments.delta", delta=arguments, item_id=item["id"], output_index=item_index
            )

    def _finish_item(self, item_index: int) -> Iterator[bytes]:
        item = self._items[item_index]
        item["status"] = "completed"
        if item["type"] == "message":
            for index, part in enumerate(item["content"]):
                kind, position = _KINDS[part["type"]], self._position(item_index, index)
                fields = {kind.text_field: part[kind.text_field], **kind.extra_event_fields}
                yield self._event(f"response.{kind.type}.done", **fields, **position)
                yield self._event("response.content_part.done", part=part, **position)
        else:
            done = {"arguments": item["arguments"], "name": item["name"], "item_id": item["id"]}
            yield self._event("response.function_call_arguments.done", output_index=item_index, **done)
        yield self._event("response.output_item.done", output_index=item_index, item=item)

    def _position(self, item_index: int, index: int) -> Json:
        return {"item_id": self._items[item_index]["id"], "output_index": item_index, "content_index": index}

    def _event(self, kind: str, **fields: Any) -> bytes:
        data = {"type": kind, "sequence_number": self._sequence, **fields}
        self._sequence += 1
        return f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode()


def _usage(usage: Json) -> Json:
    prompt, completion = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    cached: Json = usage.get("prompt_tokens_details") or {}
    completion_details: Json = usage.get("completion_tokens_details") or {}
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": cached.get("cached_tokens") or 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": completion_details.get("reasoning_tokens") or 0},
        "total_tokens": usage.get("total_tokens") or prompt + completion,
    }
