"""Hearing what the language model says while it is passed on, so that it can be remembered."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

from recollect.gateway.openai.answers import Chunk, event, told
from recollect.gateway.openai.wire import Json, Recalled, place_of
from recollect.inference.forwarding import Forwarded

# Of an answer so much is kept in mind while it comes; a turn holds less.
_HEARD_CHARACTERS = 40_000
_FINISHED = frozenset({"stop", "length", "content_filter"})


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
        if isinstance(said, str) and said.strip() and reason in _FINISHED and not message.get("tool_calls"):
            self._keep(said)
        return {**answer, "recollect": told(self.recalled)}

    async def chunks(self) -> AsyncIterator[Chunk]:
        if not self._forwarded.is_stream:
            raise self._forwarded.broken("was asked for a stream and sends none")
        heard = _Heard()
        first = True
        async for one in self._forwarded.events():
            data = one.data.strip()
            if data == b"[DONE]":
                heard.done = True
                break
            chunk = _object(data) if data else None
            if data and chunk is None:
                raise self._forwarded.broken("sends something else than pieces of a chat completion")
            raw = one.raw
            if chunk is not None:
                heard.hear(chunk)
                if first and "error" not in chunk:
                    first, chunk = False, {**chunk, "recollect": told(self.recalled)}
                    raw = event(chunk)
            yield Chunk(raw, chunk)
        if not (heard.done or heard.reason or heard.failed):
            raise self._forwarded.broken("ended its answer too soon")
        # Before the end is told: who has heard it may leave at once.
        if heard.text.strip() and heard.reason in _FINISHED and not heard.failed:
            self._keep(heard.text)


class _Heard:
    """The first choice of an answer, as far as it has come."""

    def __init__(self) -> None:
        self.text = ""
        self.reason: str | None = None
        self.done = False
        self.failed = False

    def hear(self, chunk: Json) -> None:
        self.failed = self.failed or "error" in chunk
        choices = chunk.get("choices")
        for found in cast(list[Any], choices) if isinstance(choices, list) else []:
            choice = cast(Json, found) if isinstance(found, dict) else {}
            if place_of(choice) != 0:
                continue
            delta = choice.get("delta")
            said: Any = cast(Json, delta).get("content") if isinstance(delta, dict) else None
            if isinstance(said, str) and len(self.text) < _HEARD_CHARACTERS:
                self.text += said
            if isinstance(reason := choice.get("finish_reason"), str):
                self.reason = reason


def _object(data: bytes) -> Json | None:
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast(Json, found) if isinstance(found, dict) else None
