"""What a Python file does with values: who is bound to what, passed where and called with what, in a compact form."""

import ast
import re
import warnings
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from scrubjay.code_index.facts.line_starts import python_line_starts

if TYPE_CHECKING:
    from tree_sitter import Node as SyntaxNode
    from tree_sitter import Tree

VERSION = 1

# The kinds of nodes, which are stored on disk. Node 0 is the unknown value; operands are nodes unless noted.
# FUNCTION scope [1 for a lambda]         CLASS scope                    MODULE dotted name, level
# IMPORTED module name, level, name       ATTRIBUTE base, name           RESULT call
# PARAMETER scope, index                  CONSTANT string or integer     GLOBAL name
# SEQUENCE type name, items ...           MAPPING keys, values           SPREAD iterable
# ITEM base, key                          SLICE base, first, last        REPLACED base, key, value
# GROWN base, item                        MERGED base, other container   ELEMENT iterable
# ENTERED context manager                 EITHER options ...             INSTANCE class
# UNPACKED base, index                    REST base, items before, items after
# SUPER scope of the class                DECORATED result, function
FUNCTION, CLASS, MODULE, IMPORTED, ATTRIBUTE, RESULT, PARAMETER, CONSTANT = "f", "c", "m", "i", "a", "k", "p", "s"
SEQUENCE, MAPPING, ITEM, SLICE, REPLACED, GROWN, MERGED, ELEMENT = "l", "d", "x", "h", "u", "+", "U", "e"
ENTERED, EITHER, GLOBAL, INSTANCE, SUPER, UNPACKED, REST, SPREAD = "w", "j", "g", "z", "y", "t", "T", "*"
DECORATED, UNKNOWN = "D", "?"

# Indexes of a node's items. Nodes come from JSON as lists; making objects of them would take longer than evaluating.
KIND = 0
BASE = 1
ATTRIBUTE_NAME = 2
GLOBAL_NAME = 1
FUNCTION_SCOPE = 1
SEQUENCE_TYPE = 1
SEQUENCE_ITEMS = slice(2, None)

MODULE_SCOPE, CLASS_SCOPE, FUNCTION_SCOPE_KIND = "m", "c", "f"

# How a place calls what its node stands for.
CALLED, DECORATING, RAISED, ITERATED, ENTERING = range(5)
POSITIONAL, ANY_POSITIONAL, KEYWORD, ANY_KEYWORD = range(4)

_MOST_REPAIRS = 6
_GROWING = {"append": GROWN, "add": GROWN, "appendleft": GROWN, "extend": MERGED, "update": MERGED}
_TRANSPARENT = {"Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Awaitable", "Self"}
_SEQUENCES = {
    "list", "List", "set", "Set", "frozenset", "FrozenSet", "Sequence", "MutableSequence", "Iterable", "Iterator",
    "Collection", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "deque", "Deque", "AbstractSet",
}  # fmt: skip
_MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"}


def flow_of(content: bytes, syntax: "ast.Module | Tree") -> bytes:
    """The flow of a file, empty when not even a repaired text of it can be understood."""
    parsed = syntax if isinstance(syntax, ast.Module) else _repaired(content, syntax)
    if parsed is None:
        return b""
    reading = _Reading(content)
    reading.read(parsed)
    return to_json(reading.flow())


def empty_flow() -> list[Any]:
    """Return the flow of a file without code."""
    return [VERSION, [[UNKNOWN]], [[MODULE_SCOPE, "", -1, 0, {}, [], [], {}, [], [], 0]], [], [], [], {}, None]


def _is_text(value: str) -> bool:
    """Whether it is more than half a character: a literal may be, and no name is."""
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def _repaired(content: bytes, tree: "Tree") -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text, failed_at = content, 0
        for attempt in range(_MOST_REPAIRS):
            try:
                return ast.parse(text)
            except SyntaxError as error:
                failed_at = error.lineno or 0
            except (ValueError, RecursionError, MemoryError):
                return None
            text = _without_new_syntax(content, tree) if attempt == 0 else _without_line(text, failed_at)
    return None


def _without_new_syntax(content: bytes, tree: "Tree") -> bytes:
    """The text without what is broken, and without type parameters, which an older Python does not know."""
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


class _Scope:
    """A module, class or function while it is read."""

    __slots__ = (
        "attributes", "bases", "declared", "env", "globals", "index", "kind", "line", "name", "params", "parent",
        "result", "returns", "self_name", "yields",
    )  # fmt: skip

    def __init__(self, index: int, kind: str, name: str, parent: "_Scope | None", line: int) -> None:
        self.index, self.kind, self.name, self.parent, self.line = index, kind, name, parent, line
        self.env: dict[str, int] = {}
        self.globals: set[str] = set()
        self.declared: dict[str, list[int]] = {}
        """All nodes ever bound to a name."""
        self.params: list[list[Any]] = []
        self.bases: list[int] = []
        self.attributes: dict[str, list[int]] = {}
        self.returns: list[int] = []
        self.yields: list[int] = []
        self.result = 0
        self.self_name = ""


class _Reading:
    """One walk through a file's syntax: bodies in their order, function bodies after what they are in."""

    def __init__(self, content: bytes) -> None:
        self._starts = python_line_starts(content)
        self._nodes: list[tuple[Any, ...]] = [("?",)]
        self._interned: dict[tuple[Any, ...], int] = {}
        self._scopes: list[_Scope] = []
        self._calls: list[tuple[Any, ...]] = []
        self._stores: list[tuple[int, str, int]] = []
        self._stars: list[tuple[str, int]] = []
        self._late: dict[int, list[tuple[int, int]]] = {}
        self._waiting: list[tuple[_Scope, list[ast.stmt] | ast.expr]] = []
        self._exports: list[str] | None = None
        self._scope = self._opened("m", "", None, 0)

    def read(self, module: ast.Module) -> None:
        self._body(module.body)
        self._read_exports(module.body)
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            for scope, body in waiting:
                self._scope = scope
                if isinstance(body, list):
                    self._body(body)
                else:
                    scope.returns.append(self._expression(body))

    def flow(self) -> list[Any]:
        scopes = [
            [
                scope.kind,
                scope.name,
                scope.parent.index if scope.parent is not None else -1,
                scope.line,
                scope.env if scope.kind != "f" else {},
                scope.params,
                scope.bases,
                scope.attributes,
                scope.returns,
                scope.yields,
                scope.result,
            ]
            for scope in self._scopes
        ]
        return [VERSION, self._nodes, scopes, self._calls, self._stores, self._stars, self._late, self._exports]

    # Scopes and nodes

    def _opened(self, kind: str, name: str, parent: _Scope | None, line: int) -> _Scope:
        scope = _Scope(len(self._scopes), kind, name, parent, line)
        self._scopes.append(scope)
        return scope

    def _node(self, *parts: Any) -> int:
        """A node that is the same wherever its parts are."""
        known = self._interned.get(parts)
        if known is None:
            known = self._interned[parts] = len(self._nodes)
            self._nodes.append(parts)
        return known

    def _new(self, *parts: Any) -> int:
        self._nodes.append(parts)
        return len(self._nodes) - 1

    def _either(self, *nodes: int) -> int:
        distinct = tuple(dict.fromkeys(node for node in nodes if node))
        if len(distinct) < 2:
            return distinct[0] if distinct else 0
        return self._node(EITHER, *distinct)

    def _called(self, function: int, place: ast.expr, how: int, args: list[int], named: list[tuple[str, int]]) -> int:
        if type(place) is ast.Attribute:
            line, column, name = place.end_lineno or 1, place.end_col_offset or 0, place.attr
            column -= len(name) if name.isascii() else len(name.encode())
        else:
            line, column = place.lineno, place.col_offset
        starts, calls, nodes = self._starts, self._calls, self._nodes
        # A text that is an annotation has lines of its own.
        start = (starts[line] if line < len(starts) else starts[-1]) + column
        nodes.append((RESULT, len(calls)))
        calls.append((function, args, named, line, start, self._scope.index, how))
        return len(nodes) - 1

    # Names

    def read_name(self, expression: ast.Name) -> int:
        name, scope = expression.id, self._scope
        node = scope.env.get(name)
        return node if node is not None and name not in scope.globals else self._value_of(name)

    def _value_of(self, name: str) -> int:
        scope: _Scope | None = self._scope
        node = scope.env.get(name)
        if node is not None and name not in scope.globals:
            return node
        while (scope := scope.parent) is not None:
            if scope.kind != "c" and (node := scope.env.get(name)) is not None and name not in scope.globals:
                return node
        return self._node(GLOBAL, name)

    def _home_of(self, name: str) -> _Scope | None:
        """The scope outside of this one whose variable the name is."""
        scope = self._scope.parent
        while scope is not None:
            if scope.kind != "c" and name in scope.env:
                return scope
            scope = scope.parent
        return None

    def _bind(self, name: str, node: int) -> None:
        scope = self._scope
        if name in scope.globals:
            home = self._home_of(name) or self._scopes[0]
            home.env[name] = self._either(home.env.get(name, 0), node)
            return
        scope.env[name] = node
        if node:
            declared = scope.declared
            if name in declared:
                declared[name].append(node)
            else:
                declared[name] = [node]

    # Statements

    def _body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            reader = _STATEMENTS.get(type(statement))
            if reader is not None:
                try:
                    reader(self, statement)
                except RecursionError:  # nested deeper than Python can follow: what is around it still counts
                    continue

    def _branches(self, *branches: list[ast.stmt]) -> None:
        """Read bodies of which one or the other is run; afterwards a name may be what any of them made it."""
        before = self._scope.env
        ends: list[dict[str, int]] = []
        for branch in branches:
            self._scope.env = dict(before)
            self._body(branch)
            if not (branch and isinstance(branch[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))):
                ends.append(self._scope.env)
        self._scope.env = self._joined(ends or [before])

    def _joined(self, ends: list[dict[str, int]]) -> dict[str, int]:
        first = ends[0]
        if len(ends) == 1:
            return first
        joined = dict(first)
        for end in ends[1:]:
            for name, node in end.items():
                if joined.get(name, 0) != node:
                    joined[name] = self._either(joined.get(name, 0), node)
        return joined

    def read_if(self, statement: ast.If) -> None:
        self._expression(statement.test)
        test = statement.test
        before = self._scope.env
        narrowed = self._narrowed(test)
        if narrowed is None:
            self._branches(statement.body, statement.orelse)
            return
        name, node = narrowed
        old = before.get(name)
        self._scope.env = {**before, name: node}
        self._body(statement.body)
        after = self._scope.env
        if after.get(name) == node:
            if old is None:
                after.pop(name, None)
            else:
                after[name] = old
        self._scope.env = dict(before)
        self._body(statement.orelse)
        leaves = statement.body and isinstance(statement.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
        self._scope.env = self._scope.env if leaves else self._joined([after, self._scope.env])

    def _narrowed(self, test: ast.expr) -> tuple[str, int] | None:
        if type(test) is not ast.Call:
            return None
        match test:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kinds]):
                options = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
                return name, self._either(*(self._node(INSTANCE, self._expression(option)) for option in options))
            case _:
                return None

    def read_loop(self, statement: ast.For | ast.AsyncFor | ast.While) -> None:
        if isinstance(statement, ast.While):
            self._expression(statement.test)
            self._branches(statement.body, [])
        else:
            iterated = self._expression(statement.iter)
            self._iterated(iterated, statement.iter)
            self._assign(statement.target, self._node(ELEMENT, iterated))
            self._branches(statement.body, [])
        self._body(statement.orelse)

    def _iterated(self, node: int, place: ast.expr) -> None:
        if node and self._nodes[node][0] not in (SEQUENCE, MAPPING, CONSTANT):
            self._called(node, place, ITERATED, [], [])

    def read_try(self, statement: ast.Try) -> None:
        before = self._scope.env
        self._scope.env = dict(before)
        self._body(statement.body)
        after = self._scope.env
        handling = self._joined([before, after])
        self._body(statement.orelse)
        ends = [self._scope.env]
        for handler in statement.handlers:
            self._scope.env = dict(handling)
            if handler.type is not None:
                caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
                kinds = [self._node(INSTANCE, self._expression(kind)) for kind in caught]
                if handler.name:
                    self._bind(handler.name, self._either(*kinds))
            self._body(handler.body)
            last = handler.body[-1] if handler.body else None
            if not isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
                ends.append(self._scope.env)
        self._scope.env = self._joined(ends)
        self._body(statement.finalbody)

    def read_with(self, statement: ast.With | ast.AsyncWith) -> None:
        for item in statement.items:
            node = self._expression(item.context_expr)
            self._called(node, item.context_expr, ENTERING, [], [])
            if item.optional_vars is not None:
                self._assign(item.optional_vars, self._node(ENTERED, node))
        self._body(statement.body)

    def read_match(self, statement: ast.Match) -> None:
        subject = self._expression(statement.subject)
        for case in statement.cases:
            self._pattern(case.pattern, subject)
            if case.guard is not None:
                self._expression(case.guard)
        self._branches(*(case.body for case in statement.cases), [])

    def _pattern(self, pattern: ast.pattern, subject: int) -> None:
        match pattern:
            case ast.MatchAs(name=name, pattern=inner):
                if inner is not None:
                    self._pattern(inner, subject)
                if name:
                    kind = self._node(INSTANCE, self._expression(inner.cls)) if isinstance(inner, ast.MatchClass) else 0
                    self._bind(name, kind or subject)
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=named):
                of_kind = self._node(INSTANCE, self._expression(cls))
                for inner in patterns:
                    self._pattern(inner, 0)
                for name, inner in zip(names, named, strict=False):
                    self._pattern(inner, self._node(ATTRIBUTE, of_kind, name))
            case ast.MatchSequence(patterns=patterns) | ast.MatchOr(patterns=patterns):
                for inner in patterns:
                    self._pattern(
                        inner, self._node(ELEMENT, subject) if isinstance(pattern, ast.MatchSequence) else subject
                    )
            case ast.MatchMapping(patterns=patterns, rest=rest):
                for inner in patterns:
                    self._pattern(inner, self._node(ITEM, subject, 0))
                if rest:
                    self._bind(rest, subject)
            case ast.MatchStar(name=name):
                if name:
                    self._bind(name, self._node(SLICE, subject, None, None))
            case _:
                return

    def read_function(self, statement: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = [(self._expression(decorator), decorator) for decorator in statement.decorator_list]
        scope = self._opened("f", statement.name, self._scope, statement.lineno)
        self._parameters(scope, statement.args)
        if statement.returns is not None:
            scope.result = self._annotation(statement.returns)
        node = self._new(FUNCTION, scope.index)
        marks = [_last_name(decorator) for _, decorator in decorators]
        if self._scope.kind == "c" and scope.params and "staticmethod" not in marks:
            scope.self_name = scope.params[0][0]
        bare = node
        for value, decorator in reversed(decorators):
            place = decorator.func if isinstance(decorator, ast.Call) else decorator
            node = self._called(value, place, DECORATING, [node], [])
        self._bind(statement.name, self._new(DECORATED, node, bare) if decorators else bare)
        self._waiting.append((scope, statement.body))

    def _parameters(self, scope: _Scope, args: ast.arguments) -> None:
        positional = [*args.posonlyargs, *args.args] if args.posonlyargs else args.args
        without = len(positional) - len(args.defaults)
        for place, arg in enumerate(positional):
            self._parameter(scope, arg, POSITIONAL, args.defaults[place - without] if place >= without else None)
        if args.vararg is not None:
            self._parameter(scope, args.vararg, ANY_POSITIONAL, None)
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            self._parameter(scope, arg, KEYWORD, default)
        if args.kwarg is not None:
            self._parameter(scope, args.kwarg, ANY_KEYWORD, None)

    def _parameter(self, scope: _Scope, arg: ast.arg, how: int, default: ast.expr | None) -> None:
        value = self._expression(default) if default is not None else 0
        kind = self._annotation(arg.annotation) if arg.annotation is not None else 0
        if kind and how == ANY_POSITIONAL:
            kind = self._new(SEQUENCE, "tuple", self._node(SPREAD, self._new(SEQUENCE, "list", kind)))
        elif kind and how == ANY_KEYWORD:
            kind = self._new(MAPPING, [0], [kind])
        name, nodes, params = arg.arg, self._nodes, scope.params
        scope.env[name] = len(nodes)
        nodes.append((PARAMETER, scope.index, len(params)))
        params.append([name, how, value, kind])

    def read_class(self, statement: ast.ClassDef) -> None:
        decorators = [(self._expression(decorator), decorator) for decorator in statement.decorator_list]
        bases = [self._expression(base.value if isinstance(base, ast.Subscript) else base) for base in statement.bases]
        for keyword in statement.keywords:
            self._expression(keyword.value)
        outer, scope = self._scope, self._opened("c", statement.name, self._scope, statement.lineno)
        scope.bases = [base for base in bases if base]
        self._scope = scope
        self._body(statement.body)
        self._scope = outer
        node = self._new(CLASS, scope.index)
        for value, decorator in reversed(decorators):
            place = decorator.func if isinstance(decorator, ast.Call) else decorator
            self._called(value, place, DECORATING, [node], [])
        self._bind(statement.name, node)

    def read_return(self, statement: ast.Return) -> None:
        if statement.value is not None:
            node = self._expression(statement.value)
            if node:
                self._scope.returns.append(node)

    def read_raise(self, statement: ast.Raise) -> None:
        if statement.exc is not None:
            node = self._expression(statement.exc)
            if not isinstance(statement.exc, ast.Call):
                self._called(node, statement.exc, RAISED, [], [])
        if statement.cause is not None:
            self._expression(statement.cause)

    def read_assignment(self, statement: ast.Assign) -> None:
        value = statement.value
        if type(value) is ast.Lambda and isinstance(statement.targets[0], ast.Name):
            node = self._lambda(value, statement.targets[0].id, statement.lineno)
        else:
            node = _EXPRESSIONS[type(value)](self, value)
        for target in statement.targets:
            self._assign(target, node)

    def read_annotated(self, statement: ast.AnnAssign) -> None:
        kind = self._annotation(statement.annotation)
        if statement.value is not None:
            kind = self._either(self._expression(statement.value), kind)
        if kind or statement.value is not None:
            self._assign(statement.target, kind)

    def read_augmented(self, statement: ast.AugAssign) -> None:
        value = self._expression(statement.value)
        if isinstance(statement.target, ast.Name):
            base = self._value_of(statement.target.id)
            self._bind(statement.target.id, self._new(MERGED, base, value) if value else base)
        else:
            self._expression(statement.target)

    def _assign(self, target: ast.expr, node: int) -> None:
        if type(target) is ast.Name:  # most are one of these two
            self._bind(target.id, node)
            return
        if type(target) is ast.Attribute:
            owner = target.value
            home = self._own(owner.id) if type(owner) is ast.Name else None
            if home is not None:
                if node:
                    home.attributes.setdefault(target.attr, []).append(node)
            elif (base := self._expression(owner)) and node:
                self._stores.append((base, target.attr, node))
            return
        match target:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                star = next((i for i, element in enumerate(elements) if isinstance(element, ast.Starred)), None)
                for place, element in enumerate(elements):
                    if isinstance(element, ast.Starred):
                        rest = self._node(REST, node, place, len(elements) - place - 1) if node else 0
                        self._assign(element.value, rest)
                    else:
                        at = place if star is None or place < star else place - len(elements)
                        self._assign(element, self._node(UNPACKED, node, at) if node else 0)
            case ast.Subscript(value=base, slice=key):
                self._store_item(base, self._expression(key), node)
            case ast.Starred(value=value):
                self._assign(value, node)
            case _:
                return

    def _own(self, owner: str) -> _Scope | None:
        """The class whose instance or class object the name is by its place as first parameter of a method."""
        scope: _Scope | None = self._scope
        while scope is not None and scope.kind == "f":
            if scope.self_name == owner:
                return scope.parent
            scope = scope.parent
        return None

    def _store_item(self, base: ast.expr, key: int, node: int) -> None:
        """Replace an entry: by a new version of the container that a name holds here, else as one that comes later."""
        value = self._expression(base)
        if not value:
            return
        self._changed(base, value, self._new(REPLACED, value, key, node), key, node)

    def _changed(self, base: ast.expr, value: int, changed: int, key: int, node: int) -> None:
        match base:
            case ast.Name(id=name) if name in self._scope.env and name not in self._scope.globals:
                self._scope.env[name] = changed
                self._scope.declared.setdefault(name, []).append(changed)
            case ast.Name(id=name):
                home = self._home_of(name)
                for known in home.declared.get(name, ()) if home is not None else ():
                    self._late.setdefault(known, []).append((key, node))
            case ast.Subscript(value=inner, slice=outer_key) if not isinstance(outer_key, ast.Slice):
                outer = self._expression(inner)
                at = self._expression(outer_key)
                if outer:
                    self._changed(inner, outer, self._new(REPLACED, outer, at, changed), at, changed)
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                home = self._own(owner)
                for known in home.attributes.get(name, ())[:4] if home is not None else ():
                    self._late.setdefault(known, []).append((key, node))
            case _:
                return

    def read_import(self, statement: ast.Import) -> None:
        for alias in statement.names:
            if alias.asname:
                self._bind(alias.asname, self._node(MODULE, alias.name, 0))
            else:
                self._node(MODULE, alias.name, 0)
                top = alias.name.partition(".")[0]
                self._bind(top, self._node(MODULE, top, 0))

    def read_import_from(self, statement: ast.ImportFrom) -> None:
        module, level = statement.module or "", statement.level
        for alias in statement.names:
            if alias.name == "*":
                self._stars.append((module, level))
            else:
                self._bind(alias.asname or alias.name, self._node(IMPORTED, module, level, alias.name))

    def read_names_outside(self, statement: ast.Global | ast.Nonlocal) -> None:
        self._scope.globals.update(statement.names)

    def read_expression_statement(self, statement: ast.Expr) -> None:
        value = statement.value
        _EXPRESSIONS[type(value)](self, value)

    def read_evaluated(self, statement: ast.Assert) -> None:
        self._expression(statement.test)
        narrowed = self._narrowed(statement.test)
        if narrowed is not None:
            self._scope.env[narrowed[0]] = narrowed[1]

    def _read_exports(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if type(statement) is not ast.Assign and type(statement) is not ast.AugAssign:
                continue
            match statement:
                case (
                    ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=items) | ast.Tuple(elts=items))
                    | ast.AugAssign(target=ast.Name(id="__all__"), value=ast.List(elts=items) | ast.Tuple(elts=items))
                ):
                    constants = [item.value for item in items if isinstance(item, ast.Constant)]
                    names = [name for name in constants if isinstance(name, str) and _is_text(name)]
                    self._exports = [*(self._exports or ()), *names]
                case _:
                    continue

    # Expressions

    def _expression(self, expression: ast.expr) -> int:
        return _EXPRESSIONS[type(expression)](self, expression)

    def read_nothing(self, expression: ast.expr) -> int:
        """Of what comes of it nothing is known."""
        return 0

    def read_constant(self, expression: ast.Constant) -> int:
        value = expression.value
        if type(value) is str:
            return self._node(CONSTANT, value if len(value) <= 40 and (value.isascii() or _is_text(value)) else "")
        return self._node(CONSTANT, value) if type(value) is int and -1000 < value < 10**9 else 0

    def read_attribute(self, expression: ast.Attribute) -> int:
        base = expression.value
        parts = (ATTRIBUTE, _EXPRESSIONS[type(base)](self, base), expression.attr)
        known = self._interned.get(parts)  # as in _node: most nodes are made here
        if known is None:
            known = self._interned[parts] = len(self._nodes)
            self._nodes.append(parts)
        return known

    def read_call(self, expression: ast.Call) -> int:
        function = expression.func
        if type(function) is ast.Name and function.id == "super":
            holder = self._scope
            while holder.kind == "f" and holder.parent is not None and holder.parent.kind != "c":
                holder = holder.parent
            if holder.kind == "f" and holder.parent is not None:
                self._called(self._node(GLOBAL, "super"), function, CALLED, [], [])
                return self._node(SUPER, holder.parent.index)
        reader_of = _EXPRESSIONS
        called = reader_of[type(function)](self, function)
        args: list[int] = [reader_of[type(arg)](self, arg) for arg in expression.args]
        named: list[tuple[str, int]] = []
        for keyword in expression.keywords:
            value = keyword.value
            named.append((keyword.arg or "", reader_of[type(value)](self, value)))
        result = self._called(called, function, CALLED, args, named)
        if type(function) is ast.Attribute and function.attr in _GROWING and len(args) == 1 and args[0]:
            base = self._expression(function.value)
            if base:
                changed = self._new(_GROWING[function.attr], base, args[0])
                if _GROWING[function.attr] == GROWN:
                    self._changed(function.value, base, changed, 0, args[0])
                elif isinstance(function.value, ast.Name) and function.value.id in self._scope.env:
                    self._changed(function.value, base, changed, 0, 0)
        return result

    def read_lambda_value(self, expression: ast.Lambda) -> int:
        return self._lambda(expression, "", expression.lineno)

    def _lambda(self, expression: ast.Lambda, name: str, line: int) -> int:
        scope = self._opened("f", name, self._scope, line)
        scope.yields = []
        self._parameters(scope, expression.args)
        if self._scope.kind == "c" and scope.params:
            scope.self_name = scope.params[0][0]
        self._waiting.append((scope, expression.body))
        return self._new(FUNCTION, scope.index, 1)

    def read_sequence(self, expression: ast.List | ast.Tuple | ast.Set) -> int:
        kind = type(expression).__name__.lower()
        reader_of = _EXPRESSIONS
        elements = [reader_of[type(element)](self, element) for element in expression.elts[:200]]
        return self._new(SEQUENCE, kind, *elements)

    def read_mapping(self, expression: ast.Dict) -> int:
        keys = [self._expression(key) if key is not None else -1 for key in expression.keys]
        values = [self._expression(value) for value in expression.values]
        return self._new(MAPPING, keys[:200], values[:200])

    def read_starred(self, expression: ast.Starred) -> int:
        return self._node(SPREAD, self._expression(expression.value))

    def read_subscript(self, expression: ast.Subscript) -> int:
        base = self._expression(expression.value)
        if isinstance(expression.slice, ast.Slice):
            ends = [expression.slice.lower, expression.slice.upper]
            for end in ends:
                if end is not None:
                    self._expression(end)
            low, high = (_whole_number(end) for end in ends)
            known = all(end is None or isinstance(end, ast.Constant) for end in ends) and expression.slice.step is None
            return self._node(SLICE, base, low if known else None, high if known else None) if base else 0
        key = self._expression(expression.slice)
        return self._node(ITEM, base, key) if base else 0

    def read_sign(self, expression: ast.UnaryOp) -> int:
        """Read what an operation is made of; nothing is known of its result."""
        self._expression(expression.operand)
        return 0

    def read_comparison(self, expression: ast.Compare) -> int:
        self._expression(expression.left)
        for part in expression.comparators:
            self._expression(part)
        return 0

    def read_operation(self, expression: ast.BinOp) -> int:
        left, right = self._expression(expression.left), self._expression(expression.right)
        if isinstance(expression.op, (ast.Add, ast.BitOr)):
            kinds = {self._nodes[side][0] for side in (left, right)}
            if kinds & {SEQUENCE, MAPPING}:
                return self._new(MERGED, left, right)
        if isinstance(expression.op, ast.Mod) and self._nodes[left][0] == CONSTANT:
            return self._node(CONSTANT, "")
        return 0

    def read_text(self, expression: ast.JoinedStr) -> int:
        for part in expression.values:
            self._expression(part)
        return self._node(CONSTANT, "")

    def read_formatted(self, expression: ast.FormattedValue) -> int:
        return self._expression(expression.value)

    def read_any_of(self, expression: ast.BoolOp) -> int:
        return self._either(*[self._expression(value) for value in expression.values])

    def read_one_of(self, expression: ast.IfExp) -> int:
        self._expression(expression.test)
        return self._either(self._expression(expression.body), self._expression(expression.orelse))

    def read_inner(self, expression: ast.Await) -> int:
        return self._expression(expression.value)

    def read_yield(self, expression: ast.Yield) -> int:
        if expression.value is not None:
            self._scope.yields.append(self._expression(expression.value))
        return 0

    def read_yield_from(self, expression: ast.YieldFrom) -> int:
        node = self._expression(expression.value)
        self._scope.yields.append(self._node(ELEMENT, node))
        return 0

    def read_named(self, expression: ast.NamedExpr) -> int:
        node = self._expression(expression.value)
        self._assign(expression.target, node)
        return node

    def read_comprehension(self, expression: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> int:
        before = self._scope.env
        self._scope.env = dict(before)
        for generator in expression.generators:
            iterated = self._expression(generator.iter)
            self._iterated(iterated, generator.iter)
            self._assign(generator.target, self._node(ELEMENT, iterated) if iterated else 0)
            for condition in generator.ifs:
                self._expression(condition)
        if isinstance(expression, ast.DictComp):
            self._expression(expression.key)
            node = self._new(MAPPING, [0], [self._expression(expression.value)])
        else:
            node = self._new(SEQUENCE, "set", self._expression(expression.elt))
        self._scope.env = before
        return node

    # Annotations

    def _annotation(self, expression: ast.expr) -> int:
        """What a value of the annotated type is."""
        match expression:
            case ast.Constant(value=str(text)):
                try:
                    return self._annotation(ast.parse(text.strip(), mode="eval").body)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    return 0
            case ast.Name(id="Self"):
                return self._node(GLOBAL, "Self")
            case ast.Name() | ast.Attribute():
                return self._node(INSTANCE, self._expression(expression))
            case ast.BinOp(left=left, right=right):
                return self._either(self._annotation(left), self._annotation(right))
            case ast.Subscript(value=value, slice=inner):
                return self._generic(_last_name(value), value, inner)
            case _:
                return 0

    def _generic(self, name: str, value: ast.expr, inner: ast.expr) -> int:
        options = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if name in _TRANSPARENT:
            return self._either(*(self._annotation(option) for option in options))
        if name in _SEQUENCES:
            return self._new(SEQUENCE, "set", self._annotation(options[0])) if options else 0
        if name in ("tuple", "Tuple"):
            return self._new(SEQUENCE, "tuple", *(self._annotation(option) for option in options))
        if name in _MAPPINGS:
            return self._new(MAPPING, [0], [self._annotation(options[-1])]) if options else 0
        if name in ("type", "Type"):
            return self._expression(options[0])
        return self._node(INSTANCE, self._expression(value))


def _last_name(expression: ast.expr) -> str:
    if isinstance(expression, ast.Call):
        expression = expression.func
    if isinstance(expression, ast.Name):
        return expression.id
    return expression.attr if isinstance(expression, ast.Attribute) else ""


def _whole_number(expression: ast.expr | None) -> int | None:
    value = expression.value if isinstance(expression, ast.Constant) else None
    return value if type(value) is int else None


_STATEMENTS: dict[type[ast.stmt], Any] = {
    ast.FunctionDef: _Reading.read_function,
    ast.AsyncFunctionDef: _Reading.read_function,
    ast.ClassDef: _Reading.read_class,
    ast.Return: _Reading.read_return,
    ast.Assign: _Reading.read_assignment,
    ast.AnnAssign: _Reading.read_annotated,
    ast.AugAssign: _Reading.read_augmented,
    ast.For: _Reading.read_loop,
    ast.AsyncFor: _Reading.read_loop,
    ast.While: _Reading.read_loop,
    ast.If: _Reading.read_if,
    ast.With: _Reading.read_with,
    ast.AsyncWith: _Reading.read_with,
    ast.Match: _Reading.read_match,
    ast.Raise: _Reading.read_raise,
    ast.Try: _Reading.read_try,
    ast.TryStar: _Reading.read_try,
    ast.Assert: _Reading.read_evaluated,
    ast.Import: _Reading.read_import,
    ast.ImportFrom: _Reading.read_import_from,
    ast.Global: _Reading.read_names_outside,
    ast.Nonlocal: _Reading.read_names_outside,
    ast.Expr: _Reading.read_expression_statement,
}

_EXPRESSIONS: defaultdict[type[ast.expr], Any] = defaultdict(
    lambda: _Reading.read_nothing,
    {
        ast.Name: _Reading.read_name,
        ast.Constant: _Reading.read_constant,
        ast.Attribute: _Reading.read_attribute,
        ast.Call: _Reading.read_call,
        ast.Lambda: _Reading.read_lambda_value,
        ast.List: _Reading.read_sequence,
        ast.Tuple: _Reading.read_sequence,
        ast.Set: _Reading.read_sequence,
        ast.Dict: _Reading.read_mapping,
        ast.Starred: _Reading.read_starred,
        ast.Subscript: _Reading.read_subscript,
        ast.BinOp: _Reading.read_operation,
        ast.UnaryOp: _Reading.read_sign,
        ast.Compare: _Reading.read_comparison,
        ast.JoinedStr: _Reading.read_text,
        ast.FormattedValue: _Reading.read_formatted,
        ast.BoolOp: _Reading.read_any_of,
        ast.IfExp: _Reading.read_one_of,
        ast.Await: _Reading.read_inner,
        ast.Yield: _Reading.read_yield,
        ast.YieldFrom: _Reading.read_yield_from,
        ast.NamedExpr: _Reading.read_named,
        ast.ListComp: _Reading.read_comprehension,
        ast.SetComp: _Reading.read_comprehension,
        ast.GeneratorExp: _Reading.read_comprehension,
        ast.DictComp: _Reading.read_comprehension,
    },
)
