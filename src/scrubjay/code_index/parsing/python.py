"""Python by its grammar: definitions, imports and uses, also of files that no Python of today can parse."""

from functools import cache
from typing import TYPE_CHECKING, Any

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.nodes import (
    Findings,
    Shape,
    field_finder,
    kind_ids,
    kinds,
    shapes,
)
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tree_sitter import Node, Tree

_name = field_finder(Language.PYTHON, "name")
_body = field_finder(Language.PYTHON, "body")
_parameters = field_finder(Language.PYTHON, "parameters")
_return_type = field_finder(Language.PYTHON, "return_type")
_superclasses = field_finder(Language.PYTHON, "superclasses")
_definition = field_finder(Language.PYTHON, "definition")
_left = field_finder(Language.PYTHON, "left")
_right = field_finder(Language.PYTHON, "right")
_type = field_finder(Language.PYTHON, "type")
_value = field_finder(Language.PYTHON, "value")
_alias = field_finder(Language.PYTHON, "alias")
_module_name = field_finder(Language.PYTHON, "module_name")


def _ids(*names: str) -> frozenset[int]:
    return kind_ids(Language.PYTHON, *names)


_IDENTIFIER = _ids("identifier")
_ATTRIBUTE = _ids("attribute")
_CALL = _ids("call")
_STRING = _ids("string")
_COMMENT = _ids("comment")
_LAMBDA = _ids("lambda")
_CLASS = _ids("class_definition")
_DECORATOR = _ids("decorator")
_STATEMENT = _ids("expression_statement")
_SEVERAL = _ids("tuple", "parenthesized_expression", "list", "expression_list", "binary_operator")
_PATTERNS = _SEVERAL | _ids(
    "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "as_pattern_target", "list_splat",
    "dictionary_splat_pattern",
)  # fmt: skip
_DOTTED = _ids("dotted_name")
_ALIASED = _ids("aliased_import")
_STAR = _ids("wildcard_import")
_AS_PATTERN = _ids("as_pattern")
_KEYWORD_ARGUMENT = _ids("keyword_argument")
_CLASS_PATTERN = _ids("class_pattern")
_KEYWORD_PATTERN = _ids("keyword_pattern")
_TYPE = _ids("type")
_SHAPES = shapes(
    Language.PYTHON,
    {
        "identifier": Shape.NAME,
        "attribute": Shape.MEMBER,
        "call": Shape.CALL,
        "subscript": Shape.ENTRY,
        "parenthesized_expression": Shape.INNER,
        "await": Shape.INNER,
    },
)


def read(tree: "Tree", found: Findings) -> None:
    """Read a Python file."""
    root = tree.root_node
    found.doc = _docstring(found, root)
    scope = Scope(None)
    found.scope = scope
    found.walk(root, _kinds())
    settle(found, scope)
    tell_exported(found)


def _docstring(found: Findings, block: "Node") -> str:
    for child in block.named_children[:8]:
        if child.kind_id in _COMMENT:
            continue
        if child.kind_id in _STATEMENT and child.children[0].kind_id in _STRING:
            return said_in(found.text_of(child.children[0]))
        break
    return ""


def _path(found: Findings, node: "Node") -> tuple[str, int]:
    """The path of a name, where its last part begins; what else is in it is visited next."""
    start, end = node.start_byte, node.end_byte
    if end - start <= LONGEST_PATH:
        path = found.latin[start:end]
        if PATH.fullmatch(path):
            return path, start + path.rfind(".") + 1
    path, start, inner = found.path_of(node, _SHAPES)
    if inner is not None:
        found.stack.append(inner)
    return path, start


# Uses.


def _call(found: Findings, node: "Node") -> None:
    children = node.children
    function = children[0]
    found.stack.extend(children[-1].named_children[::-1])
    path, start = _path(found, function)
    if path:
        found.uses.append((UseKind.CALL, path, start, found.container))
    if path in IMPORTERS:
        _dynamic_import(found, children[-1])
    elif path.startswith("__all__.") and found.container < 0:
        _export(found, children[-1].children)


def _dynamic_import(found: Findings, arguments: "Node") -> None:
    for argument in arguments.named_children[:1]:
        module = written_text(found.text_of(argument)) if argument.kind_id in _STRING else None
        if module is not None:
            line = found.line_at(argument.start_byte)
            found.imports.append(Import(module, line=line, container=found.container))


def _identifier(found: Findings, node: "Node") -> None:
    start = node.start_byte
    found.scope.reads.append((UseKind.READ, found.text(start, node.end_byte), start, found.container))


def _attribute(found: Findings, node: "Node") -> None:
    path, start = _path(found, node)
    found.scope.reads.append((UseKind.READ, path, start, found.container))


def _keyword_argument(found: Findings, node: "Node") -> None:
    found.stack.append(node.children[-1])


def _string(found: Findings, node: "Node") -> None:
    if found.latin[node.start_byte] not in "\"'":
        found.stack.extend(node.named_children[::-1])


def _statement(found: Findings, node: "Node") -> None:
    children = node.children
    if children[0].kind_id not in _STRING:
        found.stack.extend(children[::-1])
        return
    # A text right below a field says what the field is.
    if found.symbols and not found.scope.is_function:
        last = found.symbols[-1]
        if last.kind in DOCUMENTED_BELOW and found.is_next(last.span.end, node.start_byte):
            span = found.span(last.span.start, node.end_byte)
            found.symbols[-1] = last._replace(doc=said_in(found.text_of(children[0])), span=span)


def _types(found: Findings, node: "Node", container: int) -> None:
    """Add the names in an annotation, also in one that is written as a text."""
    stack = [node]
    while stack:
        each = stack.pop()
        kind = each.kind_id
        if kind in _IDENTIFIER or kind in _ATTRIBUTE:
            start, end = each.start_byte, each.end_byte
            path = found.text(start, end)
            if PATH.fullmatch(path) and end - start <= LONGEST_PATH:
                found.uses.append((UseKind.TYPE, path, start + path.rfind(".") + 1, container))
        elif kind in _STRING:
            start = each.start_byte
            for match in PATH.finditer(found.latin[start : min(each.end_byte, start + LONGEST_PATH)]):
                path = match.group()
                found.uses.append((UseKind.TYPE, path, start + match.start() + path.rfind(".") + 1, container))
        elif kind in _CALL:
            found.stack.append(each)
        else:
            stack.extend(each.named_children[::-1])


def _type_node(found: Findings, node: "Node") -> None:
    _types(found, node, found.container)


def _raise(found: Findings, node: "Node") -> None:
    children = [child for child in node.named_children if child.kind_id not in _COMMENT]
    found.visit(children)
    if not children:
        return
    raised = children[0]
    if raised.kind_id in _CALL:
        raised = raised.children[0]
    elif raised.kind_id in _SHAPES:
        found.stack.pop()
    else:
        return
    path, start = _path(found, raised)
    if raised is not children[0] and found.stack[-1] is not children[0]:
        # The call is visited anyway, and with it what the path has in it.
        found.stack.pop()
    if path:
        found.scope.reads.append((UseKind.RAISE, path, start, found.container))


def _except(found: Findings, node: "Node") -> None:
    caught = _value(node)
    children = [child for child in node.named_children if child != caught]
    found.visit(children)
    if caught is None:
        return
    if caught.kind_id in _AS_PATTERN:
        target = _alias(caught)
        if target is not None:
            _bind(found, target)
        caught = caught.named_children[0]
    classes = caught.named_children if caught.kind_id in _SEVERAL else [caught]
    for each in classes:
        if each.kind_id in _IDENTIFIER or each.kind_id in _ATTRIBUTE:
            path, start = _path(found, each)
            if path:
                found.uses.append((UseKind.CATCH, path, start, found.container))
        elif each.kind_id not in _COMMENT:
            found.stack.append(each)


# What binds names.


def _bind(found: Findings, target: "Node", statement: "Node | None" = None) -> None:
    """Take the names in the target of an assignment; where they are fields or variables of a module, as symbols."""
    if target.kind_id in _IDENTIFIER:
        _bind_name(found, target, statement)
        return
    stack = [target]
    while stack:
        node = stack.pop()
        kind = node.kind_id
        if kind in _IDENTIFIER:
            _bind_name(found, node, statement)
        elif kind in _ATTRIBUTE:
            path, start = _path(found, node)
            found.uses.append((UseKind.WRITE, path, start, found.container))
            _bind_field(found, path, start, statement)
        elif kind in _PATTERNS:
            stack.extend(node.named_children[::-1])
        elif kind not in _COMMENT:
            found.stack.append(node)


def _bind_name(found: Findings, node: "Node", statement: "Node | None") -> None:
    scope: Scope = found.scope
    start = node.start_byte
    name = found.text(start, node.end_byte)
    if scope.is_function:
        if name in scope.elsewhere:
            found.uses.append((UseKind.WRITE, name, start, found.container))
        else:
            scope.bound.add(name)
    elif statement is not None and name not in scope.fields:
        scope.fields.add(name)
        above, doc = found.take_above(statement.start_byte)
        found.add(
            name,
            _kind_of_variable(found, name, scope, statement),
            statement,
            start,
            start=above,
            signature=found.head(statement.start_byte, statement.end_byte),
            doc=doc,
            exported=is_public(name),
        )


def _kind_of_variable(found: Findings, name: str, scope: Scope, statement: "Node") -> SymbolKind:
    if scope.is_class:
        return SymbolKind.MEMBER if scope.is_enum and not name.startswith("_") else SymbolKind.FIELD
    annotation = _type(statement) if statement.child_count > 3 else None
    if annotation is not None and found.text_of(annotation).endswith("TypeAlias"):
        return SymbolKind.TYPE
    return SymbolKind.CONSTANT if name.isupper() else SymbolKind.VARIABLE


def _bind_field(found: Findings, path: str, start: int, statement: "Node | None") -> None:
    """Take what a method sets on its object as a field of the class, the first time."""
    scope: Scope = found.scope
    owner = scope.parent
    of, _, name = path.partition(".")
    if statement is None or owner is None or not owner.is_class or of != scope.receiver or "." in name or not name:
        return
    if name in owner.fields:
        return
    owner.fields.add(name)
    above, doc = found.take_above(statement.start_byte)
    found.add(
        name,
        SymbolKind.FIELD,
        statement,
        start,
        start=above,
        signature=found.head(statement.start_byte, statement.end_byte),
        doc=doc,
        exported=is_public(name),
        container=owner.symbol,
    )


def _assignment(found: Findings, node: "Node") -> None:
    left, right, annotation = _left(node), _right(node), _type(node)
    if left is None:
        return
    if right is not None:
        if right.kind_id in _LAMBDA and left.kind_id in _IDENTIFIER:
            _lambda_with_name(found, node, left, right)
            return
        found.stack.append(right)
    _bind(found, left, node)
    if annotation is not None:
        _types(found, annotation, found.container)
    if right is not None and not found.scope.is_function and found.text_of(left) == "__all__":
        _export(found, [right])


def _export(found: Findings, values: "Iterable[Node]") -> None:
    stack = list(values)[::-1]
    while stack:
        node = stack.pop()
        if node.kind_id in _STRING:
            name = written_text(found.text_of(node))
            if name is not None:
                found.exports.append((name, name))
        elif node.kind_id in _SEVERAL:
            stack.extend(node.named_children[::-1])


def _named_expression(found: Findings, node: "Node") -> None:
    name, value = _name(node), _value(node)
    if name is not None:
        _bind(found, name)
    if value is not None:
        found.stack.append(value)


def _for(found: Findings, node: "Node") -> None:
    """A loop, or the `for` of a comprehension."""
    left = _left(node)
    found.visit(child for child in node.named_children if child != left)
    if left is not None:
        _bind(found, left)


def _as_pattern(found: Findings, node: "Node") -> None:
    target = _alias(node)
    found.stack.append(node.children[0])
    if target is not None:
        _bind(found, target)


def _elsewhere(found: Findings, node: "Node") -> None:
    found.scope.elsewhere.update(found.text_of(child) for child in node.named_children)


def _case_pattern(found: Findings, node: "Node") -> None:
    stack = [node]
    scope: Scope = found.scope
    while stack:
        each = stack.pop()
        kind = each.kind_id
        if kind in _DOTTED:
            if each.child_count == 1:
                _bind(found, each.children[0])
            else:
                path = found.text_of(each)
                scope.reads.append((UseKind.READ, path, each.start_byte + path.rfind(".") + 1, found.container))
        elif kind in _IDENTIFIER:
            _bind(found, each)
        elif kind in _CLASS_PATTERN:
            name = each.children[0]
            path = found.text_of(name)
            found.uses.append((UseKind.TYPE, path, name.start_byte + path.rfind(".") + 1, found.container))
            stack.extend(each.named_children[:0:-1])
        elif kind in _KEYWORD_PATTERN:
            stack.extend(each.named_children[:0:-1])
        else:
            stack.extend(each.named_children[::-1])


# Definitions.


def _decorated(found: Findings, node: "Node") -> None:
    definition = _definition(node)
    decorators = [child for child in node.children if child.kind_id in _DECORATOR]
    if definition is None:
        found.visit(decorators)
        return
    if definition.kind_id in _CLASS:
        symbol = _class(found, definition, node, decorators)
    else:
        symbol = _function(found, definition, node, decorators)
    for decorator in reversed(decorators):
        if not decorator.named_child_count:
            continue
        expression = decorator.named_children[0]
        called = expression.kind_id in _CALL
        found.stack.append(expression)
        waiting = len(found.stack)
        path, start = _path(found, expression.children[0] if called else expression)
        if called or not path:
            del found.stack[waiting:]
        else:
            inner = found.stack[waiting:]
            found.stack[waiting - 1 :] = inner
        if path:
            found.uses.append((UseKind.DECORATE, path, start, symbol))


def _written(found: Findings, decorators: "Iterable[Node]") -> tuple[str, ...]:
    return tuple(found.head(each.start_byte + 1, each.end_byte) for each in decorators)


def _function_definition(found: Findings, node: "Node") -> None:
    _function(found, node, node, ())


def _function(found: Findings, node: "Node", outer: "Node", decorators: "Iterable[Node]") -> int:
    name, body, parameters = _name(node), _body(node), _parameters(node)
    scope: Scope = found.scope
    above, comment = found.take_above(outer.start_byte)
    called = found.text_of(name) if name is not None else ""
    written = _written(found, decorators)
    kind = function_kind(called, written, in_class=scope.is_class)
    symbol = found.add(
        called,
        kind,
        outer,
        node.start_byte if name is None else name.start_byte,
        start=above,
        signature=found.head(node.start_byte, node.end_byte if body is None else body.start_byte),
        doc=(_docstring(found, body) if body is not None else "") or comment,
        exported=is_public(called) and not scope.is_function,
        decorators=written,
    )
    scope.fields.add(called)
    inside = Scope(scope, symbol, is_function=True)
    if body is not None:
        found.enter(symbol, body.named_children, inside)
    returned = _return_type(node)
    if returned is not None:
        _types(found, returned, symbol)
    if parameters is not None:
        _take_parameters(found, parameters, inside, symbol)
        if scope.is_class and "staticmethod" not in written:
            first = parameters.named_children[:1]
            inside.receiver = found.text_of(first[0]) if first and first[0].kind_id in _IDENTIFIER else ""
    return symbol


def _take_parameters(found: Findings, parameters: "Node", inside: Scope, symbol: int) -> None:
    """Bind parameters inside; their types are the function's, their defaults are read outside."""
    defaults: list[Node] = []
    for parameter in parameters.named_children:
        if parameter.kind_id in _IDENTIFIER:
            inside.bound.add(found.text_of(parameter))
            continue
        if parameter.kind_id in _COMMENT:
            continue
        name, annotation, value = _name(parameter), _type(parameter), _value(parameter)
        if annotation is not None:
            _types(found, annotation, symbol)
        if value is not None:
            defaults.append(value)
        if name is None and parameter.named_child_count:
            name = parameter.named_children[0]
        if name is not None:
            inside.bound.add(found.text_of(name).lstrip("*"))
    found.visit(defaults)


def _lambda(found: Findings, node: "Node") -> None:
    _lambda_inside(found, node, found.container, Scope(found.scope, found.container, is_function=True))


def _lambda_inside(found: Findings, node: "Node", symbol: int, inside: Scope) -> None:
    body, parameters = _body(node), _parameters(node)
    if body is not None:
        found.enter(symbol, [body], inside)
    if parameters is not None:
        _take_parameters(found, parameters, inside, symbol)


def _lambda_with_name(found: Findings, node: "Node", name: "Node", value: "Node") -> None:
    scope: Scope = found.scope
    called = found.text_of(name)
    above, doc = found.take_above(node.start_byte)
    symbol = found.add(
        called,
        SymbolKind.METHOD if scope.is_class else SymbolKind.FUNCTION,
        node,
        name.start_byte,
        start=above,
        signature=found.head(node.start_byte, node.end_byte),
        doc=doc,
        exported=is_public(called) and not scope.is_function,
    )
    scope.fields.add(called)
    annotation = _type(node)
    if annotation is not None:
        _types(found, annotation, symbol)
    _lambda_inside(found, value, symbol, Scope(scope, symbol, is_function=True))


def _class_definition(found: Findings, node: "Node") -> None:
    _class(found, node, node, ())


def _class(found: Findings, node: "Node", outer: "Node", decorators: "Iterable[Node]") -> int:
    name, body, above_it = _name(node), _body(node), _superclasses(node)
    scope: Scope = found.scope
    above, comment = found.take_above(outer.start_byte)
    called = found.text_of(name) if name is not None else ""
    bases = [
        child
        for child in (above_it.named_children if above_it is not None else ())
        if child.kind_id not in _COMMENT and child.kind_id not in _KEYWORD_ARGUMENT
    ]
    written = tuple(found.head(base.start_byte, base.end_byte) for base in bases)
    enumerates = is_enum(written)
    symbol = found.add(
        called,
        SymbolKind.ENUM if enumerates else SymbolKind.CLASS,
        outer,
        node.start_byte if name is None else name.start_byte,
        start=above,
        signature=found.head(node.start_byte, node.end_byte if body is None else body.start_byte),
        doc=(_docstring(found, body) if body is not None else "") or comment,
        exported=is_public(called) and not scope.is_function,
        bases=written,
        decorators=_written(found, decorators),
    )
    scope.fields.add(called)
    inside = Scope(scope, symbol, is_class=True)
    inside.is_enum = enumerates
    if body is not None:
        found.enter(symbol, body.named_children, inside)
    if above_it is not None:
        _inherit(found, above_it, symbol)
    return symbol


def _inherit(found: Findings, arguments: "Node", symbol: int) -> None:
    for base in arguments.named_children:
        if base.kind_id in _KEYWORD_ARGUMENT:
            found.stack.append(base)
            continue
        node = base
        if node.kind_id not in _SHAPES:
            if node.kind_id not in _COMMENT:
                found.stack.append(node)
            continue
        # `Generic[T]` inherits from Generic, and names T.
        if node.kind_id in _ENTRY:
            for inner in node.named_children[1:]:
                _types(found, inner, symbol)
            node = node.children[0]
        path, start = _path(found, node)
        if path:
            found.uses.append((UseKind.INHERIT, path, start, symbol))


_ENTRY = _ids("subscript")


def _type_alias(found: Findings, node: "Node") -> None:
    left, right = _left(node), _right(node)
    if left is None:
        return
    name = left
    while name.named_child_count and name.kind_id not in _IDENTIFIER:
        name = name.named_children[0]
    called = found.text_of(name)
    above, doc = found.take_above(node.start_byte)
    symbol = found.add(
        called,
        SymbolKind.TYPE,
        node,
        name.start_byte,
        start=above,
        signature=found.head(node.start_byte, node.end_byte),
        doc=doc,
        exported=is_public(called) and not found.scope.is_function,
    )
    if right is not None:
        _types(found, right, symbol)


def _comprehension(found: Findings, node: "Node") -> None:
    # What `for` binds must be known before what stands in front of it only at the end of the file.
    found.enter(found.container, node.named_children, Scope(found.scope, found.container, is_function=True))


def _comment(found: Findings, node: "Node") -> None:
    found.note_above(node)


# Imports.


def _import(found: Findings, node: "Node") -> None:
    line = found.line_at(node.start_byte)
    for child in node.named_children:
        if child.kind_id in _DOTTED:
            found.imports.append(Import(_dotted(found, child), line=line, container=found.container))
        elif child.kind_id in _ALIASED:
            module, alias = _aliased(found, child)
            found.imports.append(Import(module, alias=alias, line=line, container=found.container))


def _import_from(found: Findings, node: "Node") -> None:
    module = _module_name(node)
    where = _dotted(found, module) if module is not None else "__future__"
    line = found.line_at(node.start_byte)
    for child in node.named_children:
        if child == module:
            continue
        if child.kind_id in _DOTTED:
            name, alias = _dotted(found, child), ""
        elif child.kind_id in _ALIASED:
            name, alias = _aliased(found, child)
        elif child.kind_id in _STAR:
            name, alias = "*", ""
        else:
            continue
        passed_on = name == alias or name == "*"
        line = found.line_at(child.start_byte)
        found.imports.append(Import(where, name, alias, line, found.container, exported=passed_on))


def _dotted(found: Findings, node: "Node") -> str:
    return "".join(found.text_of(node).split())


def _aliased(found: Findings, node: "Node") -> tuple[str, str]:
    name, alias = _name(node), _alias(node)
    return (
        _dotted(found, name) if name is not None else "",
        found.text_of(alias) if alias is not None else "",
    )


@cache
def _kinds() -> "Mapping[int, Any]":
    comprehensions = ("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression")
    return kinds(
        Language.PYTHON,
        {
            "call": _call,
            "identifier": _identifier,
            "attribute": _attribute,
            "keyword_argument": _keyword_argument,
            "string": _string,
            "expression_statement": _statement,
            "type": _type_node,
            "raise_statement": _raise,
            "except_clause": _except,
            "assignment": _assignment,
            "augmented_assignment": _assignment,
            "named_expression": _named_expression,
            "for_statement": _for,
            "for_in_clause": _for,
            "as_pattern": _as_pattern,
            "global_statement": _elsewhere,
            "nonlocal_statement": _elsewhere,
            "case_pattern": _case_pattern,
            "decorated_definition": _decorated,
            "function_definition": _function_definition,
            "lambda": _lambda,
            "class_definition": _class_definition,
            "type_alias_statement": _type_alias,
            "comment": _comment,
            "import_statement": _import,
            "import_from_statement": _import_from,
            "future_import_statement": _import_from,
            **dict.fromkeys(comprehensions, _comprehension),
        },
        ignored=(
            "integer", "float", "true", "false", "none", "ellipsis", "string_start", "string_content", "string_end",
            "pass_statement", "break_statement", "continue_statement", "escape_sequence", "type_conversion",
        ),
    )  # fmt: skip
