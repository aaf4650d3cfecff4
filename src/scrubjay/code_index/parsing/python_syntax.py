"""Python files that Python itself can parse: the same facts as by the grammar, in a part of the time."""

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scrubjay.code_index.facts.line_starts import python_line_starts
from scrubjay.code_index.models import Import, Language, Symbol, SymbolKind, UseKind
from scrubjay.code_index.parsing.nodes import LONGEST_CHAIN, LONGEST_SIGNATURE, Findings, uncommented
from scrubjay.code_index.parsing.python_forms import (
    DOCUMENTED_BELOW,
    IMPORTERS,
    LONGEST_PATH,
    PATH,
    function_kind,
    is_enum,
    is_public,
    said_in,
    tell_exported,
    written_text,
)
from scrubjay.code_index.parsing.scopes import Scope, settle

_OTHER_ENCODING = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*(?!utf-?8)[-\w.]", re.IGNORECASE)
_LAST_NAME = re.compile(r"\w+(?=\W*$)")
_CALL, _READ, _WRITE, _TYPE = UseKind.CALL, UseKind.READ, UseKind.WRITE, UseKind.TYPE

_Use = tuple[UseKind, str, int, int]
_Placed = ast.stmt | ast.expr | ast.alias | ast.pattern | ast.excepthandler
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Unknown(Exception):
    """Syntax that is newer than this reader."""


def parsed(content: bytes) -> ast.Module | None:
    """The syntax of a file; None when it cannot be parsed, or its places would be counted in another encoding."""
    if not content.isascii() and any(map(_OTHER_ENCODING.match, content.split(b"\n", 2)[:2])):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def read(content: bytes, module: ast.Module) -> Findings | None:
    """What a file says; None when it is nested too deep, or has syntax of a newer Python than this is written for."""
    try:
        return _Reading(content).read(module)
    except (RecursionError, _Unknown):
        return None


class _Reading:
    """One walk through a file's syntax, in the order of the text."""

    __slots__ = ("_container", "_content", "_floor", "_found", "_scope", "_starts", "_taken", "_uses")

    def __init__(self, content: bytes) -> None:
        self._found = Findings(content, Language.PYTHON)
        self._content = content
        self._uses = self._found.uses
        self._starts = python_line_starts(content)
        self._scope = Scope(None)
        self._container = -1
        self._floor = 0
        """Where the statement before ends: comments about the next one are below."""
        self._taken = -1
        """Where the last definition begins: what is said above it is said of nothing else."""

    def read(self, module: ast.Module) -> Findings:
        found, root = self._found, self._scope
        found.doc = self._docstring(module.body)
        self._body(module.body)
        settle(found, root)
        tell_exported(found)
        return found

    # Places

    def _start(self, node: _Placed) -> int:
        return self._starts[node.lineno] + node.col_offset

    def _end(self, node: _Placed) -> int:
        return self._starts[node.end_lineno or 1] + (node.end_col_offset or 0)

    def _outer_start(self, statement: ast.stmt) -> int:
        """Where a statement begins, with its decorators."""
        decorators: Sequence[ast.expr] = getattr(statement, "decorator_list", ())
        return self._content.rfind(b"@", 0, self._start(decorators[0])) if decorators else self._start(statement)

    def _text(self, node: ast.expr) -> str:
        return self._found.text(self._start(node), self._end(node))

    def _take_above(self, start: int) -> tuple[int, str]:
        """Where a definition begins together with the comments right above it, and what they say."""
        content = self._content
        first = content.rfind(b"\n", 0, start) + 1
        if start == self._taken or start - first > LONGEST_SIGNATURE or content[first:start].strip(b" \t"):
            return start, ""
        self._taken = start
        top, begin = first, start
        while top > self._floor:
            above = content.rfind(b"\n", 0, top - 1) + 1
            line = content[above:top].lstrip(b" \t\xef\xbb\xbf")
            if above < self._floor or not line.startswith(b"#"):
                break
            top, begin = above, top - len(line)
        return begin, uncommented(self._found.text(begin, first)) if begin < first else ""

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
        return said_in(self._text(first.value)) if isinstance(first, ast.Expr) and _is_text(first.value) else ""

    # Names with what they are taken of

    def _path(self, node: ast.expr) -> tuple[str, int, ast.expr | None]:
        """The path of a name, where its last part begins, and what in it is more than names and is to be read too."""
        if type(node) is ast.Name:
            return node.id, self._starts[node.lineno] + node.col_offset, None
        if type(node) is ast.Attribute and type(node.value) is ast.Name:  # most are one of these two
            name = node.attr
            end = self._starts[node.end_lineno or 1] + (node.end_col_offset or 0)
            return f"{node.value.id}.{name}", end - (len(name) if name.isascii() else len(name.encode())), None
        parts: list[str] = []
        start = -1
        inner: ast.expr | None = None
        for _ in range(LONGEST_CHAIN):
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

    def _note(self, uses: list[_Use], kind: UseKind, node: ast.expr, container: int) -> str:
        """Add a use of a path, if it is one, and read what else is in it; the path is returned."""
        path, start, inner = self._path(node)
        if path:
            uses.append((kind, path, start, container))
        if inner is not None:
            self._expression(inner)
        return path

    # Expressions

    def _expression(self, node: ast.expr) -> None:
        kind = type(node)
        if kind is ast.Constant:  # nothing is used by it
            return
        visit = _EXPRESSIONS.get(kind)
        if visit is not None:
            visit(self, node)
        elif kind not in _KNOWN:
            raise _Unknown
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expression(child)

    def _expressions(self, nodes: Iterable[ast.expr | None]) -> None:
        visitor_of = _EXPRESSIONS.get
        for node in nodes:
            if node is not None and (kind := type(node)) is not ast.Constant:
                (visitor_of(kind) or _Reading._expression)(self, node)

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
            module = written_text(self._text(argument)) if _is_text(argument) else None
            if module is not None:
                line = self._found.line_at(self._start(argument))
                self._found.imports.append(Import(module, line=line, container=self._container))

    def visit_elements(self, node: ast.List | ast.Tuple | ast.Set) -> None:
        self._expressions(node.elts)

    def visit_mapping(self, node: ast.Dict) -> None:
        self._expressions(node.keys)
        self._expressions(node.values)

    def visit_entry(self, node: ast.Subscript) -> None:
        self._expression(node.value)
        self._expression(node.slice)

    def visit_operation(self, node: ast.BinOp) -> None:
        self._expression(node.left)
        self._expression(node.right)

    def visit_comparison(self, node: ast.Compare) -> None:
        self._expression(node.left)
        self._expressions(node.comparators)

    def visit_named(self, node: ast.NamedExpr) -> None:
        self._bind(node.target)
        self._expression(node.value)

    def visit_lambda(self, node: ast.Lambda) -> None:
        self._lambda_inside(node, self._container)

    def _lambda_inside(self, node: ast.Lambda, symbol: int) -> None:
        inside = Scope(self._scope, symbol, is_function=True)
        self._take_parameters(node.args, inside, symbol)
        outer, self._scope = self._scope, inside
        container, self._container = self._container, symbol
        self._expression(node.body)
        self._scope, self._container = outer, container

    def visit_comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        outer, self._scope = self._scope, Scope(self._scope, self._container, is_function=True)
        for generator in node.generators:
            self._bind(generator.target)
            self._expression(generator.iter)
            self._expressions(generator.ifs)
        self._expressions((node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,))
        self._scope = outer

    def visit_text(self, node: ast.JoinedStr) -> None:
        """A text with expressions in it, of which Python 3.11 does not always tell the right place."""
        uses, reads = self._uses, self._scope.reads
        before = len(uses), len(reads)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self._expression(part.value)
                if isinstance(part.format_spec, ast.JoinedStr):
                    self.visit_text(part.format_spec)
        start, end = self._start(node), self._end(node)
        for entries, first in zip((uses, reads), before, strict=True):
            for place in range(first, len(entries)):
                entries[place] = self._placed(entries[place], start, end)

    def _placed(self, use: _Use, start: int, end: int) -> _Use:
        """The use where its name really stands between two places."""
        kind, path, at, container = use
        found = _LAST_NAME.search(path)
        name = found.group() if found else ""
        latin = self._found.latin
        if not name or latin.startswith(name, at):
            return use
        really = latin.find(name, start, end)
        return (kind, path, really if really >= 0 else start, container)

    # Types

    def _types(self, node: ast.expr, container: int) -> None:
        """Add the names in an annotation, also in one that is written as a text."""
        if isinstance(node, ast.Name):
            self._uses.append((_TYPE, node.id, self._start(node), container))
        elif isinstance(node, ast.Attribute):
            start, end = self._start(node), self._end(node)
            path = self._found.text(start, end)
            if end - start <= LONGEST_PATH and PATH.fullmatch(path):
                self._uses.append((_TYPE, path, start + path.rfind(".") + 1, container))
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                start = self._start(node)
                for match in PATH.finditer(self._found.latin[start : min(self._end(node), start + LONGEST_PATH)]):
                    path = match.group()
                    self._uses.append((_TYPE, path, start + match.start() + path.rfind(".") + 1, container))
        elif isinstance(node, ast.Call):
            self._expression(node)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._types(child, container)

    # What binds names

    def _bind(self, target: ast.expr, start: int = -1, end: int = -1, annotation: ast.expr | None = None) -> None:
        """Take the names in a target; in an assignment, which has a beginning and an end, they may be symbols."""
        if isinstance(target, ast.Name):
            self._bind_name(target.id, target, start, end, annotation)
        elif isinstance(target, ast.Attribute):
            path = self._note(self._uses, _WRITE, target, self._container)
            self._bind_field(path, target, start, end)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._bind(element, start, end)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, start, end)
        else:
            self._expression(target)

    def _bind_name(self, name: str, node: _Placed, start: int, end: int, annotation: ast.expr | None = None) -> None:
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
        """Take what a method sets on its object as a field of the class, the first time."""
        owner = self._scope.parent
        of, _, name = path.partition(".")
        if start < 0 or owner is None or not owner.is_class or of != self._scope.receiver or "." in name or not name:
            return
        if name not in owner.fields:
            owner.fields.add(name)
            self._add_variable(name, SymbolKind.FIELD, node, start, end, owner.symbol)

    def _add_variable(self, name: str, kind: SymbolKind, node: _Placed, start: int, end: int, container: int) -> None:
        above, doc = self._take_above(start)
        line = self._found.line_at(self._end(node) - 1)
        found = self._found
        found.symbols.append(
            Symbol(name, kind, found.span(above, end), line, container, found.head(start, end), doc, is_public(name))
        )

    # Statements

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        visitor_of, starts = _STATEMENTS.get, self._starts
        for statement in statements:
            visit = visitor_of(type(statement))
            if visit is None:
                raise _Unknown
            visit(self, statement)
            self._floor = starts[statement.end_lineno or 1] + (statement.end_col_offset or 0)

    def visit_nothing(self, statement: ast.Pass | ast.Break | ast.Continue) -> None:
        """Nothing is used by it."""

    def visit_expression(self, statement: ast.Expr) -> None:
        if not _is_text(statement.value):
            self._expression(statement.value)
            return
        # A text right below a field says what the field is.
        found = self._found
        if found.symbols and not self._scope.is_function:
            last, start = found.symbols[-1], self._start(statement)
            if last.kind in DOCUMENTED_BELOW and found.is_next(last.span.end, start):
                span = found.span(last.span.start, self._end(statement))
                found.symbols[-1] = last._replace(doc=said_in(self._text(statement.value)), span=span)

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
        line, head = self._found.line_at(start), self._found.head(start, end)
        symbol = self._add(target.id, kind, line, above, end, head, doc, self._container)
        scope.fields.add(target.id)
        if annotation is not None:
            self._types(annotation, symbol)
        self._lambda_inside(value, symbol)

    def _export(self, values: Iterable[ast.expr]) -> None:
        for value in values:
            if isinstance(value, ast.Constant):
                name = written_text(self._text(value)) if isinstance(value.value, str) else None
                if name is not None:
                    self._found.exports.append((name, name))
            elif isinstance(value, (ast.Tuple, ast.List)):
                self._export(value.elts)
            elif isinstance(value, ast.BinOp):
                self._export((value.left, value.right))

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
            self._note(reads, UseKind.RAISE, raised, self._container)
        elif raised is not None:
            self._expression(raised)
        if statement.cause is not None:
            self._expression(statement.cause)

    def visit_if(self, statement: ast.If | ast.While) -> None:
        self._expression(statement.test)
        self._block(statement, statement.body)
        self._body(statement.orelse)

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
                self._note(self._uses, UseKind.CATCH, each, self._container)
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
        self._refuse_new(node)
        scope, called = self._scope, node.name
        written = self._written(node.decorator_list)
        symbol = self._define(node, function_kind(called, written, in_class=scope.is_class), (), written)
        inside = Scope(scope, symbol, is_function=True)
        if node.returns is not None:
            self._types(node.returns, symbol)
        self._take_parameters(node.args, inside, symbol)
        if scope.is_class and "staticmethod" not in written:
            first = [*node.args.posonlyargs, *node.args.args][:1]
            # The one that is passed by itself has no default, and seldom a type.
            if (
                first
                and first[0].annotation is None
                and len(node.args.defaults) < len(node.args.posonlyargs) + len(node.args.args)
            ):
                inside.receiver = first[0].arg
        self._decorate(node.decorator_list, symbol)
        self._enter(node, symbol, inside)

    def visit_class(self, node: ast.ClassDef) -> None:
        self._refuse_new(node)
        bases = tuple([self._head(base) for base in node.bases])
        enumerates = is_enum(bases)
        kind = SymbolKind.ENUM if enumerates else SymbolKind.CLASS
        symbol = self._define(node, kind, bases, self._written(node.decorator_list))
        inside = Scope(self._scope, symbol, is_class=True)
        inside.is_enum = enumerates
        for base in node.bases:
            self._inherit(base, symbol)
        for keyword in node.keywords:
            self._expression(keyword.value)
        self._decorate(node.decorator_list, symbol)
        self._enter(node, symbol, inside)

    def _refuse_new(self, node: _Function | ast.ClassDef) -> None:
        if getattr(node, "type_params", None):
            raise _Unknown

    def _define(
        self, node: _Function | ast.ClassDef, kind: SymbolKind, bases: tuple[str, ...], decorators: tuple[str, ...]
    ) -> int:
        start = self._start(node)
        above, comment = self._take_above(self._outer_start(node) if node.decorator_list else start)
        head = self._found.head(start, self._outer_start(node.body[0]))
        doc = self._docstring(node.body) or comment
        line, end = self._found.line_at(start), self._end(node)
        symbol = self._add(node.name, kind, line, above, end, head, doc, self._container, bases, decorators)
        self._scope.fields.add(node.name)
        return symbol

    def _head(self, node: ast.expr) -> str:
        return self._found.head(self._start(node), self._end(node))

    def _written(self, decorators: Iterable[ast.expr]) -> tuple[str, ...]:
        return tuple([self._head(each) for each in decorators])

    def _enter(self, node: _Function | ast.ClassDef, symbol: int, inside: Scope) -> None:
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
                self._note(self._uses, UseKind.DECORATE, decorator, symbol)

    def _take_parameters(self, arguments: ast.arguments, inside: Scope, symbol: int) -> None:
        """Bind parameters inside; their types are the function's, their defaults are read outside."""
        several = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *several):
            inside.bound.add(argument.arg)
            if argument.annotation is not None:
                self._types(argument.annotation, symbol)
        self._expressions(arguments.defaults)
        self._expressions(arguments.kw_defaults)

    def _inherit(self, base: ast.expr, symbol: int) -> None:
        if not isinstance(base, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Await)):
            self._expression(base)
            return
        # `Generic[T]` inherits from Generic, and names T.
        if isinstance(base, ast.Subscript):
            self._types(base.slice, symbol)
            base = base.value
        self._note(self._uses, UseKind.INHERIT, base, symbol)

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


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


_EXPRESSIONS: Mapping[type[ast.expr], Callable[[_Reading, Any], None]] = {
    ast.Name: _Reading.visit_name,
    ast.Attribute: _Reading.visit_attribute,
    ast.Call: _Reading.visit_call,
    ast.List: _Reading.visit_elements,
    ast.Tuple: _Reading.visit_elements,
    ast.Set: _Reading.visit_elements,
    ast.Dict: _Reading.visit_mapping,
    ast.Subscript: _Reading.visit_entry,
    ast.BinOp: _Reading.visit_operation,
    ast.Compare: _Reading.visit_comparison,
    ast.NamedExpr: _Reading.visit_named,
    ast.Lambda: _Reading.visit_lambda,
    ast.ListComp: _Reading.visit_comprehension,
    ast.SetComp: _Reading.visit_comprehension,
    ast.GeneratorExp: _Reading.visit_comprehension,
    ast.DictComp: _Reading.visit_comprehension,
    ast.JoinedStr: _Reading.visit_text,
}
_KNOWN = frozenset(
    {
        ast.Await,
        ast.BoolOp,
        ast.FormattedValue,
        ast.IfExp,
        ast.Slice,
        ast.Starred,
        ast.UnaryOp,
        ast.Yield,
        ast.YieldFrom,
    }
)
"""Expressions that are nothing but their parts."""
_STATEMENTS: Mapping[type[ast.stmt], Callable[[_Reading, Any], None]] = {
    ast.FunctionDef: _Reading.visit_function,
    ast.AsyncFunctionDef: _Reading.visit_function,
    ast.ClassDef: _Reading.visit_class,
    ast.Expr: _Reading.visit_expression,
    ast.Assign: _Reading.visit_assignment,
    ast.AnnAssign: _Reading.visit_annotated,
    ast.AugAssign: _Reading.visit_augmented,
    ast.Return: _Reading.visit_return,
    ast.Delete: _Reading.visit_deletion,
    ast.Assert: _Reading.visit_assertion,
    ast.Raise: _Reading.visit_raise,
    ast.If: _Reading.visit_if,
    ast.While: _Reading.visit_if,
    ast.For: _Reading.visit_for,
    ast.AsyncFor: _Reading.visit_for,
    ast.With: _Reading.visit_with,
    ast.AsyncWith: _Reading.visit_with,
    ast.Try: _Reading.visit_try,
    ast.TryStar: _Reading.visit_try,
    ast.Match: _Reading.visit_match,
    ast.Global: _Reading.visit_names_elsewhere,
    ast.Nonlocal: _Reading.visit_names_elsewhere,
    ast.Import: _Reading.visit_import,
    ast.ImportFrom: _Reading.visit_import_from,
    ast.Pass: _Reading.visit_nothing,
    ast.Break: _Reading.visit_nothing,
    ast.Continue: _Reading.visit_nothing,
}
