"""Validation of tool arguments: plain JSON data that every store can hold."""

import math
from collections.abc import Mapping
from typing import Any, cast

from pydantic import ValidationError

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.suggestions import nearest_names
from scrubjay.tooling.declaration import Request, Tool

# Legitimate data is never nested deeper; recursive readers must not overflow.
MAX_DEPTH = 32


def validate(tool: Tool, arguments: Mapping[str, Any]) -> Request:
    """Return the validated request with defaults; raise `InvalidRequest` with all problems."""
    refuse_unstorable(arguments)
    try:
        return tool.request.model_validate(dict(arguments))
    except ValidationError as error:
        raise _refusal(tool, error) from None


def refuse_unstorable(arguments: Any) -> None:
    """Raise `InvalidRequest` for NUL characters, invalid Unicode, NaN or infinity, and too deep nesting."""
    if _is_storable(arguments):
        return
    pending: list[tuple[str, Any, int]] = [("", arguments, 0)]
    while pending:
        path, value, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise InvalidRequest(f"{path[:80]}: nested deeper than {MAX_DEPTH} levels")
        match value:
            case str():
                _refuse_text(path, value)
            case float() if not math.isfinite(value):
                raise InvalidRequest(f"{path or 'request'}: {value} is not a finite number")
            case Mapping():
                for key, inner in cast(Mapping[Any, Any], value).items():
                    name = printable(str(key))
                    _refuse_text(f"{path}.{name}" if path else name, str(key))
                    pending.append((f"{path}.{name}" if path else name, inner, depth + 1))
            case list() | tuple():
                entries = cast(list[Any], value)
                pending.extend((f"{path}[{index}]", inner, depth + 1) for index, inner in enumerate(entries))
            case _:
                pass


def _is_storable(arguments: Any) -> bool:
    """Return True when nothing must be refused. Fast path, which does not track locations."""
    texts: list[str] = []
    level: list[Any] = [arguments]
    for _ in range(MAX_DEPTH + 1):
        deeper: list[Any] = []
        for value in level:
            kind = value.__class__  # comparing classes takes half as long as matching
            if kind is str:
                texts.append(value)
            elif kind is dict:
                texts += map(str, value)
                deeper += value.values()
            elif kind is list or kind is tuple:
                deeper += value
            elif kind is float:
                if not math.isfinite(value):
                    return False
            elif not (value is None or kind is int or kind is bool):
                return False
        if not deeper:
            together = "".join(texts)
            return "\x00" not in together and (together.isascii() or _is_unicode(together))
        level = deeper
    return False


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def printable(text: str) -> str:
    """Return at most 200 characters of the text with unencodable characters escaped."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")[:200]


def _refuse_text(path: str, text: str) -> None:
    if "\x00" in text:
        raise InvalidRequest(f"{path or 'request'}: contains a NUL character", hint="remove it; it cannot be stored")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidRequest(
            f"{path or 'request'}: contains half of a surrogate pair, which is not valid Unicode",
            hint="encode the text as UTF-8 before sending it",
        ) from None


def _refusal(tool: Tool, error: ValidationError) -> InvalidRequest:
    problems: list[dict[str, Any]] = []
    hints: list[str] = []
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        location = [printable(str(part)) for part in problem["loc"]]
        entry: dict[str, Any] = {"field": ".".join(location) or "request", "problem": problem["msg"]}
        if problem["type"] == "extra_forbidden":
            known = _known_fields(tool, problem["loc"])
            near = nearest_names(location[-1], known)
            entry |= {"problem": "unknown field", "nearest": near}
            names = " or ".join(near) if near else ", ".join(sorted(known))
            hints.append(f"{location[-1]}: did you mean {names}?" if near else f"known fields: {names}")
        problems.append(entry)
    summary = "; ".join(f"{problem['field']}: {problem['problem']}" for problem in problems[:5])
    more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
    return InvalidRequest(
        f"{tool.name}: {summary}{more}",
        hint="; ".join(dict.fromkeys(hints)) or f"describe_tool with name {tool.name!r} shows its arguments",
        details={"problems": problems},
    )


def _known_fields(tool: Tool, location: tuple[int | str, ...]) -> list[str]:
    """Return the fields known at the location of an unknown one, by walking the schema."""
    schema = tool.input_schema
    definitions: dict[str, Any] = schema.get("$defs", {})
    here: dict[str, Any] = schema
    for part in location[:-1]:
        here = here.get("items", {}) if isinstance(part, int) else here.get("properties", {}).get(part, {})
        while "$ref" in here:
            here = definitions[here["$ref"].rsplit("/", 1)[1]]
    return list(here.get("properties", {}))
