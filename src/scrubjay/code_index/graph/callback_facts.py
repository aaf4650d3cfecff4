"""Records where a file of Go or Rust passes values: as arguments, into fields, variables and containers, as results.

The path of each value and its first byte are stored. Any of them may be a function; the names alone do not show it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scrubjay.code_index.graph.name_paths import path_of, type_name

if TYPE_CHECKING:
    from tree_sitter import Node

PARTS = ("arguments", "fields", "stored", "returned", "elements", "parameters")
"""The stored lists, by their names in `CallbackFacts`."""
LONGEST = 240
_VALUES = frozenset(
    {
        "identifier", "selector_expression", "field_expression", "scoped_identifier", "call_expression",
        "reference_expression", "unary_expression", "index_expression", "generic_function",
    }
)  # fmt: skip
_WRAPPING = frozenset({"Box::new", "Arc::new", "Rc::new", "Some", "Ok", "Box::pin"})
_LISTS = frozenset({"literal_value", "array_expression", "tuple_expression"})


class CallbackFacts:
    """The values that one file passes and stores, in the order of its text."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.arguments: list[list[Any]] = []
        """Path of the callee, position of the argument, path of the value and its first byte."""
        self.fields: list[list[Any]] = []
        """A type, one of its fields by name or place, the value, and where it stands."""
        self.stored: list[list[Any]] = []
        """The path of what is assigned to, the value, and where it stands."""
        self.returned: list[list[Any]] = []
        """The name of a function and where that stands, the value, and where it stands."""
        self.elements: list[list[Any]] = []
        """The name of a variable, a value that is in its container, and where it stands."""
        self.parameters: list[list[Any]] = []
        """The name of a function and where that stands, the names of what it takes, whether the last takes many."""

    def see(self, node: "Node") -> None:
        """Keep what a node hands over itself; what is within it is seen for itself."""
        match node.type:
            case "call_expression":
                self._call(node)
            case "composite_literal":
                self._literal(node.child_by_field_name("type"), node.child_by_field_name("body"))
            case "struct_expression":
                self._struct(node)
            case "assignment_statement" | "assignment_expression":
                self._assignment(node)
            case "short_var_declaration":
                self._declared(node.child_by_field_name("left"), node.child_by_field_name("right"))
            case "var_spec" | "static_item" | "const_item":
                self._declared(node.child_by_field_name("name"), node.child_by_field_name("value"))
            case "let_declaration":
                self._declared(node.child_by_field_name("pattern"), node.child_by_field_name("value"))
            case "function_declaration" | "method_declaration" | "function_item":
                self._function(node)
            case _:
                pass

    def _text(self, node: "Node | None") -> str:
        if node is None or node.end_byte - node.start_byte > LONGEST:
            return ""
        return self._content[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _value(self, node: "Node | None") -> str:
        """Return the path of a value, or of the value that it wraps; empty if it is no path."""
        while node is not None and node.type == "call_expression":
            if self._text(node.child_by_field_name("function")) not in _WRAPPING:
                break
            arguments = node.child_by_field_name("arguments")
            node = arguments.named_children[0] if arguments is not None and arguments.named_children else None
        if node is None or node.type not in _VALUES:
            return ""
        return path_of(self._text(node))

    def _call(self, node: "Node") -> None:
        arguments = node.child_by_field_name("arguments")
        callee = path_of(self._text(node.child_by_field_name("function")))
        for place, each in enumerate(arguments.named_children if arguments is not None and callee else ()):
            value = self._value(each)
            if value:
                self.arguments.append([callee, place, value, each.start_byte])

    def _literal(self, kind: "Node | None", body: "Node | None") -> None:
        """Record a struct of Go or a list of structs: `Rule{check: isUpper}`, `[]Rule{{"empty", isEmpty}}`."""
        name = type_name(self._text(kind), wraps=False)
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

    def _struct(self, node: "Node") -> None:
        name = type_name(self._text(node.child_by_field_name("name")))
        body = node.child_by_field_name("body")
        for each in body.named_children if body is not None and name else ():
            if each.type == "shorthand_field_initializer":
                self.fields.append([name, self._text(each), self._text(each), each.start_byte])
            elif (value := self._value(each.child_by_field_name("value"))) != "":
                self.fields.append([name, self._text(each.child_by_field_name("field")), value, each.start_byte])

    def _assignment(self, node: "Node") -> None:
        left, right = (_several(node.child_by_field_name(side)) for side in ("left", "right"))
        for target, each in zip(left, right, strict=False):
            path, value = path_of(self._text(target)), self._value(each)
            if path and value:
                self.stored.append([path, value, each.start_byte])

    def _declared(self, left: "Node | None", right: "Node | None") -> None:
        """Record the items of a container that is assigned to a variable."""
        for name, value in zip(_several(left), _several(right), strict=False):
            for each in _within(value):
                path = self._value(each)
                if path:
                    self.elements.append([self._text(name), path, each.start_byte])

    def _function(self, node: "Node") -> None:
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
        for each in _results(body):
            value = self._value(each)
            if value:
                self.returned.append([self._text(name), name.start_byte, value, each.start_byte])


def _several(node: "Node | None") -> "list[Node]":
    if node is None:
        return []
    return node.named_children if node.type == "expression_list" else [node]


def _inner_literal(element: "Node") -> "Node | None":
    """Return the struct in an element of a list, whose type is not repeated."""
    inner = element.child_by_field_name("value") or element
    child = inner.named_children[0] if inner.named_children else None
    return child if child is not None and child.type == "literal_value" else None


def _within(node: "Node") -> "Iterator[Node]":
    """Yield the values in a list, a map or a tuple, nested ones included."""
    if node.type in ("reference_expression", "unary_expression") and node.named_children:
        node = node.named_children[-1]
    if node.type == "composite_literal":
        body = node.child_by_field_name("body")
        waiting = [body] if body is not None else []
    else:
        waiting = [node] if node.type in _LISTS else []
    while waiting:
        for child in waiting.pop().named_children:
            inner = child.child_by_field_name("value") if child.type == "keyed_element" else child
            if inner is not None and inner.type == "literal_element" and inner.named_children:
                inner = inner.named_children[0]
            if inner is not None and inner.type in _LISTS:
                waiting.append(inner)
            elif inner is not None:
                yield inner


def _results(body: "Node") -> "Iterator[Node]":
    """Yield the results of a function: of `return`, and in Rust the last expressions of its blocks."""
    waiting: list[Node] = [body]
    ends: list[Node] = [body]
    while waiting:
        node = waiting.pop()
        if node.type in ("return_statement", "return_expression"):
            for child in node.named_children:
                yield from _several(child)
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
