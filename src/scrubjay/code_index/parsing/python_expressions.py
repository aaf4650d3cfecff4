"""Reads the expressions of a Python file that `ast` parsed: names, calls, types and targets."""

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scrubjay.code_index.facts.line_starts import python_line_starts
from scrubjay.code_index.models import Import, Language, Symbol, SymbolKind, UseKind
from scrubjay.code_index.parsing.nodes import MAX_CHAIN_LENGTH, MAX_SIGNATURE_LENGTH, Findings, strip_comment_marks
from scrubjay.code_index.parsing.python_rules import (
    IMPORTERS,
    MAX_PATH_BYTES,
    PATH,
    is_public,
    literal_doc,
    literal_text,
)
from scrubjay.code_index.parsing.python_versions import TEMPLATE_STRING
from scrubjay.code_index.parsing.scopes import BindingScope

_LAST_NAME = re.compile(r"\w+(?=\W*$)")
_CALL, _READ, _WRITE, _TYPE = UseKind.CALL, UseKind.READ, UseKind.WRITE, UseKind.TYPE

RawUse = tuple[UseKind, str, int, int]
PlacedNode = ast.stmt | ast.expr | ast.alias | ast.pattern | ast.excepthandler


class PythonExpressionReader:
    """Reads expressions, types and assignment targets in text order, and records their uses."""

    __slots__ = ("_container", "_content", "_documented_at", "_floor", "_found", "_scope", "_starts", "_uses")

    def __init__(self, content: bytes) -> None:
        self._found = Findings(content, Language.PYTHON)
        self._content = content
        self._uses = self._found.uses
        self._starts = python_line_starts(content)
        self._scope = BindingScope(None)
        self._container = -1
        self._floor = 0
        """End of the previous statement; comments on the next one start after it."""
        self._documented_at = -1
        """Start of the last definition, which owns the comments above it."""

    # Positions

    def _start(self, node: PlacedNode) -> int:
        return self._starts[node.lineno] + node.col_offset

    def _end(self, node: PlacedNode) -> int:
        return self._starts[node.end_lineno or 1] + (node.end_col_offset or 0)

    def _outer_start(self, statement: ast.stmt) -> int:
        """Return the first byte of a statement, including its decorators."""
        decorators: Sequence[ast.expr] = getattr(statement, "decorator_list", ())
        return self._content.rfind(b"@", 0, self._start(decorators[0])) if decorators else self._start(statement)

    def _text(self, node: ast.expr) -> str:
        return self._found.text(self._start(node), self._end(node))

    def _take_above(self, start: int) -> tuple[int, str]:
        """Return where a definition starts, including adjacent comments above it, and the comment text."""
        content = self._content
        first = content.rfind(b"\n", 0, start) + 1
        if start == self._documented_at or start - first > MAX_SIGNATURE_LENGTH or content[first:start].strip(b" \t"):
            return start, ""
        self._documented_at = start
        top, begin = first, start
        while top > self._floor:
            above = content.rfind(b"\n", 0, top - 1) + 1
            line = content[above:top].lstrip(b" \t\xef\xbb\xbf")
            if above < self._floor or not line.startswith(b"#"):
                break
            top, begin = above, top - len(line)
        return begin, strip_comment_marks(self._found.text(begin, first)) if begin < first else ""

    # Symbols

    def _add(
        self,
        name: str,
        kind: SymbolKind,
        line: int,
        start: int,
        end: int,
        signature: str,
        doc: str,
        container: int,
        bases: tuple[str, ...] = (),
        decorators: tuple[str, ...] = (),
    ) -> int:
        found = self._found
        exported = is_public(name) and not self._scope.is_function
        span = found.span(start, end)
        found.symbols.append(Symbol(name, kind, span, line, container, signature, doc, exported, bases, decorators))
        return len(found.symbols) - 1

    def _docstring(self, body: Sequence[ast.stmt]) -> str:
        first = body[0] if body else None
        return literal_doc(self._text(first.value)) if isinstance(first, ast.Expr) and is_text(first.value) else ""

    # Paths of names

    def _path(self, node: ast.expr) -> tuple[str, int, ast.expr | None]:
        """Return the path of a name, the first byte of its last part, and the part that must be read separately."""
        if type(node) is ast.Name:
            return node.id, self._starts[node.lineno] + node.col_offset, None
        if type(node) is ast.Attribute and type(node.value) is ast.Name:  # most names are one of these two
            name = node.attr
            end = self._starts[node.end_lineno or 1] + (node.end_col_offset or 0)
            return f"{node.value.id}.{name}", end - (len(name) if name.isascii() else len(name.encode())), None
        parts: list[str] = []
        start = -1
        inner: ast.expr | None = None
        for _ in range(MAX_CHAIN_LENGTH):
            if isinstance(node, ast.Attribute):
                if start < 0:
                    start = self._end(node) - len(node.attr.encode())
                parts += (node.attr, ".")
                node = node.value
            elif isinstance(node, ast.Name):
                start = self._start(node) if start < 0 else start
                parts.append(node.id)
                break
            elif isinstance(node, ast.Call):
                parts.append("()")
                inner, node = inner or node, node.func
            elif isinstance(node, ast.Subscript):
                parts.append("[]")
                inner, node = inner or node, node.value
            elif isinstance(node, ast.Await):
                inner, node = inner or node, node.value
            else:
                inner = inner or node
                break
        else:
            inner = inner or node
        parts.reverse()
        return "".join(parts), self._start(node) if start < 0 else start, inner

    def _add_use(self, uses: list[RawUse], kind: UseKind, node: ast.expr, container: int) -> str:
        """Add a use if the node is a path, read what else is in it, and return the path."""
        path, start, inner = self._path(node)
        if path:
            uses.append((kind, path, start, container))
        if inner is not None:
            self._expression(inner)
        return path

    # Expressions

    def _expression(self, node: ast.expr) -> None:
        kind = type(node)
        if kind is ast.Constant:  # constants use nothing
            return
        visit = _EXPRESSIONS.get(kind)
        if visit is not None:
            visit(self, node)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expression(child)

    def _expressions(self, nodes: Iterable[ast.expr | None]) -> None:
        visitor_of = _EXPRESSIONS.get
        for node in nodes:
            if node is not None and (kind := type(node)) is not ast.Constant:
                (visitor_of(kind) or PythonExpressionReader._expression)(self, node)

    def visit_name(self, node: ast.Name) -> None:
        start = self._starts[node.lineno] + node.col_offset
        self._scope.reads.append((_READ, node.id, start, self._container))

    def visit_attribute(self, node: ast.Attribute) -> None:
        path, start, inner = self._path(node)
        if path:
            self._scope.reads.append((_READ, path, start, self._container))
        if inner is not None:
            self._expression(inner)

    def visit_call(self, node: ast.Call) -> None:
        path, start, inner = self._path(node.func)
        if path:
            self._uses.append((_CALL, path, start, self._container))
        if inner is not None:
            self._expression(inner)
        if path in IMPORTERS:
            self._dynamic_import(node.args)
        elif self._container < 0 and path.startswith("__all__."):
            self._export(node.args)
        if node.args:
            self._expressions(node.args)
        for keyword in node.keywords:
            self._expression(keyword.value)

    def _dynamic_import(self, arguments: Sequence[ast.expr]) -> None:
        for argument in arguments[:1]:
            module = literal_text(self._text(argument)) if is_text(argument) else None
            if module is not None:
                line = self._found.line_at(self._start(argument))
                self._found.imports.append(Import(module, line=line, container=self._container))

    def _export(self, values: Iterable[ast.expr]) -> None:
        for value in values:
            if isinstance(value, ast.Constant):
                name = literal_text(self._text(value)) if isinstance(value.value, str) else None
                if name is not None:
                    self._found.exports.append((name, name))
            elif isinstance(value, (ast.Tuple, ast.List)):
                self._export(value.elts)
            elif isinstance(value, ast.BinOp):
                self._export((value.left, value.right))

    def visit_elements(self, node: ast.List | ast.Tuple | ast.Set) -> None:
        self._expressions(node.elts)

    def visit_mapping(self, node: ast.Dict) -> None:
        self._expressions(node.keys)
        self._expressions(node.values)

    def visit_entry(self, node: ast.Subscript) -> None:
        self._expression(node.value)
        self._expression(node.slice)

    def visit_operation(self, node: ast.BinOp) -> None:
        operands = [node.right]
        left = node.left
        while isinstance(left, ast.BinOp):  # avoids recursion: a sum is as deeply nested as it is long
            operands.append(left.right)
            left = left.left
        self._expression(left)
        self._expressions(reversed(operands))

    def visit_comparison(self, node: ast.Compare) -> None:
        self._expression(node.left)
        self._expressions(node.comparators)

    def visit_named(self, node: ast.NamedExpr) -> None:
        self._bind(node.target)
        self._expression(node.value)

    def visit_lambda(self, node: ast.Lambda) -> None:
        self._lambda_inside(node, self._container)

    def _lambda_inside(self, node: ast.Lambda, symbol: int) -> None:
        inside = BindingScope(self._scope, symbol, is_function=True)
        self._take_parameters(node.args, inside, symbol)
        outer, self._scope = self._scope, inside
        container, self._container = self._container, symbol
        self._expression(node.body)
        self._scope, self._container = outer, container

    def _take_parameters(self, arguments: ast.arguments, inside: BindingScope, symbol: int) -> None:
        """Bind parameters in the function's scope. Their types belong to the function; defaults are read outside."""
        several = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *several):
            inside.bound.add(argument.arg)
            if argument.annotation is not None:
                self._types(argument.annotation, symbol)
        self._expressions(arguments.defaults)
        self._expressions(arguments.kw_defaults)

    def visit_comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        outer, self._scope = self._scope, BindingScope(self._scope, self._container, is_function=True)
        for generator in node.generators:
            self._bind(generator.target)
            self._expression(generator.iter)
            self._expressions(generator.ifs)
        self._expressions((node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,))
        self._scope = outer

    def visit_text(self, node: ast.JoinedStr) -> None:
        """Read the expressions in an f-string, whose positions Python 3.11 does not always report correctly."""
        uses, reads = self._uses, self._scope.reads
        before = len(uses), len(reads)
        for part in node.values:
            if not isinstance(part, ast.Constant):
                field: Any = part  # an `ast.FormattedValue`, or an `ast.Interpolation` of Python 3.14
                self._expression(field.value)
                if isinstance(field.format_spec, ast.JoinedStr):
                    self.visit_text(field.format_spec)
        start, end = self._start(node), self._end(node)
        for entries, first in zip((uses, reads), before, strict=True):
            for place in range(first, len(entries)):
                entries[place] = self._with_actual_position(entries[place], start, end)

    def _with_actual_position(self, use: RawUse, start: int, end: int) -> RawUse:
        """Return the use with the actual position of its name between two positions."""
        kind, path, at, container = use
        found = _LAST_NAME.search(path)
        name = found.group() if found else ""
        latin = self._found.latin
        if not name or latin.startswith(name, at):
            return use
        actual = latin.find(name, start, end)
        return (kind, path, actual if actual >= 0 else start, container)

    # Types

    def _types(self, node: ast.expr, container: int) -> None:
        """Add the names in an annotation, including one written as a string."""
        if isinstance(node, ast.Name):
            self._uses.append((_TYPE, node.id, self._start(node), container))
        elif isinstance(node, ast.Attribute):
            start, end = self._start(node), self._end(node)
            path = self._found.text(start, end)
            if end - start <= MAX_PATH_BYTES and PATH.fullmatch(path):
                self._uses.append((_TYPE, path, start + path.rfind(".") + 1, container))
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                start = self._start(node)
                for match in PATH.finditer(self._found.latin[start : min(self._end(node), start + MAX_PATH_BYTES)]):
                    path = match.group()
                    self._uses.append((_TYPE, path, start + match.start() + path.rfind(".") + 1, container))
        elif isinstance(node, ast.Call):
            self._expression(node)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._types(child, container)

    # Bindings

    def _bind(self, target: ast.expr, start: int = -1, end: int = -1, annotation: ast.expr | None = None) -> None:
        """Bind the names in a target. In an assignment, which has a start and an end, they may become symbols."""
        if isinstance(target, ast.Name):
            self._bind_name(target.id, target, start, end, annotation)
        elif isinstance(target, ast.Attribute):
            path = self._add_use(self._uses, _WRITE, target, self._container)
            self._bind_field(path, target, start, end)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._bind(element, start, end)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, start, end)
        else:
            self._expression(target)

    def _bind_name(self, name: str, node: PlacedNode, start: int, end: int, annotation: ast.expr | None = None) -> None:
        scope = self._scope
        if scope.is_function:
            if name in scope.elsewhere:
                self._uses.append((_WRITE, name, self._start(node), self._container))
            else:
                scope.bound.add(name)
        elif start >= 0 and name not in scope.fields:
            scope.fields.add(name)
            if scope.is_class:
                kind = SymbolKind.MEMBER if scope.is_enum and not name.startswith("_") else SymbolKind.FIELD
            elif annotation is not None and self._text(annotation).endswith("TypeAlias"):
                kind = SymbolKind.TYPE
            else:
                kind = SymbolKind.CONSTANT if name.isupper() else SymbolKind.VARIABLE
            self._add_variable(name, kind, node, start, end, self._container)

    def _bind_field(self, path: str, node: ast.Attribute, start: int, end: int) -> None:
        """Add a field of the class when a method first assigns it on its object."""
        owner = self._scope.parent
        of, _, name = path.partition(".")
        if start < 0 or owner is None or not owner.is_class or of != self._scope.receiver or "." in name or not name:
            return
        if name not in owner.fields:
            owner.fields.add(name)
            self._add_variable(name, SymbolKind.FIELD, node, start, end, owner.symbol)

    def _add_variable(
        self, name: str, kind: SymbolKind, node: PlacedNode, start: int, end: int, container: int
    ) -> None:
        above, doc = self._take_above(start)
        line = self._found.line_at(self._end(node) - 1)
        found = self._found
        found.symbols.append(
            Symbol(
                name, kind, found.span(above, end), line, container, found.signature(start, end), doc, is_public(name)
            )
        )


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


_EXPRESSIONS: Mapping[type[ast.expr], Callable[[PythonExpressionReader, Any], None]] = {
    ast.Name: PythonExpressionReader.visit_name,
    ast.Attribute: PythonExpressionReader.visit_attribute,
    ast.Call: PythonExpressionReader.visit_call,
    ast.List: PythonExpressionReader.visit_elements,
    ast.Tuple: PythonExpressionReader.visit_elements,
    ast.Set: PythonExpressionReader.visit_elements,
    ast.Dict: PythonExpressionReader.visit_mapping,
    ast.Subscript: PythonExpressionReader.visit_entry,
    ast.BinOp: PythonExpressionReader.visit_operation,
    ast.Compare: PythonExpressionReader.visit_comparison,
    ast.NamedExpr: PythonExpressionReader.visit_named,
    ast.Lambda: PythonExpressionReader.visit_lambda,
    ast.ListComp: PythonExpressionReader.visit_comprehension,
    ast.SetComp: PythonExpressionReader.visit_comprehension,
    ast.GeneratorExp: PythonExpressionReader.visit_comprehension,
    ast.DictComp: PythonExpressionReader.visit_comprehension,
    ast.JoinedStr: PythonExpressionReader.visit_text,
    **({TEMPLATE_STRING: PythonExpressionReader.visit_text} if TEMPLATE_STRING is not None else {}),
}
