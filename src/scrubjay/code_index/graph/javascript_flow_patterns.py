"""Reads the assignment patterns of JavaScript files into their flow."""

from typing import TYPE_CHECKING

from scrubjay.code_index.graph.javascript_flow_format import (
    ARRAY_PATTERN,
    DEFAULT_PATTERN,
    MAX_DEPTH,
    NAME,
    OBJECT_PATTERN,
    REST_PATTERN,
    Item,
)
from scrubjay.code_index.graph.javascript_flow_nodes import ReaderPart

if TYPE_CHECKING:
    from tree_sitter import Node


class ScriptPatterns(ReaderPart):
    """Reads assignment patterns."""

    def read(self, node: "Node | None", depth: int) -> int:
        if node is None or depth > MAX_DEPTH:
            return 0
        match node.type:
            case "identifier" | "shorthand_property_identifier_pattern" | "shorthand_property_identifier":
                return self._flow.put(NAME, self._flow.text(node), node.start_byte)
            case "array_pattern" | "array":
                return self._flow.put(ARRAY_PATTERN, self._elements(node, depth))
            case "object_pattern" | "object":
                return self._flow.put(OBJECT_PATTERN, self._properties(node, depth))
            case "assignment_pattern" | "object_assignment_pattern" | "assignment_expression":
                left = node.child_by_field_name("left")
                name = self._flow.text(left) if left is not None and left.type.endswith("identifier") else ""
                default = self._reader.expressions.read_named(node.child_by_field_name("right"), name, depth + 1)
                return self._flow.put(DEFAULT_PATTERN, self.read(left, depth + 1), default)
            case "rest_pattern" | "spread_element":
                return self._flow.put(
                    REST_PATTERN, self.read(node.named_children[0] if node.named_children else None, depth + 1)
                )
            case "non_null_expression" | "parenthesized_expression" | "as_expression":
                return self.read(node.named_children[0] if node.named_children else None, depth + 1)
            case _:
                return self._reader.read(node, depth + 1)

    def _elements(self, node: "Node", depth: int) -> list[int]:
        elements: list[int] = []
        filled = False
        for child in node.children:
            if child.type == ",":
                if not filled:
                    elements.append(0)
                filled = False
            elif child.is_named and child.type != "comment":
                elements.append(self.read(child, depth + 1))
                filled = True
        return elements

    def _properties(self, node: "Node", depth: int) -> list[Item]:
        entries: list[Item] = []
        for child in node.named_children:
            match child.type:
                case "pair_pattern" | "pair":
                    key = self._reader.expressions.key(child.child_by_field_name("key"), depth)
                    entries.append([key, self.read(child.child_by_field_name("value"), depth + 1)])
                case "rest_pattern" | "spread_element":
                    entries.append(
                        [None, self.read(child.named_children[0] if child.named_children else None, depth + 1)]
                    )
                case "object_assignment_pattern" | "assignment_pattern":
                    left = child.child_by_field_name("left")
                    entries.append([self._flow.text(left) if left is not None else "", self.read(child, depth + 1)])
                case "comment":
                    pass
                case _:
                    entries.append([self._flow.text(child), self.read(child, depth + 1)])
        return entries
