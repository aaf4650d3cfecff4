"""Parse the JSON object in a language model's answer, even if it is malformed or surrounded by text."""

import json
import re
from typing import Any, cast

# Longer or more deeply nested answers are not valid answers to our prompts.
MAX_CHARACTERS = 400_000
MAX_DEPTH = 60
# Opening braces tried as the start of the object.
MAX_STARTS = 100

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_SKIPPED = re.compile(r"(?:\s+|//[^\n]*|/\*.*?(?:\*/|\Z))+", re.DOTALL)
_BARE_KEY = re.compile(r"[^\W\d][\w$-]{0,99}")
_COLON = re.compile(r"\s*(?::|=>|=)")
_BARE_VALUE = re.compile(r"[^,\]}\n]*")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_LITERALS = {"true": True, "false": False, "null": None, "none": None, "nan": None, "undefined": None}
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "`": "`"}
_QUOTE = "[\"'`\u201c]"
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")
# What follows a closing quote; any other quote is an unescaped one inside the string.
_AFTER_KEY = re.compile(r"\s*(?:[:=,}]|\Z)")
_NEXT_KEY = rf"(?:{_QUOTE}[^\"'`\n]{{0,99}}[\"'`\u201d]|[^\W\d][\w$-]{{0,99}})\s*[:=]"
_AFTER_VALUE = re.compile(
    rf"\s*(?:\Z|[}}\]]|//|/\*|,\s*(?:\Z|[}}\]]|//|/\*|{_QUOTE}|{_NEXT_KEY})|{_NEXT_KEY})",
)
_AFTER_ITEM = re.compile(
    rf"\s*(?:\Z|[}}\]]|//|/\*|,\s*(?:\Z|[\]\[{{}}]|//|/\*|{_QUOTE}|[-+.\d]|true|false|null|True|False|None)|\n\s*{_QUOTE})"
)
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


def read_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in an answer, the longest if there are several; None if there is none.

    Repairs what can be repaired without inventing content: code fences and text around it, comments, extra or missing
    commas, single quotes, unescaped quotes and newlines, unquoted names. Of a truncated object, complete values and the
    start of a string are kept; a number or word that may be incomplete is dropped.
    """
    text = _THOUGHTS.sub("", text)[:MAX_CHARACTERS].strip().removesuffix("```").rstrip()
    best: dict[str, Any] | None = None
    longest = 0
    position = -1
    for _ in range(MAX_STARTS):
        position = text.find("{", position + 1)
        if position < 0:
            break
        found, end = _object_at(text, position)
        if end - position > longest:
            best, longest = found, end - position
        position = max(position, end - 1)
    return best


def _object_at(text: str, start: int) -> tuple[dict[str, Any], int]:
    try:
        found, end = _STRICT.raw_decode(text, start)
    except (ValueError, RecursionError):
        reader = _Reader(text, start)
        found = reader.object(0)
        end = reader.position
    return _storable(found), end


def _number(text: str) -> int | float | None:
    """Return the number; None if it overflows."""
    try:
        number = float(text)
        return None if number in (float("inf"), float("-inf")) else int(text) if text.lstrip("+-").isdigit() else number
    except ValueError:
        return None


_STRICT = json.JSONDecoder(strict=False, parse_constant=lambda name: None, parse_float=_number, parse_int=_number)


class _Missing:
    """Marks a missing or incomplete value."""


_MISSING = _Missing()


class _Reader:
    """A lenient JSON parser that starts at an opening brace."""

    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self.position = position

    def object(self, depth: int) -> dict[str, Any]:
        self.position += 1
        found: dict[str, Any] = {}
        while (next_one := self._skip(",;")) not in ("", "}"):
            key = self._key(next_one)
            if key is None:  # not a key: the object ended without a closing brace
                return found
            if (colon := _COLON.match(self._text, self.position)) is None:
                continue
            self.position = colon.end()
            value = self._value(depth, _AFTER_VALUE)
            if value is not _MISSING:
                found[key] = value
        self.position += bool(next_one)
        return found

    def _array(self, depth: int) -> list[Any]:
        self.position += 1
        found: list[Any] = []
        while (next_one := self._skip(",;")) not in ("", "]"):
            if next_one == "}":
                return found
            before = self.position
            value = self._value(depth, _AFTER_ITEM)
            if value is not _MISSING:
                found.append(value)
            if self.position == before:
                self.position += 1
        self.position += bool(next_one)
        return found

    def _key(self, first: str) -> str | None:
        if first in _QUOTES:
            return self._string(_AFTER_KEY)
        if bare := _BARE_KEY.match(self._text, self.position):
            self.position = bare.end()
            return bare.group()
        return None

    def _value(self, depth: int, after: re.Pattern[str]) -> Any:
        first = self._skip("")
        if depth >= MAX_DEPTH:
            self.position = len(self._text)
            return _MISSING
        if first == "{":
            return self.object(depth + 1)
        if first == "[":
            return self._array(depth + 1)
        if first in _QUOTES:
            return self._string(after)
        return self._bare()

    def _bare(self) -> Any:
        """Parse a number, a literal or an unquoted string."""
        bare = _BARE_VALUE.match(self._text, self.position)
        written = bare.group() if bare else ""
        written = re.split(r"\s(?://|/\*)", written, maxsplit=1)[0]
        self.position += len(written)
        written = written.strip()
        if not written or self.position >= len(self._text):  # it may be incomplete
            return _MISSING
        if written.casefold() in _LITERALS:
            return _LITERALS[written.casefold()]
        return _number(written) if _NUMBER.fullmatch(written) else written

    def _string(self, after: re.Pattern[str]) -> str:
        """Parse a string up to its closing quote or the end of the text."""
        text, closing = self._text, _QUOTES[self._text[self.position]]
        self.position += 1
        parts: list[str] = []
        while self.position < len(text):
            letter = text[self.position]
            if letter == "\\":
                parts.append(self._escape())
                continue
            self.position += 1
            if letter == closing and after.match(text, self.position):
                break
            parts.append(letter)
        return "".join(parts)

    def _escape(self) -> str:
        letter = self._text[self.position + 1 : self.position + 2]
        self.position += 2
        if letter != "u":
            return _ESCAPES.get(letter, letter)
        digits = _HEX.match(self._text, self.position)
        if digits is None:
            return ""
        self.position = digits.end()
        return chr(int(digits.group(), 16))

    def _skip(self, letters: str) -> str:
        """Skip whitespace, comments and these characters; return the next character, or "" at the end."""
        text = self._text
        while True:
            if skipped := _SKIPPED.match(text, self.position):
                self.position = skipped.end()
            next_one = text[self.position : self.position + 1]
            if not next_one or next_one not in letters:
                return next_one
            self.position += 1


def _storable(value: Any) -> Any:
    """Return the value with strings that every database accepts."""
    match value:
        case str():
            joined = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins surrogate pairs
            return _LONE_SURROGATES.sub("\ufffd", joined).replace("\x00", "")
        case dict():
            items = cast(dict[str, Any], value)
            return {_storable(key): _storable(inner) for key, inner in items.items()}
        case list():
            return [_storable(inner) for inner in cast(list[Any], value)]
        case _:
            return value
