"""Reads Java."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.dialect import (
    Dialect,
    add_module,
    dotted_name,
    format_signature,
    ignore,
    visit_after_first,
)
from scrubjay.code_index.parsing.grammar_tables import DefinitionRule, GrammarTables, PathRole, PathRule
from scrubjay.code_index.parsing.nodes import Findings, Visitor

if TYPE_CHECKING:
    from tree_sitter import Node, Tree


class _Java(Dialect):
    language = Language.JAVA
    tables = GrammarTables(
        comments=("line_comment", "block_comment"),
        names=("identifier", "this", "super"),
        type_names=("type_identifier", "scoped_type_identifier"),
        type_nodes=("type_identifier", "scoped_type_identifier", "generic_type", "array_type", "annotated_type"),
        type_arguments=("type_arguments",),
        type_parameters=("type_parameter",),
        links={
            "field_access": PathRule(PathRole.MEMBER, "object", "field"),
            "array_access": PathRule(PathRole.ENTRY, "array"),
            "method_invocation": PathRule(PathRole.MEMBER_CALL, "object", "name"),
            "parenthesized_expression": PathRule(PathRole.INNER),
            "method_reference": PathRule(PathRole.MEMBER),
        },
        definitions={
            "class_declaration": DefinitionRule(SymbolKind.CLASS),
            "record_declaration": DefinitionRule(SymbolKind.CLASS),
            "interface_declaration": DefinitionRule(SymbolKind.INTERFACE),
            "annotation_type_declaration": DefinitionRule(SymbolKind.INTERFACE),
            "enum_declaration": DefinitionRule(SymbolKind.ENUM),
            "enum_constant": DefinitionRule(SymbolKind.MEMBER),
            "method_declaration": DefinitionRule(SymbolKind.METHOD),
            "annotation_type_element_declaration": DefinitionRule(SymbolKind.METHOD),
            "constructor_declaration": DefinitionRule(SymbolKind.CONSTRUCTOR),
            "compact_constructor_declaration": DefinitionRule(SymbolKind.CONSTRUCTOR),
        },
        heritage=("superclass", "super_interfaces", "extends_interfaces"),
        modifiers=("modifiers",),
        annotations=("annotation", "marker_annotation"),
        binders={
            "formal_parameter": ("name",),
            "spread_parameter": (),
            "catch_formal_parameter": ("name",),
            "variable_declarator": ("name",),
            "inferred_parameters": (),
            "enhanced_for_statement": ("name",),
            "instanceof_expression": ("name",),
            "type_pattern": (),
            "resource": ("name",),
        },
        calls=("method_invocation",),
        news={"object_creation_expression": "type"},
        throws=("throw_statement",),
        catches={"catch_type": ""},
        assignments={"assignment_expression": "left", "update_expression": ""},
    )

    def extra_visitors(self) -> Mapping[str, Visitor]:
        return {
            "package_declaration": _package,
            "import_declaration": _import,
            "field_declaration": self._fields,
            "constant_declaration": self._fields,
            "record_declaration": self._record,
            "lambda_expression": self._lambda,
            "explicit_constructor_invocation": self._constructor,
            "labeled_statement": visit_after_first,
            "break_statement": ignore,
            "continue_statement": ignore,
            "element_value_pair": visit_after_first,
        }

    def _fields(self, found: Findings, node: "Node") -> None:
        declarators = node.children_by_field_name("declarator")
        variables = [
            (each, name, each.child_by_field_name("value"))
            for each in declarators
            if (name := each.child_by_field_name("name")) is not None
        ]
        always = node.type == "constant_declaration"

        def kind_of(_: str, words: frozenset[str]) -> SymbolKind:
            return SymbolKind.CONSTANT if always or {"static", "final"} <= words else SymbolKind.FIELD

        self.declare_variables(found, node, variables, kind_of)
        types = node.children_by_field_name("type")
        found.visit([*types, *(value for _, _, value in variables if value is not None)])

    def _record(self, found: Findings, node: "Node") -> None:
        self.define(found, node)
        parameters = node.child_by_field_name("parameters")
        place = len(found.symbols) - 1
        for parameter in parameters.named_children if parameters else ():
            name = parameter.child_by_field_name("name")
            if name is not None and not name.is_missing:
                found.add(
                    found.text_of(name),
                    SymbolKind.FIELD,
                    parameter,
                    name.start_byte,
                    signature=format_signature(found, parameter.start_byte, parameter.end_byte),
                    container=place,
                )

    def _lambda(self, found: Findings, node: "Node") -> None:
        parameters = node.child_by_field_name("parameters")
        if parameters is not None and parameters.type == "identifier":
            found.scope.names.add(found.text_of(parameters))
            found.visit(node.children[1:])
        else:
            found.visit(node.children)

    def _constructor(self, found: Findings, node: "Node") -> None:
        called = node.child_by_field_name("constructor")
        if called is not None:
            found.use(UseKind.CALL, found.text_of(called), called.start_byte)
        found.visit(node.children_by_field_name("arguments"))


def _package(found: Findings, node: "Node") -> None:
    add_module(found, node, next(reversed(node.named_children), None))


def _import(found: Findings, node: "Node") -> None:
    named = node.named_children
    if not named:
        return
    path, _ = dotted_name(found, named[0])
    line = found.line_at(node.start_byte)
    if any(child.type == "asterisk" for child in named):
        found.imports.append(Import(path, "*", line=line))
    else:
        module, _, name = path.rpartition(".")
        found.imports.append(Import(module, name, line=line))


@cache
def _java() -> _Java:
    return _Java()


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    _java().read(tree, found)
