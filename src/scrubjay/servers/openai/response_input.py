"""A request for a response as the conversation that it stands for."""

from collections.abc import Sequence
from typing import Any, cast

from scrubjay.servers.openai.errors import WrongField
from scrubjay.servers.openai.wire import Json, ResponsesRequest

# What has the same name and meaning in both protocols.
_SAME = (
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
    """The body of the chat completion that answers it; what needs a store of responses is refused."""
    for name in ("previous_response_id", "conversation", "background", "prompt"):
        if body.get(name):
            raise WrongField(f"{name} is not supported: responses are not stored here, send the whole input", name)
    made: Json = {name: body[name] for name in _SAME if body.get(name) is not None}
    made["messages"] = _messages(request)
    if request.tools:
        made["tools"] = [_tool(tool, place) for place, tool in enumerate(request.tools)]
    if request.tool_choice is not None:
        made["tool_choice"] = _choice(request.tool_choice)
    if request.max_output_tokens is not None:
        made["max_completion_tokens"] = request.max_output_tokens
    if effort := (request.reasoning or {}).get("effort"):
        made["reasoning_effort"] = effort
    if (shape := (request.text or {}).get("format")) and isinstance(shape, dict):
        made |= _format(cast(Json, shape))
    if request.stream:
        made["stream_options"] = {"include_usage": True}
    return made


def _messages(request: ResponsesRequest) -> list[Json]:
    messages: list[Json] = []
    if request.instructions:
        messages.append({"role": "system", "content": request.instructions})
    if isinstance(request.input, str):
        return [*messages, {"role": "user", "content": request.input}]
    for place, item in enumerate(request.input):
        match item.get("type", "message"):
            case "message" if isinstance(role := item.get("role"), str):
                messages.append({"role": role, "content": _content(item.get("content"), place)})
            case "function_call":
                _add_call(messages, item)
            case "function_call_output":
                output: Any = item.get("output")
                content = output if isinstance(output, str) else _content(output, place)
                messages.append({"role": "tool", "tool_call_id": str(item.get("call_id", "")), "content": content})
            case "reasoning":  # of an earlier answer; a chat has no place for it
                pass
            case kind:
                raise WrongField(f"items of type {str(kind)[:50]!r} are not supported", f"input.{place}.type")
    if not messages:
        raise WrongField("input has no items", "input")
    return messages


def _add_call(messages: list[Json], item: Json) -> None:
    function = {"name": str(item.get("name", "")), "arguments": str(item.get("arguments", ""))}
    call = {"id": str(item.get("call_id", "")), "type": "function", "function": function}
    if messages and messages[-1]["role"] == "assistant":  # calls of one answer are in one message
        messages[-1].setdefault("tool_calls", []).append(call)
    else:
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})


def _content(content: Any, place: int) -> str | list[Json]:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise WrongField("a message needs content", f"input.{place}.content")
    parts = [_part(part, place) for part in cast(Sequence[Any], content)]
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def _part(part: Any, place: int) -> Json:
    fields = cast(Json, part) if isinstance(part, dict) else {}
    kind = fields.get("type")
    if kind in _TEXT_PARTS and isinstance(fields.get("text"), str):
        return {"type": "text", "text": fields["text"]}
    if kind == "refusal" and isinstance(fields.get("refusal"), str):
        return {"type": "text", "text": fields["refusal"]}
    if kind == "input_image" and isinstance(fields.get("image_url"), str):
        detail = {"detail": fields["detail"]} if fields.get("detail") else {}
        return {"type": "image_url", "image_url": {"url": fields["image_url"], **detail}}
    raise WrongField(f"parts of type {str(kind)[:50]!r} are not supported", f"input.{place}.content")


def _tool(tool: Json, place: int) -> Json:
    if tool.get("type") != "function" or not isinstance(tool.get("name"), str):
        raise WrongField("only tools of type function are supported", f"tools.{place}.type")
    return {"type": "function", "function": {name: value for name, value in tool.items() if name != "type"}}


def _choice(choice: str | Json) -> str | Json:
    if isinstance(choice, str):
        return choice
    if choice.get("type") != "function":
        raise WrongField("only functions can be chosen", "tool_choice")
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
