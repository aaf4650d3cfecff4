"""Reads the expressions of JavaScript files into their flow."""

from typing import TYPE_CHECKING, Any

from scrubjay.code_index.graph.javascript_flow_format import (
    ARRAY,
    ASSIGNMENT,
    CALL,
    CAST,
    CLASS,
    EITHER,
    ENTRY,
    FUNCTION,
    FUNCTION_DECLARATION,
    FUNCTION_TYPES,
    LITERAL,
    MEMBER,
    NAME,
    NEW,
    OBJECT,
    REQUIRE,
    SEQUENCE,
    UNKNOWN,
    YIELD,
    Item,
)
from scrubjay.code_index.graph.javascript_flow_nodes import ReaderPart, last_name, unquoted

if TYPE_CHECKING:
    from tree_sitter import Node
_MAX_LITERAL = 80


class ScriptExpressions(ReaderPart):
    """Reads expressions; each method returns the index of the node of the value."""

    def read_name(self, node: "Node", depth: int) -> int:
        return self._flow.put(NAME, self._flow.text(node), node.start_byte)

    def read_literal(self, node: "Node", depth: int) -> int:
        text = self._flow.text(node)
        return self._flow.put(LITERAL, unquoted(text)) if len(text) <= _MAX_LITERAL else 0

    def read_member(self, node: "Node", depth: int) -> int:
        name = node.child_by_field_name("property")
        thing = self._reader.read(node.child_by_field_name("object"), depth)
        return self._flow.put(MEMBER, thing, self._flow.text(name), name.start_byte) if name is not None else thing

    def read_entry(self, node: "Node", depth: int) -> int:
        thing = self._reader.read(node.child_by_field_name("object"), depth)
        return self._flow.put(ENTRY, thing, self._reader.read(node.child_by_field_name("index"), depth))

    def _arguments(self, node: "Node | None", depth: int) -> list[Any]:
        """Return the nodes of the arguments; a spread argument is a list of one node."""
        if node is None:
            return []
        if node.type == "template_string":
            return [self._reader.unknown(node.named_children, depth)]
        return [
            [self._reader.first(child, depth)] if child.type == "spread_element" else self._reader.read(child, depth)
            for child in node.named_children
            if child.type != "comment"
        ]

    def read_call(self, node: "Node", depth: int) -> int:
        callee = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if callee is None:
            return self._reader.unknown(node.named_children, depth)
        if callee.type in ("import", "identifier") and arguments is not None and arguments.named_child_count == 1:
            first = arguments.named_children[0]
            if first.type == "string" and self._flow.text(callee) in ("require", "import"):
                return self._flow.put(REQUIRE, unquoted(self._flow.text(first)), callee.type == "import")
        return self._flow.put(
            CALL,
            self._reader.read(callee, depth),
            self._arguments(arguments, depth),
            last_name(callee).start_byte,
            self._flow.line(last_name(callee)),
        )

    def read_new(self, node: "Node", depth: int) -> int:
        callee = node.child_by_field_name("constructor")
        if callee is None:
            return self._reader.unknown(node.named_children, depth)
        name = last_name(callee)
        arguments = self._arguments(node.child_by_field_name("arguments"), depth)
        return self._flow.put(NEW, self._reader.read(callee, depth), arguments, name.start_byte, self._flow.line(name))

    def read_element(self, node: "Node", depth: int) -> int:
        name = node.child_by_field_name("name")
        parts = self._reader.unknown((child for child in node.named_children if child != name), depth)
        if name is None or (name.type == "identifier" and not self._flow.text(name)[:1].isupper()):
            return parts
        last = last_name(name)
        return self._flow.put(CALL, self._reader.read(name, depth), [parts], last.start_byte, self._flow.line(last))

    def read_object(self, node: "Node", depth: int) -> int:
        entries: list[Item] = []
        for child in node.named_children:
            if child.type == "pair":
                value = child.child_by_field_name("value")
                key = self.key(child.child_by_field_name("key"), depth)
                entries.append([key, self.read_named(value, key if isinstance(key, str) else "", depth)])
            elif child.type == "shorthand_property_identifier":
                entries.append([self._flow.text(child), self.read_name(child, depth)])
            elif child.type == "method_definition":
                key = self.key(child.child_by_field_name("name"), depth)
                kind = "get" if any(part.type == "get" for part in child.children) else ""
                entries.append(
                    [
                        key,
                        self._flow.put(
                            FUNCTION, self._reader.definitions.add_function(child, key if isinstance(key, str) else "")
                        ),
                        kind,
                    ]
                )
            elif child.type == "spread_element":
                entries.append([None, self._reader.first(child, depth)])
        return self._flow.put(OBJECT, entries)

    def key(self, node: "Node | None", depth: int) -> str | int:
        """Return a property name, or the node of the expression that computes it."""
        if node is None:
            return ""
        if node.type == "computed_property_name":
            inner = node.named_children[0] if node.named_children else None
            if inner is not None and inner.type == "member_expression":
                return f"[{self._flow.text(inner)}]"
            return self._reader.read(inner, depth)
        return unquoted(self._flow.text(node))

    def read_array(self, node: "Node", depth: int) -> int:
        return self._flow.put(ARRAY, self._arguments(node, depth))

    def read_assignment(self, node: "Node", depth: int) -> int:
        left = node.child_by_field_name("left")
        name = self._flow.text(last_name(left)) if left is not None else ""
        value = self.read_named(node.child_by_field_name("right"), name, depth)
        return self._flow.put(ASSIGNMENT, self._reader.patterns.read(left, depth), value)

    def read_augmented(self, node: "Node", depth: int) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type in ("||=", "&&=", "??="):
            value = self._flow.put(EITHER, [], [self._reader.read(left, depth), self._reader.read(right, depth)])
            return self._flow.put(ASSIGNMENT, self._reader.patterns.read(left, depth), value)
        return self._reader.unknown([child for child in (left, right) if child is not None], depth)

    def read_choice(self, node: "Node", depth: int) -> int:
        test = self._reader.read(node.child_by_field_name("condition"), depth)
        ways = [self._reader.read(node.child_by_field_name(way), depth) for way in ("consequence", "alternative")]
        return self._flow.put(EITHER, [test] if test else [], ways)

    def read_binary(self, node: "Node", depth: int) -> int:
        chooses = False
        parts: list[int] = []
        now: Node | None = node
        # avoids recursion: a long sum is as deeply nested as it is long
        while now is not None and now.type == "binary_expression":
            operator = now.child_by_field_name("operator")
            chooses = chooses or (operator is not None and operator.type in ("||", "&&", "??"))
            parts.append(self._reader.read(now.child_by_field_name("right"), depth))
            now = now.child_by_field_name("left")
        parts.append(self._reader.read(now, depth))
        parts = [part for part in reversed(parts) if part]
        return self._flow.put(EITHER, [], parts) if chooses else self._flow.put(UNKNOWN, parts)

    def read_yield(self, node: "Node", depth: int) -> int:
        return self._flow.put(YIELD, self._reader.first(node, depth), any(child.type == "*" for child in node.children))

    def read_cast(self, node: "Node", depth: int) -> int:
        inner = self._reader.first(node, depth)
        types = self._flow.types(node.named_children[-1]) if node.named_child_count > 1 else []
        return self._flow.put(CAST, inner, types) if types else inner

    def read_assertion(self, node: "Node", depth: int) -> int:
        return self._reader.read(node.named_children[-1], depth) if node.named_children else 0

    def read_sequence(self, node: "Node", depth: int) -> int:
        return self._flow.put(SEQUENCE, [self._reader.read(child, depth) for child in node.named_children])

    def read_function_value(self, node: "Node", depth: int) -> int:
        name = node.child_by_field_name("name")
        place = self._reader.definitions.add_function(node, self._flow.text(name) if name is not None else "")
        declared = node.type.endswith("_declaration") or node.type == "function_signature"
        return self._flow.put(FUNCTION_DECLARATION if declared else "f", place)

    def read_class_value(self, node: "Node", depth: int) -> int:
        name = node.child_by_field_name("name")
        place = self._reader.definitions.add_class(node, self._flow.text(name) if name is not None else "", depth)
        return self._flow.put(CLASS if node.type == "class" else "dk", place)

    def read_named(self, node: "Node | None", name: str, depth: int) -> int:
        """Read a value; an anonymous function or class gets the name of what it is assigned to."""
        inner = node
        while inner is not None and inner.type == "parenthesized_expression" and inner.named_child_count:
            inner = inner.named_children[0]
        if inner is not None and inner.child_by_field_name("name") is None:
            if inner.type in FUNCTION_TYPES:
                return self._flow.put(FUNCTION, self._reader.definitions.add_function(inner, name))
            if inner.type == "class":
                return self._flow.put(CLASS, self._reader.definitions.add_class(inner, name, depth))
        return self._reader.read(node, depth)
