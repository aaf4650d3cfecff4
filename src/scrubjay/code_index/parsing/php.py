"""Reads PHP."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.dialect import Dialect, add_module, dotted_name, format_signature, ignore
from scrubjay.code_index.parsing.grammar_tables import DefinitionRule, GrammarTables, PathRole, PathRule
from scrubjay.code_index.parsing.nodes import Findings, Visitor

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_INCLUDES = ("require_expression", "require_once_expression", "include_expression", "include_once_expression")
_FUNCTIONS = ("anonymous_function", "arrow_function", "anonymous_function_creation_expression")


class _Php(Dialect):
    language = Language.PHP
    tables = GrammarTables(
        names=("name", "relative_scope", "variable_name"),
        type_names=("name", "qualified_name", "relative_scope"),
        type_nodes=("named_type",),
        links={
            "member_access_expression": PathRule(PathRole.MEMBER, "object", "name"),
            "nullsafe_member_access_expression": PathRule(PathRole.MEMBER, "object", "name"),
            "scoped_property_access_expression": PathRule(PathRole.MEMBER, "scope", "name"),
            "class_constant_access_expression": PathRule(PathRole.MEMBER),
            "member_call_expression": PathRule(PathRole.MEMBER_CALL, "object", "name"),
            "nullsafe_member_call_expression": PathRule(PathRole.MEMBER_CALL, "object", "name"),
            "scoped_call_expression": PathRule(PathRole.MEMBER_CALL, "scope", "name"),
            "function_call_expression": PathRule(PathRole.CALL, "function"),
            "subscript_expression": PathRule(PathRole.ENTRY),
            "qualified_name": PathRule(PathRole.QUALIFIED),
            "parenthesized_expression": PathRule(PathRole.INNER),
        },
        definitions={
            "class_declaration": DefinitionRule(SymbolKind.CLASS),
            "interface_declaration": DefinitionRule(SymbolKind.INTERFACE),
            "trait_declaration": DefinitionRule(SymbolKind.TRAIT),
            "enum_declaration": DefinitionRule(SymbolKind.ENUM),
            "enum_case": DefinitionRule(SymbolKind.MEMBER),
            "method_declaration": DefinitionRule(SymbolKind.METHOD),
            "function_definition": DefinitionRule(SymbolKind.FUNCTION),
        },
        heritage=("base_clause", "class_interface_clause"),
        arguments=("arguments",),
        modifiers=(
            "visibility_modifier",
            "static_modifier",
            "abstract_modifier",
            "final_modifier",
            "readonly_modifier",
            "attribute_list",
            "attribute_group",
        ),
        annotations=("attribute",),
        calls=(
            "member_call_expression",
            "nullsafe_member_call_expression",
            "scoped_call_expression",
            "function_call_expression",
        ),
        news={"object_creation_expression": ""},
        throws=("throw_expression", "throw_statement"),
        catches={"catch_clause": "type"},
        assignments={"augmented_assignment_expression": "left", "update_expression": "argument"},
    )

    def extra_visitors(self) -> Mapping[str, Visitor]:
        return {
            **dict.fromkeys(_INCLUDES, self._include),
            "variable_name": ignore,  # variables are local
            "namespace_definition": self._namespace,
            "namespace_use_declaration": _use,
            "use_declaration": self._trait,
            "const_declaration": self._constants,
            "property_declaration": self._properties,
            "property_promotion_parameter": self._promoted,
            "function_call_expression": self._called,
            "object_creation_expression": self._new,
            "assignment_expression": self._assign,
            "method_declaration": self._method,
            "attribute_list": ignore,
            "goto_statement": ignore,
            "named_label_statement": ignore,
        }

    def text(self, found: Findings, name: "Node") -> str:
        return super().text(found, name).lstrip("$")

    def _namespace(self, found: Findings, node: "Node") -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if body is None:
            add_module(found, node, name)
        elif name is None:
            found.visit([body])
        else:
            text, at = dotted_name(found, name)
            self.declare(found, node, text, at, SymbolKind.MODULE, body, inside=[body])

    def _trait(self, found: Findings, node: "Node") -> None:
        """Add the traits that a class uses to its bases."""
        named = [child for child in node.named_children if child.kind_id in self.type_names]
        taken = [name for child in named for name in self.types(found, child, UseKind.INHERIT)[0]]
        if found.container >= 0:
            symbol = found.symbols[found.container]
            found.symbols[found.container] = symbol._replace(bases=(*symbol.bases, *taken))

    def _constants(self, found: Findings, node: "Node") -> None:
        elements = [child for child in node.named_children if child.type == "const_element" and child.named_children]
        variables = [(each, each.named_children[0], each.named_children[-1]) for each in elements]
        self.declare_variables(found, node, variables, lambda _, words: SymbolKind.CONSTANT)
        found.visit(value for _, name, value in variables if value.id != name.id)

    def _properties(self, found: Findings, node: "Node") -> None:
        elements = [child for child in node.named_children if child.type == "property_element"]
        variables = [
            (each, name.named_children[0], each.child_by_field_name("default_value"))
            for each in elements
            if (name := each.child_by_field_name("name")) is not None and name.named_children
        ]
        self.declare_variables(found, node, variables, lambda _, words: SymbolKind.FIELD)
        types = node.children_by_field_name("type")
        found.visit([*types, *(value for _, _, value in variables if value is not None)])

    def _promoted(self, found: Findings, node: "Node") -> None:
        """Add a constructor parameter that is also a field."""
        name = node.child_by_field_name("name")
        if name is not None and found.text_of(name).strip("$"):
            visibility = node.child_by_field_name("visibility")
            found.add(
                found.text_of(name).lstrip("$"),
                SymbolKind.FIELD,
                node,
                name.start_byte,
                signature=format_signature(found, node.start_byte, node.end_byte),
                exported=visibility is None or found.text_of(visibility) != "private",
                container=found.symbols[found.container].container if found.container >= 0 else -1,
            )
        found.visit(child for child in node.named_children if name is None or child.id != name.id)

    def _method(self, found: Findings, node: "Node") -> None:
        name = node.child_by_field_name("name")
        if name is not None and found.text_of(name) == "__construct":
            body = node.child_by_field_name("body")
            self.declare(found, node, "__construct", name.start_byte, SymbolKind.CONSTRUCTOR, body, name)
        else:
            self.define(found, node)

    def _include(self, found: Findings, node: "Node") -> None:
        """Add an import; its path is the last string, since a directory before it is known only at run time."""
        stack = list(node.named_children)
        while stack:
            child = stack.pop()
            if child.type in ("string_content", "string_value"):
                path = found.text_of(child)
                line = found.line_at(node.start_byte)
                found.imports.append(Import(path.lstrip("/"), "*", line=line, container=found.container))
                break
            stack.extend(child.named_children)

    def _called(self, found: Findings, node: "Node") -> None:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is not None and found.text_of(function) == "define" and arguments and arguments.named_children:
            name = found.text_of(arguments.named_children[0]).strip("'\"")
            begin, doc = found.take_above(node.start_byte)
            head = format_signature(found, node.start_byte, node.end_byte)
            at = arguments.named_children[0].start_byte
            found.add(name, SymbolKind.CONSTANT, node, at, start=begin, signature=head, doc=doc)
        self.call(found, node)

    def _new(self, found: Findings, node: "Node") -> None:
        made = next((child for child in node.named_children if child.kind_id in self.type_names), None)
        if made is not None:
            self.types(found, made, UseKind.NEW)
        inside: list[Node] = []
        for child in node.named_children:
            for part in child.named_children if child.type == "anonymous_class" else [child]:
                if part.kind_id in self.heritage:
                    self.types(found, part, UseKind.INHERIT)
                elif made is None or part.id != made.id:
                    inside.append(part)
        found.visit(inside)

    def _assign(self, found: Findings, node: "Node") -> None:
        target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if target is None or value is None:
            found.visit(node.children)
        elif target.type == "variable_name":
            name = found.text_of(target).lstrip("$")
            if not name or found.scope.local or found.container >= 0 or name in found.scope.names:
                found.visit([value])
                return
            found.scope.names.add(name)
            begin, doc = found.take_above(node.start_byte)
            is_function = value.type in _FUNCTIONS
            kind = SymbolKind.FUNCTION if is_function else SymbolKind.VARIABLE
            body = value.child_by_field_name("body") if is_function else None
            end = body.start_byte if body else min(node.end_byte, node.start_byte + 120)
            head = format_signature(found, node.start_byte, end)
            place = found.add(name, kind, node, target.start_byte, start=begin, signature=head, doc=doc)
            if is_function:
                found.enter(place, [value], found.scope.within(local=True))
            else:
                found.visit([value])
        else:
            path, start, pending = self.path(found, target)
            if path:
                found.use(UseKind.WRITE, path, max(start, target.start_byte))
            found.visit([*pending, value])

    def is_local(self, found: Findings, path: str) -> bool:
        return False


def _use(found: Findings, node: "Node") -> None:
    line = found.line_at(node.start_byte)
    group = node.child_by_field_name("body")
    prefix = next((found.text_of(child) for child in node.named_children if child.type == "namespace_name"), "")
    for clause in (group or node).named_children:
        if clause.type not in ("namespace_use_clause", "namespace_use_group_clause") or not clause.named_children:
            continue
        alias = clause.child_by_field_name("alias")
        path = found.text_of(clause.named_children[0]).lstrip("\\")
        path = f"{prefix}\\{path}" if prefix and group is not None else path
        module, _, name = path.rpartition("\\")
        found.imports.append(Import(module, name, found.text_of(alias) if alias is not None else "", line))


@cache
def _dialect() -> _Php:
    return _Php()


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    _dialect().read(tree, found)
