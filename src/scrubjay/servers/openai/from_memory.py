"""Replies without a language model: numbered memories, or a tool call that finds them."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from scrubjay.features.chat.memory_answerer import MemoryAnswerer
from scrubjay.features.chat.memory_context import MemoryReference
from scrubjay.models.token_count import count_tokens
from scrubjay.servers.openai.conversation import Conversation, memories_in
from scrubjay.servers.openai.errors import InvalidField
from scrubjay.servers.openai.wire import Json, indexed
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher

NOTHING_FOUND = "No relevant memories found."
MAX_MEMORIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReply:
    """A reply: text, or a tool call."""

    content: str | None
    tool_calls: Sequence[Json] = ()
    memories: list[MemoryReference] = field(default_factory=list[MemoryReference])

    @property
    def finish_reason(self) -> str:
        return "tool_calls" if self.tool_calls else "stop"


class MemoryResponder:
    """Answers a conversation from memories. The same memories give the same answer."""

    def __init__(self, dispatcher: Dispatcher, *, ask: str, route: str, search: str) -> None:
        """`ask`, `route` and `search` name the tools that answer, choose a store, and are called by clients."""
        self._dispatcher = dispatcher
        self._answerer = MemoryAnswerer(dispatcher, ask)
        self._route = route
        self._search = search

    async def __call__(self, conversation: Conversation, context: CallContext) -> MemoryReply:
        if conversation.prompt is None:
            raise InvalidField("No user message found in messages array", "messages")
        if not conversation.question:
            raise InvalidField("the last user message has no text, and no language model is configured", "messages")
        if conversation.tool_results:
            return _reply_from_tool_results(conversation.tool_results)
        if _wants_tool_call(conversation, self._search):
            return await self._tool_call(conversation.question, context)
        return await self._answer(conversation, context)

    async def _tool_call(self, question: str, context: CallContext) -> MemoryReply:
        routed = (await self._dispatcher.call(self._route, {"query": question}, context)).model_dump(mode="json")
        arguments = {"query": question, "store": routed["router_decision"]["primary_store"] or "auto"}
        function = {"name": self._search, "arguments": json.dumps(arguments)}
        return MemoryReply(
            content=None, tool_calls=[{"id": f"call_{uuid4().hex}", "type": "function", "function": function}]
        )

    async def _answer(self, conversation: Conversation, context: CallContext) -> MemoryReply:
        project = conversation.options.project
        found = await self._answerer(conversation.question, context, session=conversation.session, project=project)
        return MemoryReply(content=found.text, memories=found.memories)


def _wants_tool_call(conversation: Conversation, search: str) -> bool:
    """Return True when the client expects a tool call: it sent tools or a `tool_choice`."""
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
            raise InvalidField(f"without a language model only {search} can be called", "tool_choice")


def _reply_from_tool_results(contents: Sequence[str]) -> MemoryReply:
    found = [entry for content in contents for entry in memories_in(content)][:MAX_MEMORIES]
    if not found:
        return MemoryReply(content=NOTHING_FOUND)
    lines = [
        f"• [{entry.get('category') or 'memory'}] {entry['content']} [{number}]"
        for number, entry in enumerate(found, start=1)
    ]
    return MemoryReply(content="\n".join(lines), memories=[_reference(entry) for entry in found if entry.get("id")])


def _reference(entry: Mapping[str, Any]) -> MemoryReference:
    score = entry.get("similarity", entry.get("score"))
    return MemoryReference(
        id=str(entry["id"]),
        score=float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
    )


async def usage_of(conversation: Conversation, reply: MemoryReply, choices: int) -> Json:
    """Return the token usage, counted with our own tokenizer."""
    output = reply.content or json.dumps(list(reply.tool_calls))
    *prompts, completion = await count_tokens([*conversation.all_text(), output])
    prompt = sum(prompts)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion * choices,
        "total_tokens": prompt + completion * choices,
    }


def completion_body(reply: MemoryReply, model: str, usage: Json, choices: int) -> Json:
    """Return the reply as a chat completion."""
    message: Json = {"role": "assistant", "content": reply.content, "refusal": None}
    if reply.tool_calls:
        message["tool_calls"] = list(reply.tool_calls)
    return {
        "id": f"chatcmpl-{uuid4()}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [
            indexed(index, message=message, logprobs=None, finish_reason=reply.finish_reason)
            for index in range(choices)
        ],
        "usage": usage,
    }


def completion_chunks(reply: MemoryReply, model: str, usage: Json | None, choices: int) -> list[Json]:
    """Return the reply as chunks of one line each, with the usage last when it is given."""
    head: Json = {
        "id": f"chatcmpl-{uuid4()}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": model,
    }
    deltas: list[Json] = [{"role": "assistant", "content": "" if reply.content is not None else None}]
    deltas += [{"content": line} for line in (reply.content or "").splitlines(keepends=True)]
    if reply.tool_calls:
        deltas.append({"tool_calls": [indexed(index, **call) for index, call in enumerate(reply.tool_calls)]})
    chunks: list[Json] = []
    for index in range(choices):
        chunks += [{**head, "choices": [indexed(index, delta=delta, finish_reason=None)]} for delta in deltas]
        chunks.append({**head, "choices": [indexed(index, delta={}, finish_reason=reply.finish_reason)]})
    if usage is not None:
        chunks = [{**one, "usage": None} for one in chunks]
        chunks.append({**head, "choices": [], "usage": usage})
    return chunks
