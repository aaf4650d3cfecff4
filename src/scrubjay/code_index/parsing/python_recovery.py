"""Parsing of Python files that `ast` rejects: half-edited files, conflict markers, newer syntax and Python 2.

The text is repaired so that every remaining token keeps its line and column; positions in the syntax tree are those of
the original file. Repairs go from the smallest to the largest: characters that Python rejects, syntax of other
versions, and finally statements that are still broken, which are completed if possible and otherwise dropped.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scrubjay.code_index.models import Problem
from scrubjay.code_index.parsing.python_versions import (
    TypeAlias,
    rewrite_newer_syntax,
    rewrite_python_2,
)

BROKEN = "invalid syntax"
CONFLICT = "unresolved merge conflict"
MAX_PROBLEMS = 20

_COOKIE = re.compile(rb"\A([ \t\f]*#.*?)(coding)([:=][ \t]*[-\w.]+)", re.IGNORECASE)
_MARKER = re.compile(rb"(?:<{7}|>{7}|\|{7})(?: .*)?|={7}")
_COMPOUND = re.compile(rb"(?:async[ \t]+)?(def|class|if|while|for|with|try|match|elif|else|except|finally|case)\b")
_CLAUSE = re.compile(rb"(?:elif|else|except|finally)\b")
_DEFINITION = re.compile(rb"((?:async[ \t]+)?def[ \t]+\w+|class[ \t]+\w+)")
_DEFINITION_LINE = re.compile(rb"( *)(?:async def|def|class) \w+.*[:(,\[][ \t]*$")
_TOKEN = re.compile(
    rb"#.*|\"\"\"|'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[()\[\]{}]",
)
_COMMENT_AT_END = re.compile(rb"[ \t]*#[^\"']*$")
_OPERATORS = b" \t-.,=+*/%&|^<>~@!:\\"
_OPERATOR_WORD = re.compile(rb"(?<!\w)(?:and|or|not|in|is|if|else|lambda|await|yield|from|for|as)$")
_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
_MAX_HEADER_LINES = 60
_MAX_BLANKED_LINES = 12
_MAX_OMITTED_LINES = 3
_MAX_DEPTH = 100  # as in Python's own tokenizer
_MAX_LINE_LENGTH = 2000  # of a line whose comment is searched for, which takes quadratic time
# Bytes that may be parsed per byte of the file, so that garbage takes linear time.
_PARSED_PER_BYTE = 20
_ALWAYS_PARSED = 500_000


class RecoveredModule(NamedTuple):
    """The syntax tree of a broken file, as far as it could be parsed."""

    module: ast.Module
    problems: Sequence[Problem]
    """Completed or dropped statements, in the order of lines; empty if only the version of the syntax differs."""


def parse(content: bytes) -> ast.Module | None:
    """Parse a file unchanged; None if this Python rejects it, or if its encoding would change positions."""
    if not content.isascii() and any(
        (cookie := _COOKIE.match(line)) and not re.search(rb"utf-?8", cookie[3], re.IGNORECASE)
        for line in content.split(b"\n", 2)[:2]
    ):
        return None
    return _parse(content)


def recover(content: bytes) -> RecoveredModule | None:
    """Parse a file that `parse` rejects; None if no part of it is Python."""
    text = _clean(content)
    module = _parse(text)
    if module is not None:
        return RecoveredModule(module, ())
    lines = text.splitlines()
    expanded = [_expand_indentation(line) for line in lines]
    added = [len(new) - len(old) for new, old in zip(expanded, lines, strict=True)]
    problems: dict[int, Problem] = {}
    for index, line in enumerate(expanded):
        if _MARKER.fullmatch(line):
            expanded[index] = b""
            if line.startswith(b"<"):
                problems[index + 1] = Problem(index + 1, CONFLICT)
    lines = rewrite_python_2(rewrite_newer_syntax(b"\n".join(expanded))).split(b"\n")
    module = _parse(b"\n".join(lines))
    if module is None:
        repair = _Repair(lines, added, problems)
        module = repair.run()
    if module is None:
        return None
    _restore(module, text.splitlines(), added)
    ordered = [problems[line] for line in sorted(problems)][:MAX_PROBLEMS]
    return RecoveredModule(module, ordered)


def _parse(text: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _clean(content: bytes) -> bytes:
    """Replace bytes that Python cannot decode with `_`, which keeps names intact."""
    head, *rest = content.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b" ").split(b"\n", 2)
    lines = [_COOKIE.sub(rb"\1******\3", line) for line in (head, *rest[:1])]
    text = b"\n".join([*lines, *rest[1:]])
    try:
        text.decode()
    except UnicodeDecodeError:
        decoded = text.decode(errors="surrogateescape")
        text = re.sub("[\udc80-\udcff]", "_", decoded).encode()
    return text


def _expand_indentation(line: bytes) -> bytes:
    body = line.lstrip(b" \t\f")
    return line[: len(line) - len(body)].replace(b"\f", b" ").expandtabs(8) + body


def _restore(module: ast.Module, lines: Sequence[bytes], added: Sequence[int]) -> None:
    """Move nodes to their positions in the original text, and restore rewritten statements."""
    for node in ast.walk(module):
        if isinstance(node, (ast.expr, ast.stmt, ast.excepthandler, ast.arg, ast.keyword, ast.alias, ast.pattern)):
            last = min(node.end_lineno or node.lineno, len(lines))
            node.col_offset = max(node.col_offset - added[node.lineno - 1], 0)
            node.end_lineno = last
            node.end_col_offset = min((node.end_col_offset or 0) - added[last - 1], len(lines[last - 1]))
    for node in ast.walk(module):
        if isinstance(node, ast.ExceptHandler):
            _restore_python_2_handler(node, lines)
        for name in ("body", "orelse", "finalbody"):
            body: Any = getattr(node, name, None)
            if isinstance(body, list):
                setattr(node, name, _with_type_aliases(body, lines))  # pyright: ignore[reportUnknownArgumentType]


def _restore_python_2_handler(handler: ast.ExceptHandler, lines: Sequence[bytes]) -> None:
    """Turn `except Error, error:` into `except Error as error:`; `except One, Two:` of Python 3.14 catches both."""
    match handler.type:
        case ast.Tuple(elts=[caught, ast.Name(id=name)]) if name[:1].islower() and handler.name is None:
            if lines[handler.type.lineno - 1][handler.type.col_offset :][:1].isspace():  # no bracket was written
                handler.type, handler.name = caught, name
        case _:
            pass


def _with_type_aliases(body: "list[ast.stmt]", lines: Sequence[bytes]) -> "list[ast.stmt]":
    """Join each `pass` and assignment that stand for a statement `type X = ...`."""
    joined: list[ast.stmt] = []
    for statement in body:
        last = joined[-1] if joined else None
        match statement:
            case ast.Assign(targets=[ast.Name() as name], value=value) if (
                isinstance(last, ast.Pass)
                and last.lineno == statement.lineno
                and lines[last.lineno - 1].startswith(b"type", last.col_offset)
            ):
                alias = TypeAlias(name=name, type_params=[], value=value)
                joined[-1] = ast.copy_location(alias, statement)
                alias.col_offset = last.col_offset
            case _:
                joined.append(statement)
    return joined


class _Repair:
    """Repairs statements that do not parse, from the outside in, by their indentation."""

    def __init__(self, lines: list[bytes], added: list[int], problems: dict[int, Problem]) -> None:
        self._lines = lines
        self._added = added
        """Columns by which the text of each line was moved to the right."""
        self._problems = problems
        self._in_string = _lines_in_strings(lines)
        self._depth = 0
        self._budget = _ALWAYS_PARSED + _PARSED_PER_BYTE * sum(map(len, lines))

    def run(self) -> ast.Module | None:
        self._repair_block(0, len(self._lines))
        for _ in range(_MAX_BLANKED_LINES):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return ast.parse(b"\n".join(self._lines))
            except SyntaxError as error:
                line = min(max(error.lineno or 1, 1), len(self._lines))
                self._drop(line - 1, line)
            except (ValueError, RecursionError, MemoryError):
                return None
        return None

    # Lines

    def _indent(self, index: int) -> int:
        return _indentation(self._lines[index])

    def _is_code(self, index: int) -> bool:
        line = self._lines[index].strip()
        return bool(line) and not line.startswith(b"#")

    def _first_code(self, first: int, last: int) -> int:
        """Return the index of the first line with code, or `last`."""
        return next((index for index in range(first, last) if self._is_code(index)), last)

    def _parses(self, lines: Sequence[bytes], before: Sequence[bytes] = ()) -> bool:
        first = next((line for line in lines if line.strip() and not line.lstrip().startswith(b"#")), b"")
        block = [*before, *lines]
        if first.startswith(b" "):
            block.insert(0, b"if 1:")
        self._budget -= sum(map(len, block)) + 100
        return self._budget > 0 and _parse(b"\n".join(block)) is not None

    def _report(self, index: int, message: str = BROKEN) -> None:
        self._problems.setdefault(index + 1, Problem(index + 1, message))

    def _drop(self, first: int, last: int) -> None:
        """Replace lines with a statement that does nothing."""
        self._report(first)
        indent = b" " * self._indent(first)
        self._lines[first:last] = [indent + b"pass", *[b""] * (last - first - 1)]

    # Blocks

    def _repair_block(self, first: int, last: int) -> None:
        if self._first_code(first, last) == last or self._parses(self._lines[first:last]):
            return
        self._depth += 1
        for start, end in self._statements(first, last):
            if self._depth > _MAX_DEPTH:
                self._drop(start, end)
            elif not self._parses(self._lines[start:end]):
                self._repair_statement(start, end)
        self._depth -= 1

    def _statements(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Split a block into statements; each starts at the block's indentation or a smaller one."""
        first = self._first_code(first, last)
        if first == last:
            return
        indent = self._indent(first)
        start, decorated = first, self._lines[first].lstrip().startswith(b"@")
        for index in range(first + 1, last):
            line = self._lines[index].lstrip()
            if not self._is_code(index) or self._in_string[index] or self._indent(index) > indent:
                continue
            if line[:1] in b")]}" or _CLAUSE.match(line):
                continue
            if self._indent(index) < indent:  # a dedent that matches no block
                self._report(index)
                self._added[index] += indent - self._indent(index)
                self._lines[index] = b" " * indent + line
            if not decorated:
                yield start, index
                start = index
            decorated = line.startswith(b"@")
        yield start, last

    def _repair_statement(self, first: int, last: int) -> None:
        start = first
        if self._lines[first].lstrip().startswith(b"@"):
            start = next(
                (
                    index
                    for index in range(first, last)
                    if _DEFINITION.match(self._lines[index].lstrip()) and self._indent(index) == self._indent(first)
                ),
                last,
            )
            if start == last:
                self._drop(first, last)
                return
            function = b" " * self._indent(first) + b"def f(): pass"
            if not self._parses([*self._lines[first:start], function]):
                self._drop(first, start)
        if _COMPOUND.match(self._lines[start].lstrip()):
            self._repair_compound(start, last)
        else:
            self._repair_simple(start, last)

    def _repair_simple(self, first: int, last: int) -> None:
        lines = self._lines[first:last]
        rest = self._first_code(first + 1, last)
        for left_out in range(min(len(lines) - 1, _MAX_OMITTED_LINES) + 1):
            candidate = _complete([*lines[: len(lines) - left_out], *[b""] * left_out])
            if self._parses(candidate):
                self._report(first)
                self._lines[first:last] = candidate
                return
        if last - rest > 1 and self._indent(rest) > self._indent(first):
            # The line that opened the block below is missing: keep the block, which says more than one statement.
            self._report(first)
            self._lines[first] = b" " * self._indent(first) + b"if 1:"
            self._repair_block(first + 1, last)
            return
        single = _complete(lines[:1])
        if self._parses(single):
            self._report(first)
            self._lines[first:last] = [*single, *[b""] * (last - first - 1)]
        else:
            self._drop(first, last)

    # Compound statements

    def _repair_compound(self, first: int, last: int) -> None:
        indent = self._indent(first)
        starts = [
            index
            for index in range(first, last)
            if index == first
            or (
                self._is_code(index)
                and not self._in_string[index]
                and self._indent(index) == indent
                and _CLAUSE.match(self._lines[index].lstrip())
            )
        ]
        for start, end in zip(starts, [*starts[1:], last], strict=True):
            self._repair_clause(start, end)
        if self._parses(self._lines[first:last]):
            return
        # Clauses that do not fit together, such as `try` without `except`, become separate blocks.
        for start in starts:
            if start > first or not _DEFINITION.match(self._lines[start].lstrip()):
                self._report(start)
                inline = self._lines[start].endswith(b" pass")
                self._lines[start] = b" " * indent + (b"if 1: pass" if inline else b"if 1:")
        if not self._parses(self._lines[first:last]):
            definition = _DEFINITION.match(self._lines[first].lstrip())
            self._drop(first, last)
            if definition:
                self._lines[first] = b" " * indent + _empty_definition(definition[1]) + b" pass"

    def _repair_clause(self, first: int, last: int) -> None:
        """Repair the header of a clause, then its body."""
        end = self._header_end(first, last)
        if end is None:
            self._report(first)
            end = first + 1
            self._lines[first] = self._complete_header(first)
        body = self._first_code(end, last)
        if body < last and self._indent(body) > self._indent(first):
            self._repair_block(end, last)
        elif self._lines[end - 1].rstrip().endswith(b":") or self._lines[end - 1] != _without_comment(
            self._lines[end - 1]
        ):
            self._report(end - 1)
            self._lines[end - 1] = _without_comment(self._lines[end - 1]) + b" pass"

    def _header_end(self, first: int, last: int) -> int | None:
        """Return the index of the line after a clause's header; None if no header parses."""
        for index in range(first, min(last, first + _MAX_HEADER_LINES)):
            line = _without_comment(self._lines[index])
            if b":" not in line:
                continue
            header = [*self._lines[first:index], line + b" pass" if line.rstrip().endswith(b":") else line]
            if self._is_header(header):
                return index + 1
        return None

    def _is_header(self, header: list[bytes]) -> bool:
        indent = header[0][: len(header[0]) - len(header[0].lstrip())]
        keyword = _COMPOUND.match(header[0].lstrip())
        word = keyword[1] if keyword else b""
        before: list[bytes] = []
        after: list[bytes] = []
        if word in (b"elif", b"else"):
            before = [indent + b"if 1: pass"]
        elif word in (b"except", b"finally"):
            before = [indent + b"try: pass"]
        elif word == b"try":
            after = [indent + b"finally: pass"]
        elif word == b"case":
            before = [indent + b"match 1:"]
            header = [b" " + line for line in header]
        elif word == b"match":
            header = [*header[:-1], header[-1].removesuffix(b" pass")]
            after = [indent + b" case _: pass"]
        return self._parses([*before, *header, *after])

    def _complete_header(self, index: int) -> bytes:
        line = self._lines[index]
        indent = b" " * self._indent(index)
        text = _without_comment(line)
        completed = _complete([text])[0]
        for header in (completed + b":", _complete([completed + b"()"])[0] + b":"):
            if self._is_header([header + b" pass"]):
                return header
        definition = _DEFINITION.match(line.lstrip())
        return indent + (_empty_definition(definition[1]) if definition else b"if 1:")


def _indentation(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" "))


def _empty_definition(head: bytes) -> bytes:
    return head + (b":" if head.startswith(b"class") else b"():")


def _complete(lines: Sequence[bytes]) -> list[bytes]:
    """Return lines without an unfinished end, with open brackets closed and surplus ones blanked."""
    kept = [*lines]
    while len(kept) > 1 and not kept[-1].strip():
        kept.pop()
    kept[-1] = _without_unfinished_end(_without_comment(kept[-1]))
    return [*_balance(b"\n".join(kept)).split(b"\n"), *[b""] * (len(lines) - len(kept))]


def _without_comment(line: bytes) -> bytes:
    """Remove the comment at the end of a line, unless it might be part of a string."""
    return _COMMENT_AT_END.sub(b"", line) if len(line) <= _MAX_LINE_LENGTH else line


def _without_unfinished_end(line: bytes) -> bytes:
    """Remove operators at the end of a line whose right operand is missing."""
    while True:
        line = line.rstrip(_OPERATORS)
        word = _OPERATOR_WORD.search(line, max(len(line) - 8, 0))
        if word is None:
            return line
        line = line[: word.start()]


def _balance(text: bytes) -> bytes:
    balanced = bytearray(text)
    waiting: list[bytes] = []
    for token in _TOKEN.finditer(text):
        if token[0] in _CLOSING:
            waiting.append(_CLOSING[token[0]])
        elif waiting and token[0] == waiting[-1]:
            waiting.pop()
        elif token[0] in _CLOSING.values():
            balanced[token.start()] = ord(" ")
    return bytes(balanced) + b"".join(reversed(waiting))


def _lines_in_strings(lines: Sequence[bytes]) -> list[bool]:
    """Return for each line whether it starts within a triple-quoted string.

    A string that is still open at a definition indented less than its start is treated as unterminated.
    """
    inside = [False] * len(lines)
    opened_by, opened_at = b"", 0
    for index, line in enumerate(lines):
        definition = _DEFINITION_LINE.match(line) if opened_by else None
        if definition and (not definition[1] or len(definition[1]) < _indentation(lines[opened_at])):
            inside[opened_at + 1 : index] = [False] * (index - opened_at - 1)
            opened_by = b""
        inside[index] = bool(opened_by)
        place = 0
        while place < len(line):
            if opened_by:
                end = line.find(opened_by, place)
                if end < 0:
                    break
                opened_by, place = b"", end + 3
                continue
            token = _TOKEN.search(line, place)
            if token is None:
                break
            place = token.end()
            if token[0] in (b'"""', b"'''"):
                opened_by, opened_at = token[0], index
    if opened_by:
        inside[opened_at + 1 :] = [False] * (len(lines) - opened_at - 1)
    return inside
