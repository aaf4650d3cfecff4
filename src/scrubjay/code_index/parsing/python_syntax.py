"""Reads the definitions, imports and uses of a Python file that `ast` parsed."""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scrubjay.code_index.models import Import, Problem, SymbolKind, UseKind
from scrubjay.code_index.parsing.nodes import Findings
from scrubjay.code_index.parsing.python_expressions import PythonExpressionReader, is_text
from scrubjay.code_index.parsing.python_rules import (
    DOCUMENTED_BELOW,
    function_kind,
    is_enum,
    literal_doc,
    mark_exported,
)
from scrubjay.code_index.parsing.python_versions import TypeAlias
from scrubjay.code_index.parsing.scopes import BindingScope, keep_global_reads

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read(content: bytes, module: ast.Module) -> Findings:
    """Collect the definitions, imports and uses of a file; statements nested too deeply are listed in `problems`."""
    return _ModuleReader(content).read(module)


class _ModuleReader(PythonExpressionReader):
    """Reads the statements and definitions of a file, in text order."""

    __slots__ = ()

    def read(self, module: ast.Module) -> Findings:
        found, root = self._found, self._scope
        found.doc = self._docstring(module.body)
        self._body(module.body)
        keep_global_reads(found, root)
        mark_exported(found)
        return found

    # Statements

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        visitor_of, starts = _STATEMENTS.get, self._starts
        for statement in statements:
            visit = visitor_of(type(statement))
            scope, container = self._scope, self._container
            try:
                (visit or _ModuleReader.visit_other)(self, statement)
            except RecursionError:
                self._scope, self._container = scope, container
                self._found.problems.append(Problem(statement.lineno, "nested too deeply to be read in full"))
            self._floor = starts[statement.end_lineno or 1] + (statement.end_col_offset or 0)

    def visit_nothing(self, statement: ast.Pass | ast.Break | ast.Continue) -> None:
        """Ignore a statement that uses nothing."""

    def visit_expression(self, statement: ast.Expr) -> None:
        if not is_text(statement.value):
            self._expression(statement.value)
            return
        # A string right below a field documents the field.
        found = self._found
        if found.symbols and not self._scope.is_function:
            last, start = found.symbols[-1], self._start(statement)
            if last.kind in DOCUMENTED_BELOW and found.is_adjacent(last.span.end, start):
                span = found.span(last.span.start, self._end(statement))
                found.symbols[-1] = last._replace(doc=literal_doc(self._text(statement.value)), span=span)

    def visit_assignment(self, statement: ast.Assign) -> None:
        value, end, last = statement.value, self._end(statement), statement.targets[-1]
        for target in statement.targets[:-1]:
            self._bind(target, self._start(target), end)
        if isinstance(value, ast.Lambda) and isinstance(last, ast.Name):
            self._lambda_with_name(last, value, end)
            return
        self._bind(last, self._start(last), end)
        self._expression(value)
        if not self._scope.is_function and isinstance(last, ast.Name) and last.id == "__all__":
            self._export([value])

    def visit_annotated(self, statement: ast.AnnAssign) -> None:
        target, value, end = statement.target, statement.value, self._end(statement)
        if isinstance(value, ast.Lambda) and isinstance(target, ast.Name):
            self._lambda_with_name(target, value, end, statement.annotation)
            return
        self._bind(target, self._start(target), end, statement.annotation)
        self._types(statement.annotation, self._container)
        if value is not None:
            self._expression(value)
            if not self._scope.is_function and isinstance(target, ast.Name) and target.id == "__all__":
                self._export([value])

    def visit_augmented(self, statement: ast.AugAssign) -> None:
        self._bind(statement.target, self._start(statement), self._end(statement))
        self._expression(statement.value)
        if not self._scope.is_function and isinstance(statement.target, ast.Name) and statement.target.id == "__all__":
            self._export([statement.value])

    def _lambda_with_name(
        self, target: ast.Name, value: ast.Lambda, end: int, annotation: ast.expr | None = None
    ) -> None:
        scope, start = self._scope, self._start(target)
        above, doc = self._take_above(start)
        kind = SymbolKind.METHOD if scope.is_class else SymbolKind.FUNCTION
        line, head = self._found.line_at(start), self._found.signature(start, end)
        symbol = self._add(target.id, kind, line, above, end, head, doc, self._container)
        scope.fields.add(target.id)
        if annotation is not None:
            self._types(annotation, symbol)
        self._lambda_inside(value, symbol)

    def visit_return(self, statement: ast.Return) -> None:
        if statement.value is not None:
            self._expression(statement.value)

    def visit_deletion(self, statement: ast.Delete) -> None:
        self._expressions(statement.targets)

    def visit_assertion(self, statement: ast.Assert) -> None:
        self._expressions((statement.test, statement.msg))

    def visit_raise(self, statement: ast.Raise) -> None:
        raised = statement.exc
        reads = self._scope.reads
        if isinstance(raised, ast.Call):
            self._expression(raised)
            path, start, _ = self._path(raised.func)
            if path:
                reads.append((UseKind.RAISE, path, start, self._container))
        elif isinstance(raised, (ast.Name, ast.Attribute, ast.Subscript, ast.Await)):
            self._add_use(reads, UseKind.RAISE, raised, self._container)
        elif raised is not None:
            self._expression(raised)
        if statement.cause is not None:
            self._expression(statement.cause)

    def visit_if(self, statement: ast.If | ast.While) -> None:
        self._expression(statement.test)
        self._block(statement, statement.body)
        orelse = statement.orelse
        while len(orelse) == 1 and isinstance(
            inner := orelse[0], ast.If
        ):  # `elif`, which may be repeated hundreds of times
            self._expression(inner.test)
            self._block(inner, inner.body)
            orelse = inner.orelse
        self._body(orelse)

    def visit_for(self, statement: ast.For | ast.AsyncFor) -> None:
        self._bind(statement.target)
        self._expression(statement.iter)
        self._block(statement, statement.body)
        self._body(statement.orelse)

    def visit_with(self, statement: ast.With | ast.AsyncWith) -> None:
        for item in statement.items:
            self._expression(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars)
        self._block(statement, statement.body)

    def visit_try(self, statement: ast.Try | ast.TryStar) -> None:
        self._block(statement, statement.body)
        for handler in statement.handlers:
            if handler.type is not None:
                self._catch(handler.type)
            if handler.name:
                self._bind_name(handler.name, handler, -1, -1)
            self._body(handler.body)
        self._body(statement.orelse)
        self._body(statement.finalbody)

    def _catch(self, caught: ast.expr) -> None:
        for each in caught.elts if isinstance(caught, (ast.Tuple, ast.List)) else (caught,):
            if isinstance(each, (ast.Name, ast.Attribute)):
                self._add_use(self._uses, UseKind.CATCH, each, self._container)
            else:
                self._expression(each)

    def visit_match(self, statement: ast.Match) -> None:
        self._expression(statement.subject)
        for case in statement.cases:
            self._pattern(case.pattern)
            if case.guard is not None:
                self._expression(case.guard)
            self._body(case.body)

    def _pattern(self, pattern: ast.pattern) -> None:
        if isinstance(pattern, ast.MatchValue):
            self._expression(pattern.value)
        elif isinstance(pattern, (ast.MatchAs, ast.MatchStar)):
            if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
                self._pattern(pattern.pattern)
            if pattern.name:
                self._bind_name(pattern.name, pattern, -1, -1)
        elif isinstance(pattern, ast.MatchClass):
            self._types(pattern.cls, self._container)
            for inner in (*pattern.patterns, *pattern.kwd_patterns):
                self._pattern(inner)
        elif isinstance(pattern, ast.MatchMapping):
            self._expressions(pattern.keys)
            for inner in pattern.patterns:
                self._pattern(inner)
            if pattern.rest:
                self._bind_name(pattern.rest, pattern, -1, -1)
        elif isinstance(pattern, (ast.MatchSequence, ast.MatchOr)):
            for inner in pattern.patterns:
                self._pattern(inner)

    def visit_names_elsewhere(self, statement: ast.Global | ast.Nonlocal) -> None:
        self._scope.elsewhere.update(statement.names)

    def _block(self, statement: ast.stmt, body: Sequence[ast.stmt]) -> None:
        self._floor = self._starts[statement.lineno] + statement.col_offset
        self._body(body)

    # Definitions

    def visit_function(self, node: _Function) -> None:
        scope, called = self._scope, node.name
        written = self._decorator_texts(node.decorator_list)
        symbol = self._define(node, function_kind(called, written, in_class=scope.is_class), (), written)
        inside = BindingScope(scope, symbol, is_function=True)
        self._take_type_parameters(node, symbol)
        if node.returns is not None:
            self._types(node.returns, symbol)
        self._take_parameters(node.args, inside, symbol)
        if scope.is_class and "staticmethod" not in written:
            first = [*node.args.posonlyargs, *node.args.args][:1]
            # The parameter that receives the object has no default, and rarely a type.
            if (
                first
                and first[0].annotation is None
                and len(node.args.defaults) < len(node.args.posonlyargs) + len(node.args.args)
            ):
                inside.receiver = first[0].arg
        self._decorate(node.decorator_list, symbol)
        self._enter(node, symbol, inside)

    def visit_class(self, node: ast.ClassDef) -> None:
        bases = tuple([self._head(base) for base in node.bases])
        enumerates = is_enum(bases)
        kind = SymbolKind.ENUM if enumerates else SymbolKind.CLASS
        symbol = self._define(node, kind, bases, self._decorator_texts(node.decorator_list))
        inside = BindingScope(self._scope, symbol, is_class=True)
        inside.is_enum = enumerates
        self._take_type_parameters(node, symbol)
        for base in node.bases:
            self._inherit(base, symbol)
        for keyword in node.keywords:
            self._expression(keyword.value)
        self._decorate(node.decorator_list, symbol)
        self._enter(node, symbol, inside)

    def _take_type_parameters(self, node: Any, symbol: int) -> None:
        """Read the bounds and defaults of `[T: Bound = Default]`, which `ast` has since Python 3.12."""
        for parameter in getattr(node, "type_params", ()):
            for types in (getattr(parameter, "bound", None), getattr(parameter, "default_value", None)):
                if types is not None:
                    self._types(types, symbol)

    def visit_type_alias(self, node: Any) -> None:
        start, end, name = self._start(node), self._end(node), node.name
        above, doc = self._take_above(start)
        line, head = self._found.line_at(self._start(name)), self._found.signature(start, end)
        symbol = self._add(name.id, SymbolKind.TYPE, line, above, end, head, doc, self._container)
        self._take_type_parameters(node, symbol)
        self._types(node.value, symbol)

    def visit_other(self, statement: ast.stmt) -> None:
        """Read the parts of a statement that was added in a newer Python than this reader knows."""
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.stmt):
                self._body([child])
            elif isinstance(child, ast.expr):
                self._expression(child)

    def _define(
        self, node: _Function | ast.ClassDef, kind: SymbolKind, bases: tuple[str, ...], decorators: tuple[str, ...]
    ) -> int:
        start = self._start(node)
        above, comment = self._take_above(self._outer_start(node) if node.decorator_list else start)
        head = self._found.signature(start, self._outer_start(node.body[0]))
        doc = self._docstring(node.body) or comment
        line, end = self._found.line_at(start), self._end(node)
        symbol = self._add(node.name, kind, line, above, end, head, doc, self._container, bases, decorators)
        self._scope.fields.add(node.name)
        return symbol

    def _head(self, node: ast.expr) -> str:
        return self._found.signature(self._start(node), self._end(node))

    def _decorator_texts(self, decorators: Iterable[ast.expr]) -> tuple[str, ...]:
        return tuple([self._head(each) for each in decorators])

    def _enter(self, node: _Function | ast.ClassDef, symbol: int, inside: BindingScope) -> None:
        outer, container = self._scope, self._container
        self._scope, self._container = inside, symbol
        self._block(node, node.body)
        self._scope, self._container = outer, container

    def _decorate(self, decorators: Iterable[ast.expr], symbol: int) -> None:
        for decorator in decorators:
            if isinstance(decorator, ast.Call):
                path, start, _ = self._path(decorator.func)
                if path:
                    self._uses.append((UseKind.DECORATE, path, start, symbol))
                self._expression(decorator)
            else:
                self._add_use(self._uses, UseKind.DECORATE, decorator, symbol)

    def _inherit(self, base: ast.expr, symbol: int) -> None:
        if not isinstance(base, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Await)):
            self._expression(base)
            return
        # `Generic[T]` inherits from Generic and uses T.
        if isinstance(base, ast.Subscript):
            self._types(base.slice, symbol)
            base = base.value
        self._add_use(self._uses, UseKind.INHERIT, base, symbol)

    # Imports

    def visit_import(self, statement: ast.Import) -> None:
        line = self._found.line_at(self._start(statement))
        for alias in statement.names:
            self._found.imports.append(
                Import(alias.name, alias=alias.asname or "", line=line, container=self._container)
            )

    def visit_import_from(self, statement: ast.ImportFrom) -> None:
        where = "." * statement.level + (statement.module or "")
        for alias in statement.names:
            name, renamed = alias.name, alias.asname or ""
            line = self._found.line_at(self._start(alias))
            passed_on = name in (renamed, "*")
            self._found.imports.append(Import(where, name, renamed, line, self._container, exported=passed_on))


_STATEMENTS: Mapping[type[ast.stmt], Callable[[_ModuleReader, Any], None]] = {
    ast.FunctionDef: _ModuleReader.visit_function,
    ast.AsyncFunctionDef: _ModuleReader.visit_function,
    ast.ClassDef: _ModuleReader.visit_class,
    ast.Expr: _ModuleReader.visit_expression,
    ast.Assign: _ModuleReader.visit_assignment,
    ast.AnnAssign: _ModuleReader.visit_annotated,
    ast.AugAssign: _ModuleReader.visit_augmented,
    ast.Return: _ModuleReader.visit_return,
    ast.Delete: _ModuleReader.visit_deletion,
    ast.Assert: _ModuleReader.visit_assertion,
    ast.Raise: _ModuleReader.visit_raise,
    ast.If: _ModuleReader.visit_if,
    ast.While: _ModuleReader.visit_if,
    ast.For: _ModuleReader.visit_for,
    ast.AsyncFor: _ModuleReader.visit_for,
    ast.With: _ModuleReader.visit_with,
    ast.AsyncWith: _ModuleReader.visit_with,
    ast.Try: _ModuleReader.visit_try,
    ast.TryStar: _ModuleReader.visit_try,
    ast.Match: _ModuleReader.visit_match,
    ast.Global: _ModuleReader.visit_names_elsewhere,
    ast.Nonlocal: _ModuleReader.visit_names_elsewhere,
    ast.Import: _ModuleReader.visit_import,
    ast.ImportFrom: _ModuleReader.visit_import_from,
    ast.Pass: _ModuleReader.visit_nothing,
    ast.Break: _ModuleReader.visit_nothing,
    ast.Continue: _ModuleReader.visit_nothing,
    TypeAlias: _ModuleReader.visit_type_alias,
}
