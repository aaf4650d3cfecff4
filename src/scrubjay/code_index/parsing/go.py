"""Reads the definitions, imports and uses of Go files."""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.nodes import Findings, PathShape, field_finder, shape_table, visitor_table
from scrubjay.code_index.parsing.scopes import BindingScope, keep_global_reads, read_identifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node, Tree

_PATH = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*")
_MAX_PATH_BYTES = 200
_BUILT_IN = frozenset(
    {
        "any", "bool", "byte", "comparable", "complex64", "complex128", "error", "float32", "float64", "int", "int8",
        "int16", "int32", "int64", "rune", "string", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr",
    }
)  # fmt: skip
_SHAPES = shape_table(
    Language.GO,
    {
        "identifier": PathShape.NAME,
        "type_identifier": PathShape.NAME,
        "package_identifier": PathShape.NAME,
        "selector_expression": PathShape.MEMBER,
        "qualified_type": PathShape.MEMBER,
        "call_expression": PathShape.CALL,
        "composite_literal": PathShape.CALL,
        "index_expression": PathShape.ENTRY,
        "slice_expression": PathShape.ENTRY,
        "parenthesized_expression": PathShape.INNER,
        "unary_expression": PathShape.INNER,
        "type_assertion_expression": PathShape.INNER,
        "generic_type": PathShape.INNER,
        "pointer_type": PathShape.INNER,
    },
)

_name = field_finder(Language.GO, "name")
_body = field_finder(Language.GO, "body")
_type = field_finder(Language.GO, "type")
_value = field_finder(Language.GO, "value")
_left = field_finder(Language.GO, "left")
_right = field_finder(Language.GO, "right")
_parameters = field_finder(Language.GO, "parameters")
_type_parameters = field_finder(Language.GO, "type_parameters")
_result = field_finder(Language.GO, "result")
_receiver = field_finder(Language.GO, "receiver")
_alias = field_finder(Language.GO, "alias")
_import_path = field_finder(Language.GO, "path")


def read(tree: "Tree", found: Findings) -> None:
    """Read a Go file."""
    scope = BindingScope(None)
    found.scope = scope
    found.walk(tree.root_node, _kinds())
    keep_global_reads(found, scope)


def _path(found: Findings, node: "Node") -> tuple[str, int]:
    """Return the path of a name and the first byte of its last part; push what else is in it to be visited next."""
    start, end = node.start_byte, node.end_byte
    if end - start <= _MAX_PATH_BYTES:
        path = found.latin[start:end]
        if _PATH.fullmatch(path):
            return path, start + path.rfind(".") + 1
    path, start, inner = found.read_path(node, _SHAPES)
    if inner is not None:
        found.stack.append(inner)
    return path, start


def _is_exported(name: str) -> bool:
    return name[:1].isupper()


# Uses


def _call(found: Findings, node: "Node") -> None:
    children = node.children
    arguments = children[-1].named_children
    found.stack.extend(arguments[::-1])
    path, start = _path(found, children[0])
    if not path:
        return
    if path == "new" and arguments:
        path, start, _ = found.read_path(arguments[0], _SHAPES)
        found.uses.append((UseKind.NEW, path, start, found.container))
        return
    found.uses.append((UseKind.CALL, path, start, found.container))
    if path == "panic" and arguments:
        _raised(found, arguments[0])
    elif path in ("errors.Is", "errors.As") and len(arguments) > 1:
        path, start, _ = found.read_path(arguments[1], _SHAPES)
        found.scope.reads.append((UseKind.CATCH, path, start, found.container))


def _raised(found: Findings, node: "Node") -> None:
    if node.type == "unary_expression" and node.named_child_count:
        node = node.named_children[0]
    if node.type in ("call_expression", "composite_literal"):
        node = node.named_children[0]
    path, start, _ = found.read_path(node, _SHAPES)
    if path:
        found.scope.reads.append((UseKind.RAISE, path, start, found.container))


def _composite_literal(found: Findings, node: "Node") -> None:
    made, body = _type(node), _body(node)
    if body is not None:
        found.stack.append(body)
    if made is None:
        return
    if made.type in ("type_identifier", "qualified_type", "generic_type"):
        path, start, _ = found.read_path(made, _SHAPES)
        found.uses.append((UseKind.NEW, path, start, found.container))
        found.stack.extend(child for child in made.named_children if child.type == "type_arguments")
    else:
        found.stack.append(made)


def _keyed_element(found: Findings, node: "Node") -> None:
    """Visit a keyed element. A plain name as the key is nearly always a field."""
    children = node.named_children
    found.stack.extend(children[:0:-1])
    key = children[0] if children else None
    if key is not None and not (key.named_child_count == 1 and key.named_children[0].type == "identifier"):
        found.stack.append(key)


def _selector(found: Findings, node: "Node") -> None:
    path, start = _path(found, node)
    found.scope.reads.append((UseKind.READ, path, start, found.container))


def _type_name(found: Findings, node: "Node") -> None:
    path, start, _ = found.read_path(node, _SHAPES)
    if path not in _BUILT_IN:
        found.scope.reads.append((UseKind.TYPE, path, start, found.container))


# Bindings


def _bind(found: Findings, left: "Node") -> None:
    for name in left.named_children if left.type == "expression_list" else [left]:
        if name.type == "identifier":
            found.scope.bound.add(found.text_of(name))
        elif name.is_named:
            found.stack.append(name)


def _short_variable(found: Findings, node: "Node") -> None:
    left, right = _left(node), _right(node)
    if left is None or right is None:
        return
    names, values = left.named_children, right.named_children
    if len(names) == len(values) == 1 and values[0].type == "func_literal" and names[0].type == "identifier":
        _function_value(found, node, names[0], values[0])
        return
    found.stack.append(right)
    _bind(found, left)


def _range(found: Findings, node: "Node") -> None:
    left, right = _left(node), _right(node)
    if right is not None:
        found.stack.append(right)
    if left is not None:
        _bind(found, left)


def _type_switch(found: Findings, node: "Node") -> None:
    alias = _alias(node)
    found.visit(child for child in node.named_children if child != alias)
    if alias is not None:
        _bind(found, alias)


def _assignment(found: Findings, node: "Node") -> None:
    left = _left(node) if node.type == "assignment_statement" else node
    right = _right(node) if node.type == "assignment_statement" else None
    if right is not None:
        found.stack.append(right)
    for target in left.named_children if left is not None else ():
        if target.type == "identifier":
            written = (UseKind.WRITE, found.text_of(target), target.start_byte, found.container)
            found.scope.reads.append(written)
        elif target.type == "selector_expression":
            path, start = _path(found, target)
            found.uses.append((UseKind.WRITE, path, start, found.container))
        else:
            found.stack.append(target)


# Definitions


def _take_parameters(found: Findings, node: "Node | None", scope: BindingScope) -> "list[Node]":
    """Bind parameters, and return their types."""
    types: list[Node] = []
    for parameter in node.named_children if node is not None else ():
        annotation = _type(parameter)
        if annotation is not None:
            types.append(annotation)
            for name in parameter.children_by_field_name("name"):
                scope.bound.add(found.text_of(name))
        elif parameter.type != "comment":
            types.append(parameter)
    return types


def _inside_function(found: Findings, node: "Node", symbol: int) -> None:
    scope = BindingScope(found.scope, symbol, is_function=True)
    inside: list[Node] = []
    if node.type == "method_declaration":
        receiver = _receiver(node)
        inside.extend(_take_parameters(found, receiver, scope))
        if receiver is not None:
            scope.receiver = next(iter(scope.bound), "")
            scope.bound.update(_receiver_type_parameters(found, receiver))
    inside.extend(
        _take_parameters(found, _type_parameters(node) if node.type == "function_declaration" else None, scope)
    )
    inside.extend(_take_parameters(found, _parameters(node), scope))
    result, body = _result(node), _body(node)
    if result is not None:
        inside.extend(_take_parameters(found, result, scope) if result.type == "parameter_list" else [result])
    if body is not None:
        inside.extend(body.named_children)
    found.enter(symbol, inside, scope)


def _receiver_type_parameters(found: Findings, receiver: "Node") -> "set[str]":
    text = found.text_of(receiver)
    _, bracket, names = text.partition("[")
    return set(re.findall(r"\w+", names)) if bracket else set()


def _function_type(found: Findings, node: "Node") -> None:
    _inside_function(found, node, found.container)


def _function(found: Findings, node: "Node") -> None:
    name, body = _name(node), _body(node)
    called = found.text_of(name) if name is not None else ""
    above, doc = found.take_above(node.start_byte)
    receiver = _receiver(node) if node.type == "method_declaration" else None
    if receiver is not None:
        kind = SymbolKind.METHOD
    else:
        kind = SymbolKind.FUNCTION if body is not None else SymbolKind.SIGNATURE
    symbol = found.add(
        called,
        kind,
        node,
        node.start_byte if name is None else name.start_byte,
        start=above,
        signature=found.signature(node.start_byte, node.end_byte if body is None else body.start_byte),
        doc=doc,
        exported=_is_exported(called),
        owner=_receiver_type(found, receiver) if receiver is not None else "",
    )
    _inside_function(found, node, symbol)


def _receiver_type(found: Findings, receiver: "Node") -> str:
    for parameter in receiver.named_children:
        annotation = _type(parameter)
        if annotation is not None:
            return found.read_path(annotation, _SHAPES)[0]
    return ""


def _function_value(found: Findings, outer: "Node", name: "Node", value: "Node") -> None:
    """Add a function that is assigned to a name."""
    called = found.text_of(name)
    body = _body(value)
    above, doc = found.take_above(outer.start_byte)
    symbol = found.add(
        called,
        SymbolKind.FUNCTION,
        outer,
        name.start_byte,
        start=above,
        signature=found.signature(outer.start_byte, outer.end_byte if body is None else body.start_byte),
        doc=doc,
        exported=_is_exported(called) and not found.scope.is_function,
    )
    _inside_function(found, value, symbol)


def _specs(found: Findings, node: "Node") -> None:
    """Read `const`, `var` or `type`, with one name or a group."""
    specs = [child for child in node.named_children if child.type != "comment"]
    if len(specs) == 1 and specs[0].type == "var_spec_list":
        node = specs[0]
        specs = [child for child in node.named_children if child.type != "comment"]
    is_group = found.latin.find("(", node.start_byte, specs[0].start_byte) >= 0 if specs else True
    if not is_group:
        _spec(found, specs[0], node)
        return
    found.stack.extend(node.named_children[::-1])


def _grouped_spec(found: Findings, node: "Node") -> None:
    _spec(found, node, node)


def _spec(found: Findings, node: "Node", outer: "Node") -> None:
    if node.type in ("type_spec", "type_alias"):
        _type_spec(found, node, outer)
        return
    names = node.children_by_field_name("name")
    value, annotation = _value(node), _type(node)
    scope: BindingScope = found.scope
    values = value.named_children if value is not None else []
    if len(names) == len(values) == 1 and values[0].type == "func_literal":
        _function_value(found, outer, names[0], values[0])
        return
    found.stack.extend(values[::-1])
    if annotation is not None:
        found.stack.append(annotation)
    if scope.is_function:
        scope.bound.update(found.text_of(name) for name in names)
        return
    above, doc = found.take_above(outer.start_byte)
    for name in names:
        called = found.text_of(name)
        if name.type != "identifier" or called == "_":
            continue
        found.add(
            called,
            SymbolKind.CONSTANT if node.type == "const_spec" else SymbolKind.VARIABLE,
            outer,
            name.start_byte,
            start=above,
            signature=found.signature(outer.start_byte, outer.end_byte),
            doc=doc,
            exported=_is_exported(called),
        )


_KINDS_OF_TYPES = {"struct_type": SymbolKind.STRUCT, "interface_type": SymbolKind.INTERFACE}


def _type_spec(found: Findings, node: "Node", outer: "Node") -> None:
    name, value, parameters = _name(node), _type(node), _type_parameters(node)
    if name is None:
        return
    called = found.text_of(name)
    above, doc = found.take_above(outer.start_byte)
    kind = _KINDS_OF_TYPES.get(value.type, SymbolKind.TYPE) if value is not None else SymbolKind.TYPE
    ends = _opening_of(value) if value is not None and kind is not SymbolKind.TYPE else outer.end_byte
    embedded = _embedded(value) if value is not None else []
    symbol = found.add(
        called,
        kind,
        outer,
        name.start_byte,
        start=above,
        signature=found.signature(outer.start_byte, ends),
        doc=doc,
        exported=_is_exported(called) and not found.scope.is_function,
        bases=tuple(found.signature(each.start_byte, each.end_byte) for each in embedded),
    )
    for each in embedded:
        path, start, _ = found.read_path(each, _SHAPES)
        found.uses.append((UseKind.INHERIT, path, start, symbol))
    inside = BindingScope(found.scope, symbol, is_class=True)
    others = _take_parameters(found, parameters, inside)
    if value is not None:
        others.append(value)
    found.enter(symbol, others, inside)


def _opening_of(value: "Node") -> int:
    """Return where the body of a struct or an interface begins."""
    if value.type == "struct_type" and value.named_child_count:
        return value.named_children[0].start_byte
    return next((child.start_byte for child in value.children if child.type == "{"), value.end_byte)


def _embedded(value: "Node") -> "list[Node]":
    """Return the types that a struct or an interface embeds."""
    if value.type == "struct_type":
        lists = value.named_children[:1]
        fields = [field for each in lists for field in each.named_children if field.type == "field_declaration"]
        return [kind for field in fields if _name(field) is None and (kind := _type(field)) is not None]
    if value.type == "interface_type":
        elements = [child for child in value.named_children if child.type == "type_elem"]
        return [
            each.named_children[0]
            for each in elements
            if each.named_child_count == 1 and each.named_children[0].kind_id in _SHAPES
        ]
    return []


def _field_declaration(found: Findings, node: "Node") -> None:
    names = node.children_by_field_name("name")
    annotation = _type(node)
    above, doc = found.take_above(node.start_byte)
    if annotation is None:
        return
    if names:
        found.stack.append(annotation)
        called = [(found.text_of(name), name.start_byte) for name in names]
    else:
        path, start, _ = found.read_path(annotation, _SHAPES)
        called = [(path.rpartition(".")[2], start)]
    for name, start in called:
        found.add(
            name,
            SymbolKind.FIELD,
            node,
            start,
            start=above,
            signature=found.signature(node.start_byte, node.end_byte),
            doc=doc,
            exported=_is_exported(name),
        )


def _method_of_interface(found: Findings, node: "Node") -> None:
    name = _name(node)
    called = found.text_of(name) if name is not None else ""
    above, doc = found.take_above(node.start_byte)
    symbol = found.add(
        called,
        SymbolKind.SIGNATURE,
        node,
        node.start_byte if name is None else name.start_byte,
        start=above,
        signature=found.signature(node.start_byte, node.end_byte),
        doc=doc,
        exported=_is_exported(called),
    )
    scope = BindingScope(found.scope, symbol, is_function=True)
    inside = _take_parameters(found, _parameters(node), scope)
    result = _result(node)
    if result is not None:
        inside.extend(_take_parameters(found, result, scope) if result.type == "parameter_list" else [result])
    found.enter(symbol, inside, scope)


def _type_element(found: Findings, node: "Node") -> None:
    """Visit a type element, except a single embedded type, which was recorded as inherited."""
    if not (found.scope.is_class and node.named_child_count == 1 and node.named_children[0].kind_id in _SHAPES):
        found.stack.extend(node.named_children[::-1])


def _package(found: Findings, node: "Node") -> None:
    found.doc = found.take_above(node.start_byte)[1]


def _import(found: Findings, node: "Node") -> None:
    module, name = _import_path(node), _name(node)
    if module is None:
        return
    alias = found.text_of(name) if name is not None else ""
    found.imports.append(
        Import(
            found.text_of(module)[1:-1],
            name="*" if alias == "." else "",
            alias="" if alias == "." else alias,
            line=found.line_at(node.start_byte),
        )
    )


def _comment(found: Findings, node: "Node") -> None:
    found.note_above(node)


@cache
def _kinds() -> "Mapping[int, Any]":
    return visitor_table(
        Language.GO,
        {
            "call_expression": _call,
            "composite_literal": _composite_literal,
            "keyed_element": _keyed_element,
            "identifier": read_identifier,
            "selector_expression": _selector,
            "type_identifier": _type_name,
            "qualified_type": _type_name,
            "short_var_declaration": _short_variable,
            "range_clause": _range,
            "receive_statement": _range,
            "type_switch_statement": _type_switch,
            "assignment_statement": _assignment,
            "inc_statement": _assignment,
            "dec_statement": _assignment,
            "function_declaration": _function,
            "method_declaration": _function,
            "func_literal": _function_type,
            "function_type": _function_type,
            "const_declaration": _specs,
            "var_declaration": _specs,
            "type_declaration": _specs,
            "const_spec": _grouped_spec,
            "var_spec": _grouped_spec,
            "type_spec": _grouped_spec,
            "type_alias": _grouped_spec,
            "field_declaration": _field_declaration,
            "method_elem": _method_of_interface,
            "type_elem": _type_element,
            "package_clause": _package,
            "import_spec": _import,
            "comment": _comment,
        },
        ignored=(
            "interpreted_string_literal", "raw_string_literal", "rune_literal", "int_literal", "float_literal",
            "imaginary_literal", "nil", "true", "false", "iota", "field_identifier", "label_name", "blank_identifier",
            "package_identifier", "break_statement", "continue_statement", "goto_statement",
        ),
    )  # fmt: skip
