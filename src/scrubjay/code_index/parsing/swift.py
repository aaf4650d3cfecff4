"""Reads Swift."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.dialect import Dialect, format_signature, ignore
from scrubjay.code_index.parsing.grammar_tables import DefinitionRule, GrammarTables, PathRole, PathRule
from scrubjay.code_index.parsing.nodes import Findings, Visitor

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_KINDS = {
    "struct": SymbolKind.STRUCT,
    "enum": SymbolKind.ENUM,
    "extension": SymbolKind.IMPL,
}


class _Swift(Dialect):
    language = Language.SWIFT
    tables = GrammarTables(
        comments=("comment", "multiline_comment"),
        names=("simple_identifier", "self_expression", "super_expression"),
        type_names=("user_type", "type_identifier"),
        type_nodes=("user_type", "type_identifier"),
        type_arguments=("type_arguments",),
        type_parameters=("type_parameter",),
        links={
            "navigation_expression": PathRule(PathRole.MEMBER, "target", "suffix"),
            "navigation_suffix": PathRule(PathRole.NAME, name="suffix"),
            "call_expression": PathRule(PathRole.CALL),
            "optional_chain_marker": PathRule(PathRole.INNER),
            "postfix_expression": PathRule(PathRole.INNER),
            "try_expression": PathRule(PathRole.INNER, "expr"),
            "await_expression": PathRule(PathRole.INNER, "expr"),
        },
        definitions={
            "class_declaration": DefinitionRule(SymbolKind.CLASS),
            "protocol_declaration": DefinitionRule(SymbolKind.INTERFACE),
            "function_declaration": DefinitionRule(SymbolKind.FUNCTION),
            "protocol_function_declaration": DefinitionRule(SymbolKind.METHOD),
            "init_declaration": DefinitionRule(SymbolKind.CONSTRUCTOR, "", "init"),
            "deinit_declaration": DefinitionRule(SymbolKind.METHOD, "", "deinit"),
            "subscript_declaration": DefinitionRule(SymbolKind.METHOD, "", "subscript"),
            "typealias_declaration": DefinitionRule(SymbolKind.TYPE),
            "associatedtype_declaration": DefinitionRule(SymbolKind.TYPE),
        },
        bodies=("computed_property", "protocol_body"),
        heritage=("inheritance_specifier",),
        modifiers=(
            "modifiers",
            "visibility_modifier",
            "member_modifier",
            "property_modifier",
            "function_modifier",
            "inheritance_modifier",
            "mutation_modifier",
            "ownership_modifier",
            "parameter_modifier",
        ),
        annotations=("attribute",),
        binders={"lambda_parameter": ("name",)},
        calls=("call_expression",),
        private=frozenset({"private", "fileprivate"}),
    )

    def extra_visitors(self) -> Mapping[str, Visitor]:
        return {
            "import_declaration": _import,
            "enum_entry": _entries,
            "property_declaration": self._property,
            "protocol_property_declaration": self._property,
            "function_declaration": self._function,
            "parameter": self._parameter,
            "lambda_parameter": self._parameter,
            "control_transfer_statement": self._transfer,
            "catch_block": self._catch,
            "assignment": self._assign,
            "if_statement": self._conditional,
            "guard_statement": self._conditional,
            "while_statement": self._conditional,
            "for_statement": self._for,
            "pattern": self._pattern,
            "value_argument_label": ignore,
            "value_binding_pattern": ignore,
            "modifiers": ignore,
            "type_constraints": self._constraints,
            "operator_declaration": ignore,
        }

    def kind_of(self, found: Findings, node: "Node", kind: SymbolKind, body: "Node | None") -> SymbolKind:
        if node.type == "class_declaration":
            words = self.head(found, node).words
            return next((made for word, made in _KINDS.items() if word in words), kind)
        return super().kind_of(found, node, kind, body)

    def _function(self, found: Findings, node: "Node") -> None:
        name = node.child_by_field_name("name")
        if name is not None and name.type == "simple_identifier":
            self.define(found, node)
            return
        # The name of an operator is in no field.
        at = next((place for place, child in enumerate(node.children) if child.type == "func"), len(node.children))
        operator = node.children[at + 1] if at + 1 < len(node.children) else node
        body = self.body_of(node)
        kind = self.kind_of(found, node, SymbolKind.FUNCTION, body)
        text = found.text_of(operator) if operator.id != node.id else "operator"
        self.declare(found, node, text[:80], operator.start_byte, kind, body, inside=node.children[at + 2 :])

    def _property(self, found: Findings, node: "Node") -> None:
        if found.scope.local:
            found.visit(node.children)
            return
        patterns = [child for child in node.children_by_field_name("name") if child.type == "pattern"]
        values = [*node.children_by_field_name("value"), *node.children_by_field_name("computed_value")]
        variables: list[tuple[Node, Node, Node | None]] = []
        for pattern in patterns:
            bound = pattern.child_by_field_name("bound_identifier")
            if bound is not None:
                variables.append((pattern, bound, values[0] if values else None))
        if len(variables) == 1 and values and values[0].type == "lambda_literal":
            kind = SymbolKind.METHOD if self.in_type(found) else SymbolKind.FUNCTION
            name = variables[0][1]
            self.declare(found, node, found.text_of(name), name.start_byte, kind, values[0], inside=values)
            return

        def kind_of(text: str, words: frozenset[str]) -> SymbolKind:
            if self.in_type(found):
                return SymbolKind.FIELD
            return SymbolKind.CONSTANT if text.isupper() else SymbolKind.VARIABLE

        self.declare_variables(found, node, variables, kind_of)
        taken = {pattern.id for pattern in patterns}
        found.visit(child for child in node.named_children if child.id not in taken and child.type != "modifiers")

    def _pattern(self, found: Findings, node: "Node") -> None:
        bound = node.children_by_field_name("bound_identifier")
        self.bind_names(found, bound)
        taken = {child.id for child in bound}
        found.visit(child for child in node.named_children if child.id not in taken)

    def _parameter(self, found: Findings, node: "Node") -> None:
        rest: list[Node] = []
        for child in node.named_children:
            if child.type == "simple_identifier":
                found.scope.names.add(found.text_of(child))
            else:
                rest.append(child)
        found.visit(rest)

    def _conditional(self, found: Findings, node: "Node") -> None:
        bound = node.children_by_field_name("bound_identifier")
        taken = {child.id for child in bound}
        self.bind_names(found, bound)
        found.visit(child for child in node.named_children if child.id not in taken)

    def _for(self, found: Findings, node: "Node") -> None:
        item = node.child_by_field_name("item")
        if item is not None:
            self.bind_names(found, [item])
        found.visit(child for child in node.named_children if item is None or child.id != item.id)

    def _transfer(self, found: Findings, node: "Node") -> None:
        if node.children and node.children[0].type == "throw_keyword" and node.named_child_count > 1:
            thrown = node.named_children[1]
            if thrown.type == "call_expression":
                thrown = thrown.children[0]
            path, start, _ = self.path(found, thrown)
            if path and start >= 0 and not self.is_local(found, path):
                found.use(UseKind.RAISE, path, start)
        found.visit(node.children)

    def _catch(self, found: Findings, node: "Node") -> None:
        error = node.child_by_field_name("error")
        found.scope.names.add("error")
        if error is not None:
            self.types(found, error, UseKind.CATCH)
            stack = [error]
            while stack:
                inner = stack.pop()
                self.bind_names(found, inner.children_by_field_name("bound_identifier"))
                stack.extend(child for child in inner.named_children if child.type == "pattern")
        found.visit(child for child in node.named_children if error is None or child.id != error.id)

    def _assign(self, found: Findings, node: "Node") -> None:
        target = node.child_by_field_name("target")
        inner = target.named_children[0] if target is not None and target.named_children else target
        path, start, pending = self.path(found, inner)
        if inner is not None:
            self.add_write(found, path, max(start, inner.start_byte))
        found.visit([*pending, *(child for child in node.named_children if target is None or child.id != target.id)])

    def _constraints(self, found: Findings, node: "Node") -> None:
        self.types(found, node)


def _import(found: Findings, node: "Node") -> None:
    path = next((found.text_of(child) for child in node.named_children if child.type == "identifier"), "")
    kinds = {"struct", "class", "enum", "protocol", "func", "var", "let", "typealias"}
    if any(child.type in kinds for child in node.children):
        module, _, name = path.rpartition(".")
        found.imports.append(Import(module, name, line=found.line_at(node.start_byte)))
    elif path:
        found.imports.append(Import(path, "*", line=found.line_at(node.start_byte)))


def _entries(found: Findings, node: "Node") -> None:
    begin, doc = found.take_above(node.start_byte)
    head = format_signature(found, node.start_byte, node.end_byte)
    names = [name for name in node.children_by_field_name("name") if not name.is_missing]
    for number, name in enumerate(names):
        found.add(
            found.text_of(name),
            SymbolKind.MEMBER,
            node if len(names) == 1 else name,
            name.start_byte,
            start=begin if not number else name.start_byte,
            signature=head,
            doc=doc,
        )
    taken = {name.id for name in names}
    found.visit(child for child in node.named_children if child.id not in taken)


@cache
def _dialect() -> _Swift:
    return _Swift()


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    _dialect().read(tree, found)
