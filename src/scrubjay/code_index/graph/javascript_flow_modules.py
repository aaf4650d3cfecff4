"""Reads the imports and exports of JavaScript files into their flow."""

from typing import TYPE_CHECKING

from scrubjay.code_index.graph.javascript_flow_format import EXPORT_ALL, EXPORT_DEFAULT
from scrubjay.code_index.graph.javascript_flow_nodes import ReaderPart, unquoted

if TYPE_CHECKING:
    from tree_sitter import Node


class ScriptImports(ReaderPart):
    """Reads imports and exports."""

    def read_import(self, node: "Node", depth: int) -> int:
        for child in node.named_children:
            if child.type == "import_require_clause":
                names = [part for part in child.named_children if part.type == "identifier"]
                source = child.child_by_field_name("source")
                if names and source is not None:
                    self._flow.imports.append([self._flow.text(names[0]), unquoted(self._flow.text(source)), "="])
        source = node.child_by_field_name("source")
        if source is None:
            return 0
        module = unquoted(self._flow.text(source))
        for clause in node.named_children:
            if clause.type != "import_clause":
                continue
            for part in clause.named_children:
                if part.type == "identifier":
                    self._flow.imports.append([self._flow.text(part), module, "default"])
                elif part.type == "namespace_import" and part.named_children:
                    self._flow.imports.append([self._flow.text(part.named_children[0]), module, "*"])
                elif part.type == "named_imports":
                    for item in part.named_children:
                        name, alias = item.child_by_field_name("name"), item.child_by_field_name("alias")
                        if name is not None:
                            self._flow.imports.append(
                                [self._flow.text(alias or name), module, unquoted(self._flow.text(name))]
                            )
        return 0

    def read_export(self, node: "Node", depth: int) -> int:
        source = node.child_by_field_name("source")
        module = unquoted(self._flow.text(source)) if source is not None else ""
        for child in node.named_children:
            if child.type == "export_clause":
                for item in child.named_children:
                    name, alias = item.child_by_field_name("name"), item.child_by_field_name("alias")
                    if name is not None:
                        self._flow.exports.append(
                            [unquoted(self._flow.text(alias or name)), unquoted(self._flow.text(name)), module]
                        )
                return 0
            if child.type == "namespace_export" and child.named_children:
                self._flow.exports.append([self._flow.text(child.named_children[0]), "*", module])
                return 0
        kinds = {child.type for child in node.children}
        if "*" in kinds and module:
            self._flow.stars.append(module)
            return 0
        default = "default" in kinds
        declaration = node.child_by_field_name("declaration")
        if declaration is not None:
            place = self._reader.read(declaration, depth)
            for name in self._declared(declaration):
                self._flow.exports.append(["default" if default else name, name, ""])
            return self._flow.put(EXPORT_DEFAULT, place) if default else place
        value = node.child_by_field_name("value")
        if default:
            return self._flow.put(EXPORT_DEFAULT, self._reader.expressions.read_named(value, "default", depth))
        if "=" in kinds:
            return self._flow.put(EXPORT_ALL, self._reader.first(node, depth))
        return self._reader.first(node, depth)

    def _declared(self, node: "Node") -> list[str]:
        name = node.child_by_field_name("name")
        if name is not None:
            return [self._flow.text(name)]
        names: list[str] = []
        waiting = list(node.named_children)
        while waiting:
            now = waiting.pop()
            if now.type == "variable_declarator":
                pattern = now.child_by_field_name("name")
                if pattern is not None:
                    waiting.append(pattern)
            elif now.type in ("identifier", "shorthand_property_identifier_pattern"):
                names.append(self._flow.text(now))
            elif now.type in ("array_pattern", "object_pattern", "rest_pattern"):
                waiting.extend(now.named_children)
            elif now.type == "pair_pattern":
                waiting.append(now.named_children[-1])
            elif now.type.endswith("_declaration") or now.type in ("function_signature", "internal_module"):
                names.extend(self._declared(now))
        return names
