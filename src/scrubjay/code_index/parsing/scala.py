"""Reads Scala."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.dialect import Dialect, add_module, dotted_name, read_class_parameter
from scrubjay.code_index.parsing.grammar_tables import DefinitionRule, GrammarTables, PathRole, PathRule
from scrubjay.code_index.parsing.nodes import Findings, Visitor

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_TYPE = ("type_identifier", "stable_type_identifier", "generic_type", "singleton_type")


class _Scala(Dialect):
    language = Language.SCALA
    tables = GrammarTables(
        comments=("comment", "block_comment"),
        ignored=("namespace_wildcard",),
        names=("identifier",),
        type_names=("type_identifier", "stable_type_identifier"),
        type_nodes=_TYPE,
        type_arguments=("type_arguments",),
        links={
            "field_expression": PathRule(PathRole.MEMBER, "value", "field"),
            "call_expression": PathRule(PathRole.CALL, "function"),
            "generic_function": PathRule(PathRole.NAME, name="function"),
            "stable_identifier": PathRule(PathRole.QUALIFIED),
            "parenthesized_expression": PathRule(PathRole.INNER),
        },
        definitions={
            "class_definition": DefinitionRule(SymbolKind.CLASS),
            "object_definition": DefinitionRule(SymbolKind.CLASS),
            "package_object": DefinitionRule(SymbolKind.MODULE),
            "trait_definition": DefinitionRule(SymbolKind.TRAIT),
            "enum_definition": DefinitionRule(SymbolKind.ENUM),
            "simple_enum_case": DefinitionRule(SymbolKind.MEMBER),
            "full_enum_case": DefinitionRule(SymbolKind.MEMBER),
            "function_definition": DefinitionRule(SymbolKind.FUNCTION),
            "function_declaration": DefinitionRule(SymbolKind.FUNCTION),
            "type_definition": DefinitionRule(SymbolKind.TYPE),
            "given_definition": DefinitionRule(SymbolKind.VARIABLE),
        },
        heritage=("extends_clause", "derives_clause"),
        arguments=("arguments",),
        modifiers=("modifiers", "access_modifier"),
        annotations=("annotation",),
        binders={"parameter": ("name",), "binding": ("name",), "typed_pattern": ("pattern",), "enumerator": ()},
        calls=("call_expression",),
        news={"instance_expression": ""},
        throws=("throw_expression",),
        assignments={"assignment_expression": "left"},
    )

    def extra_visitors(self) -> Mapping[str, Visitor]:
        return {
            "package_clause": self._package,
            "import_declaration": _import,
            "export_declaration": _import,
            "class_parameter": self._class_parameter,
            "type_parameters": self._type_parameters,
            "infix_expression": self._infix,
            "catch_clause": self._catch,
            "lambda_expression": self._lambda,
            **dict.fromkeys(("val_definition", "var_definition", "val_declaration", "var_declaration"), self._variable),
        }

    def kind_of(self, found: Findings, node: "Node", kind: SymbolKind, body: "Node | None") -> SymbolKind:
        name = node.child_by_field_name("name")
        if kind is SymbolKind.FUNCTION and name is not None and found.text_of(name) == "this":
            return SymbolKind.CONSTRUCTOR
        return super().kind_of(found, node, kind, body)

    def _package(self, found: Findings, node: "Node") -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if body is None or name is None:
            add_module(found, node, name)
        else:
            text, at = dotted_name(found, name)
            self.declare(found, node, text, at, SymbolKind.MODULE, body, inside=[body])

    def bind_types(self, found: Findings, node: "Node") -> None:
        if node.type == "type_parameters":
            self.bind_names(found, node.children_by_field_name("name"))

    def _type_parameters(self, found: Findings, node: "Node") -> None:
        names = node.children_by_field_name("name")
        self.bind_names(found, names)
        taken = {name.id for name in names}
        found.visit(child for child in node.named_children if child.id not in taken)

    def _class_parameter(self, found: Findings, node: "Node") -> None:
        """Add a field if the parameter has `val` or `var`, or belongs to a case class."""
        owner = found.symbols[found.container] if found.container >= 0 else None
        is_field = any(child.type in ("val", "var") for child in node.children)
        is_field = is_field or (owner is not None and "case class" in owner.signature)
        read_class_parameter(self, found, node, node.child_by_field_name("name"), is_field=is_field)

    def _variable(self, found: Findings, node: "Node") -> None:
        pattern = node.child_by_field_name("pattern") or node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if pattern is None or found.scope.local or pattern.type != "identifier":
            if pattern is not None:
                self.bind_names(found, [pattern])
            found.visit(child for child in node.named_children if pattern is None or child.id != pattern.id)
            return
        if value is not None and value.type == "lambda_expression":
            kind = SymbolKind.METHOD if self.in_type(found) else SymbolKind.FUNCTION
            types = node.children_by_field_name("type")
            name = found.text_of(pattern)
            self.declare(found, node, name, pattern.start_byte, kind, value, inside=[*types, value])
            return

        def kind_of(text: str, words: frozenset[str]) -> SymbolKind:
            if "val" in words and text[:1].isupper():
                return SymbolKind.CONSTANT
            return SymbolKind.FIELD if self.in_type(found) else SymbolKind.VARIABLE

        self.declare_variables(found, node, [(node, pattern, value)], kind_of)
        found.visit([*node.children_by_field_name("type"), *([value] if value is not None else [])])

    def _infix(self, found: Findings, node: "Node") -> None:
        left, operator = node.child_by_field_name("left"), node.child_by_field_name("operator")
        if left is None or operator is None or operator.type != "identifier":
            found.visit(child for child in node.named_children if operator is None or child.id != operator.id)
            return
        path, _, pending = self.path(found, left)
        found.use(UseKind.CALL, f"{path}.{found.text_of(operator)}", operator.start_byte)
        if path and not pending and not self.is_local(found, path):
            pending = [left]
        found.visit([*pending, *node.children_by_field_name("right")])

    def _catch(self, found: Findings, node: "Node") -> None:
        rest: list[Node] = []
        stack = list(reversed(node.named_children))
        while stack:
            child = stack.pop()
            if child.type in ("case_block", "indented_cases"):
                stack.extend(reversed(child.named_children))
            elif child.type == "case_clause":
                pattern = child.child_by_field_name("pattern")
                if pattern is not None:
                    self.types(found, pattern, UseKind.CATCH)
                    self.bind_names(found, pattern.children_by_field_name("pattern"))
                rest += [each for each in child.named_children if pattern is None or each.id != pattern.id]
            else:
                rest.append(child)
        found.visit(rest)

    def _lambda(self, found: Findings, node: "Node") -> None:
        parameters = node.child_by_field_name("parameters")
        if parameters is not None and parameters.type == "identifier":
            found.scope.names.add(found.text_of(parameters))
            found.visit(child for child in node.named_children if child.id != parameters.id)
        else:
            found.visit(node.children)


def _import(found: Findings, node: "Node") -> None:
    path = ".".join(found.text_of(child) for child in node.children_by_field_name("path") if child.is_named)
    line = found.line_at(node.start_byte)
    place = found.container
    exported = node.type == "export_declaration"
    for child in node.named_children:
        if child.type == "namespace_wildcard":
            found.imports.append(Import(path, "*", "", line, place, exported))
            return
        if child.type == "namespace_selectors":
            for each in child.named_children:
                if each.type == "namespace_wildcard":
                    found.imports.append(Import(path, "*", "", line, place, exported))
                elif each.type == "identifier":
                    found.imports.append(Import(path, found.text_of(each), "", line, place, exported))
                else:
                    name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
                    if name is not None:
                        renamed = found.text_of(alias) if alias is not None else ""
                        found.imports.append(Import(path, found.text_of(name), renamed, line, place, exported))
            return
    module, _, name = path.rpartition(".")
    if path:
        found.imports.append(Import(module, name, "", line, place, exported))


@cache
def _dialect() -> _Scala:
    return _Scala()


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    _dialect().read(tree, found)
