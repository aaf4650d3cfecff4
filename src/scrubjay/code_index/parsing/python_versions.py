"""Rewrites syntax of other Python versions so that the running one can parse it.

Every rewrite keeps the number of lines and the columns of names; `python_recovery` parses the result. Rewrites may also
change text within strings: facts take their text from the original file.
"""

import ast
import re
from collections.abc import Callable
from typing import Any

TypeAlias: Any = getattr(ast, "TypeAlias", None) or type(
    "TypeAlias", (ast.stmt,), {"_fields": ("name", "type_params", "value")}
)
"""The node of `type X = ...`, which `ast` has since Python 3.12."""
TEMPLATE_STRING: Any = getattr(ast, "TemplateStr", None)
"""The node of `t"..."`, which `ast` has since Python 3.14; None in older versions."""

_TYPE_ALIAS = re.compile(rb"^([ \t]*)type[ \t]([ \t]*\w+)([ \t]*\[[^\n]*?\])?([ \t]*=(?!=))", re.MULTILINE)
_GENERIC = re.compile(rb"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+\w+[ \t]*(?=\[)", re.MULTILINE)
_EXCEPT = re.compile(
    rb"^([ \t]*except\*?)[ \t](?![ \t]*\([^()]*\)[ \t]*(?:as\b|:))([^:#\n]{1,200},[^:#\n]{1,200}?)([ \t]*:)",
    re.MULTILINE,
)
_FORMATTED = re.compile(rb"(?<![\w\"'])([fFtT][rR]?|[rR][fFtT])(\"\"\"|'''|\"|')")

_NESTED_PARAMETERS = re.compile(rb"(?<=[(,])([ \t]*)\(([\w \t]+(?:,[\w \t]+)*)\)(?=[ \t]*[,)=])")
_NO_OPERAND = rb"(?!(?:in|is|and|or|if|else|for|not)\b)"
_PYTHON_2: tuple[tuple["re.Pattern[bytes]", "bytes | Callable[[re.Match[bytes]], bytes]"], ...] = (
    (re.compile(rb"(^[ \t]*|[:;][ \t]*)print[ \t](?=[ \t]*[\"'`\w{])" + _NO_OPERAND, re.MULTILINE), rb"\1pass ;"),
    (re.compile(rb"(^[ \t]*|[:;][ \t]*)exec[ \t](?=[ \t]*[\"'\w])" + _NO_OPERAND, re.MULTILINE), rb"\1pass;"),
    (re.compile(rb"((?:^|[:;])[ \t]*)print([ \t]*)>>", re.MULTILINE), rb"\1pass;\2  "),
    (re.compile(rb"^[ \t]*def[ \t].*", re.MULTILINE), lambda found: _NESTED_PARAMETERS.sub(rb"\1 \2 ", found[0])),
    (re.compile(rb"((?:^|[:;])[ \t]*raise[ \t]+[\w.]+[ \t]*),", re.MULTILINE), rb"\1;"),
    (re.compile(rb"`([^`\n]*)`"), rb"(\1)"),
    (re.compile(rb"<>"), rb"!="),
    (re.compile(rb"(?<![\w.])0(?=[0-7]+\b(?!\.))"), rb" "),
    (re.compile(rb"\b(0[xX][0-9a-fA-F]+|\d+)[lL]\b"), rb"\1 "),
    (re.compile(rb"\b[uU]([rR])(?=[\"'])"), rb" \1"),
    (re.compile(rb"\blambda([ \t]*)\(([\w, \t]+)\)([ \t]*:)"), rb"lambda\1 \2 \3"),
)


def rewrite_newer_syntax(text: bytes) -> bytes:
    """Rewrite type aliases and parameters (PEP 695), `except A, B` (758) and f-strings (701, 750)."""
    text = _TYPE_ALIAS.sub(lambda found: found[1] + b"pass;" + found[2] + _blank(found[3] or b"") + found[4], text)
    if _GENERIC.search(text):
        text = _without_type_parameters(text)
    text = _EXCEPT.sub(_with_brackets, text)
    return _with_plain_formatted_strings(text)


def rewrite_python_2(text: bytes) -> bytes:
    """Rewrite the statements and literals that Python 3 dropped."""
    for pattern, replacement in _PYTHON_2:
        text = pattern.sub(replacement, text)
    return text


def _blank(text: bytes) -> bytes:
    """Return spaces in place of a text, with line continuations where it spans lines."""
    lines = text.split(b"\n")
    return b"\n".join([*[b" " * (len(line) - 1) + b"\\" for line in lines[:-1]], b" " * len(lines[-1])])


def _without_type_parameters(text: bytes) -> bytes:
    parts: list[bytes] = []
    place = 0
    for found in _GENERIC.finditer(text):
        start = end = found.end()
        depth = 0
        for bracket in re.finditer(rb"[\[\]]", text[start : start + 2000]):
            depth += 1 if bracket[0] == b"[" else -1
            if not depth:
                end = start + bracket.end()
                break
        parts += (text[place:start], _blank(text[start:end]))
        place = end
    return b"".join([*parts, text[place:]])


def _with_brackets(found: "re.Match[bytes]") -> bytes:
    if re.search(rb"\bas\b", found[2]):
        return found[0]
    caught = found[2].replace(b", ", b",", 1)  # makes room for the closing bracket
    return found[1] + b"(" + caught + b")" + found[3]


def _with_plain_formatted_strings(text: bytes) -> bytes:
    """Rewrite replacement fields that only newer versions allow: with the string's own quotes, or backslashes."""
    rewritten = bytearray(text)
    place = 0
    while (found := _FORMATTED.search(text, place)) is not None:
        rewritten[found.start(1) : found.end(1)] = found[1].replace(b"t", b"f").replace(b"T", b"F")
        place = _rewrite_fields(rewritten, found.end(), found[2])
    return bytes(rewritten)


def _rewrite_fields(text: bytearray, place: int, quote: bytes) -> int:
    """Rewrite the fields of the string that starts here, and return the end of the string."""
    other = ord(b"'" if quote[:1] == b'"' else b'"')
    depth = 0
    while place < len(text):
        letter = bytes(text[place : place + 1])
        if not depth and text.startswith(quote, place):
            return place + len(quote)
        if letter == b"\n" and len(quote) == 1:
            return place
        if letter == b"\\":
            if depth:
                text[place : place + 2] = b"__"
            place += 1
        elif letter == b"{":
            if not depth and text.startswith(b"{{", place):
                place += 1
            else:
                depth += 1
        elif letter == b"}":
            depth = max(depth - 1, 0)
        elif depth and letter == quote[:1] and len(quote) == 1:
            text[place] = other
        place += 1
    return place
