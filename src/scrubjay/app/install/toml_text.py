"""Editing of a TOML table in place: all other lines keep every character."""

import datetime
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

# Tokens of TOML, as far as needed to find headers: strings and comments as a whole, all else character by character.
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'|#[^\n]*|[\[\]{}\n]|.", re.S
)


def put_table(text: str, path: tuple[str, ...], values: dict[str, Any]) -> str:
    """Return the text with this table replacing the one of the same name, or appended."""
    if table_at(text, path) == values:
        return text
    name = ".".join(path)
    written = f"[{name}]\n" + "".join(f"{_key(key)} = {_value(value)}\n" for key, value in values.items())
    span = _span(text, path)
    if span is None:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}{written}"
    start, end = span
    return text[:start] + written + text[end:]


def remove_table(text: str, path: tuple[str, ...]) -> str:
    """Return the text without this table, its subtables, and the blank line before it."""
    span = _span(text, path)
    if span is None:
        return text
    start, end = span
    before, after = text[:start], text[end:]
    if before.endswith("\n\n") and (not after or after.startswith("\n")):
        before = before[:-1]
    elif not before:
        after = after.removeprefix("\n")
    return before + after


def table_at(text: str, path: tuple[str, ...]) -> Any:
    """Return the value at the path; None if there is none."""
    value: Any = tomllib.loads(text)
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return value  # pyright: ignore[reportUnknownVariableType]


def _span(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    """Return the span of the table's lines. Comments before the next header belong to the next table."""
    start: int | None = None
    for place, names in _headers(text):
        is_ours = names[: len(path)] == path
        if start is None and is_ours:
            start = place
        elif start is not None and not is_ours:
            return start, _before_comments(text, start, place)
    return None if start is None else (start, len(text))


def _headers(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the offset of each header line and the table that it names; brackets in strings and lists are skipped."""
    line, depth, is_header, begins = 0, 0, False, True
    for found in _TOKEN.finditer(text):
        symbol = found[0]
        if symbol == "\n" and depth == 0:
            if is_header:
                yield line, _names(text[line : found.start()])
            line, is_header, begins = found.end(), False, True
        elif not begins or symbol not in (" ", "\t", "\r"):
            is_header = is_header or (begins and symbol == "[")
            begins = False
            depth += (symbol in ("[", "{")) - (symbol in ("]", "}"))
    if is_header:
        yield line, _names(text[line:])


def _names(header: str) -> tuple[str, ...]:
    value: Any = tomllib.loads(header.strip())
    names: list[str] = []
    while value:
        if isinstance(value, list):
            value = value[0]  # pyright: ignore[reportUnknownVariableType]
        else:
            ((name, value),) = value.items()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            names.append(name)  # pyright: ignore[reportUnknownArgumentType]
    return tuple(names)


def _before_comments(text: str, start: int, end: int) -> int:
    lines = text[start:end].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        end -= len(lines.pop())
    return end


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False)
