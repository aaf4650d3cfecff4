"""Reads the definitions, imports and uses of Rust files."""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.nodes import (
    Findings,
    PathShape,
    field_finder,
    shape_table,
    strip_comment_marks,
    visitor_table,
)
from scrubjay.code_index.parsing.scopes import BindingScope, keep_global_reads, read_identifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tree_sitter import Node, Tree

_PATH = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(?:(?:\.|::)[A-Za-z_][A-Za-z_0-9]*)*")
_MAX_PATH_BYTES = 200
_SHAPES = shape_table(
    Language.RUST,
    {
        "identifier": PathShape.NAME,
        "type_identifier": PathShape.NAME,
        "primitive_type": PathShape.NAME,
        "self": PathShape.NAME,
        "super": PathShape.NAME,
        "crate": PathShape.NAME,
        "metavariable": PathShape.NAME,
        "shorthand_field_identifier": PathShape.NAME,
        "field_expression": PathShape.MEMBER,
        "scoped_identifier": PathShape.MEMBER,
        "scoped_type_identifier": PathShape.MEMBER,
        "call_expression": PathShape.CALL,
        "macro_invocation": PathShape.CALL,
        "struct_expression": PathShape.CALL,
        "index_expression": PathShape.ENTRY,
        "parenthesized_expression": PathShape.INNER,
        "await_expression": PathShape.INNER,
        "try_expression": PathShape.INNER,
        "reference_expression": PathShape.INNER,
        "generic_function": PathShape.INNER,
        "generic_type": PathShape.INNER,
        "generic_type_with_turbofish": PathShape.INNER,
        "bracketed_type": PathShape.INNER,
        "qualified_type": PathShape.INNER,
        "reference_type": PathShape.INNER,
    },
)

_name = field_finder(Language.RUST, "name")
_body = field_finder(Language.RUST, "body")
_type = field_finder(Language.RUST, "type")
_trait = field_finder(Language.RUST, "trait")
_bounds = field_finder(Language.RUST, "bounds")
_value = field_finder(Language.RUST, "value")
_left = field_finder(Language.RUST, "left")
_right = field_finder(Language.RUST, "right")
_pattern = field_finder(Language.RUST, "pattern")
_parameters = field_finder(Language.RUST, "parameters")
_type_parameters = field_finder(Language.RUST, "type_parameters")
_alias = field_finder(Language.RUST, "alias")
_argument = field_finder(Language.RUST, "argument")
_use_path = field_finder(Language.RUST, "path")
_list = field_finder(Language.RUST, "list")
_macro = field_finder(Language.RUST, "macro")
_condition = field_finder(Language.RUST, "condition")


def read(tree: "Tree", found: Findings) -> None:
    """Read a Rust file."""
    scope = BindingScope(None)
    found.scope = scope
    found.doc = _file_doc(found, tree.root_node)
    found.walk(tree.root_node, _kinds())
    keep_global_reads(found, scope)


def _file_doc(found: Findings, root: "Node") -> str:
    lines: list[str] = []
    for child in root.named_children:
        text = found.text_of(child) if child.type in ("line_comment", "block_comment") else ""
        if text.startswith(("//!", "/*!")):
            lines.append(text.rstrip("\n"))
        elif lines or child.type not in ("line_comment", "block_comment", "inner_attribute_item"):
            break
    return strip_comment_marks("\n".join(lines))


def _path(found: Findings, node: "Node") -> tuple[str, int]:
    """Return the path of a name and the first byte of its last part; push what else is in it to be visited next."""
    start, end = node.start_byte, node.end_byte
    if end - start <= _MAX_PATH_BYTES:
        path = found.latin[start:end]
        if _PATH.fullmatch(path):
            path = path.replace("::", ".")
            return path, end - len(path) + path.rfind(".") + 1
    path, start, inner = found.read_path(node, _SHAPES)
    if inner is not None:
        found.stack.append(inner)
    return path, start


# Uses


def _call(found: Findings, node: "Node") -> None:
    children = node.children
    arguments = children[-1].named_children
    found.stack.extend(arguments[::-1])
    function = children[0]
    if function.type == "generic_function":
        found.stack.extend(function.named_children[:0:-1])
        function = function.children[0]
    path, start = _path(found, function)
    if not path:
        return
    found.uses.append((UseKind.CALL, path, start, found.container))
    if path == "Err" and arguments:
        _raised(found, arguments[0])


def _raised(found: Findings, node: "Node") -> None:
    if node.type in ("call_expression", "struct_expression"):
        node = node.named_children[0]
    path, start, _ = found.read_path(node, _SHAPES)
    if path:
        found.scope.reads.append((UseKind.RAISE, path.removesuffix(".into"), start, found.container))


def _macro_invocation(found: Findings, node: "Node") -> None:
    macro = _macro(node)
    found.visit(child for child in node.named_children if child != macro)
    if macro is not None:
        path, start = _path(found, macro)
        found.uses.append((UseKind.CALL, path, start, found.container))


def _token_tree(found: Findings, node: "Node") -> None:
    """Read the arguments of a macro, which are not parsed: names, and calls where brackets follow a name."""
    children = node.children
    found.stack.extend(child for child in reversed(children) if child.type == "token_tree")
    place = 0
    value = ""
    """The path of the expression before a dot."""
    while place < len(children):
        child = children[place]
        if child.type == "token_tree":
            mark = _BRACKET_SUFFIXES.get(found.latin[child.start_byte], "")
            value = value + mark if value and mark else ""
        elif child.type not in _TOKENS:
            value = value if child.type in (".", "?") else ""
        else:
            before = children[place - 1].type if place else ""
            parts = [found.text_of(child)]
            while (
                place + 2 < len(children)
                and children[place + 1].type in (".", "::")
                and children[place + 2].type in _TOKENS
                and len(parts) < _MAX_PATH_BYTES
            ):
                place += 2
                child = children[place]
                parts.append(found.text_of(child))
            path = (f"{value}." if before == "." else "") + ".".join(parts)
            value = ""
            if before not in ("#", "$", "'"):
                following = children[place + 1] if place + 1 < len(children) else None
                is_macro = following is not None and following.type == "!"
                if is_macro:
                    following = children[place + 2] if place + 2 < len(children) else None
                called = following is not None and following.type == "token_tree"
                if called and following is not None and (is_macro or found.latin[following.start_byte] == "("):
                    found.uses.append((UseKind.CALL, path, child.start_byte, found.container))
                else:
                    found.scope.reads.append((UseKind.READ, path, child.start_byte, found.container))
                value = path if not is_macro and path.count(".") < _MAX_PATH_BYTES else ""
        place += 1


_BRACKET_SUFFIXES = {"(": "()", "[": "[]"}
_TOKENS = frozenset({"identifier", "self", "super", "crate"})


def _struct_expression(found: Findings, node: "Node") -> None:
    name, body = _name(node), _body(node)
    if body is not None:
        found.stack.append(body)
    if name is not None:
        path, start = _path(found, name)
        found.uses.append((UseKind.NEW, path, start, found.container))


def _member(found: Findings, node: "Node") -> None:
    path, start = _path(found, node)
    found.scope.reads.append((UseKind.READ, path, start, found.container))


def _type_name(found: Findings, node: "Node") -> None:
    path, start = _path(found, node)
    found.scope.reads.append((UseKind.TYPE, path, start, found.container))


def _assignment(found: Findings, node: "Node") -> None:
    left, right = _left(node), _right(node)
    if right is not None:
        found.stack.append(right)
    if left is None:
        return
    if left.type in ("identifier", "scoped_identifier"):
        path, start = _path(found, left)
        found.scope.reads.append((UseKind.WRITE, path, start, found.container))
    elif left.type == "field_expression":
        path, start = _path(found, left)
        found.uses.append((UseKind.WRITE, path, start, found.container))
    else:
        found.stack.append(left)


# Bindings


def _bind(found: Findings, pattern: "Node", scope: BindingScope) -> "list[Node]":
    """Bind the names of a pattern, record the other names in it as uses, and return the nodes to visit."""
    others: list[Node] = []
    stack: list[tuple[Node, bool]] = [(pattern, False)]
    while stack:
        node, is_error = stack.pop()
        match node.type:
            case "identifier" | "shorthand_field_identifier":
                name = found.text_of(node)
                if name[:1].isupper():
                    _pattern_use(found, node, is_error=is_error)
                else:
                    scope.bound.add(name)
            case "tuple_struct_pattern" | "struct_pattern":
                kind = _type(node)
                named = kind is not None and found.text_of(kind) == "Err"
                if kind is not None and not named:
                    _pattern_use(found, kind, is_error=is_error)
                stack.extend((child, named) for child in reversed(node.named_children) if child != kind)
            case "field_pattern":
                name, inner = _name(node), _pattern(node)
                bound = inner if inner is not None else name
                stack.extend([] if bound is None else [(bound, is_error)])
            case "scoped_identifier" | "scoped_type_identifier":
                _pattern_use(found, node, is_error=is_error)
            case "parameter":
                inner, kind = _pattern(node), _type(node)
                others.extend([] if kind is None else [kind])
                stack.extend([] if inner is None else [(inner, False)])
            case "match_pattern":
                condition = _condition(node)
                others.extend([] if condition is None else [condition])
                stack.extend((child, is_error) for child in reversed(node.named_children) if child != condition)
            case "attribute_item" | "line_comment" | "block_comment" | "lifetime" | "self_parameter":
                pass
            case "macro_invocation" | "const_block":
                others.append(node)
            case _:
                stack.extend((child, is_error) for child in reversed(node.named_children))
    return others


def _pattern_use(found: Findings, node: "Node", *, is_error: bool) -> None:
    path, start, _ = found.read_path(node, _SHAPES)
    kind = UseKind.CATCH if is_error else UseKind.READ
    found.scope.reads.append((kind, path, start, found.container))


def _let(found: Findings, node: "Node") -> None:
    """Read `let`, `if let`, `for` and an arm of `match`."""
    pattern = _pattern(node)
    value = _value(node)
    if (
        node.type == "let_declaration"
        and pattern is not None
        and value is not None
        and pattern.type == "identifier"
        and value.type == "closure_expression"
    ):
        _closure_with_name(found, node, pattern, value)
        return
    found.visit(child for child in node.named_children if child != pattern)
    if pattern is not None:
        found.visit(_bind(found, pattern, found.scope))


def _closure(found: Findings, node: "Node") -> None:
    _inside_function(found, node, found.container)


def _closure_with_name(found: Findings, node: "Node", name: "Node", value: "Node") -> None:
    body = _body(value)
    above, doc = found.take_above(node.start_byte)
    symbol = found.add(
        found.text_of(name),
        SymbolKind.FUNCTION,
        node,
        name.start_byte,
        start=above,
        signature=found.signature(node.start_byte, node.end_byte if body is None else body.start_byte),
        doc=doc,
        exported=False,
    )
    _inside_function(found, value, symbol)


# Definitions


def _attribute(found: Findings, node: "Node") -> None:
    found.note_above(node, is_comment=False)
    found.scope.pending.append(node)


def _attributes_from(found: Findings, start: int) -> "Sequence[Node]":
    """Return the attributes of the definition that starts, including everything above it, at `start`."""
    waiting, found.scope.pending = found.scope.pending, []
    return [node for node in waiting if node.start_byte >= start]


def _decorate(found: Findings, attributes: "Iterable[Node]", symbol: int) -> None:
    for attribute in attributes:
        text = found.text_of(attribute)
        inner = attribute.named_children[0] if attribute.named_child_count else None
        if inner is None or not inner.named_child_count:
            continue
        name = inner.named_children[0]
        if found.text_of(name) == "derive":
            at = attribute.start_byte
            for match in _PATH.finditer(text, text.find("(") + 1):
                path = match.group().replace("::", ".")
                start = at + len(text[: match.end()].encode()) - len(path) + path.rfind(".") + 1
                found.uses.append((UseKind.DECORATE, path, start, symbol))
        else:
            path, start, _ = found.read_path(name, _SHAPES)
            found.uses.append((UseKind.DECORATE, path, start, symbol))


def _define(
    found: Findings,
    node: "Node",
    kind: SymbolKind,
    *,
    called: str | None = None,
    name: "Node | None" = None,
    bases: tuple[str, ...] = (),
    exported: bool | None = None,
) -> int:
    """Add a definition with the attributes above it."""
    name = name if name is not None else _name(node)
    body = _body(node)
    above, doc = found.take_above(node.start_byte)
    attributes = _attributes_from(found, above)
    if exported is None:
        exported = any(child.type == "visibility_modifier" for child in node.children[:3])
    symbol = found.add(
        called if called is not None else (found.text_of(name) if name is not None else ""),
        kind,
        node,
        node.start_byte if name is None else name.start_byte,
        start=above,
        signature=found.signature(node.start_byte, node.end_byte if body is None else body.start_byte),
        doc=doc,
        exported=exported,
        bases=bases,
        decorators=tuple(found.signature(each.start_byte + 2, each.end_byte - 1) for each in attributes),
    )
    _decorate(found, attributes, symbol)
    return symbol


def _take_type_parameters(found: Findings, node: "Node", scope: BindingScope) -> "list[Node]":
    """Bind the parameters of a type or function, and return the nodes that bound them."""
    others: list[Node] = [child for child in node.named_children if child.type == "where_clause"]
    parameters = _type_parameters(node)
    for parameter in parameters.named_children if parameters is not None else ():
        name = _name(parameter) if parameter.type != "lifetime_parameter" else None
        if name is not None:
            scope.bound.add(found.text_of(name))
            others.extend(child for child in parameter.named_children if child != name)
    return others


def _function(found: Findings, node: "Node") -> None:
    scope: BindingScope = found.scope
    if node.type == "function_signature_item":
        kind = SymbolKind.SIGNATURE
    else:
        kind = SymbolKind.METHOD if scope.is_class else SymbolKind.FUNCTION
    symbol = _define(found, node, kind, exported=True if scope.receiver == "trait" else None)
    _inside_function(found, node, symbol)


def _inside_function(found: Findings, node: "Node", symbol: int) -> None:
    scope = BindingScope(found.scope, symbol, is_function=True)
    inside = _take_type_parameters(found, node, scope) if node.type != "closure_expression" else []
    parameters, body = _parameters(node), _body(node)
    for parameter in parameters.named_children if parameters is not None else ():
        inside.extend(_bind(found, parameter, scope))
    returned = node.child_by_field_name("return_type")
    if returned is not None:
        inside.append(returned)
    if body is not None:
        inside.append(body)
    found.enter(symbol, inside, scope)


_KINDS_OF_TYPES = {
    "struct_item": SymbolKind.STRUCT,
    "union_item": SymbolKind.STRUCT,
    "enum_item": SymbolKind.ENUM,
    "trait_item": SymbolKind.TRAIT,
    "type_item": SymbolKind.TYPE,
    "associated_type": SymbolKind.TYPE,
}


def _type_definition(found: Findings, node: "Node") -> None:
    kind = _KINDS_OF_TYPES[node.type]
    body, bounds, value = _body(node), _bounds(node), _type(node) if node.type == "type_item" else None
    inherited = [
        child for child in (bounds.named_children if bounds is not None else ()) if child.type not in _NOT_INHERITED
    ]
    symbol = _define(
        found,
        node,
        kind,
        bases=tuple(found.signature(each.start_byte, each.end_byte) for each in inherited),
        exported=True if found.scope.receiver == "trait" else None,
    )
    inside = BindingScope(found.scope, symbol, is_class=True)
    inside.receiver = "trait" if kind is SymbolKind.TRAIT else ""
    others = _take_type_parameters(found, node, inside)
    for each in inherited:
        _inherit(found, each, symbol, others)
    others.extend(part for part in (value, body) if part is not None)
    found.enter(symbol, others, inside)


_NOT_INHERITED = frozenset(
    {"lifetime", "line_comment", "block_comment", "higher_ranked_trait_bound", "removed_trait_bound"}
)


def _inherit(found: Findings, node: "Node", symbol: int, others: "list[Node]") -> None:
    path, start, _ = found.read_path(node, _SHAPES)
    if path:
        found.uses.append((UseKind.INHERIT, path, start, symbol))
    others.extend(child for child in node.named_children if child.type == "type_arguments")


def _impl(found: Findings, node: "Node") -> None:
    kind, trait, body = _type(node), _trait(node), _body(node)
    called = found.read_path(kind, _SHAPES)[0].rpartition(".")[2] if kind is not None else ""
    symbol = _define(
        found,
        node,
        SymbolKind.IMPL,
        called=called or (found.signature(kind.start_byte, kind.end_byte) if kind is not None else ""),
        name=kind,
        bases=(found.signature(trait.start_byte, trait.end_byte),) if trait is not None else (),
        exported=True,
    )
    inside = BindingScope(found.scope, symbol, is_class=True)
    inside.receiver = "trait" if trait is not None else ""
    others = _take_type_parameters(found, node, inside)
    if kind is not None:
        others.append(kind)
    if trait is not None:
        _inherit(found, trait, symbol, others)
    if body is not None:
        others.extend(body.named_children)
    found.enter(symbol, others, inside)


def _field_declaration(found: Findings, node: "Node") -> None:
    _define(found, node, SymbolKind.FIELD)
    kind = _type(node)
    if kind is not None:
        found.stack.append(kind)


def _variant(found: Findings, node: "Node") -> None:
    symbol = _define(found, node, SymbolKind.MEMBER, exported=True)
    found.enter(symbol, [part for part in (_body(node), _value(node)) if part is not None])


def _constant(found: Findings, node: "Node") -> None:
    kind = SymbolKind.CONSTANT if node.type == "const_item" else SymbolKind.VARIABLE
    name = _name(node)
    if name is not None and found.text_of(name) != "_":
        _define(found, node, kind, exported=True if found.scope.receiver == "trait" else None)
    found.visit(part for part in (_type(node), _value(node)) if part is not None)


def _macro_definition(found: Findings, node: "Node") -> None:
    symbol = _define(found, node, SymbolKind.MACRO, exported=True)
    rights = [
        right for rule in node.named_children if rule.type == "macro_rule" and (right := _right(rule)) is not None
    ]
    found.enter(symbol, rights)


def _module(found: Findings, node: "Node") -> None:
    name, body = _name(node), _body(node)
    symbol = _define(found, node, SymbolKind.MODULE)
    if body is not None:
        found.enter(symbol, body.named_children, BindingScope(found.scope, symbol))
    elif name is not None:
        line = found.line_at(name.start_byte)
        module = f"self::{found.text_of(name)}"
        found.imports.append(Import(module, line=line, container=found.container, exported=found.symbols[-1].exported))


# Imports


def _use(found: Findings, node: "Node") -> None:
    tree = _argument(node)
    if tree is None:
        return
    exported = any(child.type == "visibility_modifier" for child in node.children[:2])
    stack: list[tuple[str, Node]] = [("", tree)]
    while stack:
        prefix, each = stack.pop()
        line = found.line_at(each.start_byte)
        match each.type:
            case "scoped_use_list":
                path, inner = _use_path(each), _list(each)
                inside = _join_path(prefix, found, path)
                if inner is not None:
                    stack.append((inside, inner))
            case "use_list":
                stack.extend((prefix, child) for child in reversed(each.named_children))
            case "use_wildcard":
                path = each.named_children[0] if each.named_child_count else None
                module = _join_path(prefix, found, path)
                found.imports.append(Import(module, "*", "", line, found.container, exported))
            case "use_as_clause":
                path, alias = _use_path(each), _alias(each)
                known = found.text_of(alias) if alias is not None else ""
                module, name = _split_path(_join_path(prefix, found, path))
                found.imports.append(Import(module, name, known, line, found.container, exported))
            case "identifier" | "scoped_identifier" | "self" | "crate" | "super" | "metavariable":
                module, name = _split_path(_join_path(prefix, found, each))
                found.imports.append(Import(module, name, "", line, found.container, exported))
            case _:
                pass


def _join_path(prefix: str, found: Findings, node: "Node | None") -> str:
    text = "".join(found.text_of(node).split())[:_MAX_PATH_BYTES] if node is not None else ""
    return f"{prefix}::{text}" if prefix and text else prefix or text


def _split_path(path: str) -> tuple[str, str]:
    """Return module and name: `a::b::self` is the module `a::b` itself, and a single part is a module too."""
    module, _, name = path.rpartition("::")
    if not module:
        return name, ""
    return (module, "") if name == "self" else (module, name)


def _extern_crate(found: Findings, node: "Node") -> None:
    name, alias = _name(node), _alias(node)
    if name is not None:
        known = found.text_of(alias) if alias is not None else ""
        line = found.line_at(node.start_byte)
        found.imports.append(Import(found.text_of(name), "", known, line, found.container))


def _comment(found: Findings, node: "Node") -> None:
    if not found.latin.startswith(("//!", "/*!"), node.start_byte):
        found.note_above(node)


@cache
def _kinds() -> "Mapping[int, Any]":
    return visitor_table(
        Language.RUST,
        {
            "call_expression": _call,
            "macro_invocation": _macro_invocation,
            "token_tree": _token_tree,
            "struct_expression": _struct_expression,
            "identifier": read_identifier,
            "field_expression": _member,
            "scoped_identifier": _member,
            "type_identifier": _type_name,
            "scoped_type_identifier": _type_name,
            "assignment_expression": _assignment,
            "compound_assignment_expr": _assignment,
            "let_declaration": _let,
            "let_condition": _let,
            "for_expression": _let,
            "match_arm": _let,
            "closure_expression": _closure,
            "attribute_item": _attribute,
            "function_item": _function,
            "function_signature_item": _function,
            **dict.fromkeys(_KINDS_OF_TYPES, _type_definition),
            "impl_item": _impl,
            "field_declaration": _field_declaration,
            "enum_variant": _variant,
            "const_item": _constant,
            "static_item": _constant,
            "macro_definition": _macro_definition,
            "mod_item": _module,
            "use_declaration": _use,
            "extern_crate_declaration": _extern_crate,
            "line_comment": _comment,
            "block_comment": _comment,
        },
        ignored=(
            "lifetime", "label", "visibility_modifier", "inner_attribute_item", "field_identifier", "primitive_type",
            "string_literal", "raw_string_literal", "char_literal", "integer_literal", "float_literal",
            "boolean_literal", "self", "super", "crate", "metavariable", "mutable_specifier", "empty_statement",
            "shebang", "function_modifiers", "lifetime_parameter",
        ),
    )  # fmt: skip
