"""The tools that the chat's language model may call, under the names that it sees."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from scrubjay.core.errors import InvalidRequest, ScrubjayError, UnknownTool
from scrubjay.features.chat.stream_accumulator import RequestedToolCall
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.dispatcher import Dispatcher

Json = dict[str, Any]

# Name for the model, our tool, and the arguments that the model sees: `=` changes the default, `!` fixes the value.
# No tool erases data or runs a shell, because text that the model reads could make it call one (prompt injection).
# For the same reason the tools of a coding agent are offered only when the operator allows it.
_SPEC_LINES: Final = """
recall_memories recall query limit=5
search_code semantic_code_search query language limit=10
find_callers find_callers function_name limit=20
find_callees find_callees function_name limit=20
get_symbols get_symbols file_path
remember remember content category key
list_tasks task status !action=list
list_goals goal status !action=list
list_projects list_projects
set_project set_project path
google_search google_search query num_results
web_fetch web_fetch url
research research question depth
discuss discuss message
claude_task claude_task task
claude_close claude_close
claude_status claude_status
"""
_DELEGATION_TOOLS: Final = frozenset({"claude_task", "claude_close", "claude_status"})
# Descriptions of tools that the model can use only in part.
_PARTIAL_DESCRIPTIONS: Final = {
    "list_tasks": "List the tasks of this project that are not completed, or those of one status.",
    "list_goals": "List the goals of this project that are not finished, with their progress, or those of one status.",
}
# A longer result is cut, because it would fill the model's context window.
MAX_RESULT_CHARACTERS: Final = 20_000


@dataclass(frozen=True, slots=True)
class _ToolSpec:
    name: str
    tool: str
    shown: Sequence[str]
    defaults: Mapping[str, Any]
    fixed: Mapping[str, Any]


def _parse_spec(line: str) -> _ToolSpec:
    name, tool, *arguments = line.split()
    pairs = [argument.lstrip("!").partition("=") for argument in arguments]
    values = {key: int(value) if value.isdigit() else value for key, sign, value in pairs if sign}
    fixed = {argument[1:].partition("=")[0] for argument in arguments if argument.startswith("!")}
    return _ToolSpec(
        name,
        tool,
        shown=[key for key, _, _ in pairs if key not in fixed],
        defaults={key: value for key, value in values.items() if key not in fixed},
        fixed={key: values[key] for key in fixed},
    )


_SPECS: Final = {spec.name: spec for spec in map(_parse_spec, _SPEC_LINES.strip().splitlines())}


class ChatTools:
    """Offers the tools that the caller may use, and calls them as the caller."""

    def __init__(self, dispatcher: Dispatcher, *, allow_delegation: bool = False) -> None:
        """`allow_delegation` lets the model give tasks to a coding agent."""
        self._dispatcher = dispatcher
        self._specs = {
            name: spec for name, spec in _SPECS.items() if allow_delegation or spec.tool not in _DELEGATION_TOOLS
        }

    def definitions(self, context: CallContext) -> list[Json]:
        """Return the tools as OpenAI function definitions."""
        return [_definition(spec, tool) for spec in self._specs.values() if (tool := self._tool(spec, context))]

    async def call(self, call: RequestedToolCall, context: CallContext) -> tuple[bool, str]:
        """Call a tool; return success, and its result or error as JSON for the model."""
        try:
            spec = self._specs.get(call.name)
            if spec is None or self._tool(spec, context) is None:
                raise UnknownTool(f"there is no tool named {call.name[:100]!r}")
            arguments = {**spec.defaults, **_arguments(call.arguments), **spec.fixed}
            answer = await self._dispatcher.call(spec.tool, arguments, context)
        except ScrubjayError as error:
            fields = {"code": error.code, "message": error.message, "hint": error.hint}
            return False, json.dumps({"error": fields}, ensure_ascii=False)
        return True, answer.model_dump_json(by_alias=True)[:MAX_RESULT_CHARACTERS]

    def _tool(self, spec: _ToolSpec, context: CallContext) -> Tool | None:
        registry = self._dispatcher.registry
        if spec.tool not in registry:
            return None
        tool = registry.get(spec.tool)
        read_only = tool.only_reads(spec.fixed)
        return tool if tool.missing_scope(context.caller, read_only=read_only) is None else None


def _definition(spec: _ToolSpec, tool: Tool) -> Json:
    schema = tool.input_schema
    known: Json = schema["properties"]
    shown = {
        name: {**known[name], **({"default": spec.defaults[name]} if name in spec.defaults else {})}
        for name in spec.shown
        if name in known
    }
    parameters: Json = {
        "type": "object",
        "properties": shown,
        "required": [name for name in schema.get("required", ()) if name in shown],
    }
    if "$ref" in json.dumps(shown):
        parameters["$defs"] = schema["$defs"]
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": _PARTIAL_DESCRIPTIONS.get(spec.name, tool.description),
            "parameters": parameters,
        },
    }


def _arguments(text: str) -> Json:
    try:
        found: Any = json.loads(text or "{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidRequest("the arguments are not a JSON object")
    return cast(Json, found)
