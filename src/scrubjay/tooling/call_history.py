"""What clients call, gathered in memory and kept from time to time in the history of their sessions."""

import json
import logging
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

import anyio
import anyio.to_thread
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.error_location import place_of
from scrubjay.core.errors import InvalidRequest
from scrubjay.core.secrets import redacted
from scrubjay.features.sessions.models import ClientCall, ToolCall
from scrubjay.features.sessions.store import SessionStore
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import CallEnded
from scrubjay.tooling.validation import refuse_unstorable

logger = logging.getLogger("scrubjay.calls")

KEEP_SECONDS = 5.0
KEEP_AT_ONCE = 200
# When nothing can be written, older calls are kept and newer ones given up: memory is not for what nobody reads.
MOST_WAITING = 10_000
RESULT_CHARACTERS = 500
# Longer arguments are contents, which have their own place: of each only the beginning is kept.
ARGUMENT_CHARACTERS = 10_000
_NEVER = datetime.min
_MEMORY_ID = re.compile(r"(?:mem|old)_[0-9a-z]{26}")


class _Noted(NamedTuple):
    client: str
    tool: str
    arguments: Mapping[str, Any]
    outcome: BaseModel | str
    """The answer, or what went wrong."""
    milliseconds: float
    ended_at: datetime
    brings: bool
    fleeting: bool
    quotes: bool


class CallHistory:
    """Notes calls without making any of them wait: what is written of them is made ready later, on another thread.

    What was noted last is lost when the process is killed: it is worth less than a write for each call.
    """

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._noted: list[_Noted] = []
        self._given_up = 0
        self._some = anyio.Event()
        self._many = anyio.Event()
        self._writing = anyio.Lock()

    def subscribe(self, events: EventBus) -> None:
        """Note the calls that are published there, of clients that can be told apart."""
        events.subscribe(CallEnded, self._call_ended)

    def _call_ended(self, event: CallEnded) -> None:
        tool, client = event.tool, event.context.client
        if tool is not None and client is not None:
            self.note(
                client,
                tool.name,
                event.arguments,
                event.result,
                event.milliseconds,
                brings=not tool.read_only,
                fleeting=tool.fleeting,
                quotes=tool.quotes,
            )

    def note(
        self,
        client: str,
        tool: str,
        arguments: Mapping[str, Any],
        outcome: BaseModel | str,
        milliseconds: float,
        *,
        brings: bool = True,
        fleeting: bool = False,
        quotes: bool = False,
    ) -> None:
        """Remember a call that has just ended, with its answer or with what went wrong.

        `brings` is whether its arguments may hold what became memories; those of a question hold none. Of what is
        `fleeting` only that it was called is kept: its contents will be gone when they are gone everywhere else. An
        answer that `quotes` is not kept: it has words of memories that it does not name.
        """
        if len(self._noted) >= MOST_WAITING:
            self._given_up += 1
            return
        self._noted.append(
            _Noted(client, tool, arguments, outcome, milliseconds, self._clock(), brings, fleeting, quotes)
        )
        self._some.set()
        if len(self._noted) >= KEEP_AT_ONCE:
            self._many.set()

    async def due(self) -> None:
        """Wait until there is something to write: a while after the first call, or when there are many."""
        await self._some.wait()
        with anyio.move_on_after(KEEP_SECONDS):
            await self._many.wait()

    async def flush(self, store: SessionStore, default_project_id: str | None) -> None:
        """Keep what was noted since the last time; what cannot be kept now is kept next time.

        A write whose caller is cancelled is done all the same, so nothing is put back then.
        """
        async with self._writing:
            taken = len(self._noted)
            if not taken:
                return
            self._some, self._many = anyio.Event(), anyio.Event()
            calls = await anyio.to_thread.run_sync(lambda noted: [_written(one) for one in noted], self._noted[:taken])
            waiting, self._noted = self._noted[:taken], self._noted[taken:]
            try:
                await store.keep(calls, default_project_id)
            except Exception:
                self._noted = waiting + self._noted
                self._some.set()
                raise
        if self._given_up:
            logger.warning("calls are missing in the history", extra={"calls": self._given_up})
            self._given_up = 0


def _written(noted: _Noted) -> ClientCall:
    """The call as it is kept."""
    try:
        arguments, result, memory_ids = _shown(noted)
    except Exception as error:  # a bug: the call is in the history all the same, and the log has the truth
        logger.error("a call could not be told", extra={"tool": noted.tool, **place_of(error)})
        arguments, result, memory_ids = {}, "", frozenset[str]()
    call = ToolCall(
        tool=noted.tool,
        arguments=arguments,
        result=result,
        success=isinstance(noted.outcome, BaseModel),
        milliseconds=noted.milliseconds,
        called_at=noted.ended_at - timedelta(milliseconds=noted.milliseconds),
    )
    return ClientCall(noted.client, call, memory_ids)


def _shown(noted: _Noted) -> tuple[dict[str, Any], str, frozenset[str]]:
    """The arguments and the beginning of the result without secrets, and the memories that the result tells of."""
    arguments = {} if noted.fleeting else arguments_cut(noted.arguments)
    if isinstance(noted.outcome, str):
        return arguments, _unicode(redacted(noted.outcome))[:RESULT_CHARACTERS], frozenset()
    if noted.fleeting:
        return arguments, "", frozenset()
    if noted.quotes:
        return arguments, "", memory_ids_in(noted.outcome.model_dump(mode="json"))
    if noted.brings:
        told = noted.outcome.model_dump(mode="json", by_alias=True)
        beginning = _beginning(told)
    else:
        told, _ = _opening(noted.outcome, RESULT_CHARACTERS)
        beginning = _json(redacted(told))[:RESULT_CHARACTERS]
    return arguments, _unicode(beginning), memory_ids_in(told)


def arguments_shown(tool: Tool, arguments: Mapping[str, Any], characters: int) -> dict[str, Any]:
    """What a call was given, as others may see it: without secrets, and only so much."""
    return {} if tool.fleeting else arguments_cut(arguments, characters)


def outcome_shown(tool: Tool, outcome: BaseModel | str) -> str:
    """What came of a call, as others may see it: the beginning, without secrets."""
    noted = _Noted(
        "", tool.name, {}, outcome, 0.0, _NEVER, brings=not tool.read_only, fleeting=tool.fleeting, quotes=tool.quotes
    )
    try:
        return _shown(noted)[1]
    except Exception as error:  # a bug: that it was called is told all the same, and the log has the truth
        logger.error("a call could not be told", extra={"tool": tool.name, **place_of(error)})
        return ""


def memory_ids_in(told: Any) -> frozenset[str]:
    """The memories that JSON data names."""
    return frozenset(_MEMORY_ID.findall(_json(told)))


def arguments_cut(given: Mapping[str, Any], characters: int = ARGUMENT_CHARACTERS) -> dict[str, Any]:
    """These without secrets, each shortened when they are more characters as JSON; none when that is still too much."""
    try:
        refuse_unstorable(given)
    except InvalidRequest:
        return {}
    arguments: dict[str, Any] = to_jsonable_python(given, fallback=str)
    if len(_json(arguments)) <= characters:
        return redacted(arguments)
    shortened: dict[str, Any] = redacted({name: _shortened(value) for name, value in arguments.items()})
    return shortened if len(_json(shortened)) <= characters else {}


def _shortened(value: Any) -> Any:
    length = len(_json(value))
    return value if length <= RESULT_CHARACTERS else f"{_beginning(value)}… ({length} characters)"


def _beginning(value: Any) -> str:
    """The first characters of the value as JSON, without secrets.

    To look for secrets in all of a long answer would take longer than the call did. But texts stay whole until then:
    half of a secret would not be found.
    """
    first, _ = _first(value, RESULT_CHARACTERS)
    return _json(redacted(first))[:RESULT_CHARACTERS]


def _first(value: Any, characters: int) -> tuple[Any, int]:
    """What at least so many first characters of the value as JSON are made of, and how many are missing."""
    if isinstance(value, str):
        return value, characters - len(value) - 2
    if isinstance(value, dict):
        made: dict[str, Any] = {}
        for name, inner in cast(dict[str, Any], value).items():
            if characters <= 0:
                break
            made[name], characters = _first(inner, characters - len(name) - 3)
        return made, characters
    if isinstance(value, list):
        entries: list[Any] = []
        for inner in cast(list[Any], value):
            if characters <= 0:
                break
            entry, characters = _first(inner, characters - 1)
            entries.append(entry)
        return entries, characters
    return value, characters - (4 if value is None or value is True else 1)


def _opening(value: Any, characters: int) -> tuple[Any, int]:
    """An answer as JSON data up to so many characters, with the last entry of a list whole, and how many are missing.

    To make all of a long answer ready takes longer than all else that is done to keep the call.
    """
    if isinstance(value, BaseModel):
        made: dict[str, Any] = {}
        for name, field in type(value).model_fields.items():
            if characters <= 0:
                break
            shown = field.serialization_alias or name
            made[shown], characters = _opening(getattr(value, name), characters - len(shown) - 3)
        return made, characters
    if isinstance(value, list):
        entries: list[Any] = []
        for inner in cast(list[Any], value):
            if characters <= 0:
                break
            entries.append(to_jsonable_python(inner))
            characters -= len(_json(entries[-1])) + 1
        return entries, characters
    data = to_jsonable_python(value)
    return data, characters - len(_json(data))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _unicode(text: str) -> str:
    """The text as a store can keep it, such as one with the name of a strange file."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")
