"""Excerpts of calls for histories and event streams: without secrets, and limited in length."""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import InvalidRequest
from scrubjay.core.secrets import redacted
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.validation import refuse_unstorable

logger = logging.getLogger("scrubjay.calls")

RESULT_CHARACTERS = 500
# Longer arguments carry contents, which are stored elsewhere: only the beginning of each is recorded.
ARGUMENT_CHARACTERS = 10_000
_MEMORY_ID = re.compile(r"(?:mem|old)_[0-9a-z]{26}")


class CallExcerpt(NamedTuple):
    """The part of a call that a history keeps."""

    arguments: dict[str, Any]
    result: str
    memory_ids: frozenset[str]
    """The memories that the result names."""


def excerpt_of(
    arguments: Mapping[str, Any], outcome: BaseModel | str, *, brings: bool, log_payload: bool, log_result: bool
) -> CallExcerpt:
    """Return the arguments and the beginning of the result without secrets; see `CallHistory.note` for the flags."""
    shown = excerpt_arguments(arguments) if log_payload else {}
    if isinstance(outcome, str):
        return CallExcerpt(shown, _unicode(redacted(outcome))[:RESULT_CHARACTERS], frozenset())
    if not log_payload:
        return CallExcerpt(shown, "", frozenset())
    if not log_result:
        return CallExcerpt(shown, "", memory_ids_in(outcome.model_dump(mode="json")))
    if brings:
        answer = outcome.model_dump(mode="json", by_alias=True)
        beginning = _beginning(answer)
    else:
        answer, _ = _opening(outcome, RESULT_CHARACTERS)
        beginning = _json(redacted(answer))[:RESULT_CHARACTERS]
    return CallExcerpt(shown, _unicode(beginning), memory_ids_in(answer))


def visible_arguments(tool: Tool, arguments: Mapping[str, Any], characters: int) -> dict[str, Any]:
    """Return the arguments as other clients may see them: without secrets, at most this many characters."""
    return excerpt_arguments(arguments, characters) if tool.log_payload else {}


def visible_outcome(tool: Tool, outcome: BaseModel | str) -> str:
    """Return the beginning of an answer as other clients may see it, without secrets."""
    try:
        excerpt = excerpt_of(
            {}, outcome, brings=not tool.read_only, log_payload=tool.log_payload, log_result=tool.log_result
        )
    except Exception as error:  # a bug: the call itself is still shown
        logger.error("could not make an excerpt of a call", extra={"tool": tool.name, **error_fields(error)})
        return ""
    return excerpt.result


def memory_ids_in(data: Any) -> frozenset[str]:
    """Return the ids of memories in JSON data."""
    return frozenset(_MEMORY_ID.findall(_json(data)))


def excerpt_arguments(given: Mapping[str, Any], characters: int = ARGUMENT_CHARACTERS) -> dict[str, Any]:
    """Return the arguments without secrets. If their JSON exceeds `characters`, each value is shortened.

    Empty if that is still too long, or if the arguments cannot be stored.
    """
    try:
        refuse_unstorable(given)
    except InvalidRequest:
        return {}
    arguments: dict[str, Any] = to_jsonable_python(given, fallback=str)
    if len(_json(arguments)) <= characters:
        return redacted(arguments)
    shortened: dict[str, Any] = redacted({name: _shortened(name, value) for name, value in arguments.items()})
    return shortened if len(_json(shortened)) <= characters else {}


def _shortened(name: str, value: Any) -> Any:
    length = len(_json(value))
    return value if length <= RESULT_CHARACTERS else f"{_beginning(value, name)}… ({length} characters)"


def _beginning(value: Any, name: str = "") -> str:
    """Return the first characters of the value as JSON, without secrets.

    Searching a whole long answer for secrets would take longer than the call. Texts are cut only afterwards, because
    half of a secret would not be detected.
    """
    first, _ = _prefix(value, RESULT_CHARACTERS)
    return _json(redacted({name: first})[name])[:RESULT_CHARACTERS]  # the name says whether it is a command


def _prefix(value: Any, characters: int) -> tuple[Any, int]:
    """Return a prefix of the value with at least this many characters as JSON, and the remaining number."""
    if isinstance(value, str):
        return value, characters - len(value) - 2
    if isinstance(value, dict):
        made: dict[str, Any] = {}
        for name, inner in cast(dict[str, Any], value).items():
            if characters <= 0:
                break
            made[name], characters = _prefix(inner, characters - len(name) - 3)
        return made, characters
    if isinstance(value, list):
        entries: list[Any] = []
        for inner in cast(list[Any], value):
            if characters <= 0:
                break
            entry, characters = _prefix(inner, characters - 1)
            entries.append(entry)
        return entries, characters
    return value, characters - (4 if value is None or value is True else 1)


def _opening(value: Any, characters: int) -> tuple[Any, int]:
    """Return a prefix of the answer as JSON data, ending with a whole list entry, and the remaining characters.

    Serializing all of a long answer takes longer than everything else that logging a call does.
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
    """Return the text in storable form: file names may contain invalid Unicode or NUL."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")
