"""The tools that a language model may use while it answers, under the names that it knows them by."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from scrubjay.core.errors import InvalidRequest, ScrubjayError, UnknownTool
from scrubjay.features.chat.stream_accumulator import WantedCall
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.dispatcher import Dispatcher

Json = dict[str, Any]

# The name for the model, our tool, and what of its arguments the model is shown: with =, another default; with !, what
# it cannot choose. There is none that erases, and no shell: what a model has read could make it use them. For the same
# reason those of a coding agent are offered only where the owner wants that.
_BELT: Final = """
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
_DELEGATING: Final = frozenset({"claude_task", "claude_close", "claude_status"})
# What the model is told of a tool of which it can use one part only.
_PARTS: Final = {
    "list_tasks": "List the tasks of this project that are not completed, or those of one status.",
    "list_goals": "List the goals of this project that are not finished, with their progress, or those of one status.",
}
# More of an answer is not for one look.
MOST_CHARACTERS: Final = 20_000


@dataclass(frozen=True, slots=True)
class _Offer:
    name: str
    tool: str
    shown: Sequence[str]
    defaults: Mapping[str, Any]
    fixed: Mapping[str, Any]


def _offer(line: str) -> _Offer:
    name, tool, *arguments = line.split()
    pairs = [argument.lstrip("!").partition("=") for argument in arguments]
    values = {key: int(value) if value.isdigit() else value for key, sign, value in pairs if sign}
    fixed = {argument[1:].partition("=")[0] for argument in arguments if argument.startswith("!")}
    return _Offer(
        name,
        tool,
        shown=[key for key, _, _ in pairs if key not in fixed],
        defaults={key: value for key, value in values.items() if key not in fixed},
        fixed={key: values[key] for key in fixed},
    )


_OFFERS: Final = {offer.name: offer for offer in map(_offer, _BELT.strip().splitlines())}


class ToolBelt:
    """Offers what this server has and the caller's key opens, and calls it as the caller."""

    def __init__(self, dispatcher: Dispatcher, *, delegates: bool = False) -> None:
        """`delegates` is whether the model may give tasks to a coding agent."""
        self._dispatcher = dispatcher
        self._offers = {name: offer for name, offer in _OFFERS.items() if delegates or offer.tool not in _DELEGATING}

    def offered(self, context: CallContext) -> list[Json]:
        """The tools as a language model is told of them."""
        return [_described(offer, tool) for offer in self._offers.values() if (tool := self._tool(offer, context))]

    async def use(self, call: WantedCall, context: CallContext) -> tuple[bool, str]:
        """Whether it worked, and what the model is told of it."""
        try:
            offer = self._offers.get(call.name)
            if offer is None or self._tool(offer, context) is None:
                raise UnknownTool(f"there is no tool called {call.name[:100]!r}")
            arguments = {**offer.defaults, **_arguments(call.arguments), **offer.fixed}
            answer = await self._dispatcher.call(offer.tool, arguments, context)
        except ScrubjayError as error:
            told = {"code": error.code, "message": error.message, "hint": error.hint}
            return False, json.dumps({"error": told}, ensure_ascii=False)
        return True, answer.model_dump_json(by_alias=True)[:MOST_CHARACTERS]

    def _tool(self, offer: _Offer, context: CallContext) -> Tool | None:
        registry = self._dispatcher.registry
        if offer.tool not in registry:
            return None
        tool = registry.get(offer.tool)
        return tool if context.caller.may_call(tool.family, read_only=tool.only_reads(offer.fixed)) else None


def _described(offer: _Offer, tool: Tool) -> Json:
    schema = tool.input_schema
    known: Json = schema["properties"]
    shown = {
        name: {**known[name], **({"default": offer.defaults[name]} if name in offer.defaults else {})}
        for name in offer.shown
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
            "name": offer.name,
            "description": _PARTS.get(offer.name, tool.description),
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
