"""Convert a request of the Responses API to a chat completion request."""

from collections.abc import Sequence
from typing import Any, cast

from scrubjay.servers.openai.errors import InvalidField
from scrubjay.servers.openai.wire import Json, ResponsesRequest

# Fields with the same name and meaning in both APIs.
_SHARED_FIELDS = (
    "model",
    "stream",
    "temperature",
    "top_p",
    "parallel_tool_calls",
    "user",
    "metadata",
    "service_tier",
    "prompt_cache_key",
    "safety_identifier",
    "scrubjay",
    "top_logprobs",
)
_TEXT_PARTS = ("input_text", "output_text", "text")


def chat_body(request: ResponsesRequest, body: Json) -> Json:
    """Return the body of the equivalent chat completion; refuse fields that need stored responses."""
    for name in ("previous_response_id", "conversation", "background", "prompt"):
        if body.get(name):
            raise InvalidField(f"{name} is not supported: responses are not stored, send the whole input", name)
    chat: Json = {name: body[name] for name in _SHARED_FIELDS if body.get(name) is not None}
    chat["messages"] = _messages(request)
    if request.tools:
        chat["tools"] = [_tool(tool, index) for index, tool in enumerate(request.tools)]
    if request.tool_choice is not None:
        chat["tool_choice"] = _choice(request.tool_choice)
    if request.max_output_tokens is not None:
        chat["max_completion_tokens"] = request.max_output_tokens
    if effort := (request.reasoning or {}).get("effort"):
        chat["reasoning_effort"] = effort
    if (shape := (request.text or {}).get("format")) and isinstance(shape, dict):
        chat |= _format(cast(Json, shape))
    if request.stream:
        chat["stream_options"] = {"include_usage": True}
    return chat


def _messages(request: ResponsesRequest) -> list[Json]:
    messages: list[Json] = []
    if request.instructions:
        messages.append({"role": "system", "content": request.instructions})
    if isinstance(request.input, str):
        return [*messages, {"role": "user", "content": request.input}]
    for index, item in enumerate(request.input):
        match item.get("type", "message"):
            case "message" if isinstance(role := item.get("role"), str):
                messages.append({"role": role, "content": _content(item.get("content"), index)})
            case "function_call":
                _add_call(messages, item)
            case "function_call_output":
                output: Any = item.get("output")
                content = output if isinstance(output, str) else _content(output, index)
                messages.append({"role": "tool", "tool_call_id": str(item.get("call_id", "")), "content": content})
            case "reasoning":  # of an earlier answer; chat completions have no field for it
                pass
            case kind:
                raise InvalidField(f"items of type {str(kind)[:50]!r} are not supported", f"input.{index}.type")
    if not messages:
        raise InvalidField("input has no items", "input")
    return messages


def _add_call(messages: list[Json], item: Json) -> None:
    function = {"name": str(item.get("name", "")), "arguments": str(item.get("arguments", ""))}
    call = {"id": str(item.get("call_id", "")), "type": "function", "function": function}
    if messages and messages[-1]["role"] == "assistant":  # the calls of one answer share one message
        messages[-1].setdefault("tool_calls", []).append(call)
    else:
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})


def _content(content: Any, index: int) -> str | list[Json]:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidField("a message needs content", f"input.{index}.content")
    parts = [_part(part, index) for part in cast(Sequence[Any], content)]
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def _part(part: Any, index: int) -> Json:
    fields = cast(Json, part) if isinstance(part, dict) else {}
    kind = fields.get("type")
    if kind in _TEXT_PARTS and isinstance(fields.get("text"), str):
        return {"type": "text", "text": fields["text"]}
    if kind == "refusal" and isinstance(fields.get("refusal"), str):
        return {"type": "text", "text": fields["refusal"]}
    if kind == "input_image" and isinstance(fields.get("image_url"), str):
        detail = {"detail": fields["detail"]} if fields.get("detail") else {}
        return {"type": "image_url", "image_url": {"url": fields["image_url"], **detail}}
    raise InvalidField(f"parts of type {str(kind)[:50]!r} are not supported", f"input.{index}.content")


def _tool(tool: Json, index: int) -> Json:
    if tool.get("type") != "function" or not isinstance(tool.get("name"), str):
        raise InvalidField("only tools of type function are supported", f"tools.{index}.type")
    return {"type": "function", "function": {name: value for name, value in tool.items() if name != "type"}}


def _choice(choice: str | Json) -> str | Json:
    if isinstance(choice, str):
        return choice
    if choice.get("type") != "function":
        raise InvalidField("only functions can be chosen", "tool_choice")
    return {"type": "function", "function": {"name": choice.get("name")}}


def _format(shape: Json) -> Json:
    match shape.get("type"):
        case "text":
            return {}
        case "json_schema":
            named = {name: value for name, value in shape.items() if name != "type"}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case _:
            return {"response_format": shape}
