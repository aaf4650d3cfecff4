"""Builds the flow of one Python file: its nodes, scopes, names and calls."""

import ast
from typing import Any

from scrubjay.code_index.facts.line_starts import python_line_starts
from scrubjay.code_index.graph.python_flow_format import (
    CLASS_SCOPE,
    EITHER,
    FUNCTION_SCOPE,
    GLOBAL,
    MODULE_SCOPE,
    RESULT,
    UNKNOWN,
    VERSION,
)


class ScopeBuilder:
    """A module, class or function while it is being read."""

    __slots__ = (
        "attributes", "bases", "declared", "env", "globals", "index", "kind", "line", "name", "params", "parent",
        "result", "returns", "self_name", "yields",
    )  # fmt: skip

    def __init__(self, index: int, kind: str, name: str, parent: "ScopeBuilder | None", line: int) -> None:
        self.index, self.kind, self.name, self.parent, self.line = index, kind, name, parent, line
        self.env: dict[str, int] = {}
        self.globals: set[str] = set()
        self.declared: dict[str, list[int]] = {}
        """Nodes ever bound to each name."""
        self.params: list[list[Any]] = []
        self.bases: list[int] = []
        self.attributes: dict[str, list[int]] = {}
        self.returns: list[int] = []
        self.yields: list[int] = []
        self.result = 0
        self.self_name = ""


class FlowBuilder:
    """Collects the nodes, scopes and calls of a file."""

    def __init__(self, content: bytes) -> None:
        self._starts = python_line_starts(content)
        self.nodes: list[tuple[Any, ...]] = [(UNKNOWN,)]
        self.interned: dict[tuple[Any, ...], int] = {}
        self.scopes: list[ScopeBuilder] = []
        self.calls: list[tuple[Any, ...]] = []
        self.stores: list[tuple[int, str, int]] = []
        """Base, name and value of assignments to attributes."""
        self.stars: list[tuple[str, int]] = []
        """Module name and relative level of star imports."""
        self.late: dict[int, list[tuple[int, int]]] = {}
        """Keys and values added to a container from another scope, by the node of the container."""
        self.waiting: list[tuple[ScopeBuilder, list[ast.stmt] | ast.expr]] = []
        """Scopes whose bodies are still to be read."""
        self.exports: list[str] | None = None
        self.scope = self.open_scope(MODULE_SCOPE, "", None, 0)
        """The scope that is being read."""

    def flow(self) -> list[Any]:
        scopes = [
            [
                scope.kind,
                scope.name,
                scope.parent.index if scope.parent is not None else -1,
                scope.line,
                scope.env if scope.kind != FUNCTION_SCOPE else {},
                scope.params,
                scope.bases,
                scope.attributes,
                scope.returns,
                scope.yields,
                scope.result,
            ]
            for scope in self.scopes
        ]
        return [VERSION, self.nodes, scopes, self.calls, self.stores, self.stars, self.late, self.exports]

    def open_scope(self, kind: str, name: str, parent: ScopeBuilder | None, line: int) -> ScopeBuilder:
        scope = ScopeBuilder(len(self.scopes), kind, name, parent, line)
        self.scopes.append(scope)
        return scope

    def node(self, *parts: Any) -> int:
        """Return the node with these parts; it is created once."""
        known = self.interned.get(parts)
        if known is None:
            known = self.interned[parts] = len(self.nodes)
            self.nodes.append(parts)
        return known

    def new_node(self, *parts: Any) -> int:
        self.nodes.append(parts)
        return len(self.nodes) - 1

    def either(self, *nodes: int) -> int:
        distinct = tuple(dict.fromkeys(node for node in nodes if node))
        if len(distinct) < 2:
            return distinct[0] if distinct else 0
        return self.node(EITHER, *distinct)

    def add_call(self, function: int, place: ast.expr, how: int, args: list[int], named: list[tuple[str, int]]) -> int:
        if type(place) is ast.Attribute:
            line, column, name = place.end_lineno or 1, place.end_col_offset or 0, place.attr
            column -= len(name) if name.isascii() else len(name.encode())
        else:
            line, column = place.lineno, place.col_offset
        starts, calls, nodes = self._starts, self.calls, self.nodes
        # A string annotation is parsed on its own, so its line numbers may lie outside of the file.
        start = (starts[line] if line < len(starts) else starts[-1]) + column
        nodes.append((RESULT, len(calls)))
        calls.append((function, args, named, line, start, self.scope.index, how))
        return len(nodes) - 1

    def name_value(self, name: str) -> int:
        scope: ScopeBuilder | None = self.scope
        node = scope.env.get(name)
        if node is not None and name not in scope.globals:
            return node
        while (scope := scope.parent) is not None:
            if scope.kind != CLASS_SCOPE and (node := scope.env.get(name)) is not None and name not in scope.globals:
                return node
        return self.node(GLOBAL, name)

    def enclosing_scope_of(self, name: str) -> ScopeBuilder | None:
        """Return the enclosing scope that has this name as a local variable; None if there is none."""
        scope = self.scope.parent
        while scope is not None:
            if scope.kind != CLASS_SCOPE and name in scope.env:
                return scope
            scope = scope.parent
        return None

    def bind(self, name: str, node: int) -> None:
        scope = self.scope
        if name in scope.globals:
            home = self.enclosing_scope_of(name) or self.scopes[0]
            home.env[name] = self.either(home.env.get(name, 0), node)
            return
        scope.env[name] = node
        if node:
            declared = scope.declared
            if name in declared:
                declared[name].append(node)
            else:
                declared[name] = [node]

    def join(self, ends: list[dict[str, int]]) -> dict[str, int]:
        first = ends[0]
        if len(ends) == 1:
            return first
        joined = dict(first)
        for end in ends[1:]:
            for name, node in end.items():
                if joined.get(name, 0) != node:
                    joined[name] = self.either(joined.get(name, 0), node)
        return joined

    def class_of_receiver(self, owner: str) -> ScopeBuilder | None:
        """Return the class in whose method `owner` is the first parameter, such as `self`; None if there is none."""
        scope: ScopeBuilder | None = self.scope
        while scope is not None and scope.kind == FUNCTION_SCOPE:
            if scope.self_name == owner:
                return scope.parent
            scope = scope.parent
        return None

    def read_exports(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if type(statement) is not ast.Assign and type(statement) is not ast.AugAssign:
                continue
            match statement:
                case (
                    ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=items) | ast.Tuple(elts=items))
                    | ast.AugAssign(target=ast.Name(id="__all__"), value=ast.List(elts=items) | ast.Tuple(elts=items))
                ):
                    constants = [item.value for item in items if isinstance(item, ast.Constant)]
                    names = [name for name in constants if isinstance(name, str) and is_text(name)]
                    self.exports = [*(self.exports or ()), *names]
                case _:
                    continue


def is_text(value: str) -> bool:
    """Return whether a string has no lone surrogates, which cannot be stored as JSON."""
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
