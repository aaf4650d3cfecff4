"""Answers without a language model: memories with their numbers, or the call that finds them."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from scrubjay.features.chat.memory_answers import MemoryAnswers
from scrubjay.features.chat.recall_context import RecalledMemory
from scrubjay.models.token_count import count_tokens
from scrubjay.servers.openai.conversation import Conversation, memories_in
from scrubjay.servers.openai.errors import WrongField
from scrubjay.servers.openai.wire import Json, indexed
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher

NOTHING_FOUND = "No relevant memories found."
MOST_TOLD = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is answered: words, or the call of a tool."""

    content: str | None
    tool_calls: Sequence[Json] = ()
    memories: list[RecalledMemory] = field(default_factory=list[RecalledMemory])

    @property
    def finish_reason(self) -> str:
        return "tool_calls" if self.tool_calls else "stop"


class FromMemory:
    """Answers a conversation out of what is remembered. The same memories give the same answer."""

    def __init__(self, dispatcher: Dispatcher, *, ask: str, route: str, search: str) -> None:
        """The tools that answer a question, that tell which store it belongs to, and that a client is told to call."""
        self._dispatcher = dispatcher
        self._answers = MemoryAnswers(dispatcher, ask)
        self._route = route
        self._search = search

    async def __call__(self, conversation: Conversation, context: CallContext) -> Said:
        if conversation.prompt is None:
            raise WrongField("No user message found in messages array", "messages")
        if not conversation.question:
            raise WrongField("the last user message has no text, and there is no language model", "messages")
        if conversation.tool_answers:
            return _told_by_tools(conversation.tool_answers)
        if _wants_call(conversation, self._search):
            return await self._call(conversation.question, context)
        return await self._answer(conversation, context)

    async def _call(self, question: str, context: CallContext) -> Said:
        routed = (await self._dispatcher.call(self._route, {"query": question}, context)).model_dump(mode="json")
        arguments = {"query": question, "store": routed["router_decision"]["primary_store"] or "auto"}
        function = {"name": self._search, "arguments": json.dumps(arguments)}
        return Said(content=None, tool_calls=[{"id": f"call_{uuid4().hex}", "type": "function", "function": function}])

    async def _answer(self, conversation: Conversation, context: CallContext) -> Said:
        project = conversation.wishes.project
        found = await self._answers(conversation.question, context, session=conversation.session, project=project)
        return Said(content=found.text, memories=found.memories)


def _wants_call(conversation: Conversation, search: str) -> bool:
    """Whether the client is ready for the call of a tool: it has tools, or says which choice there is."""
    tools, choice = conversation.request.tools, conversation.request.tool_choice
    match choice:
        case "none":
            return False
        case "auto" | "required":
            return True
        case None:
            return bool(tools)
        case {"function": {"name": name}} if name == search:
            return True
        case _:
            raise WrongField(f"without a language model only {search} can be called", "tool_choice")


def _told_by_tools(contents: Sequence[str]) -> Said:
    found = [entry for content in contents for entry in memories_in(content)][:MOST_TOLD]
    if not found:
        return Said(content=NOTHING_FOUND)
    lines = [
        f"• [{entry.get('category') or 'memory'}] {entry['content']} [{number}]"
        for number, entry in enumerate(found, start=1)
    ]
    return Said(content="\n".join(lines), memories=[_memory(entry) for entry in found if entry.get("id")])


def _memory(entry: Mapping[str, Any]) -> RecalledMemory:
    score = entry.get("similarity", entry.get("score"))
    return RecalledMemory(
        id=str(entry["id"]),
        score=float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
    )


async def usage_of(conversation: Conversation, said: Said, choices: int) -> Json:
    """What it took, as our tokenizer counts."""
    answered = said.content or json.dumps(list(said.tool_calls))
    *prompts, completion = await count_tokens([*conversation.all_text(), answered])
    prompt = sum(prompts)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion * choices,
        "total_tokens": prompt + completion * choices,
    }


def whole(said: Said, model: str, usage: Json, choices: int) -> Json:
    """The answer in one piece."""
    message: Json = {"role": "assistant", "content": said.content, "refusal": None}
    if said.tool_calls:
        message["tool_calls"] = list(said.tool_calls)
    return {
        "id": f"chatcmpl-{uuid4()}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [
            indexed(index, message=message, logprobs=None, finish_reason=said.finish_reason) for index in range(choices)
        ],
        "usage": usage,
    }


def pieces(said: Said, model: str, usage: Json | None, choices: int) -> list[Json]:
    """The answer in pieces, a line each; with the usage last when it is wanted."""
    head: Json = {
        "id": f"chatcmpl-{uuid4()}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": model,
    }
    deltas: list[Json] = [{"role": "assistant", "content": "" if said.content is not None else None}]
    deltas += [{"content": line} for line in (said.content or "").splitlines(keepends=True)]
    if said.tool_calls:
        deltas.append({"tool_calls": [indexed(place, **call) for place, call in enumerate(said.tool_calls)]})
    made: list[Json] = []
    for index in range(choices):
        made += [{**head, "choices": [indexed(index, delta=delta, finish_reason=None)]} for delta in deltas]
        made.append({**head, "choices": [indexed(index, delta={}, finish_reason=said.finish_reason)]})
    if usage is not None:
        made = [{**one, "usage": None} for one in made]
        made.append({**head, "choices": [], "usage": usage})
    return made
