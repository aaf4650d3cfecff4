"""Excerpts of calls for histories and event streams: without secrets, and limited in length."""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from scrubjay.core.error_location import place_of
from scrubjay.core.errors import InvalidRequest
from scrubjay.core.secrets import redacted
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.validation import refuse_unstorable

logger = logging.getLogger("scrubjay.calls")

RESULT_CHARACTERS = 500
# Longer arguments are contents, which are stored elsewhere: only the beginning of each is kept.
ARGUMENT_CHARACTERS = 10_000
_MEMORY_ID = re.compile(r"(?:mem|old)_[0-9a-z]{26}")


class CallExcerpt(NamedTuple):
    """The part of a call that a history keeps."""

    arguments: dict[str, Any]
    result: str
    memory_ids: frozenset[str]
    """The memories that the result names."""


def excerpt_of(
    arguments: Mapping[str, Any], outcome: BaseModel | str, *, brings: bool, fleeting: bool, quotes: bool
) -> CallExcerpt:
    """Return the arguments and the beginning of the result without secrets; see `CallHistory.note` for the flags."""
    shown = {} if fleeting else arguments_cut(arguments)
    if isinstance(outcome, str):
        return CallExcerpt(shown, _unicode(redacted(outcome))[:RESULT_CHARACTERS], frozenset())
    if fleeting:
        return CallExcerpt(shown, "", frozenset())
    if quotes:
        return CallExcerpt(shown, "", memory_ids_in(outcome.model_dump(mode="json")))
    if brings:
        answer = outcome.model_dump(mode="json", by_alias=True)
        beginning = _beginning(answer)
    else:
        answer, _ = _opening(outcome, RESULT_CHARACTERS)
        beginning = _json(redacted(answer))[:RESULT_CHARACTERS]
    return CallExcerpt(shown, _unicode(beginning), memory_ids_in(answer))


def arguments_shown(tool: Tool, arguments: Mapping[str, Any], characters: int) -> dict[str, Any]:
    """Return the arguments as other clients may see them: without secrets, at most this many characters."""
    return {} if tool.fleeting else arguments_cut(arguments, characters)


def outcome_shown(tool: Tool, outcome: BaseModel | str) -> str:
    """Return the beginning of an answer as other clients may see it, without secrets."""
    try:
        excerpt = excerpt_of({}, outcome, brings=not tool.read_only, fleeting=tool.fleeting, quotes=tool.quotes)
    except Exception as error:  # a bug: that it was called is shown all the same, and the log has the cause
        logger.error("a call could not be told", extra={"tool": tool.name, **place_of(error)})
        return ""
    return excerpt.result


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
