"""Reads the expressions of Python files into their flow."""

import ast
from collections import defaultdict
from typing import Any

from scrubjay.code_index.graph.python_flow_builder import FlowBuilder, ScopeBuilder, is_text
from scrubjay.code_index.graph.python_flow_format import (
    ANY_KEYWORD,
    ANY_POSITIONAL,
    ATTRIBUTE,
    CALLED,
    CLASS_SCOPE,
    CONSTANT,
    ELEMENT,
    FUNCTION,
    FUNCTION_SCOPE,
    GLOBAL,
    GROWN,
    INSTANCE,
    ITEM,
    ITERATED,
    KEYWORD,
    MAPPING,
    MERGED,
    PARAMETER,
    POSITIONAL,
    REPLACED,
    REST,
    SEQUENCE,
    SLICE,
    SPREAD,
    SUPER,
    UNPACKED,
)

_GROWING = {"append": GROWN, "add": GROWN, "appendleft": GROWN, "extend": MERGED, "update": MERGED}
_TRANSPARENT = {"Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Awaitable", "Self"}
_SEQUENCES = {
    "list", "List", "set", "Set", "frozenset", "FrozenSet", "Sequence", "MutableSequence", "Iterable", "Iterator",
    "Collection", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "deque", "Deque", "AbstractSet",
}  # fmt: skip
_MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"}


class FlowExpressionReader:
    """Reads expressions, assignment targets, parameters and annotations; each method returns the node of the value."""

    def __init__(self, builder: FlowBuilder) -> None:
        self._flow = builder

    def read_name(self, expression: ast.Name) -> int:
        name, scope = expression.id, self._flow.scope
        node = scope.env.get(name)
        return node if node is not None and name not in scope.globals else self._flow.name_value(name)

    def add_iteration(self, node: int, place: ast.expr) -> None:
        if node and self._flow.nodes[node][0] not in (SEQUENCE, MAPPING, CONSTANT):
            self._flow.add_call(node, place, ITERATED, [], [])

    def read_parameters(self, scope: ScopeBuilder, args: ast.arguments) -> None:
        positional = [*args.posonlyargs, *args.args] if args.posonlyargs else args.args
        without = len(positional) - len(args.defaults)
        for place, arg in enumerate(positional):
            self._add_parameter(scope, arg, POSITIONAL, args.defaults[place - without] if place >= without else None)
        if args.vararg is not None:
            self._add_parameter(scope, args.vararg, ANY_POSITIONAL, None)
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            self._add_parameter(scope, arg, KEYWORD, default)
        if args.kwarg is not None:
            self._add_parameter(scope, args.kwarg, ANY_KEYWORD, None)

    def _add_parameter(self, scope: ScopeBuilder, arg: ast.arg, how: int, default: ast.expr | None) -> None:
        value = self.read(default) if default is not None else 0
        kind = self.read_annotation(arg.annotation) if arg.annotation is not None else 0
        if kind and how == ANY_POSITIONAL:
            kind = self._flow.new_node(
                SEQUENCE, "tuple", self._flow.node(SPREAD, self._flow.new_node(SEQUENCE, "list", kind))
            )
        elif kind and how == ANY_KEYWORD:
            kind = self._flow.new_node(MAPPING, [0], [kind])
        name, nodes, params = arg.arg, self._flow.nodes, scope.params
        scope.env[name] = len(nodes)
        nodes.append((PARAMETER, scope.index, len(params)))
        params.append([name, how, value, kind])

    def assign(self, target: ast.expr, node: int) -> None:
        if type(target) is ast.Name:  # most targets are one of these two
            self._flow.bind(target.id, node)
            return
        if type(target) is ast.Attribute:
            owner = target.value
            home = self._flow.class_of_receiver(owner.id) if type(owner) is ast.Name else None
            if home is not None:
                if node:
                    home.attributes.setdefault(target.attr, []).append(node)
            elif (base := self.read(owner)) and node:
                self._flow.stores.append((base, target.attr, node))
            return
        match target:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                star = next((i for i, element in enumerate(elements) if isinstance(element, ast.Starred)), None)
                for place, element in enumerate(elements):
                    if isinstance(element, ast.Starred):
                        rest = self._flow.node(REST, node, place, len(elements) - place - 1) if node else 0
                        self.assign(element.value, rest)
                    else:
                        at = place if star is None or place < star else place - len(elements)
                        self.assign(element, self._flow.node(UNPACKED, node, at) if node else 0)
            case ast.Subscript(value=base, slice=key):
                self._store_item(base, self.read(key), node)
            case ast.Starred(value=value):
                self.assign(value, node)
            case _:
                return

    def _store_item(self, base: ast.expr, key: int, node: int) -> None:
        """Replace an item: with a new version of a local container, or else as an addition from another scope."""
        value = self.read(base)
        if not value:
            return
        self._replace_container(base, value, self._flow.new_node(REPLACED, value, key, node), key, node)

    def _replace_container(self, base: ast.expr, value: int, changed: int, key: int, node: int) -> None:
        match base:
            case ast.Name(id=name) if name in self._flow.scope.env and name not in self._flow.scope.globals:
                self._flow.scope.env[name] = changed
                self._flow.scope.declared.setdefault(name, []).append(changed)
            case ast.Name(id=name):
                home = self._flow.enclosing_scope_of(name)
                for known in home.declared.get(name, ()) if home is not None else ():
                    self._flow.late.setdefault(known, []).append((key, node))
            case ast.Subscript(value=inner, slice=outer_key) if not isinstance(outer_key, ast.Slice):
                outer = self.read(inner)
                at = self.read(outer_key)
                if outer:
                    self._replace_container(
                        inner, outer, self._flow.new_node(REPLACED, outer, at, changed), at, changed
                    )
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                home = self._flow.class_of_receiver(owner)
                for known in home.attributes.get(name, ())[:4] if home is not None else ():
                    self._flow.late.setdefault(known, []).append((key, node))
            case _:
                return

    def read(self, expression: ast.expr) -> int:
        return _EXPRESSIONS[type(expression)](self, expression)

    def read_nothing(self, expression: ast.expr) -> int:
        """Return the unknown value, for expressions that are not followed."""
        return 0

    def read_constant(self, expression: ast.Constant) -> int:
        value = expression.value
        if type(value) is str:
            return self._flow.node(CONSTANT, value if len(value) <= 40 and (value.isascii() or is_text(value)) else "")
        return self._flow.node(CONSTANT, value) if type(value) is int and -1000 < value < 10**9 else 0

    def read_attribute(self, expression: ast.Attribute) -> int:
        base = expression.value
        parts = (ATTRIBUTE, _EXPRESSIONS[type(base)](self, base), expression.attr)
        known = self._flow.interned.get(parts)  # inlined from `FlowBuilder.node`, because most nodes are made here
        if known is None:
            known = self._flow.interned[parts] = len(self._flow.nodes)
            self._flow.nodes.append(parts)
        return known

    def read_call(self, expression: ast.Call) -> int:
        function = expression.func
        if type(function) is ast.Name and function.id == "super":
            holder = self._flow.scope
            while holder.kind == FUNCTION_SCOPE and holder.parent is not None and holder.parent.kind != CLASS_SCOPE:
                holder = holder.parent
            if holder.kind == FUNCTION_SCOPE and holder.parent is not None:
                self._flow.add_call(self._flow.node(GLOBAL, "super"), function, CALLED, [], [])
                return self._flow.node(SUPER, holder.parent.index)
        reader_of = _EXPRESSIONS
        called = reader_of[type(function)](self, function)
        args: list[int] = [reader_of[type(arg)](self, arg) for arg in expression.args]
        named: list[tuple[str, int]] = []
        for keyword in expression.keywords:
            value = keyword.value
            named.append((keyword.arg or "", reader_of[type(value)](self, value)))
        result = self._flow.add_call(called, function, CALLED, args, named)
        if type(function) is ast.Attribute and function.attr in _GROWING and len(args) == 1 and args[0]:
            base = self.read(function.value)
            if base:
                changed = self._flow.new_node(_GROWING[function.attr], base, args[0])
                if _GROWING[function.attr] == GROWN:
                    self._replace_container(function.value, base, changed, 0, args[0])
                elif isinstance(function.value, ast.Name) and function.value.id in self._flow.scope.env:
                    self._replace_container(function.value, base, changed, 0, 0)
        return result

    def read_lambda_value(self, expression: ast.Lambda) -> int:
        return self.read_lambda(expression, "", expression.lineno)

    def read_lambda(self, expression: ast.Lambda, name: str, line: int) -> int:
        scope = self._flow.open_scope(FUNCTION_SCOPE, name, self._flow.scope, line)
        scope.yields = []
        self.read_parameters(scope, expression.args)
        if self._flow.scope.kind == CLASS_SCOPE and scope.params:
            scope.self_name = scope.params[0][0]
        self._flow.waiting.append((scope, expression.body))
        return self._flow.new_node(FUNCTION, scope.index, 1)

    def read_sequence(self, expression: ast.List | ast.Tuple | ast.Set) -> int:
        kind = type(expression).__name__.lower()
        reader_of = _EXPRESSIONS
        elements = [reader_of[type(element)](self, element) for element in expression.elts[:200]]
        return self._flow.new_node(SEQUENCE, kind, *elements)

    def read_mapping(self, expression: ast.Dict) -> int:
        keys = [self.read(key) if key is not None else -1 for key in expression.keys]
        values = [self.read(value) for value in expression.values]
        return self._flow.new_node(MAPPING, keys[:200], values[:200])

    def read_starred(self, expression: ast.Starred) -> int:
        return self._flow.node(SPREAD, self.read(expression.value))

    def read_subscript(self, expression: ast.Subscript) -> int:
        base = self.read(expression.value)
        if isinstance(expression.slice, ast.Slice):
            ends = [expression.slice.lower, expression.slice.upper]
            for end in ends:
                if end is not None:
                    self.read(end)
            low, high = (_whole_number(end) for end in ends)
            known = all(end is None or isinstance(end, ast.Constant) for end in ends) and expression.slice.step is None
            return self._flow.node(SLICE, base, low if known else None, high if known else None) if base else 0
        key = self.read(expression.slice)
        return self._flow.node(ITEM, base, key) if base else 0

    def read_sign(self, expression: ast.UnaryOp) -> int:
        """Read the operand; the result is unknown."""
        self.read(expression.operand)
        return 0

    def read_comparison(self, expression: ast.Compare) -> int:
        self.read(expression.left)
        for part in expression.comparators:
            self.read(part)
        return 0

    def read_operation(self, expression: ast.BinOp) -> int:
        left, right = self.read(expression.left), self.read(expression.right)
        if isinstance(expression.op, (ast.Add, ast.BitOr)):
            kinds = {self._flow.nodes[side][0] for side in (left, right)}
            if kinds & {SEQUENCE, MAPPING}:
                return self._flow.new_node(MERGED, left, right)
        if isinstance(expression.op, ast.Mod) and self._flow.nodes[left][0] == CONSTANT:
            return self._flow.node(CONSTANT, "")
        return 0

    def read_text(self, expression: ast.JoinedStr) -> int:
        for part in expression.values:
            self.read(part)
        return self._flow.node(CONSTANT, "")

    def read_formatted(self, expression: ast.FormattedValue) -> int:
        return self.read(expression.value)

    def read_any_of(self, expression: ast.BoolOp) -> int:
        return self._flow.either(*[self.read(value) for value in expression.values])

    def read_one_of(self, expression: ast.IfExp) -> int:
        self.read(expression.test)
        return self._flow.either(self.read(expression.body), self.read(expression.orelse))

    def read_inner(self, expression: ast.Await) -> int:
        return self.read(expression.value)

    def read_yield(self, expression: ast.Yield) -> int:
        if expression.value is not None:
            self._flow.scope.yields.append(self.read(expression.value))
        return 0

    def read_yield_from(self, expression: ast.YieldFrom) -> int:
        node = self.read(expression.value)
        self._flow.scope.yields.append(self._flow.node(ELEMENT, node))
        return 0

    def read_named(self, expression: ast.NamedExpr) -> int:
        node = self.read(expression.value)
        self.assign(expression.target, node)
        return node

    def read_comprehension(self, expression: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> int:
        before = self._flow.scope.env
        self._flow.scope.env = dict(before)
        for generator in expression.generators:
            iterated = self.read(generator.iter)
            self.add_iteration(iterated, generator.iter)
            self.assign(generator.target, self._flow.node(ELEMENT, iterated) if iterated else 0)
            for condition in generator.ifs:
                self.read(condition)
        if isinstance(expression, ast.DictComp):
            self.read(expression.key)
            node = self._flow.new_node(MAPPING, [0], [self.read(expression.value)])
        else:
            node = self._flow.new_node(SEQUENCE, "set", self.read(expression.elt))
        self._flow.scope.env = before
        return node

    def read_annotation(self, expression: ast.expr) -> int:
        """Return the node of a value of the annotated type."""
        match expression:
            case ast.Constant(value=str(text)):
                try:
                    return self.read_annotation(ast.parse(text.strip(), mode="eval").body)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    return 0
            case ast.Name(id="Self"):
                return self._flow.node(GLOBAL, "Self")
            case ast.Name() | ast.Attribute():
                return self._flow.node(INSTANCE, self.read(expression))
            case ast.BinOp(left=left, right=right):
                return self._flow.either(self.read_annotation(left), self.read_annotation(right))
            case ast.Subscript(value=value, slice=inner):
                return self._read_generic(last_name(value), value, inner)
            case _:
                return 0

    def _read_generic(self, name: str, value: ast.expr, inner: ast.expr) -> int:
        options = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if name in _TRANSPARENT:
            return self._flow.either(*(self.read_annotation(option) for option in options))
        if name in _SEQUENCES:
            return self._flow.new_node(SEQUENCE, "set", self.read_annotation(options[0])) if options else 0
        if name in ("tuple", "Tuple"):
            return self._flow.new_node(SEQUENCE, "tuple", *(self.read_annotation(option) for option in options))
        if name in _MAPPINGS:
            return self._flow.new_node(MAPPING, [0], [self.read_annotation(options[-1])]) if options else 0
        if name in ("type", "Type"):
            return self.read(options[0])
        return self._flow.node(INSTANCE, self.read(value))


def last_name(expression: ast.expr) -> str:
    if isinstance(expression, ast.Call):
        expression = expression.func
    if isinstance(expression, ast.Name):
        return expression.id
    return expression.attr if isinstance(expression, ast.Attribute) else ""


def _whole_number(expression: ast.expr | None) -> int | None:
    value = expression.value if isinstance(expression, ast.Constant) else None
    return value if type(value) is int else None


_EXPRESSIONS: defaultdict[type[ast.expr], Any] = defaultdict(
    lambda: FlowExpressionReader.read_nothing,
    {
        ast.Name: FlowExpressionReader.read_name,
        ast.Constant: FlowExpressionReader.read_constant,
        ast.Attribute: FlowExpressionReader.read_attribute,
        ast.Call: FlowExpressionReader.read_call,
        ast.Lambda: FlowExpressionReader.read_lambda_value,
        ast.List: FlowExpressionReader.read_sequence,
        ast.Tuple: FlowExpressionReader.read_sequence,
        ast.Set: FlowExpressionReader.read_sequence,
        ast.Dict: FlowExpressionReader.read_mapping,
        ast.Starred: FlowExpressionReader.read_starred,
        ast.Subscript: FlowExpressionReader.read_subscript,
        ast.BinOp: FlowExpressionReader.read_operation,
        ast.UnaryOp: FlowExpressionReader.read_sign,
        ast.Compare: FlowExpressionReader.read_comparison,
        ast.JoinedStr: FlowExpressionReader.read_text,
        ast.FormattedValue: FlowExpressionReader.read_formatted,
        ast.BoolOp: FlowExpressionReader.read_any_of,
        ast.IfExp: FlowExpressionReader.read_one_of,
        ast.Await: FlowExpressionReader.read_inner,
        ast.Yield: FlowExpressionReader.read_yield,
        ast.YieldFrom: FlowExpressionReader.read_yield_from,
        ast.NamedExpr: FlowExpressionReader.read_named,
        ast.ListComp: FlowExpressionReader.read_comprehension,
        ast.SetComp: FlowExpressionReader.read_comprehension,
        ast.GeneratorExp: FlowExpressionReader.read_comprehension,
        ast.DictComp: FlowExpressionReader.read_comprehension,
    },
)
