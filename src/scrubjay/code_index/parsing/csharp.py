"""Reads C#."""

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.dialect import Dialect, add_module, dotted_name, ignore
from scrubjay.code_index.parsing.grammar_tables import DefinitionRule, GrammarTables, PathRole, PathRule
from scrubjay.code_index.parsing.nodes import Findings, Visitor

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_VISIBLE = frozenset({"public", "internal", "protected"})


class _CSharp(Dialect):
    language = Language.CSHARP
    tables = GrammarTables(
        names=("identifier",),
        type_names=("identifier", "qualified_name", "generic_name", "alias_qualified_name"),
        type_nodes=("type_argument_list",),
        type_arguments=("type_argument_list",),
        type_parameters=("type_parameter",),
        links={
            "member_access_expression": PathRule(PathRole.MEMBER, "expression", "name"),
            "conditional_access_expression": PathRule(PathRole.MEMBER, "condition"),
            "member_binding_expression": PathRule(PathRole.NAME, name="name"),
            "qualified_name": PathRule(PathRole.QUALIFIED),
            "alias_qualified_name": PathRule(PathRole.QUALIFIED),
            "generic_name": PathRule(PathRole.NAME),
            "invocation_expression": PathRule(PathRole.CALL, "function"),
            "element_access_expression": PathRule(PathRole.ENTRY, "expression"),
            "parenthesized_expression": PathRule(PathRole.INNER),
            "await_expression": PathRule(PathRole.INNER),
        },
        definitions={
            "class_declaration": DefinitionRule(SymbolKind.CLASS),
            "record_declaration": DefinitionRule(SymbolKind.CLASS),
            "struct_declaration": DefinitionRule(SymbolKind.STRUCT),
            "interface_declaration": DefinitionRule(SymbolKind.INTERFACE),
            "enum_declaration": DefinitionRule(SymbolKind.ENUM),
            "enum_member_declaration": DefinitionRule(SymbolKind.MEMBER),
            "delegate_declaration": DefinitionRule(SymbolKind.TYPE),
            "method_declaration": DefinitionRule(SymbolKind.METHOD),
            "local_function_statement": DefinitionRule(SymbolKind.FUNCTION),
            "constructor_declaration": DefinitionRule(SymbolKind.CONSTRUCTOR),
            "destructor_declaration": DefinitionRule(SymbolKind.METHOD),
            "operator_declaration": DefinitionRule(SymbolKind.METHOD, "", "operator"),
            "conversion_operator_declaration": DefinitionRule(SymbolKind.METHOD, "", "operator"),
            "indexer_declaration": DefinitionRule(SymbolKind.FIELD, "", "this"),
            "property_declaration": DefinitionRule(SymbolKind.FIELD),
            "event_declaration": DefinitionRule(SymbolKind.FIELD),
            "namespace_declaration": DefinitionRule(SymbolKind.MODULE),
        },
        bodies=("accessor_list", "arrow_expression_clause"),
        heritage=("base_list",),
        arguments=("argument_list",),
        modifiers=("modifier", "attribute_list"),
        annotations=("attribute",),
        binders={
            "parameter": ("name",),
            "variable_declarator": ("name",),
            "foreach_statement": ("left",),
            "declaration_pattern": ("name",),
            "declaration_expression": ("name",),
            "from_clause": ("name",),
            "let_clause": (),
        },
        calls=("invocation_expression",),
        news={"object_creation_expression": "type"},
        throws=("throw_statement", "throw_expression"),
        catches={"catch_declaration": "type"},
        assignments={"assignment_expression": "left", "postfix_unary_expression": ""},
        typed={
            "parameter": ("type",),
            "variable_declaration": ("type",),
            "method_declaration": ("returns",),
            "local_function_statement": ("type",),
            "property_declaration": ("type",),
            "event_declaration": ("type",),
            "indexer_declaration": ("type",),
            "delegate_declaration": ("type",),
            "operator_declaration": ("type",),
            "conversion_operator_declaration": ("type",),
            "cast_expression": ("type",),
            "as_expression": ("right",),
            "is_expression": ("right",),
            "typeof_expression": ("type",),
            "default_expression": ("type",),
            "declaration_pattern": ("type",),
            "recursive_pattern": ("type",),
            "declaration_expression": ("type",),
            "foreach_statement": ("type",),
            "type_parameter_constraint": ("type",),
            "tuple_element": ("type",),
            "array_creation_expression": ("type",),
            "from_clause": ("type",),
        },
    )

    def extra_visitors(self) -> Mapping[str, Visitor]:
        return {
            "using_directive": _using,
            "file_scoped_namespace_declaration": _namespace,
            "field_declaration": self._fields,
            "event_field_declaration": self._fields,
            "record_declaration": self._record,
            "implicit_parameter": _bind,
            "constructor_initializer": _initializer,
            "type_parameter_constraints_clause": _constraints,
            "attribute_list": ignore,
            "goto_statement": ignore,
        }

    def defined_name(self, found: Findings, name: "Node") -> tuple[str, int]:
        text, at = super().defined_name(found, name)
        return ("~" + text if found.content[name.start_byte - 1 : name.start_byte] == b"~" else text), at

    def is_exported(self, found: Findings, name: str, words: frozenset[str]) -> bool:
        if found.container < 0 or found.symbols[found.container].kind not in (SymbolKind.CLASS, SymbolKind.STRUCT):
            return "private" not in words
        return bool(words & _VISIBLE)

    def clean_doc(self, doc: str) -> str:
        return " ".join(_TAG.sub(" ", doc).split()) if "<" in doc else doc

    def _fields(self, found: Findings, node: "Node") -> None:
        declaration = next((child for child in node.named_children if child.type == "variable_declaration"), None)
        if declaration is None:
            return
        declarators = [child for child in declaration.named_children if child.type == "variable_declarator"]
        variables = [
            (each, name, each.named_children[1] if each.named_child_count > 1 else None)
            for each in declarators
            if (name := each.child_by_field_name("name")) is not None
        ]

        def kind_of(_: str, words: frozenset[str]) -> SymbolKind:
            return SymbolKind.CONSTANT if "const" in words or {"static", "readonly"} <= words else SymbolKind.FIELD

        self.declare_variables(found, node, variables, kind_of)
        self.without_types(found, declaration, ("type",))
        found.visit(value for _, _, value in variables if value is not None)

    def _record(self, found: Findings, node: "Node") -> None:
        place = len(found.symbols)
        self.define(found, node)
        parameters = next((child for child in node.named_children if child.type == "parameter_list"), None)
        for parameter in parameters.named_children if parameters is not None else ():
            name = parameter.child_by_field_name("name")
            if name is not None and found.text_of(name):
                head = found.signature(parameter.start_byte, parameter.end_byte)
                text = found.text_of(name)
                found.add(text, SymbolKind.FIELD, parameter, name.start_byte, signature=head, container=place)


def _using(found: Findings, node: "Node") -> None:
    named = node.named_children
    if not named:
        return
    alias = node.child_by_field_name("name")
    path, _ = dotted_name(found, named[-1])
    line = found.line_at(node.start_byte)
    exported = any(child.type == "global" for child in node.children)
    if alias is not None:
        module, _, name = path.rpartition(".")
        found.imports.append(Import(module, name, found.text_of(alias), line, found.container, exported))
    else:
        found.imports.append(Import(path, "*", "", line, found.container, exported))


def _namespace(found: Findings, node: "Node") -> None:
    add_module(found, node, node.child_by_field_name("name"))


def _bind(found: Findings, node: "Node") -> None:
    found.scope.names.add(found.text_of(node))


def _initializer(found: Findings, node: "Node") -> None:
    for child in node.children:
        if child.type in ("base", "this"):
            found.use(UseKind.CALL, child.type, child.start_byte)
    found.visit(node.named_children)


def _constraints(found: Findings, node: "Node") -> None:
    found.visit(node.named_children[1:])


@cache
def _dialect() -> _CSharp:
    return _CSharp()


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    _dialect().read(tree, found)
