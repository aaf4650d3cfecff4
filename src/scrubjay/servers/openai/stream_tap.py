"""Hearing what the language model says while it is passed on, so that it can be remembered."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

from scrubjay.features.chat.stream_accumulator import FINISHED, Hearing
from scrubjay.models.chat_proxy import Forwarded
from scrubjay.servers.openai.answers import Chunk, event, told
from scrubjay.servers.openai.wire import Json, Recalled


class Listener:
    """Satisfies `Answer` with what the language model's service sends, as it sends it."""

    def __init__(self, forwarded: Forwarded, recalled: Recalled, keep: Callable[[str], None]) -> None:
        self.recalled = recalled
        self._forwarded = forwarded
        self._keep = keep

    async def whole(self) -> Json:
        content = await self._forwarded.whole()
        try:
            answer = cast(Json, json.loads(content))
            choice = cast(Json, answer["choices"][0])
            message, reason = cast(Json, choice["message"]), choice.get("finish_reason")
            said: Any = message.get("content")
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise self._forwarded.broken("answers with something else than a chat completion") from error
        if isinstance(said, str) and said.strip() and reason in FINISHED and not message.get("tool_calls"):
            self._keep(said)
        return {**answer, "scrubjay": told(self.recalled)}

    async def chunks(self) -> AsyncIterator[Chunk]:
        heard = Hearing()
        first = True
        async for one, chunk in heard.chunks(self._forwarded):
            raw = one.raw
            if first and chunk is not None and not chunk.get("error"):
                first, chunk = False, {**chunk, "scrubjay": told(self.recalled)}
                raw = event(chunk)
            yield Chunk(raw, chunk)
        # Before the end is told: who has heard it may leave at once.
        if heard.is_answer:
            self._keep(heard.text)
