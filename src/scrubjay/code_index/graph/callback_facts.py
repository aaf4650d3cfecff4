"""Records where a file of Go or Rust passes values: arguments, fields, variables, containers and results.

For each value its path of names and its first byte are stored. Any of them may be a function; the name alone does not
show it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scrubjay.code_index.graph.name_paths import parse_name_path, parse_type_name

if TYPE_CHECKING:
    from tree_sitter import Node

STORED_LISTS = ("arguments", "fields", "stored", "returned", "elements", "parameters")
"""The stored lists, by attribute of `CallbackFacts`. These names are stored on disk."""
MAX_TEXT_BYTES = 240
"""A longer expression is not recorded."""

# Indexes of a row of `arguments`, `fields`, `stored` or `elements`: what receives the value, the position of the
# argument or the field, the path of the value, and its first byte.
TARGET, SLOT, VALUE, BYTE = 0, 1, -2, -1

_VALUE_TYPES = frozenset(
    {
        "identifier", "selector_expression", "field_expression", "scoped_identifier", "call_expression",
        "reference_expression", "unary_expression", "index_expression", "generic_function",
    }
)  # fmt: skip
_WRAPPERS = frozenset({"Box::new", "Arc::new", "Rc::new", "Some", "Ok", "Box::pin"})
_CONTAINER_TYPES = frozenset({"literal_value", "array_expression", "tuple_expression"})


class CallbackFacts:
    """The values that one file passes and stores, in the order of the text."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.arguments: list[list[Any]] = []
        """Path of the callee, position of the argument, path of the value, first byte of the value."""
        self.fields: list[list[Any]] = []
        """Name of the type, name or position of the field, path of the value, first byte."""
        self.stored: list[list[Any]] = []
        """Path of the assignment target, path of the value, first byte."""
        self.returned: list[list[Any]] = []
        """Name of the function, first byte of that name, path of the value, first byte of the value."""
        self.elements: list[list[Any]] = []
        """Name of the variable that holds the container, path of the value, first byte."""
        self.parameters: list[list[Any]] = []
        """Name of the function, first byte of that name, names of the parameters, whether the last one is variadic."""

    def record(self, node: "Node") -> None:
        """Record what a node itself passes or stores. Its children are visited separately."""
        match node.type:
            case "call_expression":
                self._record_call(node)
            case "composite_literal":
                self._record_literal(node.child_by_field_name("type"), node.child_by_field_name("body"))
            case "struct_expression":
                self._record_struct(node)
            case "assignment_statement" | "assignment_expression":
                self._record_assignment(node)
            case "short_var_declaration":
                self._record_container(node.child_by_field_name("left"), node.child_by_field_name("right"))
            case "var_spec" | "static_item" | "const_item":
                self._record_container(node.child_by_field_name("name"), node.child_by_field_name("value"))
            case "let_declaration":
                self._record_container(node.child_by_field_name("pattern"), node.child_by_field_name("value"))
            case "function_declaration" | "method_declaration" | "function_item":
                self._record_function(node)
            case _:
                pass

    def _text(self, node: "Node | None") -> str:
        if node is None or node.end_byte - node.start_byte > MAX_TEXT_BYTES:
            return ""
        return self._content[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _value(self, node: "Node | None") -> str:
        """Return the path of a value, looking through wrappers such as `Box::new`; empty if it is not a path."""
        while node is not None and node.type == "call_expression":
            if self._text(node.child_by_field_name("function")) not in _WRAPPERS:
                break
            arguments = node.child_by_field_name("arguments")
            node = arguments.named_children[0] if arguments is not None and arguments.named_children else None
        if node is None or node.type not in _VALUE_TYPES:
            return ""
        return parse_name_path(self._text(node))

    def _record_call(self, node: "Node") -> None:
        arguments = node.child_by_field_name("arguments")
        callee = parse_name_path(self._text(node.child_by_field_name("function")))
        for place, each in enumerate(arguments.named_children if arguments is not None and callee else ()):
            value = self._value(each)
            if value:
                self.arguments.append([callee, place, value, each.start_byte])

    def _record_literal(self, kind: "Node | None", body: "Node | None") -> None:
        """Record a struct literal of Go or a list of them: `Rule{check: isUpper}`, `[]Rule{{"empty", isEmpty}}`."""
        name = parse_type_name(self._text(kind), wraps=False)
        if kind is None or body is None or not name:
            return
        rows = [body]
        if name.endswith("[]"):
            rows = [inner for element in body.named_children if (inner := _inner_literal(element)) is not None]
        for row in rows:
            for place, element in enumerate(row.named_children):
                field = self._text(element.child_by_field_name("key")) or str(place)
                inner = element.child_by_field_name("value") or element
                value = self._value(inner.named_children[0] if inner.named_children else None)
                if value:
                    self.fields.append([name.removesuffix("[]"), field, value, element.start_byte])

    def _record_struct(self, node: "Node") -> None:
        name = parse_type_name(self._text(node.child_by_field_name("name")))
        body = node.child_by_field_name("body")
        for each in body.named_children if body is not None and name else ():
            if each.type == "shorthand_field_initializer":
                self.fields.append([name, self._text(each), self._text(each), each.start_byte])
            elif (value := self._value(each.child_by_field_name("value"))) != "":
                self.fields.append([name, self._text(each.child_by_field_name("field")), value, each.start_byte])

    def _record_assignment(self, node: "Node") -> None:
        left, right = (_expressions(node.child_by_field_name(side)) for side in ("left", "right"))
        for target, each in zip(left, right, strict=False):
            path, value = parse_name_path(self._text(target)), self._value(each)
            if path and value:
                self.stored.append([path, value, each.start_byte])

    def _record_container(self, left: "Node | None", right: "Node | None") -> None:
        """Record the items of a container that is assigned to a variable."""
        for name, value in zip(_expressions(left), _expressions(right), strict=False):
            for each in _container_items(value):
                path = self._value(each)
                if path:
                    self.elements.append([self._text(name), path, each.start_byte])

    def _record_function(self, node: "Node") -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return
        taken: list[str] = []
        many = False
        parameters = node.child_by_field_name("parameters")
        for each in parameters.named_children if parameters is not None else ():
            if each.type in ("parameter", "parameter_declaration", "variadic_parameter_declaration"):
                many = each.type.startswith("variadic")
                names = each.children_by_field_name("name") or [each.child_by_field_name("pattern")]
                taken += [self._text(one).removeprefix("mut ").strip() for one in names]
        self.parameters.append([self._text(name), name.start_byte, taken, many])
        for each in _result_values(body):
            value = self._value(each)
            if value:
                self.returned.append([self._text(name), name.start_byte, value, each.start_byte])


def _expressions(node: "Node | None") -> "list[Node]":
    if node is None:
        return []
    return node.named_children if node.type == "expression_list" else [node]


def _inner_literal(element: "Node") -> "Node | None":
    """Return the struct literal in an element of a list, where Go lets the type be omitted."""
    inner = element.child_by_field_name("value") or element
    child = inner.named_children[0] if inner.named_children else None
    return child if child is not None and child.type == "literal_value" else None


def _container_items(node: "Node") -> "Iterator[Node]":
    """Yield the values in a list, map or tuple, including nested ones."""
    if node.type in ("reference_expression", "unary_expression") and node.named_children:
        node = node.named_children[-1]
    if node.type == "composite_literal":
        body = node.child_by_field_name("body")
        waiting = [body] if body is not None else []
    else:
        waiting = [node] if node.type in _CONTAINER_TYPES else []
    while waiting:
        for child in waiting.pop().named_children:
            inner = child.child_by_field_name("value") if child.type == "keyed_element" else child
            if inner is not None and inner.type == "literal_element" and inner.named_children:
                inner = inner.named_children[0]
            if inner is not None and inner.type in _CONTAINER_TYPES:
                waiting.append(inner)
            elif inner is not None:
                yield inner


def _result_values(body: "Node") -> "Iterator[Node]":
    """Yield the results of a function: operands of `return` and, in Rust, the last expressions of its blocks."""
    waiting: list[Node] = [body]
    ends: list[Node] = [body]
    while waiting:
        node = waiting.pop()
        if node.type in ("return_statement", "return_expression"):
            for child in node.named_children:
                yield from _expressions(child)
        elif node.type not in ("func_literal", "closure_expression", "function_item"):
            waiting.extend(child for child in node.named_children if child.named_child_count)
    while ends:
        node = ends.pop()
        last = node.named_children[-1] if node.named_children else None
        match node.type:
            case "block" | "else_clause" | "match_block":
                arms = node.named_children if node.type == "match_block" else [last] if last is not None else []
                ends.extend(arms)
            case "expression_statement" if last is not None and node.child_count == 1:
                ends.append(last)
            case "if_expression":
                for field in ("consequence", "alternative"):
                    if (inner := node.child_by_field_name(field)) is not None:
                        ends.append(inner)
            case "match_expression":
                if (inner := node.child_by_field_name("body")) is not None:
                    ends.append(inner)
            case "match_arm":
                if (inner := node.child_by_field_name("value")) is not None:
                    ends.append(inner)
            case _:
                yield node
