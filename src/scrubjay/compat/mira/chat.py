"""Mira's chat endpoints: `/api/chat`, its stream, its history and the test of the language model."""

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
from scrubjay.compat.mira.handler import ApiRequest
from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import Cancelled, Forbidden, ScrubjayError
from scrubjay.features.chat.exchange_recorder import CHAT_TAG, notes_session_id
from scrubjay.features.chat.service import ChatCompleted, ChatService, HistoryMessage, ToolCallEnded, UserMessage
from scrubjay.models.chat_proxy import ChatProxy, UnusableChatProxy
from scrubjay.servers.http.errors import internal_error
from scrubjay.servers.http.requests import SESSION_HEADER, label_from_headers
from scrubjay.tooling.call_events import CallEvents
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.security_events import scope_error

logger = logging.getLogger("scrubjay.mira")

# Messages of a conversation that are sent to the model again, and shown.
HISTORY_MESSAGES: Final = 20
# Memories of a session that are searched for messages.
_MAX_MEMORIES_READ: Final = 100
_STOPPED: Final = "the client stopped the chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatParts:
    """The services that a chat uses."""

    talk: ChatService
    events: CallEvents
    dispatcher: Dispatcher
    list_tool: str
    """Name of the tool that lists the memories of a session."""
    forwarder: ChatProxy | UnusableChatProxy | None


class MiraChat:
    """Answers messages. Each session is a separate conversation."""

    def __init__(self, parts: ChatParts) -> None:
        self._parts = parts

    async def answer(self, request: ApiRequest) -> Response:
        """Return the complete answer to a message."""
        body = wire.read(wire.MiraChatRequest, request.body)
        message = await self._message(body, request, body.history)
        tools: list[wire.UsedTool] = []
        done: ChatCompleted | None = None
        with self._parts.events.stoppable(message.context):
            async with aclosing(self._parts.talk(message)) as events:
                async for event in events:
                    if isinstance(event, ToolCallEnded):
                        tools.append(wire.UsedTool(name=event.name, call_id=event.call_id, success=event.success))
                    elif isinstance(event, ChatCompleted):
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

    async def stream(self, request: ApiRequest) -> Response:
        """Stream the answer to a message as server-sent events."""
        body = wire.read(wire.StreamRequest, request.body)
        return _ChatStream(self._parts, await self._message(body, request, None))

    async def history(self, request: ApiRequest) -> Response:
        """Return the last messages of a conversation, oldest first."""
        session_id = request.query.get("session_id") or _session_of(request)
        messages = await self._stored_messages(session_id, request.context)
        return success([message.model_dump(mode="json") for message in messages])

    async def test(self, request: ApiRequest) -> Response:
        """Test the language model by requesting a one-word completion."""
        forwarder, error = self._parts.forwarder, None
        self._require_chat_permission(request.context)
        started = time.perf_counter()
        if forwarder is not None:
            body = {"model": forwarder.model, "messages": [{"role": "user", "content": "Say OK."}], "max_tokens": 5}
            try:
                async with forwarder.open(body) as forwarded:
                    await forwarded.whole()
            except ScrubjayError as problem:
                error = failed(problem).error
        result = wire.ModelTest(
            configured=forwarder is not None,
            model=forwarder.model if forwarder is not None else None,
            reachable=forwarder is not None and error is None,
            latency_ms=None if forwarder is None else round((time.perf_counter() - started) * 1000, 2),
            error=error if forwarder is not None else "no language model is configured; set SCRUBJAY_LLM_BASE_URL",
        )
        return success(result.model_dump(mode="json"))

    def _require_chat_permission(self, context: CallContext) -> None:
        """Refuse a caller that may not read memories: it cannot chat, so it must not cause a model request either."""
        tool = self._parts.dispatcher.registry.get(self._parts.list_tool)
        if (missing := tool.missing_scope(context.caller, read_only=True)) is not None:
            raise scope_error(
                context.caller, missing[0], read_only=True, what="the chat", surface=context.surface, **context.who
            )

    async def _message(
        self, body: wire.StreamRequest, request: ApiRequest, history: list[wire.MiraChatMessage] | None
    ) -> UserMessage:
        session_id = body.session_id or _session_of(request)
        if history is None:
            try:
                before = [
                    HistoryMessage(one.role, one.content)
                    for one in await self._stored_messages(session_id, request.context)
                ]
            except Forbidden:  # the key may not read the history; the message can still be answered
                before = []
        else:
            before = [HistoryMessage(one.role, one.content) for one in history]
        return UserMessage(text=body.message, history=before, session_id=session_id, context=request.context)

    async def _stored_messages(self, session_id: str, context: CallContext) -> list[wire.StoredMessage]:
        """Return the last messages of a conversation: turns with a language model and notes of answers from memory."""
        parts = self._parts
        messages: list[wire.StoredMessage] = []
        for session in (session_id, notes_session_id(session_id)):
            arguments = {"from_session": session, "session_id": session, "limit": _MAX_MEMORIES_READ}
            found = (await parts.dispatcher.call(parts.list_tool, arguments, context)).model_dump(mode="json")
            messages += (message for memory in found["memories"] for message in _messages(memory))
        # A stable sort: both messages of one memory keep their order.
        return sorted(messages, key=lambda message: message.created_at)[-HISTORY_MESSAGES:]


def _messages(memory: Mapping[str, Any]) -> list[wire.StoredMessage]:
    """Return both messages of an exchange that a memory records; empty when it records none."""
    fields = memory["metadata"] if CHAT_TAG in memory["tags"] else memory["details"]
    exchange = [("user", fields.get("prompt")), ("assistant", fields.get("response"))]
    if not all(isinstance(content, str) for _, content in exchange):
        return []
    at: str = memory["occurred_at"] or memory["recorded_at"]
    return [
        wire.StoredMessage.model_validate({"id": memory["id"], "role": role, "content": content, "created_at": at})
        for role, content in exchange
    ]


def _session_of(request: ApiRequest) -> str:
    """Return the session that the header names; by default the client's own."""
    return label_from_headers(request.headers, SESSION_HEADER) or request.context.client or ""


class _ChatStream(Response):
    """Sends events with backpressure: the next one is requested only after the last was sent."""

    media_type = "text/event-stream"

    def __init__(self, parts: ChatParts, message: UserMessage) -> None:
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
        except ScrubjayError as error:  # the status line is sent already, so the error becomes an event
            problem = failed(error).error
        except Exception as error:  # a bug: its message may quote the request, so only the place is logged
            request_id = self._message.context.request_id
            logger.error("chat stream failed", extra={"request_id": request_id, **error_fields(error)})
            problem = internal_error(error, request_id).message
        if problem is not None:
            await _send(send, wire.error_event(problem))
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send(send: Send, event: wire.Json) -> None:
    await send({"type": "http.response.body", "body": wire.encode_event(event), "more_body": True})
