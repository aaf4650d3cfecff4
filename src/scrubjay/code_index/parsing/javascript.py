"""Reads the definitions, imports and uses of JavaScript, TypeScript and TSX files."""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.nodes import LICENSE_PATTERN, Findings, PathShape, shape_table, visitor_table
from scrubjay.code_index.parsing.scopes import BindingScope, keep_global_reads, read_identifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tree_sitter import Node, Tree

_PATH = re.compile(r"[A-Za-z_$][A-Za-z_$0-9]*(?:\.[A-Za-z_$#][A-Za-z_$0-9]*)*")
_MAX_PATH_BYTES = 200
_FUNCTIONS = frozenset({"function_expression", "arrow_function", "generator_function"})
_WRAPPERS = frozenset({"parenthesized_expression", "as_expression", "satisfies_expression", "await_expression"})
_TYPED = frozenset({"parenthesized_expression", "as_expression", "satisfies_expression"})
_DEFINING = _FUNCTIONS | {"class", "object"}
_SHAPES = {
    "identifier": PathShape.NAME,
    "this": PathShape.NAME,
    "super": PathShape.NAME,
    "import": PathShape.NAME,
    "type_identifier": PathShape.NAME,
    "member_expression": PathShape.MEMBER,
    "nested_identifier": PathShape.MEMBER,
    "nested_type_identifier": PathShape.MEMBER,
    "call_expression": PathShape.CALL,
    "new_expression": PathShape.CALL,
    "subscript_expression": PathShape.ENTRY,
    "parenthesized_expression": PathShape.INNER,
    "await_expression": PathShape.INNER,
    "non_null_expression": PathShape.INNER,
    "as_expression": PathShape.INNER,
    "satisfies_expression": PathShape.INNER,
    "generic_type": PathShape.INNER,
}


def read(tree: "Tree", found: Findings) -> None:
    """Read a JavaScript or TypeScript file."""
    scope = BindingScope(None)
    found.scope = scope
    root = tree.root_node
    found.doc = _file_doc(found, root)
    found.walk(root, _kinds(found.language))
    keep_global_reads(found, scope)
    _mark_exported(found)


def _file_doc(found: Findings, root: "Node") -> str:
    """Return the text of the first comment, unless it is a license or documents the definition right below it."""
    children = root.named_children[:8]
    for place, child in enumerate(children):
        if child.type == "hash_bang_line":
            continue
        if child.type != "comment":
            break
        found.note_above(child)
        below = children[place + 1] if place + 1 < len(children) else None
        if below is not None and below.type == "comment":
            continue
        _, doc = found.take_above(child.end_byte)
        imports = ("import_statement", "expression_statement")
        if below is None or below.type in imports or not found.is_adjacent(child.end_byte, below.start_byte):
            return "" if LICENSE_PATTERN.search(doc) else doc
        break
    found.take_above(0)
    return ""


def _mark_exported(found: Findings) -> None:
    """Mark what other files may use: the exports of a module, or everything at the top level of a script."""
    here = {name for _, name in found.exports}
    is_module = bool(
        found.exports or found.imports or any(symbol.exported for symbol in found.symbols if symbol.container < 0)
    )
    found.symbols = [
        symbol._replace(exported=not is_module or symbol.exported or symbol.name in here)
        if symbol.container < 0
        else symbol
        for symbol in found.symbols
    ]


@cache
def _path_shapes(language: Language) -> "Mapping[int, PathShape]":
    return shape_table(language, _SHAPES)


def _path(found: Findings, node: "Node") -> tuple[str, int]:
    """Return the path of a name and the first byte of its last part; push what else is in it to be visited next."""
    start, end = node.start_byte, node.end_byte
    if end - start <= _MAX_PATH_BYTES:
        path = found.latin[start:end]
        if _PATH.fullmatch(path):
            return path, start + path.rfind(".") + 1
    path, start, inner = found.read_path(node, _path_shapes(found.language))
    if inner is not None:
        found.stack.append(inner)
    return path, start


def _field(node: "Node", name: str) -> "Node | None":
    return node.child_by_field_name(name)


def _text(found: Findings, node: "Node | None") -> str:
    return found.text_of(node) if node is not None else ""


def _literal(found: Findings, node: "Node | None") -> str | None:
    """Return the value of a string literal; None for anything else."""
    if node is None or node.type not in ("string", "template_string"):
        return None
    text = found.text_of(node)[1:-1]
    return None if "${" in text else text


# Uses


def _call(found: Findings, node: "Node") -> None:
    children = node.children
    function = children[0]
    for child in reversed(children[1:]):
        if child.is_named:
            found.stack.extend(child.named_children[::-1])
    path, start = _path(found, function)
    if path in ("require", "import"):
        module = _module_argument(found, node)
        if module is not None:
            found.imports.append(Import(module, line=found.line_at(start), container=found.container))
            return
    if path and path != "import":
        found.uses.append((UseKind.CALL, path, start, found.container))


def _module_argument(found: Findings, call: "Node") -> str | None:
    arguments = _field(call, "arguments")
    return _literal(found, arguments.named_children[0]) if arguments is not None and arguments.named_children else None


def _new(found: Findings, node: "Node") -> None:
    constructor = _field(node, "constructor")
    for name in ("arguments", "type_arguments"):
        part = _field(node, name)
        if part is not None:
            found.stack.append(part)
    if constructor is None:
        return
    path, start = _path(found, constructor)
    if path:
        found.uses.append((UseKind.NEW, path, start, found.container))


def _member(found: Findings, node: "Node") -> None:
    path, start = _path(found, node)
    found.scope.reads.append((UseKind.READ, path, start, found.container))


def _type_name(found: Findings, node: "Node") -> None:
    path, start, _ = found.read_path(node, _path_shapes(found.language))
    found.scope.reads.append((UseKind.TYPE, path, start, found.container))


def _throw(found: Findings, node: "Node") -> None:
    found.visit(node.named_children)
    thrown = node.named_children[0] if node.named_child_count else None
    if thrown is None:
        return
    if thrown.type == "new_expression":
        named = _field(thrown, "constructor")
    elif thrown.type == "call_expression":
        named = thrown.children[0]
    else:
        named = thrown
    if named is None:
        return
    path, start, _ = found.read_path(named, _path_shapes(found.language))
    if path:
        found.scope.reads.append((UseKind.RAISE, path, start, found.container))


def _catch(found: Findings, node: "Node") -> None:
    parameter, body = _field(node, "parameter"), _field(node, "body")
    inside = found.scope if found.scope.is_function else BindingScope(found.scope, found.container, is_function=True)
    if body is not None:
        found.enter(found.container, body.named_children, inside)
    if parameter is not None:
        _bind_locally(found, parameter, inside)
        inside.elsewhere.add(found.text_of(parameter))


def _binary(found: Findings, node: "Node") -> None:
    """Read `x instanceof C` as a use of a type; for a caught error, as a type that is caught."""
    operator, left, right = _field(node, "operator"), _field(node, "left"), _field(node, "right")
    if operator is None or left is None or right is None or operator.type != "instanceof":
        found.stack.extend(node.named_children[::-1])
        return
    found.stack.append(left)
    path, start = _path(found, right)
    if path:
        kind = UseKind.CATCH if found.text_of(left) in found.scope.elsewhere else UseKind.TYPE
        found.uses.append((kind, path, start, found.container))


def _jsx_tag(found: Findings, node: "Node") -> None:
    """Read a JSX element: a use of its component, unless the name is lower case, which means HTML."""
    name = _field(node, "name")
    found.visit(child for child in node.named_children if child != name)
    if name is None:
        return
    path, start = _path(found, name)
    if path and (not path[0].islower() or "." in path):
        found.uses.append((UseKind.CALL, path, start, found.container))


def _ignore(found: Findings, node: "Node") -> None:
    """Ignore a node that contains no uses."""


# Bindings


def _split_pattern(found: Findings, pattern: "Node") -> "tuple[list[Node], list[Node]]":
    """Return the names that a pattern binds, and the other nodes in it to visit."""
    names: list[Node] = []
    others: list[Node] = []
    stack = [pattern]
    while stack:
        node = stack.pop()
        match node.type:
            case "identifier" | "shorthand_property_identifier_pattern" | "this":
                names.append(node)
            case "pair_pattern":
                value = _field(node, "value")
                stack.extend([] if value is None else [value])
            case "assignment_pattern" | "object_assignment_pattern":
                left, right = _field(node, "left"), _field(node, "right")
                others.extend([] if right is None else [right])
                stack.extend([] if left is None else [left])
            case "required_parameter" | "optional_parameter":
                inner = _field(node, "pattern")
                others.extend(part for name in ("type", "value") if (part := _field(node, name)) is not None)
                others.extend(child for child in node.named_children if child.type == "decorator")
                stack.extend([] if inner is None else [inner])
            case "object_pattern" | "array_pattern" | "rest_pattern" | "formal_parameters":
                stack.extend(node.named_children[::-1])
            case "comment":
                pass
            case _:
                others.append(node)
    return names, others


def _bind_locally(found: Findings, pattern: "Node", scope: BindingScope) -> "list[Node]":
    names, others = _split_pattern(found, pattern)
    scope.bound.update(found.text_of(name) for name in names)
    return others


def _variables(found: Findings, node: "Node") -> None:
    _declare_variables(found, node, node, exported=False)


def _declare_variables(found: Findings, node: "Node", outer: "Node", *, exported: bool) -> None:
    constant = found.latin.startswith("const", node.start_byte)
    declarators = [child for child in node.named_children if child.type == "variable_declarator"]
    above, doc = found.take_above(outer.start_byte)
    # Visits are pushed on a stack, so the last declarator must be pushed first.
    waiting: list[list[Any]] = []
    for place, declarator in enumerate(declarators):
        alone = len(declarators) == 1
        before = len(found.stack)
        _declare_variable(
            found,
            declarator,
            outer if alone else declarator,
            start=above if place == 0 else declarator.start_byte,
            doc=doc if place == 0 else "",
            constant=constant,
            exported=exported,
        )
        waiting.append(found.stack[before:])
        del found.stack[before:]
    for part in reversed(waiting):
        found.stack.extend(part)


def _declare_variable(
    found: Findings, node: "Node", outer: "Node", *, start: int, doc: str, constant: bool, exported: bool
) -> None:
    scope: BindingScope = found.scope
    name, value, annotation = _field(node, "name"), _field(node, "value"), _field(node, "type")
    if name is None:
        return
    if value is not None and _add_require(found, name, value):
        return
    if annotation is not None:
        found.stack.append(annotation)
    if value is not None and value.type in _TYPED:
        value = _unwrap_value(found, value)
    simple = name.type == "identifier"
    if value is not None and simple and value.type in (*_FUNCTIONS, "class"):
        called = found.text_of(name)
        if value.type == "class":
            _class(found, value, outer, called, name, start=start, doc=doc, exported=exported)
        else:
            _function(found, value, outer, called, name, SymbolKind.FUNCTION, start=start, doc=doc, exported=exported)
        return
    names, others = _split_pattern(found, name)
    found.visit(others)
    symbol = found.container
    if scope.is_function:
        scope.bound.update(found.text_of(each) for each in names)
    else:
        for each in names:
            symbol = found.add(
                found.text_of(each),
                SymbolKind.CONSTANT if constant else SymbolKind.VARIABLE,
                outer,
                each.start_byte,
                start=start,
                signature=found.signature(outer.start_byte, _value_start(node, value)),
                doc=doc,
                exported=exported,
            )
    if value is not None:
        _read_value(found, value, symbol, named=simple and not scope.is_function)


def _unwrap_value(found: Findings, value: "Node") -> "Node":
    """Return the function, class or object within parentheses or a type assertion; otherwise the value itself."""
    inner = value
    types: list[Node] = []
    while inner.type in _TYPED and inner.named_child_count:
        inner, *others = inner.named_children
        types += others
    if inner is value or inner.type not in _DEFINING:
        return value
    found.visit(types)
    return inner


def _value_start(node: "Node", value: "Node | None") -> int:
    """Return where the signature of a variable ends: a short value is part of it, an object is not."""
    return value.start_byte if value is not None and value.type in ("object", "array", "class") else node.end_byte


def _read_value(found: Findings, value: "Node", symbol: int, *, named: bool) -> None:
    """Read the value of a name; functions of a named object are its methods."""
    if named and value.type == "object":
        found.enter(symbol, value.named_children, BindingScope(found.scope, symbol, is_class=True))
    else:
        found.stack.append(value)


def _add_require(found: Findings, name: "Node", value: "Node") -> bool:
    """Add `const a = require("b")` and similar statements as imports; return whether it was one."""
    member = ""
    if value.type == "member_expression":
        member = _text(found, _field(value, "property"))
        inner = _field(value, "object")
    else:
        inner = value
    while inner is not None and inner.type in _WRAPPERS and inner.named_child_count:
        inner = inner.named_children[0]
    if inner is None or inner.type != "call_expression" or found.text_of(inner.children[0]) not in _IMPORTERS:
        return False
    module = _module_argument(found, inner)
    if module is None:
        return False
    line = found.line_at(name.start_byte)
    if name.type == "identifier":
        known = found.text_of(name)
        taken = Import(module, member, known if known != member else "", line, found.container)
        found.imports.append(taken)
        return True
    for part in name.named_children if name.type == "object_pattern" else ():
        if part.type == "pair_pattern":
            key, known = _text(found, _field(part, "key")), _text(found, _field(part, "value"))
        elif part.type == "object_assignment_pattern":
            key, known = _text(found, _field(part, "left")), ""
        elif part.type == "shorthand_property_identifier_pattern":
            key, known = found.text_of(part), ""
        else:
            continue
        found.imports.append(Import(module, key, known, line, found.container))
    return True


_IMPORTERS = frozenset({"require", "import"})


def _assignment(found: Findings, node: "Node") -> None:
    left, right = _field(node, "left"), _field(node, "right")
    if left is None or right is None:
        return
    if left.type == "identifier":
        path, start = _path(found, left)
        found.scope.reads.append((UseKind.WRITE, path, start, found.container))
        found.stack.append(right)
        return
    if left.type != "member_expression":
        names, others = _split_pattern(found, left)
        found.stack.append(right)
        found.visit(others)
        for name in names:
            written = (UseKind.WRITE, found.text_of(name), name.start_byte, found.container)
            found.scope.reads.append(written)
        return
    path, start = _path(found, left)
    found.uses.append((UseKind.WRITE, path, start, found.container))
    owner, _, name = path.rpartition(".")
    in_module = owner in ("exports", "module.exports")
    if path == "module.exports" or (in_module and name == "default"):
        _export_value(found, right, "default")
    elif in_module:
        found.exports.append((name, found.text_of(right) if right.type == "identifier" else name))
    if right.type in _FUNCTIONS and name:
        _assigned_function(found, node, left, right, owner, name, start)
        return
    _assigned_field(found, node, path, start)
    _read_value(found, right, found.container, named=path == "module.exports" or name == "prototype")


def _export_value(found: Findings, value: "Node", name: str) -> None:
    """Add what `module.exports =` or `export default` exports."""
    if value.type == "identifier":
        found.exports.append((name, found.text_of(value)))
    elif value.type == "object":
        for part in value.named_children:
            if part.type == "shorthand_property_identifier":
                found.exports.append((found.text_of(part), found.text_of(part)))
            elif part.type == "method_definition":
                method = _text(found, _field(part, "name"))
                found.exports.append((method, method))
            elif part.type == "pair":
                key, given = _field(part, "key"), _field(part, "value")
                if key is not None and given is not None and key.type != "computed_property_name":
                    exported = found.text_of(key).strip("'\"")
                    here = found.text_of(given) if given.type == "identifier" else exported
                    found.exports.append((exported, here))


def _assigned_function(
    found: Findings, node: "Node", left: "Node", right: "Node", owner: str, name: str, start: int
) -> None:
    above, doc = found.take_above(node.start_byte)
    is_method = owner.endswith(".prototype") or owner == "this"
    _function(
        found,
        right,
        node,
        name,
        left,
        SymbolKind.METHOD if is_method else SymbolKind.FUNCTION,
        start=above,
        doc=doc,
        exported=owner in ("exports", "module.exports"),
        name_at=start,
        owner=owner.removesuffix(".prototype") if owner not in ("exports", "module.exports", "this") else "",
    )


def _assigned_field(found: Findings, node: "Node", path: str, start: int) -> None:
    """Add a field of the class when a method first assigns it on `this`."""
    scope: BindingScope = found.scope
    owner = scope.parent
    of, _, name = path.partition(".")
    if of != "this" or not name or "." in name or owner is None or not owner.is_class or owner.symbol < 0:
        return
    if name in owner.fields or owner.receiver != "this":
        return
    owner.fields.add(name)
    above, doc = found.take_above(node.start_byte)
    found.add(
        name,
        SymbolKind.FIELD,
        node,
        start,
        start=above,
        signature=found.signature(node.start_byte, node.end_byte),
        doc=doc,
        exported=not name.startswith("#"),
        container=owner.symbol,
    )


def _for_in(found: Findings, node: "Node") -> None:
    left = _field(node, "left")
    inside = found.scope if found.scope.is_function else BindingScope(found.scope, found.container, is_function=True)
    others = [child for child in node.named_children if child != left]
    if left is not None:
        others = [*_bind_locally(found, left, inside), *others]
    found.enter(found.container, others, inside)


def _block(found: Findings, node: "Node") -> None:
    """Visit a block. Outside of functions, its declarations do not belong to the module."""
    if found.scope.is_function:
        found.stack.extend(node.named_children[::-1])
    else:
        found.enter(found.container, node.named_children, BindingScope(found.scope, found.container, is_function=True))


# Definitions


def _function_declaration(found: Findings, node: "Node") -> None:
    _declare_function(found, node, node, exported=False)


def _declare_function(found: Findings, node: "Node", outer: "Node", *, exported: bool) -> None:
    name = _field(node, "name")
    above, doc = found.take_above(outer.start_byte)
    kind = SymbolKind.SIGNATURE if node.type == "function_signature" else SymbolKind.FUNCTION
    _function(found, node, outer, _text(found, name) or "default", name, kind, start=above, doc=doc, exported=exported)


def _function(
    found: Findings,
    node: "Node",
    outer: "Node",
    called: str,
    name: "Node | None",
    kind: SymbolKind,
    *,
    start: int,
    doc: str,
    exported: bool,
    name_at: int | None = None,
    owner: str = "",
    decorators: "Sequence[Node]" = (),
) -> int:
    """Add a function and visit its parts."""
    body = _field(node, "body")
    if name_at is None:
        name_at = node.start_byte if name is None else name.start_byte
    symbol = found.add(
        called,
        kind,
        outer,
        name_at,
        start=start,
        signature=found.signature(outer.start_byte, outer.end_byte if body is None else body.start_byte),
        doc=doc,
        exported=exported,
        owner=owner,
        decorators=tuple(found.signature(each.start_byte + 1, each.end_byte) for each in decorators),
    )
    _inside_function(found, node, symbol)
    _decorate(found, decorators, symbol)
    return symbol


def _inside_function(found: Findings, node: "Node", symbol: int) -> None:
    scope = BindingScope(found.scope, symbol, is_function=True)
    inside: list[Node] = []
    for name in ("type_parameters", "parameters", "parameter", "return_type", "type", "body"):
        part = _field(node, name)
        if part is None:
            continue
        if name == "type_parameters":
            inside.extend(_type_parameters(found, part, scope))
        elif name in ("parameters", "parameter"):
            inside.extend(_bind_locally(found, part, scope))
        elif part.type == "statement_block":
            inside.extend(part.named_children)
        else:
            inside.append(part)
    found.enter(symbol, inside, scope)


def _type_parameters(found: Findings, node: "Node", scope: BindingScope) -> "list[Node]":
    others: list[Node] = []
    for parameter in node.named_children:
        name = _field(parameter, "name")
        if name is not None:
            scope.bound.add(found.text_of(name))
            others.extend(child for child in parameter.named_children if child != name)
    return others


def _function_expression(found: Findings, node: "Node") -> None:
    """Read a function within an expression: a symbol if it has a name."""
    name = _field(node, "name")
    if name is None:
        _inside_function(found, node, found.container)
    else:
        called = found.text_of(name)
        start = node.start_byte
        _function(found, node, node, called, name, SymbolKind.FUNCTION, start=start, doc="", exported=False)


def _decorate(found: Findings, decorators: "Iterable[Node]", symbol: int) -> None:
    for decorator in decorators:
        expression = decorator.named_children[0] if decorator.named_child_count else None
        if expression is None:
            continue
        named = expression
        if expression.type == "call_expression":
            found.stack.append(expression)
            named = expression.children[0]
        path, start, _ = found.read_path(named, _path_shapes(found.language))
        if path:
            found.uses.append((UseKind.DECORATE, path, start, symbol))


def _decorator(found: Findings, node: "Node") -> None:
    if found.scope.is_class:
        found.scope.pending.append(node)
        found.note_above(node, is_comment=False)
    else:
        found.stack.extend(node.named_children)


def _decorators_of(found: Findings, node: "Node") -> "list[Node]":
    """Return the decorators before a class member, and those within it."""
    before, found.scope.pending = found.scope.pending, []
    return [*before, *(child for child in node.children if child.type == "decorator")]


def _method(found: Findings, node: "Node") -> None:
    name = _field(node, "name")
    called = _member_name(found, name)
    above, doc = found.take_above(node.start_byte)
    if node.type != "method_definition":
        kind = SymbolKind.SIGNATURE
    else:
        kind = SymbolKind.CONSTRUCTOR if called == "constructor" else SymbolKind.METHOD
    scope: BindingScope = found.scope
    decorators = _decorators_of(found, node)
    _function(
        found,
        node,
        node,
        called,
        name,
        kind,
        start=min(above, decorators[0].start_byte) if decorators else above,
        doc=doc,
        exported=_is_public(found, node, called),
        decorators=decorators,
    )
    if kind is SymbolKind.CONSTRUCTOR and scope.is_class:
        _parameter_properties(found, node, scope)
    if name is not None and name.type == "computed_property_name":
        found.stack.append(name)
    scope.fields.add(called)


def _parameter_properties(found: Findings, node: "Node", scope: BindingScope) -> None:
    """Add the fields that parameters declare: `constructor(private name: string)`."""
    parameters = _field(node, "parameters")
    for parameter in parameters.named_children if parameters is not None else ():
        pattern = _field(parameter, "pattern")
        first = parameter.children[0] if parameter.child_count else None
        if pattern is None or first is None or first.type not in ("accessibility_modifier", "readonly"):
            continue
        name = found.text_of(pattern)
        scope.fields.add(name)
        found.add(
            name,
            SymbolKind.FIELD,
            parameter,
            pattern.start_byte,
            signature=found.signature(parameter.start_byte, parameter.end_byte),
            exported=_is_public(found, parameter, name),
            container=scope.symbol,
        )


def _is_public(found: Findings, node: "Node", name: str) -> bool:
    if name.startswith("#"):
        return False
    return not any(
        child.type == "accessibility_modifier" and found.text_of(child) != "public" for child in node.children[:4]
    )


def _member_name(found: Findings, name: "Node | None") -> str:
    return _text(found, name).strip("\"'")[:_MAX_PATH_BYTES]


def _field_definition(found: Findings, node: "Node") -> None:
    name = _field(node, "name") or _field(node, "property")
    value, annotation = _field(node, "value"), _field(node, "type")
    called = _member_name(found, name)
    above, doc = found.take_above(node.start_byte)
    scope: BindingScope = found.scope
    decorators = _decorators_of(found, node)
    scope.fields.add(called)
    exported = _is_public(found, node, called)
    if value is not None and value.type in _FUNCTIONS:
        method = SymbolKind.METHOD
        _function(
            found, value, node, called, name, method, start=above, doc=doc, exported=exported, decorators=decorators
        )
    else:
        symbol = found.add(
            called,
            SymbolKind.FIELD,
            node,
            node.start_byte if name is None else name.start_byte,
            start=above,
            signature=found.signature(node.start_byte, _value_start(node, value)),
            doc=doc,
            exported=exported,
            decorators=tuple(found.signature(each.start_byte + 1, each.end_byte) for each in decorators),
        )
        if value is not None:
            found.stack.append(value)
        _decorate(found, decorators, symbol)
    if annotation is not None:
        found.stack.append(annotation)


def _pair(found: Findings, node: "Node") -> None:
    key, value = _field(node, "key"), _field(node, "value")
    if value is None:
        return
    scope: BindingScope = found.scope
    if scope.is_class and key is not None:
        if value.type in _FUNCTIONS:
            called = _member_name(found, key)
            above, doc = found.take_above(node.start_byte)
            _function(found, value, node, called, key, SymbolKind.METHOD, start=above, doc=doc, exported=True)
            return
        if value.type != "object":
            found.enter(found.container, [value], BindingScope(scope, found.container))
            return
    found.stack.append(value)
    if key is not None and key.type == "computed_property_name":
        found.stack.append(key)


def _class_declaration(found: Findings, node: "Node") -> None:
    _declare_class(found, node, node, exported=False)


def _declare_class(found: Findings, node: "Node", outer: "Node", *, exported: bool) -> None:
    name = _field(node, "name")
    above, doc = found.take_above(outer.start_byte)
    called = _text(found, name) or ("default" if exported else "")
    if called or outer is not node:
        _class(found, node, outer, called, name, start=above, doc=doc, exported=exported)
    else:
        _inside_class(found, node, found.container)


def _class(
    found: Findings,
    node: "Node",
    outer: "Node",
    called: str,
    name: "Node | None",
    *,
    start: int,
    doc: str,
    exported: bool,
) -> None:
    body = _field(node, "body")
    decorators = [child for child in node.children if child.type == "decorator"]
    if outer is not node:
        decorators = [*(child for child in outer.children if child.type == "decorator"), *decorators]
    bases = _bases(node)
    is_interface = node.type == "interface_declaration"
    symbol = found.add(
        called,
        SymbolKind.INTERFACE if is_interface else SymbolKind.CLASS,
        outer,
        node.start_byte if name is None else name.start_byte,
        start=start,
        signature=found.signature(outer.start_byte, node.end_byte if body is None else body.start_byte),
        doc=doc,
        exported=exported,
        bases=tuple(found.signature(base.start_byte, base.end_byte) for base in bases),
        decorators=tuple(found.signature(each.start_byte + 1, each.end_byte) for each in decorators),
    )
    _inside_class(found, node, symbol)
    _decorate(found, decorators, symbol)


def _bases(node: "Node") -> "list[Node]":
    """Return the types that a class or interface is derived from."""
    bases: list[Node] = []
    clauses = [
        child
        for child in node.named_children
        if child.type in ("class_heritage", "extends_type_clause", "extends_clause")
    ]
    while clauses:
        clause = clauses.pop(0)
        for child in clause.named_children:
            if child.type in ("extends_clause", "implements_clause"):
                clauses.append(child)
            elif child.type not in ("type_arguments", "comment"):
                bases.append(child)
    return bases


def _inside_class(found: Findings, node: "Node", symbol: int) -> None:
    inside = BindingScope(found.scope, symbol, is_class=True)
    inside.receiver = "this"
    others: list[Node] = []
    parameters = _field(node, "type_parameters")
    if parameters is not None:
        others.extend(_type_parameters(found, parameters, inside))
    waiting = len(found.stack)
    for base in _bases(node):
        if base.type == "call_expression":
            others.append(base)
        path, start = _path(found, base)
        if path:
            found.uses.append((UseKind.INHERIT, path, start, symbol))
        if base.type == "generic_type":
            others.extend(child for child in base.named_children if child.type == "type_arguments")
    del found.stack[waiting:]
    for child in node.named_children:
        if child.type == "class_heritage":
            others.extend(
                part
                for clause in child.named_children
                for part in clause.named_children
                if part.type == "type_arguments"
            )
    body = _field(node, "body")
    if body is not None:
        others.extend(body.named_children)
    found.enter(symbol, others, inside)


def _type_alias(found: Findings, node: "Node") -> None:
    _declare_type(found, node, node, exported=False)


def _declare_type(found: Findings, node: "Node", outer: "Node", *, exported: bool) -> None:
    name, value, parameters = _field(node, "name"), _field(node, "value"), _field(node, "type_parameters")
    above, doc = found.take_above(outer.start_byte)
    symbol = found.add(
        _text(found, name),
        SymbolKind.TYPE,
        outer,
        node.start_byte if name is None else name.start_byte,
        start=above,
        signature=found.signature(outer.start_byte, outer.end_byte),
        doc=doc,
        exported=exported,
    )
    inside = BindingScope(found.scope, symbol, is_class=True)
    others = _type_parameters(found, parameters, inside) if parameters is not None else []
    if value is not None:
        others.append(value)
    found.enter(symbol, others, inside)


def _enum(found: Findings, node: "Node") -> None:
    _declare_enum(found, node, node, exported=False)


def _declare_enum(found: Findings, node: "Node", outer: "Node", *, exported: bool) -> None:
    name, body = _field(node, "name"), _field(node, "body")
    above, doc = found.take_above(outer.start_byte)
    symbol = found.add(
        _text(found, name),
        SymbolKind.ENUM,
        outer,
        node.start_byte if name is None else name.start_byte,
        start=above,
        signature=found.signature(outer.start_byte, node.end_byte if body is None else body.start_byte),
        doc=doc,
        exported=exported,
    )
    for member in body.named_children if body is not None else ():
        if member.type == "comment":
            found.note_above(member)
            continue
        member_name = _field(member, "name") or member
        above, doc = found.take_above(member.start_byte)
        found.add(
            _member_name(found, member_name),
            SymbolKind.MEMBER,
            member,
            member_name.start_byte,
            start=above,
            signature=found.signature(member.start_byte, member.end_byte),
            doc=doc,
            container=symbol,
        )
        value = _field(member, "value")
        if value is not None:
            found.stack.append(value)


def _module(found: Findings, node: "Node") -> None:
    _declare_module(found, node, node, exported=False)


def _declare_module(found: Findings, node: "Node", outer: "Node", *, exported: bool) -> None:
    name, body = _field(node, "name"), _field(node, "body")
    above, doc = found.take_above(outer.start_byte)
    symbol = found.add(
        _member_name(found, name),
        SymbolKind.MODULE,
        outer,
        node.start_byte if name is None else name.start_byte,
        start=above,
        signature=found.signature(outer.start_byte, node.end_byte if body is None else body.start_byte),
        doc=doc,
        exported=exported,
    )
    if body is not None:
        found.enter(symbol, body.named_children, BindingScope(found.scope, symbol))


_DECLARATIONS: "Mapping[str, Any]" = {
    "function_declaration": _declare_function,
    "generator_function_declaration": _declare_function,
    "function_signature": _declare_function,
    "function_expression": _declare_function,
    "generator_function": _declare_function,
    "arrow_function": _declare_function,
    "class_declaration": _declare_class,
    "abstract_class_declaration": _declare_class,
    "class": _declare_class,
    "interface_declaration": _declare_class,
    "lexical_declaration": _declare_variables,
    "variable_declaration": _declare_variables,
    "type_alias_declaration": _declare_type,
    "enum_declaration": _declare_enum,
    "internal_module": _declare_module,
    "module": _declare_module,
}


def _ambient(found: Findings, node: "Node") -> None:
    """Read `declare …`, which describes something defined elsewhere."""
    for child in node.named_children:
        declare = _DECLARATIONS.get(child.type)
        if declare is None:
            found.stack.append(child)
        else:
            declare(found, child, node, exported=False)


def _index_signature(found: Findings, node: "Node") -> None:
    name = _field(node, "name")
    found.visit(child for child in node.named_children if child != name)


# Imports and exports


def _import(found: Findings, node: "Node") -> None:
    source = _literal(found, _field(node, "source"))
    line = found.line_at(node.start_byte)
    taken: list[tuple[str, str, int]] = []
    for clause in node.named_children:
        if clause.type == "import_require_clause":
            source = _literal(found, _field(clause, "source"))
            taken.extend(("", found.text_of(name), line) for name in clause.named_children[:1])
        elif clause.type == "import_clause":
            for part in clause.named_children:
                if part.type == "identifier":
                    taken.append(("default", found.text_of(part), line))
                elif part.type == "namespace_import":
                    taken.append(("", found.text_of(part.named_children[-1]), line))
                elif part.type == "named_imports":
                    taken.extend(_specifiers(found, part))
    if source is None:
        return
    if not taken:
        taken.append(("", "", line))
    found.imports.extend(Import(source, name, alias, at, found.container) for name, alias, at in taken)


def _specifiers(found: Findings, clause: "Node") -> "Iterable[tuple[str, str, int]]":
    for part in clause.named_children:
        if part.type in ("import_specifier", "export_specifier"):
            name, alias = _field(part, "name"), _field(part, "alias")
            yield _member_name(found, name), _member_name(found, alias), found.line_at(part.start_byte)


def _export(found: Findings, node: "Node") -> None:
    source = _literal(found, _field(node, "source"))
    declaration, value = _field(node, "declaration"), _field(node, "value")
    is_default = any(child.type == "default" for child in node.children[:8])
    if declaration is not None and declaration.type == "ambient_declaration" and declaration.named_child_count:
        declaration = declaration.named_children[0]
    declared = declaration if declaration is not None else value
    for clause in node.named_children:
        if clause.type == "export_clause":
            for name, alias, line in _specifiers(found, clause):
                if source is None:
                    found.exports.append((alias or name, name))
                else:
                    found.imports.append(Import(source, name, alias, line, found.container, exported=True))
            return
        if clause.type == "namespace_export" and source is not None:
            alias = _member_name(found, clause.children[-1])  # the grammar does not parse `default` as a name
            line = found.line_at(clause.start_byte)
            found.imports.append(Import(source, "", alias, line, found.container, exported=True))
            return
    if source is not None:
        found.imports.append(Import(source, "*", "", found.line_at(node.start_byte), found.container, exported=True))
        return
    if declared is None:
        # TypeScript's `export = value`
        for child in node.named_children:
            if child.type == "identifier":
                found.exports.append(("default", found.text_of(child)))
        found.visit(child for child in node.named_children if child.type != "decorator")
        return
    declare = _DECLARATIONS.get(declared.type)
    if is_default:
        if declare is not None:
            found.exports.append(("default", _text(found, _field(declared, "name")) or "default"))
        elif declared.type == "object":
            _export_value(found, declared, "default")
            _read_value(found, declared, found.container, named=True)
            return
        else:
            _export_value(found, declared, "default")
    if declare is not None:
        declare(found, declared, node, exported=True)
    else:
        found.stack.append(declared)


def _comment(found: Findings, node: "Node") -> None:
    found.note_above(node)


@cache
def _kinds(language: Language) -> "Mapping[int, Any]":
    return visitor_table(
        language,
        {
            "call_expression": _call,
            "new_expression": _new,
            "identifier": read_identifier,
            "shorthand_property_identifier": read_identifier,
            "member_expression": _member,
            "type_identifier": _type_name,
            "nested_type_identifier": _type_name,
            "throw_statement": _throw,
            "catch_clause": _catch,
            "binary_expression": _binary,
            "jsx_opening_element": _jsx_tag,
            "jsx_self_closing_element": _jsx_tag,
            "jsx_closing_element": _ignore,
            "lexical_declaration": _variables,
            "variable_declaration": _variables,
            "assignment_expression": _assignment,
            "augmented_assignment_expression": _assignment,
            "for_in_statement": _for_in,
            "for_statement": _block,
            "statement_block": _block,
            "function_declaration": _function_declaration,
            "generator_function_declaration": _function_declaration,
            "function_signature": _function_declaration,
            "function_expression": _function_expression,
            "generator_function": _function_expression,
            "arrow_function": _function_expression,
            "function_type": _function_expression,
            "constructor_type": _function_expression,
            "call_signature": _function_expression,
            "construct_signature": _function_expression,
            "index_signature": _index_signature,
            "ambient_declaration": _ambient,
            "method_definition": _method,
            "method_signature": _method,
            "abstract_method_signature": _method,
            "property_signature": _field_definition,
            "public_field_definition": _field_definition,
            "field_definition": _field_definition,
            "pair": _pair,
            "class_declaration": _class_declaration,
            "abstract_class_declaration": _class_declaration,
            "class": _class_declaration,
            "interface_declaration": _class_declaration,
            "type_alias_declaration": _type_alias,
            "enum_declaration": _enum,
            "internal_module": _module,
            "module": _module,
            "decorator": _decorator,
            "import_statement": _import,
            "export_statement": _export,
            "comment": _comment,
        },
        ignored=(
            "property_identifier", "private_property_identifier", "statement_identifier", "string", "string_fragment",
            "number", "regex", "true", "false", "null", "undefined", "this", "super", "predefined_type", "jsx_text",
            "escape_sequence", "accessibility_modifier", "override_modifier", "empty_statement", "literal_type",
            "hash_bang_line", "break_statement", "continue_statement", "optional_chain", "this_type",
        ),
    )  # fmt: skip
