"""Reads the statements of Python files into their flow."""

import ast
from typing import Any

from scrubjay.code_index.graph.python_flow_builder import FlowBuilder
from scrubjay.code_index.graph.python_flow_expressions import FlowExpressionReader, last_name
from scrubjay.code_index.graph.python_flow_format import (
    ATTRIBUTE,
    CLASS,
    CLASS_SCOPE,
    DECORATED,
    DECORATING,
    ELEMENT,
    ENTERED,
    ENTERING,
    FUNCTION,
    FUNCTION_SCOPE,
    IMPORTED,
    INSTANCE,
    ITEM,
    MERGED,
    MODULE,
    RAISED,
    SLICE,
)


class FlowStatementReader:
    """Reads statements in order; bodies of functions are read after the scope that contains them."""

    def __init__(self, builder: FlowBuilder) -> None:
        self._flow = builder
        self._expressions = FlowExpressionReader(builder)

    def read(self, module: ast.Module) -> None:
        self._read_body(module.body)
        self._flow.read_exports(module.body)
        while self._flow.waiting:
            waiting, self._flow.waiting = self._flow.waiting, []
            for scope, body in waiting:
                self._flow.scope = scope
                if isinstance(body, list):
                    self._read_body(body)
                else:
                    scope.returns.append(self._expressions.read(body))

    def _read_body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            reader = _STATEMENTS.get(type(statement))
            if reader is not None:
                try:
                    reader(self, statement)
                except RecursionError:  # nested too deeply; the enclosing statements are still read
                    continue

    def _read_branches(self, *branches: list[ast.stmt]) -> None:
        """Read alternative bodies; afterwards each name may have the value from any of them."""
        before = self._flow.scope.env
        ends: list[dict[str, int]] = []
        for branch in branches:
            self._flow.scope.env = dict(before)
            self._read_body(branch)
            if not (branch and isinstance(branch[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))):
                ends.append(self._flow.scope.env)
        self._flow.scope.env = self._flow.join(ends or [before])

    def read_if(self, statement: ast.If) -> None:
        self._expressions.read(statement.test)
        test = statement.test
        before = self._flow.scope.env
        narrowed = self._narrowed(test)
        if narrowed is None:
            self._read_branches(statement.body, statement.orelse)
            return
        name, node = narrowed
        old = before.get(name)
        self._flow.scope.env = {**before, name: node}
        self._read_body(statement.body)
        after = self._flow.scope.env
        if after.get(name) == node:
            if old is None:
                after.pop(name, None)
            else:
                after[name] = old
        self._flow.scope.env = dict(before)
        self._read_body(statement.orelse)
        leaves = statement.body and isinstance(statement.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
        self._flow.scope.env = self._flow.scope.env if leaves else self._flow.join([after, self._flow.scope.env])

    def _narrowed(self, test: ast.expr) -> tuple[str, int] | None:
        if type(test) is not ast.Call:
            return None
        match test:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kinds]):
                options = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
                return name, self._flow.either(
                    *(self._flow.node(INSTANCE, self._expressions.read(option)) for option in options)
                )
            case _:
                return None

    def read_loop(self, statement: ast.For | ast.AsyncFor | ast.While) -> None:
        if isinstance(statement, ast.While):
            self._expressions.read(statement.test)
            self._read_branches(statement.body, [])
        else:
            iterated = self._expressions.read(statement.iter)
            self._expressions.add_iteration(iterated, statement.iter)
            self._expressions.assign(statement.target, self._flow.node(ELEMENT, iterated))
            self._read_branches(statement.body, [])
        self._read_body(statement.orelse)

    def read_try(self, statement: ast.Try) -> None:
        before = self._flow.scope.env
        self._flow.scope.env = dict(before)
        self._read_body(statement.body)
        after = self._flow.scope.env
        handling = self._flow.join([before, after])
        self._read_body(statement.orelse)
        ends = [self._flow.scope.env]
        for handler in statement.handlers:
            self._flow.scope.env = dict(handling)
            if handler.type is not None:
                caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
                kinds = [self._flow.node(INSTANCE, self._expressions.read(kind)) for kind in caught]
                if handler.name:
                    self._flow.bind(handler.name, self._flow.either(*kinds))
            self._read_body(handler.body)
            last = handler.body[-1] if handler.body else None
            if not isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
                ends.append(self._flow.scope.env)
        self._flow.scope.env = self._flow.join(ends)
        self._read_body(statement.finalbody)

    def read_with(self, statement: ast.With | ast.AsyncWith) -> None:
        for item in statement.items:
            node = self._expressions.read(item.context_expr)
            self._flow.add_call(node, item.context_expr, ENTERING, [], [])
            if item.optional_vars is not None:
                self._expressions.assign(item.optional_vars, self._flow.node(ENTERED, node))
        self._read_body(statement.body)

    def read_match(self, statement: ast.Match) -> None:
        subject = self._expressions.read(statement.subject)
        for case in statement.cases:
            self._bind_pattern(case.pattern, subject)
            if case.guard is not None:
                self._expressions.read(case.guard)
        self._read_branches(*(case.body for case in statement.cases), [])

    def _bind_pattern(self, pattern: ast.pattern, subject: int) -> None:
        match pattern:
            case ast.MatchAs(name=name, pattern=inner):
                if inner is not None:
                    self._bind_pattern(inner, subject)
                if name:
                    kind = (
                        self._flow.node(INSTANCE, self._expressions.read(inner.cls))
                        if isinstance(inner, ast.MatchClass)
                        else 0
                    )
                    self._flow.bind(name, kind or subject)
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=named):
                of_kind = self._flow.node(INSTANCE, self._expressions.read(cls))
                for inner in patterns:
                    self._bind_pattern(inner, 0)
                for name, inner in zip(names, named, strict=False):
                    self._bind_pattern(inner, self._flow.node(ATTRIBUTE, of_kind, name))
            case ast.MatchSequence(patterns=patterns) | ast.MatchOr(patterns=patterns):
                for inner in patterns:
                    self._bind_pattern(
                        inner,
                        self._flow.node(ELEMENT, subject) if isinstance(pattern, ast.MatchSequence) else subject,
                    )
            case ast.MatchMapping(patterns=patterns, rest=rest):
                for inner in patterns:
                    self._bind_pattern(inner, self._flow.node(ITEM, subject, 0))
                if rest:
                    self._flow.bind(rest, subject)
            case ast.MatchStar(name=name):
                if name:
                    self._flow.bind(name, self._flow.node(SLICE, subject, None, None))
            case _:
                return

    def read_function(self, statement: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = [(self._expressions.read(decorator), decorator) for decorator in statement.decorator_list]
        scope = self._flow.open_scope(FUNCTION_SCOPE, statement.name, self._flow.scope, statement.lineno)
        self._expressions.read_parameters(scope, statement.args)
        if statement.returns is not None:
            scope.result = self._expressions.read_annotation(statement.returns)
        node = self._flow.new_node(FUNCTION, scope.index)
        marks = [last_name(decorator) for _, decorator in decorators]
        if self._flow.scope.kind == CLASS_SCOPE and scope.params and "staticmethod" not in marks:
            scope.self_name = scope.params[0][0]
        bare = node
        for value, decorator in reversed(decorators):
            place = decorator.func if isinstance(decorator, ast.Call) else decorator
            node = self._flow.add_call(value, place, DECORATING, [node], [])
        self._flow.bind(statement.name, self._flow.new_node(DECORATED, node, bare) if decorators else bare)
        self._flow.waiting.append((scope, statement.body))

    def read_class(self, statement: ast.ClassDef) -> None:
        decorators = [(self._expressions.read(decorator), decorator) for decorator in statement.decorator_list]
        bases = [
            self._expressions.read(base.value if isinstance(base, ast.Subscript) else base) for base in statement.bases
        ]
        for keyword in statement.keywords:
            self._expressions.read(keyword.value)
        outer, scope = (
            self._flow.scope,
            self._flow.open_scope(CLASS_SCOPE, statement.name, self._flow.scope, statement.lineno),
        )
        scope.bases = [base for base in bases if base]
        self._flow.scope = scope
        self._read_body(statement.body)
        self._flow.scope = outer
        node = self._flow.new_node(CLASS, scope.index)
        for value, decorator in reversed(decorators):
            place = decorator.func if isinstance(decorator, ast.Call) else decorator
            self._flow.add_call(value, place, DECORATING, [node], [])
        self._flow.bind(statement.name, node)

    def read_return(self, statement: ast.Return) -> None:
        if statement.value is not None:
            node = self._expressions.read(statement.value)
            if node:
                self._flow.scope.returns.append(node)

    def read_raise(self, statement: ast.Raise) -> None:
        if statement.exc is not None:
            node = self._expressions.read(statement.exc)
            if not isinstance(statement.exc, ast.Call):
                self._flow.add_call(node, statement.exc, RAISED, [], [])
        if statement.cause is not None:
            self._expressions.read(statement.cause)

    def read_assignment(self, statement: ast.Assign) -> None:
        value = statement.value
        if type(value) is ast.Lambda and isinstance(statement.targets[0], ast.Name):
            node = self._expressions.read_lambda(value, statement.targets[0].id, statement.lineno)
        else:
            node = self._expressions.read(value)
        for target in statement.targets:
            self._expressions.assign(target, node)

    def read_annotated(self, statement: ast.AnnAssign) -> None:
        kind = self._expressions.read_annotation(statement.annotation)
        if statement.value is not None:
            kind = self._flow.either(self._expressions.read(statement.value), kind)
        if kind or statement.value is not None:
            self._expressions.assign(statement.target, kind)

    def read_augmented(self, statement: ast.AugAssign) -> None:
        value = self._expressions.read(statement.value)
        if isinstance(statement.target, ast.Name):
            base = self._flow.name_value(statement.target.id)
            self._flow.bind(statement.target.id, self._flow.new_node(MERGED, base, value) if value else base)
        else:
            self._expressions.read(statement.target)

    def read_import(self, statement: ast.Import) -> None:
        for alias in statement.names:
            if alias.asname:
                self._flow.bind(alias.asname, self._flow.node(MODULE, alias.name, 0))
            else:
                self._flow.node(MODULE, alias.name, 0)
                top = alias.name.partition(".")[0]
                self._flow.bind(top, self._flow.node(MODULE, top, 0))

    def read_import_from(self, statement: ast.ImportFrom) -> None:
        module, level = statement.module or "", statement.level
        for alias in statement.names:
            if alias.name == "*":
                self._flow.stars.append((module, level))
            else:
                self._flow.bind(alias.asname or alias.name, self._flow.node(IMPORTED, module, level, alias.name))

    def read_names_outside(self, statement: ast.Global | ast.Nonlocal) -> None:
        self._flow.scope.globals.update(statement.names)

    def read_expression_statement(self, statement: ast.Expr) -> None:
        value = statement.value
        self._expressions.read(value)

    def read_evaluated(self, statement: ast.Assert) -> None:
        self._expressions.read(statement.test)
        narrowed = self._narrowed(statement.test)
        if narrowed is not None:
            self._flow.scope.env[narrowed[0]] = narrowed[1]


_STATEMENTS: dict[type[ast.stmt], Any] = {
    ast.FunctionDef: FlowStatementReader.read_function,
    ast.AsyncFunctionDef: FlowStatementReader.read_function,
    ast.ClassDef: FlowStatementReader.read_class,
    ast.Return: FlowStatementReader.read_return,
    ast.Assign: FlowStatementReader.read_assignment,
    ast.AnnAssign: FlowStatementReader.read_annotated,
    ast.AugAssign: FlowStatementReader.read_augmented,
    ast.For: FlowStatementReader.read_loop,
    ast.AsyncFor: FlowStatementReader.read_loop,
    ast.While: FlowStatementReader.read_loop,
    ast.If: FlowStatementReader.read_if,
    ast.With: FlowStatementReader.read_with,
    ast.AsyncWith: FlowStatementReader.read_with,
    ast.Match: FlowStatementReader.read_match,
    ast.Raise: FlowStatementReader.read_raise,
    ast.Try: FlowStatementReader.read_try,
    ast.TryStar: FlowStatementReader.read_try,
    ast.Assert: FlowStatementReader.read_evaluated,
    ast.Import: FlowStatementReader.read_import,
    ast.ImportFrom: FlowStatementReader.read_import_from,
    ast.Global: FlowStatementReader.read_names_outside,
    ast.Nonlocal: FlowStatementReader.read_names_outside,
    ast.Expr: FlowStatementReader.read_expression_statement,
}
