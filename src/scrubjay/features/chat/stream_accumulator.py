"""Hearing what a language model says while it says it."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final, cast

from scrubjay.models.chat_proxy import Forwarded
from scrubjay.models.sse import ServerEvent

Json = dict[str, Any]

# Of an answer so much is kept in mind while it comes; a turn holds less.
HEARD_CHARACTERS: Final = 40_000
# What a model gives a tool is less than what any tool takes.
_ARGUMENT_CHARACTERS: Final = 1_000_000
MOST_CALLS: Final = 64
FINISHED: Final = frozenset({"stop", "length", "content_filter"})


@dataclass(slots=True)
class WantedCall:
    """A tool that the model wants to be called, as far as it has said so."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class Hearing:
    """The first choice of an answer, as far as it has come."""

    def __init__(self) -> None:
        self.text = ""
        self.reason: str | None = None
        self.failure: str | None = None
        """What the service says of its failure on the way."""
        self.calls: dict[int, WantedCall] = {}
        self._done = False

    @property
    def is_answer(self) -> bool:
        """Whether it has come to its end, and says something."""
        return bool(self.text.strip()) and self.reason in FINISHED and self.failure is None

    async def chunks(self, forwarded: Forwarded) -> AsyncGenerator[tuple[ServerEvent, Json | None]]:
        """Each piece as it comes, without the mark of the end; what only keeps the connection alive has no data."""
        if not forwarded.is_stream:
            raise forwarded.broken("was asked for a stream and sends none")
        async for event in forwarded.events():
            data = event.data.strip()
            if data == b"[DONE]":
                self._done = True
                break
            chunk = _object(data) if data else None
            if data and chunk is None:
                raise forwarded.broken("sends something else than pieces of a chat completion")
            if chunk is not None:
                self._hear(chunk)
            yield event, chunk
        if not (self._done or self.reason or self.failure is not None):
            raise forwarded.broken("ended its answer too soon")

    def _hear(self, chunk: Json) -> None:
        if error := chunk.get("error"):  # some services send null with every piece
            self.failure = str(cast(Json, error).get("message") if isinstance(error, dict) else error)
        for choice in _first_choices(chunk):
            delta = _mapping(choice.get("delta"))
            said = delta.get("content")
            if isinstance(said, str) and len(self.text) < HEARD_CHARACTERS:
                self.text += said
            calls = delta.get("tool_calls")
            for place, call in enumerate(cast(list[Any], calls) if isinstance(calls, list) else []):
                self._hear_call(place, _mapping(call))
            if isinstance(reason := choice.get("finish_reason"), str):
                self.reason = reason

    def _hear_call(self, place: int, told: Json) -> None:
        index = told.get("index")
        where = index if isinstance(index, int) else place
        if where not in self.calls and len(self.calls) >= MOST_CALLS:
            return
        call = self.calls.setdefault(where, WantedCall())
        function = _mapping(told.get("function"))
        call.id = call.id or str(told.get("id") or "")
        call.name += str(function.get("name") or "")
        if len(call.arguments) < _ARGUMENT_CHARACTERS:
            call.arguments += str(function.get("arguments") or "")


def words_in(chunk: Json) -> tuple[str, str]:
    """What a piece adds to the answer, and what the model thinks aloud before it, however its service names that."""
    said = thought = ""
    for choice in _first_choices(chunk):
        delta = _mapping(choice.get("delta"))
        said += _text(delta.get("content"))
        thought += _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
    return said, thought


def _first_choices(chunk: Json) -> list[Json]:
    choices = chunk.get("choices")
    found = [_mapping(choice) for choice in cast(list[Any], choices)] if isinstance(choices, list) else []
    return [choice for choice in found if choice.get("index") in (None, 0)]


def _mapping(value: Any) -> Json:
    return cast(Json, value) if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(data: bytes) -> Json | None:
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast(Json, found) if isinstance(found, dict) else None
