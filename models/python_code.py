"""Extract Python functions and classes with their docstrings; the code is returned without the docstring."""

import ast
import inspect
import re
import warnings
from collections.abc import Iterator

from models.pairs import DescribedCode


def read_python(source: str) -> Iterator[DescribedCode]:
    if '"""' not in source and "'''" not in source:
        return
    tree = _parse(source)
    if tree is None:
        return
    lines = source.splitlines()
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        documentation = ast.get_docstring(node)
        code = _code_without_docstring(node, lines)
        if documentation and code:
            kind = "type" if isinstance(node, ast.ClassDef) else "function"
            yield DescribedCode(node.name, kind, documentation, documentation, code)


def module_docstring(source: str) -> str:
    """Return the module docstring, found by a regular expression, so that files with syntax errors work too."""
    found = re.match(r"(?:\s|#[^\n]*\n)*+[rRuU]?(\"\"\"|''')(.+?)\1", source, re.DOTALL)
    return inspect.cleandoc(found[2]) if found else ""


def _parse(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        # Third-party code has invalid escape sequences; their warnings are noise.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _code_without_docstring(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, lines: list[str]
) -> str | None:
    docstring = node.body[0]
    if len(node.body) < 2 or docstring.lineno == node.lineno:
        return None
    head = lines[node.lineno - 1 : docstring.lineno - 1]
    return "\n".join(head + lines[docstring.end_lineno : node.end_lineno])
