"""Declarations of JavaScript, TypeScript, Go and Rust with the comment above them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from models.described import Described, Kind
from models.markup import without_code, without_links

_LONGEST_BODY = 90
_LONGEST_SIGNATURE = 12
_LONGEST_COMMENT = 100
_IDENTIFIER = re.compile(r"#?[\w$]+")


@dataclass(frozen=True, slots=True)
class _Declared:
    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class _Language:
    """How one language declares and comments; attributes may stand between a comment and its declaration."""

    declared: Callable[[str], _Declared | None]
    comment_above: Callable[[list[str], int], list[str]]
    attribute: str | None = None
    has_bodies: bool = True


def _declared_in_go(line: str) -> _Declared | None:
    keyword, _, rest = line.partition(" ")
    if keyword not in {"func", "type"} or not line.rstrip().endswith("{"):
        return None
    if rest.startswith("("):  # the receiver
        rest = rest.partition(") ")[2]
    name = _IDENTIFIER.match(rest)
    return _Declared(name[0], "type" if keyword == "type" else "function") if name else None


_RUST_KINDS: dict[str, Kind] = {"fn": "function", "struct": "type", "enum": "type", "trait": "type"}
_RUST_MODIFIERS = {"pub", "crate", "super", "self", "in", "const", "async", "unsafe", "extern", "C", "default"}


def _declared_in_rust(line: str) -> _Declared | None:
    words = re.findall(r"\w+", line) if line.lstrip()[:1].isalpha() else []
    for word, name in pairwise(words):
        if word in _RUST_KINDS:
            return _Declared(name, _RUST_KINDS[word])
        if word not in _RUST_MODIFIERS:
            return None
    return None


_MODIFIERS = re.compile(
    r"(?:(?:export|default|declare|abstract|public|protected|private|override|static|readonly|async|get|set)\s+(?=[\w$#*]))*"
)
_NAMED_FUNCTION = re.compile(r"function\b[\s*]*([\w$]+)")
_CLASS = re.compile(r"class\s+([\w$]+)")
_METHOD = re.compile(r"\*?\s*(#?[\w$]+)\s*(?:<[^<>]*>\s*)?\(")
# A name and the value it gets, with a type between them in TypeScript; `module.name = value` and `name: value` as well.
_ASSIGNED = re.compile(r"(?:(?:const|let|var)\s+|[\w$.]+\.)([\w$]+)\s*(?::[^=]*)?=\s*(.*)")
_PROPERTY = re.compile(r"([\w$]+)\s*:\s*((?:async\s+)?function\b.*)")
_FUNCTION_VALUE = re.compile(r"(?:async\b\s*)?(?:function\b|\(|[\w$]+\s*=>)|/\*")
_NOT_METHODS = {
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "return",
    "function",
    "constructor",
    "super",
    "require",
    "import",
}


def _declared_in_javascript(line: str) -> _Declared | None:
    text = line.lstrip()
    text = text[_modifiers_end(text) :]
    if found := _CLASS.match(text):
        return _Declared(found[1], "type")
    if found := _NAMED_FUNCTION.match(text):
        return _Declared(found[1], "function")
    if found := _ASSIGNED.match(text) or _PROPERTY.match(text):
        return _Declared(found[1], "function") if _FUNCTION_VALUE.match(found[2]) else None
    found = _METHOD.match(text)
    return _Declared(found[1], "function") if found and found[1] not in _NOT_METHODS else None


def _modifiers_end(text: str) -> int:
    modifiers = _MODIFIERS.match(text)
    return modifiers.end() if modifiers else 0


def _lines_above(mark: str) -> Callable[[list[str], int], list[str]]:
    """Reads a comment that marks each of its lines."""

    def above(lines: list[str], end: int) -> list[str]:
        start = end
        while start and lines[start - 1].lstrip().startswith(mark):
            start -= 1
        return [line.lstrip().removeprefix(mark).strip() for line in lines[start:end]]

    return above


def _block_above(lines: list[str], end: int) -> list[str]:
    """Reads a comment between `/**` and `*/`."""
    if not end or not lines[end - 1].rstrip().endswith("*/"):
        return []
    comment: list[str] = []
    for line in reversed(lines[max(0, end - _LONGEST_COMMENT) : end]):
        text = line.strip()
        opened, comment_begins = text.startswith("/*"), text.startswith("/**")
        comment.append(text.removeprefix("/**").removesuffix("*/").strip().removeprefix("*").strip())
        if opened:
            return comment[::-1] if comment_begins else []
    return []


_GO = _Language(_declared_in_go, _lines_above("//"))
_RUST = _Language(_declared_in_rust, _lines_above("///"), attribute="#[")
_JAVASCRIPT = _Language(_declared_in_javascript, _block_above, attribute="@")
_TYPE_DECLARATIONS = replace(_JAVASCRIPT, has_bodies=False)
# Comments of Go that speak to its tools.
_DIRECTIVES = ("go:", "+build", "nolint")


def described_go(source: str) -> Iterator[Described]:
    for found in _described(source, _GO):
        lines = [line for line in found.documentation.split("\n") if not line.startswith(_DIRECTIVES)]
        yield _redescribed(found, "\n".join(lines))


def described_rust(source: str) -> Iterator[Described]:
    for found in _described(source, _RUST):
        yield _redescribed(found, without_links(without_code(found.documentation)))


def described_javascript(source: str) -> Iterator[Described]:
    return map(_read_tags, _described(source, _JAVASCRIPT))


def described_type_declarations(source: str) -> Iterator[Described]:
    return map(_read_tags, _described(source, _TYPE_DECLARATIONS))


def _redescribed(found: Described, documentation: str) -> Described:
    return replace(found, lead=documentation, documentation=documentation)


_DESCRIBING_TAGS = {"@description", "@desc", "@summary", "@remarks"}


def _read_tags(found: Described) -> Described:
    """JSDoc's description stands before the first tag, or in a tag of its own."""
    documentation = re.sub(r"\{@\w+\s+([^}]+)\}", r"\1", found.documentation).strip()
    lead, *tags = re.split(r"^(?=@)", documentation, flags=re.MULTILINE)
    described = [text for name, _, text in (tag.partition(" ") for tag in tags) if name in _DESCRIBING_TAGS]
    return replace(found, lead=(lead or "".join(described[:1])).strip(), documentation=documentation)


def _described(source: str, language: _Language) -> Iterator[Described]:
    lines = source.split("\n")
    for number, line in enumerate(lines):
        declared = language.declared(line)
        if declared is None:
            continue
        end = number
        while end and language.attribute and lines[end - 1].lstrip().startswith(language.attribute):
            end -= 1
        documentation = "\n".join(language.comment_above(lines, end)).strip()
        if not documentation:
            continue
        code = _with_body(lines, number) if language.has_bodies else _signature(lines, number)
        if code:
            yield Described(declared.name, declared.kind, documentation, documentation, code)


def _signature(lines: list[str], start: int) -> str:
    """A declaration without a body: up to its semicolon, or nothing when an empty line comes first."""
    for end in range(start, min(len(lines), start + _LONGEST_SIGNATURE)):
        if lines[end].rstrip().endswith(";"):
            return "\n".join(lines[start : end + 1])
        if not lines[end].strip():
            break
    return ""


def _with_body(lines: list[str], start: int) -> str:
    """The declaration up to the closing brace in its own column, or nothing when it has no body here."""
    first = lines[start].rstrip()
    if first.endswith(";") or (first.endswith("}") and first.count("{") == first.count("}")):
        return first
    if not any("{" in line for line in lines[start : start + _LONGEST_SIGNATURE]):
        return ""
    column = _column(first)
    body = lines[start + 1 : start + _LONGEST_BODY]
    for length, line in enumerate(body, start=1):
        if line.strip() and _column(line) <= column:
            if _column(line) == column and line.lstrip().startswith("}"):
                return "\n".join([first, *body[:length]])
            if _column(line) < column:
                return ""
    return "\n".join([first, *body])


def _column(line: str) -> int:
    return len(line) - len(line.lstrip())
