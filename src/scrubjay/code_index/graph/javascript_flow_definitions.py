"""Reads the functions, classes and types of JavaScript files into their flow."""

from typing import TYPE_CHECKING

from scrubjay.code_index.graph.javascript_flow_format import (
    ALIAS,
    BLOCK,
    CLASS_DECLARATION,
    DECLARATION,
    DEFAULT_PATTERN,
    NAMESPACE,
    OBJECT,
    RETURN,
    Item,
)
from scrubjay.code_index.graph.javascript_flow_nodes import ReaderPart

if TYPE_CHECKING:
    from tree_sitter import Node


class ScriptDefinitions(ReaderPart):
    """Reads functions, classes and types."""

    def add_function(self, node: "Node", name: str) -> int:
        """Add a function and return its number. Its body is read later, so that nesting needs no recursion."""
        named = node.child_by_field_name("name") or node
        arrow = node.type == "arrow_function"
        generator = node.type.startswith("generator") or any(child.type == "*" for child in node.children[:6])
        returns = node.child_by_field_name("return_type")
        record: Item = [
            name,
            node.start_byte,
            self._flow.line(named),
            arrow,
            generator,
            [],
            [],
            self._flow.types(returns) if returns is not None else [],
            [],
        ]
        self._flow.functions.append(record)
        self._flow.waiting.append((self._function_body, (node, record)))
        return len(self._flow.functions) - 1

    def _function_body(self, node: "Node", record: Item) -> None:
        single = node.child_by_field_name("parameter")
        parameters = node.child_by_field_name("parameters")
        if single is not None:
            record[5] = [[self._reader.patterns.read(single, 0), []]]
        elif parameters is not None:
            record[5], record[8] = self._parameters(parameters)
        body = node.child_by_field_name("body")
        if body is None:
            return
        if body.type == "statement_block":
            record[6] = self._reader.statements(body.named_children, 0)
        else:
            record[6] = [self._flow.put(RETURN, self._reader.read(body, 0))]

    def _parameters(self, node: "Node") -> tuple[list[Item], list[Item]]:
        """Return the patterns with their types, and the parameters that also declare a field of the class."""
        parameters: list[Item] = []
        fields: list[Item] = []
        for child in node.named_children:
            if child.type == "comment":
                continue
            if child.type not in ("required_parameter", "optional_parameter"):
                parameters.append([self._reader.patterns.read(child, 0), []])
                continue
            pattern, value = child.child_by_field_name("pattern"), child.child_by_field_name("value")
            if pattern is None or pattern.type == "this":
                continue
            written = child.child_by_field_name("type")
            types = self._flow.types(written) if written is not None else []
            place = self._reader.patterns.read(pattern, 0)
            if value is not None:
                place = self._flow.put(
                    DEFAULT_PATTERN, place, self._reader.expressions.read_named(value, self._flow.text(pattern), 0)
                )
            parameters.append([place, types])
            if any(part.type in ("accessibility_modifier", "readonly", "override_modifier") for part in child.children):
                fields.append([self._flow.text(pattern), place])
        return parameters, fields

    def add_class(self, node: "Node", name: str, depth: int) -> int:
        base, interfaces = 0, list[str]()
        for child in node.named_children:
            if child.type == "class_heritage":
                for part in child.named_children:
                    if part.type == "extends_clause":
                        base = self._reader.read(part.child_by_field_name("value"), depth)
                    elif part.type == "implements_clause":
                        interfaces += [text for kind in part.named_children for text in self._flow.types(kind)]
                    elif not base:
                        base = self._reader.read(part, depth)
        named = node.child_by_field_name("name") or node
        record: Item = [name, node.start_byte, self._flow.line(named), base, [], "class", interfaces]
        self._flow.classes.append(record)
        self._flow.waiting.append((self._class_body, (node.child_by_field_name("body"), record)))
        return len(self._flow.classes) - 1

    def _class_body(self, body: "Node | None", record: Item) -> None:
        """Add the members: key, whether static, kind (method, get, set, field, block), function or value, types."""
        members: list[Item] = record[4]
        for child in body.named_children if body is not None else ():
            static = any(part.type == "static" for part in child.children[:4])
            match child.type:
                case "method_definition":
                    key = self._reader.expressions.key(child.child_by_field_name("name"), 0)
                    kind = next((part.type for part in child.children[:5] if part.type in ("get", "set")), "method")
                    members.append(
                        [key, static, kind, self.add_function(child, key if isinstance(key, str) else ""), []]
                    )
                case "field_definition" | "public_field_definition":
                    name = child.child_by_field_name("property") or child.child_by_field_name("name")
                    key = self._reader.expressions.key(name, 0)
                    value = self._reader.expressions.read_named(
                        child.child_by_field_name("value"), key if isinstance(key, str) else "", 0
                    )
                    written = child.child_by_field_name("type")
                    types = self._flow.types(written) if written is not None else []
                    members.append([key, static, "field", value, types])
                case "class_static_block":
                    block = child.child_by_field_name("body")
                    statements = self._reader.statements(block.named_children, 0) if block is not None else []
                    members.append(["", True, "block", self._flow.put(BLOCK, statements), []])
                case "abstract_method_signature" | "method_signature" | "property_signature":
                    members.append(self._signature(child, static))
                case _:
                    pass

    def _signature(self, node: "Node", static: bool) -> Item:
        name = node.child_by_field_name("name")
        key = self._reader.expressions.key(name, 0)
        if node.type == "property_signature":
            written = node.child_by_field_name("type")
            return [key, static, "field", 0, self._flow.types(written) if written is not None else []]
        return [key, static, "method", self.add_function(node, key if isinstance(key, str) else ""), []]

    def read_interface(self, node: "Node", depth: int) -> int:
        name = node.child_by_field_name("name")
        bases = [
            text
            for child in node.named_children
            if child.type in ("extends_type_clause", "extends_clause")
            for part in child.named_children
            for text in self._flow.types(part)
        ]
        text = self._flow.text(name) if name is not None else ""
        record: Item = [text, node.start_byte, self._flow.line(name or node), 0, [], "interface", bases]
        self._flow.classes.append(record)
        self._flow.waiting.append((self._class_body, (node.child_by_field_name("body"), record)))
        return self._flow.put(CLASS_DECLARATION, len(self._flow.classes) - 1)

    def read_alias(self, node: "Node", depth: int) -> int:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            return 0
        if value.type == "object_type":
            record: Item = [self._flow.text(name), node.start_byte, self._flow.line(name), 0, [], "interface", []]
            self._flow.classes.append(record)
            self._flow.waiting.append((self._class_body, (value, record)))
            return self._flow.put(CLASS_DECLARATION, len(self._flow.classes) - 1)
        return self._flow.put(ALIAS, self._flow.text(name), self._flow.types(value))

    def read_namespace(self, node: "Node", depth: int) -> int:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None or name.type == "string":
            return self._reader.first(body, depth) if body is not None else 0
        return self._flow.put(NAMESPACE, self._flow.text(name), self._reader.statements(body.named_children, depth))

    def read_enum(self, node: "Node", depth: int) -> int:
        name = node.child_by_field_name("name")
        return (
            self._flow.put(
                DECLARATION, "const", [[self._reader.patterns.read(name, depth), self._flow.put(OBJECT, []), []]]
            )
            if name is not None
            else 0
        )
