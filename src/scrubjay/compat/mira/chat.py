"""Mira's chat: `/api/chat`, its stream, its history, and whether there is a language model."""

import logging
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scrubjay.compat.mira import chat_wire as wire
from scrubjay.compat.mira.envelope import failed, success
from scrubjay.compat.mira.handler import Asked
from scrubjay.core.error_location import place_of
from scrubjay.core.errors import Cancelled, Forbidden, ScrubjayError
from scrubjay.features.chat.exchange_recorder import CHAT_TAG, note_session
from scrubjay.features.chat.service import Done, Message, Said, Talk, ToolEnded
from scrubjay.models.chat_proxy import Forwarder, UnusableForwarder
from scrubjay.servers.http.errors import unforeseen
from scrubjay.servers.http.requests import SESSION_HEADER, label_of
from scrubjay.tooling.call_events import CallEvents
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.security_events import closed

logger = logging.getLogger("scrubjay.mira")

# As many messages of a conversation are given to the model again, and shown.
HISTORY_MESSAGES: Final = 20
# Among what is remembered in a session, the messages are looked for in so much.
_LOOKED_AT: Final = 100
_STOPPED: Final = "the chat was stopped by its client"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatParts:
    """What a chat is made of."""

    talk: Talk
    events: CallEvents
    dispatcher: Dispatcher
    list_tool: str
    """The tool that lists what is remembered in a session."""
    forwarder: Forwarder | UnusableForwarder | None


class Chat:
    """Answers messages, and keeps conversations apart by their sessions."""

    def __init__(self, parts: ChatParts) -> None:
        self._parts = parts

    async def answer(self, asked: Asked) -> Response:
        """All of an answer at once."""
        request = wire.read(wire.ChatRequest, asked.body)
        message = await self._message(request, asked, request.history)
        tools: list[wire.UsedTool] = []
        done: Done | None = None
        with self._parts.events.stoppable(message.context):
            async with aclosing(self._parts.talk(message)) as events:
                async for event in events:
                    if isinstance(event, ToolEnded):
                        tools.append(wire.UsedTool(name=event.name, call_id=event.call_id, success=event.success))
                    elif isinstance(event, Done):
                        done = event
        if done is None:
            raise Cancelled(_STOPPED)
        answer = wire.ChatAnswer(
            content=done.content,
            session_id=message.session_id,
            method=done.method,
            model=done.model,
            memories=[one.id for one in done.memories],
            tools=tools,
            remembered=done.remembered,
            degraded=done.degraded,
        )
        return success(answer.model_dump(mode="json"))

    async def stream(self, asked: Asked) -> Response:
        """An answer as it comes."""
        request = wire.read(wire.StreamRequest, asked.body)
        return _Stream(self._parts, await self._message(request, asked, None))

    async def history(self, asked: Asked) -> Response:
        """The last messages of a conversation, the earliest first."""
        session_id = asked.query.get("session_id") or _session_of(asked)
        kept = await self._kept(session_id, asked.context)
        return success([message.model_dump(mode="json") for message in kept])

    async def test(self, asked: Asked) -> Response:
        """Whether there is a language model that answers; it is asked for one word."""
        forwarder, error = self._parts.forwarder, None
        self._refuse_who_may_not_chat(asked.context)
        started = time.perf_counter()
        if forwarder is not None:
            body = {"model": forwarder.model, "messages": [{"role": "user", "content": "Say OK."}], "max_tokens": 5}
            try:
                async with forwarder.open(body) as forwarded:
                    await forwarded.whole()
            except ScrubjayError as problem:
                error = failed(problem).error
        told = wire.ModelTest(
            configured=forwarder is not None,
            model=forwarder.model if forwarder is not None else None,
            reachable=forwarder is not None and error is None,
            latency_ms=None if forwarder is None else round((time.perf_counter() - started) * 1000, 2),
            error=error if forwarder is not None else "no language model is set; see SCRUBJAY_LLM_BASE_URL",
        )
        return success(told.model_dump(mode="json"))

    def _refuse_who_may_not_chat(self, context: CallContext) -> None:
        """Who may not read memories cannot chat, and so has no reason to let the language model speak."""
        family = self._parts.dispatcher.registry.get(self._parts.list_tool).family
        if not context.caller.may_call(family, read_only=True):
            raise closed(
                context.caller, family, read_only=True, what="the chat", surface=context.surface, **context.who
            )

    async def _message(
        self, request: wire.StreamRequest, asked: Asked, history: list[wire.ChatMessage] | None
    ) -> Message:
        session_id = request.session_id or _session_of(asked)
        if history is None:
            try:
                before = [Said(one.role, one.content) for one in await self._kept(session_id, asked.context)]
            except Forbidden:  # the key does not open what was said before; the question may still be asked
                before = []
        else:
            before = [Said(one.role, one.content) for one in history]
        return Message(text=request.message, before=before, session_id=session_id, context=asked.context)

    async def _kept(self, session_id: str, context: CallContext) -> list[wire.KeptMessage]:
        """The last messages of a conversation: turns with a language model, and notes of what memories answered."""
        parts = self._parts
        kept: list[wire.KeptMessage] = []
        for session in (session_id, note_session(session_id)):
            arguments = {"from_session": session, "session_id": session, "limit": _LOOKED_AT}
            found = (await parts.dispatcher.call(parts.list_tool, arguments, context)).model_dump(mode="json")
            kept += (message for memory in found["memories"] for message in _messages(memory))
        # Two of one memory stay in their order.
        return sorted(kept, key=lambda message: message.created_at)[-HISTORY_MESSAGES:]


def _messages(memory: Mapping[str, Any]) -> list[wire.KeptMessage]:
    """Both sides of what a memory tells of a conversation; none when it tells of none."""
    told = memory["metadata"] if CHAT_TAG in memory["tags"] else memory["details"]
    said = [("user", told.get("prompt")), ("assistant", told.get("response"))]
    if not all(isinstance(content, str) for _, content in said):
        return []
    at: str = memory["occurred_at"] or memory["recorded_at"]
    return [
        wire.KeptMessage.model_validate({"id": memory["id"], "role": role, "content": content, "created_at": at})
        for role, content in said
    ]


def _session_of(asked: Asked) -> str:
    """The conversation that a header names, or else the client's own."""
    return label_of(asked.headers, SESSION_HEADER) or asked.context.client or ""


class _Stream(Response):
    """Sends what happens, and asks for more only when that is gone: a slow reader slows the language model down."""

    media_type = "text/event-stream"

    def __init__(self, parts: ChatParts, message: Message) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({"X-Accel-Buffering": "no"})
        self._parts = parts
        self._message = message

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        problem: str | None = None
        try:
            with self._parts.events.stoppable(self._message.context) as work:
                async with aclosing(self._parts.talk(self._message)) as events:
                    async for event in events:
                        await _send(send, wire.event_of(event))
            if work.cancelled_caught:
                problem = _STOPPED
        except ScrubjayError as error:  # the status is sent already, so the stream itself must tell
            problem = failed(error).error
        except Exception as error:  # a bug: its message may quote the request, so only the place is logged
            request_id = self._message.context.request_id
            logger.error("a stream broke", extra={"request_id": request_id, **place_of(error)})
            problem = unforeseen(error, request_id).message
        if problem is not None:
            await _send(send, wire.error_event(problem))
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send(send: Send, event: wire.Json) -> None:
    await send({"type": "http.response.body", "body": wire.sent(event), "more_body": True})
