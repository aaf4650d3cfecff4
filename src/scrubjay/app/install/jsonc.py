"""JSON with comments and trailing commas, edited in place: everything else keeps every character."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

_SKIP = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.S)
_TRAILING_COMMENT = re.compile(r"(?:[ \t]*(?://[^\n]*|/\*[^\n]*?\*/))?")
_DECODER = json.JSONDecoder()
MAX_DEPTH = 100

Path = tuple[str, ...]


@dataclass(slots=True)
class _JsonNode:
    """A value and its span in the text."""

    start: int
    end: int = 0
    value: Any = None
    entries: "list[tuple[str, int, _JsonNode]]" = field(default_factory=list["tuple[str, int, _JsonNode]"])
    """Entries of an object or list: name or index, start of the entry, value."""


def parse(text: str) -> Any:
    """Return the value; `ValueError` if the text is invalid."""
    return _root(text).value


def put(text: str, path: Path, value: Any) -> str:
    """Return the text with this value at the path. Missing objects on the path are created.

    Raise `ValueError` if something other than an object is on the path.
    """
    node = _root(text)
    for depth, name in enumerate(path):
        if not isinstance(node.value, dict):
            raise ValueError(f"{'.'.join(path[:depth]) or 'the top level'} is not an object")
        found = next((inner for key, _, inner in node.entries if key == name), None)
        if found is None:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _insert(text, node, f"{json.dumps(name)}: ", value)
        node = found
    if node.value == value:
        return text
    indent = _indent_at(text, node.start)
    return text[: node.start] + _format(value, indent, _indent_step(text)) + text[node.end :]


def append(text: str, path: Path, value: Any) -> str:
    """Return the text with this value appended to the list at the path, which is created if it is missing."""
    node = _find(text, path)
    if node is None:
        return put(text, path, [value])
    if not isinstance(node.value, list):
        raise ValueError(f"{'.'.join(path)} is not a list")
    return _insert(text, node, "", value)


def remove(text: str, path: Path, index: int | None = None) -> str:
    """Return the text without the value at the path, or without one entry of the list there."""
    if index is None:
        *above, last = path
        node = _find(text, tuple(above))
        name: str = last
    else:
        node, name = _find(text, path), str(index)
    if node is None:
        return text
    names = [key for key, _, _ in node.entries]
    if name not in names:
        return text
    position = names.index(name)
    _, start, inner = node.entries[position]
    following = _skip(text, inner.end)
    has_comma = text[following : following + 1] == ","
    if has_comma and position < len(names) - 1:
        return text[:start] + text[node.entries[position + 1][1] :]
    end = following + 1 if has_comma else inner.end
    if position == 0:
        is_alone = not text[node.start + 1 : start].strip() and not text[end : node.end - 1].strip()
        return text[: node.start + 1] + text[node.end - 1 :] if is_alone else text[:start] + text[end:]
    before = node.entries[position - 1][2].end
    comma = _skip(text, before)
    between = text[comma + 1 : start].rstrip()  # for example a comment after the previous entry
    trailing_comma = "," if has_comma else ""
    return text[:before] + text[before:comma] + trailing_comma + between + text[end:]


def value_at(text: str, path: Path) -> Any:
    """Return the value at the path, in which list entries are named by their index; None if there is none."""
    node = _find(text, path)
    return None if node is None else node.value


def _insert(text: str, node: _JsonNode, label: str, value: Any) -> str:
    """Return the text with an entry appended to an object or a list."""
    step, indent = _indent_step(text), _indent_at(text, node.start)
    inner = indent + step
    written = inner + label + _format(value, inner, step)
    if not node.entries:
        gap = text[node.start + 1 : node.end - 1].rstrip()
        return f"{text[: node.start + 1]}{gap}\n{written}\n{indent}{text[node.end - 1 :]}"
    last = node.entries[-1][2].end
    following = _skip(text, last)
    has_comma = text[following : following + 1] == ","
    place = following + 1 if has_comma else last
    comment = _TRAILING_COMMENT.match(text, place)
    line_end = comment.end() if comment else place  # a comment stays on the line of the previous entry
    ends_line = "" if "\n" in text[line_end : node.end - 1] else f"\n{indent}"
    comma_after = "," if has_comma else ""
    comma = "" if has_comma else ","
    return f"{text[:place]}{comma}{text[place:line_end]}\n{written}{comma_after}{ends_line}{text[line_end:]}"


def _format(value: Any, indent: str, step: str) -> str:
    return json.dumps(value, indent=step, ensure_ascii=False).replace("\n", f"\n{indent}")


def _indent_step(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found and len(found[1]) <= 8 else "  "


def _indent_at(text: str, place: int) -> str:
    line = text.rfind("\n", 0, place) + 1
    found = re.match(r"[ \t]*", text[line:place])
    return found[0] if found else ""


def _find(text: str, path: Path) -> _JsonNode | None:
    node = _root(text)
    for name in path:
        found = next((inner for key, _, inner in node.entries if key == name), None)
        if found is None:
            return None
        node = found
    return node


def _root(text: str) -> _JsonNode:
    node = _value(text, _skip(text, 1 if text.startswith("\ufeff") else 0), 0)
    if _skip(text, node.end) != len(text):
        raise ValueError("there is more text after the value")
    return node


def _value(text: str, place: int, depth: int) -> _JsonNode:
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if text[place : place + 1] in ("{", "["):
        return _container(text, place, depth)
    node = _JsonNode(place)
    node.value, node.end = _DECODER.raw_decode(text, place)
    return node


def _container(text: str, start: int, depth: int) -> _JsonNode:
    node = _JsonNode(start)
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    place = _skip(text, start + 1)
    while text[place : place + 1] != close:
        begin, name = place, str(len(node.entries))
        if is_object:
            key, place = _DECODER.raw_decode(text, place)
            if not isinstance(key, str):
                raise ValueError("a name is not a string")
            if key in (known for known, _, _ in node.entries):
                raise ValueError(f"duplicate name {key!r}")
            name, place = key, _skip(text, place)
            if text[place : place + 1] != ":":
                raise ValueError(f"no colon after {key!r}")
            place = _skip(text, place + 1)
        inner = _value(text, place, depth + 1)
        node.entries.append((name, begin, inner))
        place = _skip(text, inner.end)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
        elif text[place : place + 1] != close:
            raise ValueError(f"expected ',' or '{close}'")
    node.end = place + 1
    values = [(name, inner.value) for name, _, inner in node.entries]
    node.value = dict(values) if is_object else [value for _, value in values]
    return node


def _skip(text: str, place: int) -> int:
    found = _SKIP.match(text, place)
    return found.end() if found else place
