"""Extract declarations of JavaScript, TypeScript, Go and Rust with the comment above them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from models.markup import remove_code, remove_links
from models.pairs import DeclarationKind, DescribedCode

_MAX_BODY_LINES = 90
_MAX_SIGNATURE_LINES = 12
_MAX_COMMENT_LINES = 100
_IDENTIFIER = re.compile(r"#?[\w$]+")


@dataclass(frozen=True, slots=True)
class _Declaration:
    name: str
    kind: DeclarationKind


@dataclass(frozen=True, slots=True)
class _DeclarationSyntax:
    """How one language writes declarations and comments. Attributes may stand between a comment and its declaration."""

    declared: Callable[[str], _Declaration | None]
    comment_above: Callable[[list[str], int], list[str]]
    attribute: str | None = None
    has_bodies: bool = True


def _go_declaration(line: str) -> _Declaration | None:
    keyword, _, rest = line.partition(" ")
    if keyword not in {"func", "type"} or not line.rstrip().endswith("{"):
        return None
    if rest.startswith("("):  # the receiver
        rest = rest.partition(") ")[2]
    name = _IDENTIFIER.match(rest)
    return _Declaration(name[0], "type" if keyword == "type" else "function") if name else None


_RUST_KINDS: dict[str, DeclarationKind] = {"fn": "function", "struct": "type", "enum": "type", "trait": "type"}
_RUST_MODIFIERS = {"pub", "crate", "super", "self", "in", "const", "async", "unsafe", "extern", "C", "default"}


def _rust_declaration(line: str) -> _Declaration | None:
    words = re.findall(r"\w+", line) if line.lstrip()[:1].isalpha() else []
    for word, name in pairwise(words):
        if word in _RUST_KINDS:
            return _Declaration(name, _RUST_KINDS[word])
        if word not in _RUST_MODIFIERS:
            return None
    return None


_MODIFIERS = re.compile(
    r"(?:(?:export|default|declare|abstract|public|protected|private|override|static|readonly|async|get|set)\s+(?=[\w$#*]))*"
)
_NAMED_FUNCTION = re.compile(r"function\b[\s*]*([\w$]+)")
_CLASS = re.compile(r"class\s+([\w$]+)")
_METHOD = re.compile(r"\*?\s*(#?[\w$]+)\s*(?:<[^<>]*>\s*)?\(")
# A name and its assigned value, with an optional TypeScript type; also `module.name = value` and `name: value`.
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


def _javascript_declaration(line: str) -> _Declaration | None:
    text = line.lstrip()
    text = text[_modifiers_end(text) :]
    if found := _CLASS.match(text):
        return _Declaration(found[1], "type")
    if found := _NAMED_FUNCTION.match(text):
        return _Declaration(found[1], "function")
    if found := _ASSIGNED.match(text) or _PROPERTY.match(text):
        return _Declaration(found[1], "function") if _FUNCTION_VALUE.match(found[2]) else None
    found = _METHOD.match(text)
    return _Declaration(found[1], "function") if found and found[1] not in _NOT_METHODS else None


def _modifiers_end(text: str) -> int:
    modifiers = _MODIFIERS.match(text)
    return modifiers.end() if modifiers else 0


def _line_comment_above(mark: str) -> Callable[[list[str], int], list[str]]:
    """Return a function that reads a comment of consecutive lines that start with `mark`."""

    def above(lines: list[str], end: int) -> list[str]:
        start = end
        while start and lines[start - 1].lstrip().startswith(mark):
            start -= 1
        return [line.lstrip().removeprefix(mark).strip() for line in lines[start:end]]

    return above


def _block_comment_above(lines: list[str], end: int) -> list[str]:
    """Return the lines of a comment between `/**` and `*/`."""
    if not end or not lines[end - 1].rstrip().endswith("*/"):
        return []
    comment: list[str] = []
    for line in reversed(lines[max(0, end - _MAX_COMMENT_LINES) : end]):
        text = line.strip()
        opened, comment_begins = text.startswith("/*"), text.startswith("/**")
        comment.append(text.removeprefix("/**").removesuffix("*/").strip().removeprefix("*").strip())
        if opened:
            return comment[::-1] if comment_begins else []
    return []


_GO = _DeclarationSyntax(_go_declaration, _line_comment_above("//"))
_RUST = _DeclarationSyntax(_rust_declaration, _line_comment_above("///"), attribute="#[")
_JAVASCRIPT = _DeclarationSyntax(_javascript_declaration, _block_comment_above, attribute="@")
_TYPE_DECLARATIONS = replace(_JAVASCRIPT, has_bodies=False)
# Go comments that are directives for tools.
_DIRECTIVES = ("go:", "+build", "nolint")


def read_go(source: str) -> Iterator[DescribedCode]:
    for found in _read_descriptions(source, _GO):
        lines = [line for line in found.documentation.split("\n") if not line.startswith(_DIRECTIVES)]
        yield _with_documentation(found, "\n".join(lines))


def read_rust(source: str) -> Iterator[DescribedCode]:
    for found in _read_descriptions(source, _RUST):
        yield _with_documentation(found, remove_links(remove_code(found.documentation)))


def read_javascript(source: str) -> Iterator[DescribedCode]:
    return map(_read_tags, _read_descriptions(source, _JAVASCRIPT))


def read_type_declarations(source: str) -> Iterator[DescribedCode]:
    return map(_read_tags, _read_descriptions(source, _TYPE_DECLARATIONS))


def _with_documentation(found: DescribedCode, documentation: str) -> DescribedCode:
    return replace(found, lead=documentation, documentation=documentation)


_DESCRIBING_TAGS = {"@description", "@desc", "@summary", "@remarks"}


def _read_tags(found: DescribedCode) -> DescribedCode:
    """Set the lead to the JSDoc description, which stands before the first tag or in a tag of its own."""
    documentation = re.sub(r"\{@\w+\s+([^}]+)\}", r"\1", found.documentation).strip()
    lead, *tags = re.split(r"^(?=@)", documentation, flags=re.MULTILINE)
    described = [text for name, _, text in (tag.partition(" ") for tag in tags) if name in _DESCRIBING_TAGS]
    return replace(found, lead=(lead or "".join(described[:1])).strip(), documentation=documentation)


def _read_descriptions(source: str, language: _DeclarationSyntax) -> Iterator[DescribedCode]:
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
            yield DescribedCode(declared.name, declared.kind, documentation, documentation, code)


def _signature(lines: list[str], start: int) -> str:
    """Return a declaration without a body up to its semicolon, or "" when an empty line comes first."""
    for end in range(start, min(len(lines), start + _MAX_SIGNATURE_LINES)):
        if lines[end].rstrip().endswith(";"):
            return "\n".join(lines[start : end + 1])
        if not lines[end].strip():
            break
    return ""


def _with_body(lines: list[str], start: int) -> str:
    """Return the declaration up to the closing brace in its column, or "" when it has no body."""
    first = lines[start].rstrip()
    if first.endswith(";") or (first.endswith("}") and first.count("{") == first.count("}")):
        return first
    if not any("{" in line for line in lines[start : start + _MAX_SIGNATURE_LINES]):
        return ""
    column = _column(first)
    body = lines[start + 1 : start + _MAX_BODY_LINES]
    for length, line in enumerate(body, start=1):
        if line.strip() and _column(line) <= column:
            if _column(line) == column and line.lstrip().startswith("}"):
                return "\n".join([first, *body[:length]])
            if _column(line) < column:
                return ""
    return "\n".join([first, *body])


def _column(line: str) -> int:
    return len(line) - len(line.lstrip())
