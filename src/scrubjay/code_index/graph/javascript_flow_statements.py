"""Reads the statements of JavaScript files into their flow."""

from typing import TYPE_CHECKING

from scrubjay.code_index.graph.javascript_flow_format import BLOCK, BRANCHES, DECLARATION, FOR, RETURN, Item
from scrubjay.code_index.graph.javascript_flow_nodes import ReaderPart

if TYPE_CHECKING:
    from tree_sitter import Node


class ScriptStatements(ReaderPart):
    """Reads statements."""

    def read_declaration(self, node: "Node", depth: int) -> int:
        kind = node.children[0].type if node.children else "let"
        entries: list[Item] = []
        for child in node.named_children:
            if child.type != "variable_declarator":
                continue
            name = child.child_by_field_name("name")
            text = self._flow.text(name) if name is not None and name.type == "identifier" else ""
            value = self._reader.expressions.read_named(child.child_by_field_name("value"), text, depth)
            written = child.child_by_field_name("type")
            types = self._flow.types(written) if written is not None else []
            entries.append([self._reader.patterns.read(name, depth), value, types])
        return self._flow.put(DECLARATION, kind, entries)

    def read_block(self, node: "Node", depth: int) -> int:
        return self._flow.put(BLOCK, self._reader.statements(node.named_children, depth))

    def read_if(self, node: "Node", depth: int) -> int:
        tests: list[int] = []
        ways: list[int] = []
        now: Node | None = node
        # avoids recursion: a chain of `else if` is as deeply nested as it is long
        while now is not None and now.type == "if_statement":
            tests.append(self._reader.read(now.child_by_field_name("condition"), depth))
            ways.append(self._reader.read(now.child_by_field_name("consequence"), depth))
            other = now.child_by_field_name("alternative")
            now = next((child for child in other.named_children if child.type != "comment"), None) if other else None
        if now is not None:
            ways.append(self._reader.read(now, depth))
        return self._flow.put(BRANCHES, [place for place in tests if place], [place for place in ways if place])

    def read_loop(self, node: "Node", depth: int) -> int:
        heads = [
            self._reader.read(node.child_by_field_name(part), depth)
            for part in ("initializer", "condition", "increment")
        ]
        body = self._reader.read(node.child_by_field_name("body"), depth)
        return self._flow.put(BRANCHES, [place for place in heads if place], [body] if body else [])

    def read_for_in(self, node: "Node", depth: int) -> int:
        operator = node.child_by_field_name("operator")
        kind = node.child_by_field_name("kind")
        right = node.child_by_field_name("right")
        return self._flow.put(
            FOR,
            kind.type if kind is not None else "",
            self._reader.patterns.read(node.child_by_field_name("left"), depth),
            self._reader.read(right, depth),
            self._reader.read(node.child_by_field_name("body"), depth),
            operator is not None and operator.type == "of",
            right.start_byte if right is not None else node.start_byte,
            self._flow.line(node),
        )

    def read_switch(self, node: "Node", depth: int) -> int:
        test = self._reader.read(node.child_by_field_name("value"), depth)
        body = node.child_by_field_name("body")
        ways = [
            self._flow.put(BLOCK, self._reader.statements(case.named_children, depth + 1))
            for case in (body.named_children if body is not None else ())
            if case.type in ("switch_case", "switch_default")
        ]
        return self._flow.put(BRANCHES, [test] if test else [], ways)

    def read_try(self, node: "Node", depth: int) -> int:
        ways: list[int] = []
        handler = node.child_by_field_name("handler")
        if handler is not None:
            ways.append(self._reader.read(handler.child_by_field_name("body"), depth))
        finalizer = node.child_by_field_name("finalizer")
        body = self._reader.read(node.child_by_field_name("body"), depth)
        last = self._reader.first(finalizer, depth) if finalizer is not None else 0
        return self._flow.put(BLOCK, [place for place in (body, self._flow.put(BRANCHES, [], ways), last) if place])

    def read_return(self, node: "Node", depth: int) -> int:
        return self._flow.put(RETURN, self._reader.first(node, depth))

    def read_labeled(self, node: "Node", depth: int) -> int:
        return self._reader.read(node.child_by_field_name("body"), depth)
