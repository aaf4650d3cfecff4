"""An answer of the language model, forwarded while it arrives and recorded when it is complete."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

from scrubjay.features.chat.stream_accumulator import FINISH_REASONS, StreamAccumulator
from scrubjay.models.chat_proxy import ProxiedResponse
from scrubjay.servers.openai.answers import Chunk, recalled_fields, sse_event
from scrubjay.servers.openai.wire import Json, Recalled


class ForwardedCompletion:
    """Implements `CompletionAnswer` with the response of the language model's service."""

    def __init__(self, forwarded: ProxiedResponse, recalled: Recalled, record: Callable[[str], None]) -> None:
        self.recalled = recalled
        self._forwarded = forwarded
        self._record = record

    async def complete(self) -> Json:
        content = await self._forwarded.whole()
        try:
            answer = cast(Json, json.loads(content))
            choice = cast(Json, answer["choices"][0])
            message, reason = cast(Json, choice["message"]), choice.get("finish_reason")
            text: Any = message.get("content")
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise self._forwarded.broken("answers with something else than a chat completion") from error
        if isinstance(text, str) and text.strip() and reason in FINISH_REASONS and not message.get("tool_calls"):
            self._record(text)
        return {**answer, "scrubjay": recalled_fields(self.recalled)}

    async def chunks(self) -> AsyncIterator[Chunk]:
        accumulator = StreamAccumulator()
        first = True
        async for one, chunk in accumulator.chunks(self._forwarded):
            raw = one.raw
            if first and chunk is not None and not chunk.get("error"):
                first, chunk = False, {**chunk, "scrubjay": recalled_fields(self.recalled)}
                raw = sse_event(chunk)
            yield Chunk(raw, chunk)
        # Before the end is sent: a client may disconnect as soon as it has received the end.
        if accumulator.is_complete_answer:
            self._record(accumulator.text)
