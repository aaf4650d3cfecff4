"""Reads the syntax of JavaScript files into their flow."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from scrubjay.code_index.graph.javascript_flow_definitions import ScriptDefinitions
from scrubjay.code_index.graph.javascript_flow_expressions import ScriptExpressions
from scrubjay.code_index.graph.javascript_flow_format import (
    FUNCTION_DECLARATION,
    FUNCTION_TYPES,
    KIND,
    MAX_DEPTH,
    SUPER,
    THIS,
    UNKNOWN,
)
from scrubjay.code_index.graph.javascript_flow_modules import ScriptImports
from scrubjay.code_index.graph.javascript_flow_nodes import FlowNodes
from scrubjay.code_index.graph.javascript_flow_patterns import ScriptPatterns
from scrubjay.code_index.graph.javascript_flow_statements import ScriptStatements

if TYPE_CHECKING:
    from tree_sitter import Node

_CLASSES = {"class_declaration", "abstract_class_declaration", "class"}
_WRAPPED = {"parenthesized_expression", "non_null_expression", "await_expression", "satisfies_expression"}


class ScriptReader:
    """Reads the syntax of one file. Each method returns the index of the node of a value, or 0 if it is unknown."""

    def __init__(self, content: bytes) -> None:
        self.flow = FlowNodes(content)
        self.expressions = ScriptExpressions(self)
        self.patterns = ScriptPatterns(self)
        self.definitions = ScriptDefinitions(self)
        self.statement_reader = ScriptStatements(self)
        self.modules = ScriptImports(self)
        self._readers: dict[str, Callable[[Node, int], int]] = {
            "identifier": self.expressions.read_name,
            "shorthand_property_identifier": self.expressions.read_name,
            "undefined": lambda node, depth: 0,
            "this": lambda node, depth: self.flow.put(THIS),
            "super": lambda node, depth: self.flow.put(SUPER),
            "string": self.expressions.read_literal,
            "number": self.expressions.read_literal,
            "member_expression": self.expressions.read_member,
            "subscript_expression": self.expressions.read_entry,
            "call_expression": self.expressions.read_call,
            "new_expression": self.expressions.read_new,
            "object": self.expressions.read_object,
            "array": self.expressions.read_array,
            "assignment_expression": self.expressions.read_assignment,
            "augmented_assignment_expression": self.expressions.read_augmented,
            "ternary_expression": self.expressions.read_choice,
            "binary_expression": self.expressions.read_binary,
            "yield_expression": self.expressions.read_yield,
            "as_expression": self.expressions.read_cast,
            "type_assertion": self.expressions.read_assertion,
            "sequence_expression": self.expressions.read_sequence,
            "expression_statement": self.first,
            "lexical_declaration": self.statement_reader.read_declaration,
            "variable_declaration": self.statement_reader.read_declaration,
            "using_declaration": self.statement_reader.read_declaration,
            "statement_block": self.statement_reader.read_block,
            "if_statement": self.statement_reader.read_if,
            "else_clause": self.first,
            "for_statement": self.statement_reader.read_loop,
            "while_statement": self.statement_reader.read_loop,
            "do_statement": self.statement_reader.read_loop,
            "for_in_statement": self.statement_reader.read_for_in,
            "switch_statement": self.statement_reader.read_switch,
            "try_statement": self.statement_reader.read_try,
            "return_statement": self.statement_reader.read_return,
            "labeled_statement": self.statement_reader.read_labeled,
            "export_statement": self.modules.read_export,
            "import_statement": self.modules.read_import,
            "interface_declaration": self.definitions.read_interface,
            "type_alias_declaration": self.definitions.read_alias,
            "internal_module": self.definitions.read_namespace,
            "module": self.definitions.read_namespace,
            "enum_declaration": self.definitions.read_enum,
            "ambient_declaration": self.first,
            "jsx_self_closing_element": self.expressions.read_element,
            "jsx_opening_element": self.expressions.read_element,
            "comment": lambda node, depth: 0,
        }
        self._readers |= dict.fromkeys(FUNCTION_TYPES, self.expressions.read_function_value)
        self._readers |= dict.fromkeys(_CLASSES, self.expressions.read_class_value)
        self._readers |= dict.fromkeys(_WRAPPED, self.first)

    def read_module(self, root: "Node") -> None:
        """Read a whole file."""
        self.flow.body = self.statements(root.named_children, 0)
        while self.flow.waiting:
            work, arguments = self.flow.waiting.popleft()
            work(*arguments)

    def read(self, node: "Node | None", depth: int) -> int:
        if node is None or depth > MAX_DEPTH:
            return 0
        reader = self._readers.get(node.type)
        return reader(node, depth + 1) if reader is not None else self.unknown(node.named_children, depth)

    def unknown(self, children: "Iterable[Node]", depth: int) -> int:
        """Read the parts of an expression whose value is unknown."""
        parts = [part for child in children if child.child_count and (part := self.read(child, depth + 1))]
        return self.flow.put(UNKNOWN, parts) if parts else 0

    def statements(self, nodes: "Iterable[Node]", depth: int) -> list[int]:
        """Read statements. Functions come first, because they can be used before their definition."""
        hoisted: list[int] = []
        rest: list[int] = []
        for node in nodes:
            place = self.read(node, depth)
            if place:
                is_function = self.flow.nodes[place][KIND] == FUNCTION_DECLARATION
                (hoisted if is_function else rest).append(place)
        return hoisted + rest

    def first(self, node: "Node", depth: int) -> int:
        for child in node.named_children:
            if child.type != "comment":
                return self.read(child, depth)
        return 0
