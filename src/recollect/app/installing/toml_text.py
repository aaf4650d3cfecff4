"""One table of a TOML file, changed in place: all other lines keep every character."""

import json
import re
import tomllib
from typing import Any

_HEADER = re.compile(r"^[ \t]*\[+[^\]\n]+\]+[ \t]*(?:#[^\n]*)?$", re.M)


def put_table(text: str, path: tuple[str, ...], values: dict[str, Any]) -> str:
    """The text with this table in place of the one of the same name, or at its end."""
    if _found(text, path) == values:
        return text
    name = ".".join(path)
    written = f"[{name}]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in values.items())
    span = _span(text, path)
    if span is None:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}{written}"
    start, end = span
    return text[:start] + written + text[end:]


def remove_table(text: str, path: tuple[str, ...]) -> str:
    """The text without this table and those inside of it."""
    span = _span(text, path)
    if span is None:
        return text
    start, end = span
    before, after = text[:start], text[end:]
    if not after and before.endswith("\n\n"):
        before = before[:-1]
    return before + after


def _found(text: str, path: tuple[str, ...]) -> Any:
    value: Any = tomllib.loads(text)
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return value  # pyright: ignore[reportUnknownVariableType]


def _span(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    """Where the table's lines begin and end; comments before the next header belong to that one."""
    headers = [*_HEADER.finditer(text)]
    start: int | None = None
    for header in headers:
        names = _names(header[0])
        is_ours = names[: len(path)] == path
        if start is None and is_ours:
            start = header.start()
        elif start is not None and not is_ours:
            return start, _before_comments(text, start, header.start())
    return None if start is None else (start, len(text))


def _before_comments(text: str, start: int, end: int) -> int:
    lines = text[start:end].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        end -= len(lines.pop())
    return end


def _names(header: str) -> tuple[str, ...]:
    inside = header.strip().partition("#")[0].strip().strip("[]")
    return tuple(part.strip().strip("\"'") for part in inside.split("."))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{key} = {_value(one)}" for key, one in value.items())  # pyright: ignore[reportUnknownVariableType]
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"  # pyright: ignore[reportUnknownArgumentType]
    return json.dumps(value, ensure_ascii=False)
