"""Reads Kotlin."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.dialect import Dialect, add_module, dotted_name, ignore, read_class_parameter
from scrubjay.code_index.parsing.grammar_tables import DefinitionRule, GrammarTables, PathRole, PathRule
from scrubjay.code_index.parsing.nodes import Findings, Visitor

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

# The grammar parses these words as names.
_LITERALS = frozenset({"null", "it", "field"})


class _Kotlin(Dialect):
    language = Language.KOTLIN
    tables = GrammarTables(
        comments=("line_comment", "block_comment"),
        ignored=("label",),
        names=("identifier", "this_expression", "super_expression"),
        type_names=("user_type",),
        type_nodes=("user_type",),
        type_arguments=("type_arguments",),
        type_parameters=("type_parameter",),
        links={
            "navigation_expression": PathRule(PathRole.MEMBER),
            "call_expression": PathRule(PathRole.CALL),
            "index_expression": PathRule(PathRole.ENTRY),
            "parenthesized_expression": PathRule(PathRole.INNER),
            "unary_expression": PathRule(PathRole.INNER),
        },
        definitions={
            "class_declaration": DefinitionRule(SymbolKind.CLASS),
            "object_declaration": DefinitionRule(SymbolKind.CLASS),
            "companion_object": DefinitionRule(SymbolKind.CLASS, fixed_name="Companion"),
            "function_declaration": DefinitionRule(SymbolKind.FUNCTION),
            "secondary_constructor": DefinitionRule(SymbolKind.CONSTRUCTOR, fixed_name="constructor"),
            "type_alias": DefinitionRule(SymbolKind.TYPE, name="type"),
        },
        bodies=("class_body", "enum_class_body", "function_body", "block"),
        heritage=("delegation_specifiers",),
        arguments=("value_arguments", "call_expression", "navigation_expression"),
        modifiers=("modifiers", "visibility_modifier", "class_modifier", "member_modifier", "function_modifier",
                   "property_modifier", "inheritance_modifier", "parameter_modifier", "platform_modifier"),
        annotations=("annotation",),
        binders={"parameter": (), "catch_block": (), "lambda_parameters": ()},
        calls=("call_expression",),
        throws=("throw_expression",),
        assignments={"assignment": "left"},
    )  # fmt: skip

    def extra_visitors(self) -> Mapping[str, Visitor]:
        return {
            "package_header": _package,
            "import": _import,
            "enum_entry": self._entry,
            "class_parameter": self._class_parameter,
            "property_declaration": self._property,
            "variable_declaration": self._variable,
            "function_declaration": self._function,
            "catch_block": self._catch,
            "constructor_delegation_call": _delegate,
            "identifier": self._identifier,
            "modifiers": ignore,
            "file_annotation": ignore,
            "value_argument": _argument,
        }

    def kind_of(self, found: Findings, node: "Node", kind: SymbolKind, body: "Node | None") -> SymbolKind:
        if node.type == "class_declaration":
            words = self.head(found, node).words
            if "interface" in words:
                return SymbolKind.INTERFACE
            return SymbolKind.ENUM if "enum" in words else kind
        return super().kind_of(found, node, kind, body)

    def _function(self, found: Findings, node: "Node") -> None:
        name = node.child_by_field_name("name")
        receiver = next((child for child in node.named_children if child.type == "user_type"), None)
        if name is None or receiver is None or receiver.start_byte > name.start_byte:
            self.define(found, node)
            return
        if not name.is_missing:
            body = self.body_of(node)
            kind = self.kind_of(found, node, SymbolKind.FUNCTION, body)
            owner = dotted_name(found, receiver)[0]
            self.declare(found, node, found.text_of(name), name.start_byte, kind, body, name, owner=owner)
            return
        # Sometimes the grammar parses the name of `fun String.shout()` as a part of the type.
        if not receiver.named_children:
            found.visit(node.children)
            return
        last = receiver.named_children[-1]
        body = self.body_of(node)
        kind = self.kind_of(found, node, SymbolKind.FUNCTION, body)
        inside = [child for child in node.children if child.id not in (receiver.id, name.id)]
        owner = dotted_name(found, receiver)[0].rpartition(".")[0]
        self.declare(found, node, found.text_of(last), last.start_byte, kind, body, inside=inside, owner=owner)

    def _entry(self, found: Findings, node: "Node") -> None:
        name = next((child for child in node.named_children if child.type == "identifier"), None)
        if name is not None:
            self.declare(found, node, found.text_of(name), name.start_byte, SymbolKind.MEMBER, self.body_of(node), name)

    def _class_parameter(self, found: Findings, node: "Node") -> None:
        """Add a field if the parameter has `val` or `var`."""
        name = next((child for child in node.named_children if child.type == "identifier"), None)
        is_field = any(child.type in ("val", "var") for child in node.children)
        read_class_parameter(self, found, node, name, is_field=is_field)

    def _property(self, found: Findings, node: "Node") -> None:
        variable = next((child for child in node.named_children if child.type == "variable_declaration"), None)
        name = variable.named_children[0] if variable is not None and variable.named_children else None
        if found.scope.local or variable is None or name is None:
            found.visit(node.children)
            return
        text = found.text_of(name)
        at = node.children.index(variable)
        rest = [child for child in node.children[at + 1 :] if child.is_named]
        value = rest[0] if rest and rest[0].type not in ("getter", "setter") else None
        if value is not None and value.type == "lambda_literal":
            kind = SymbolKind.METHOD if self.in_type(found) else SymbolKind.FUNCTION
            self.declare(found, node, text, name.start_byte, kind, value, inside=[*variable.named_children[1:], *rest])
            return
        types = variable.named_children[1:]

        def kind_of(_: str, words: frozenset[str]) -> SymbolKind:
            if "const" in words:
                return SymbolKind.CONSTANT
            return SymbolKind.FIELD if self.in_type(found) else SymbolKind.VARIABLE

        self.declare_variables(found, node, [(node, name, value)], kind_of)
        found.visit([*types, *rest])

    def _variable(self, found: Findings, node: "Node") -> None:
        if node.named_children:
            found.scope.names.add(found.text_of(node.named_children[0]))
            found.visit(node.named_children[1:])

    def _catch(self, found: Findings, node: "Node") -> None:
        rest: list[Node] = []
        for child in node.named_children:
            if child.type == "user_type":
                self.types(found, child, UseKind.CATCH)
            elif child.type == "identifier":
                found.scope.names.add(found.text_of(child))
            else:
                rest.append(child)
        found.visit(rest)

    def _identifier(self, found: Findings, node: "Node") -> None:
        if found.text_of(node) not in _LITERALS:
            self.read_name(found, node)


def _package(found: Findings, node: "Node") -> None:
    add_module(found, node, next(iter(node.named_children), None))


def _import(found: Findings, node: "Node") -> None:
    named = node.named_children
    if not named:
        return
    path, _ = dotted_name(found, named[0])
    line = found.line_at(node.start_byte)
    if any(child.type == "*" for child in node.children):
        found.imports.append(Import(path, "*", line=line))
    else:
        module, _, name = path.rpartition(".")
        found.imports.append(Import(module, name, found.text_of(named[1]) if len(named) > 1 else "", line))


def _delegate(found: Findings, node: "Node") -> None:
    if node.children:
        found.use(UseKind.CALL, found.text_of(node.children[0]), node.start_byte)
    found.visit(node.children[1:])


def _argument(found: Findings, node: "Node") -> None:
    """Visit an argument without the name of its parameter."""
    named = node.named_children
    found.visit(named[-1:] if any(child.type == "=" for child in node.children) else named)


@cache
def _dialect() -> _Kotlin:
    return _Kotlin()


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    _dialect().read(tree, found)
