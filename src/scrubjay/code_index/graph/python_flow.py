"""Makes the flow of a Python file: what is bound to which name, passed where and called with what."""

import ast
import re
import warnings
from typing import TYPE_CHECKING

from pydantic_core import to_json

from scrubjay.code_index.graph.python_flow_builder import FlowBuilder
from scrubjay.code_index.graph.python_flow_statements import StatementReader

if TYPE_CHECKING:
    from tree_sitter import Node as SyntaxNode
    from tree_sitter import Tree

_MAX_REPAIRS = 6


def flow_of(content: bytes, syntax: "ast.Module | Tree") -> bytes:
    """Return the flow of a file; empty if not even a repaired text of it can be parsed."""
    parsed = syntax if isinstance(syntax, ast.Module) else _repaired(content, syntax)
    if parsed is None:
        return b""
    builder = FlowBuilder(content)
    StatementReader(builder).read(parsed)
    return to_json(builder.flow())


def _repaired(content: bytes, tree: "Tree") -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text, failed_at = content, 0
        for attempt in range(_MAX_REPAIRS):
            try:
                return ast.parse(text)
            except SyntaxError as error:
                failed_at = error.lineno or 0
            except (ValueError, RecursionError, MemoryError):
                return None
            text = _without_new_syntax(content, tree) if attempt == 0 else _without_line(text, failed_at)
    return None


def _without_new_syntax(content: bytes, tree: "Tree") -> bytes:
    """Blank broken parts, and type parameters, which an older Python does not know."""
    text = bytearray(content)
    waiting: list[SyntaxNode] = [tree.root_node]
    while waiting:
        node = waiting.pop()
        if node.type == "type_parameter" and node.parent is not None and node.parent.type.endswith("_definition"):
            _blank(text, node.start_byte, node.end_byte)
        elif node.type in ("ERROR", "type_alias_statement"):
            _blank(text, node.start_byte, node.end_byte)
            if node.type == "type_alias_statement":
                text[node.start_byte : node.start_byte + 4] = b"pass"
        else:
            waiting.extend(node.children)
    return bytes(text)


def _blank(text: bytearray, start: int, end: int) -> None:
    text[start:end] = re.sub(rb"[^\r\n]", b" ", bytes(text[start:end]))


def _without_line(text: bytes, line: int) -> bytes:
    lines = text.splitlines(keepends=True)
    if not 0 < line <= len(lines):
        return text
    bad = lines[line - 1]
    indent = bad[: len(bad) - len(bad.lstrip())]
    opens_block = bad.rstrip().endswith(b":")
    lines[line - 1] = indent + (b"if 1:" if opens_block else b"pass") + (b"\n" if bad.endswith((b"\n", b"\r")) else b"")
    return b"".join(lines)
