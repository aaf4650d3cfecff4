"""Reads C and C++."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.dialect import Dialect, LocalScope, dotted_name, format_signature, ignore
from scrubjay.code_index.parsing.grammar_tables import GrammarTables, PathRole, PathRule
from scrubjay.code_index.parsing.nodes import MAX_CHAIN_LENGTH, Findings, Visitor

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_KINDS = {
    "class_specifier": SymbolKind.CLASS,
    "struct_specifier": SymbolKind.STRUCT,
    "union_specifier": SymbolKind.STRUCT,
    "enum_specifier": SymbolKind.ENUM,
}
_NAMES = frozenset(
    {
        "identifier",
        "field_identifier",
        "type_identifier",
        "qualified_identifier",
        "destructor_name",
        "operator_name",
        "operator_cast",
        "template_function",
    }
)
_CASTS = frozenset({"static_cast", "dynamic_cast", "reinterpret_cast", "const_cast"})
_GUARDS = ("_H", "_H_", "_H__", "_HPP", "_HPP_", "_HH", "_INCLUDED")


class _C(Dialect):
    tables = GrammarTables(
        names=("identifier", "this"),
        type_names=("type_identifier", "qualified_identifier", "template_type"),
        type_nodes=("type_identifier", "template_type", "template_argument_list", "dependent_type"),
        type_arguments=("template_argument_list",),
        type_parameters=("type_parameter_declaration", "optional_type_parameter_declaration"),
        links={
            "field_expression": PathRule(PathRole.MEMBER, "argument", "field"),
            "template_method": PathRule(PathRole.NAME, name="name"),
            "template_function": PathRule(PathRole.NAME, name="name"),
            "qualified_identifier": PathRule(PathRole.QUALIFIED),
            "call_expression": PathRule(PathRole.CALL, "function"),
            "subscript_expression": PathRule(PathRole.ENTRY, "argument"),
            "parenthesized_expression": PathRule(PathRole.INNER),
            "pointer_expression": PathRule(PathRole.INNER, "argument"),
        },
        heritage=("base_class_clause",),
        modifiers=("storage_class_specifier", "type_qualifier", "access_specifier"),
        annotations=("attribute_declaration", "attribute_specifier"),
        calls=("call_expression",),
        news={"new_expression": "type"},
        throws=("throw_statement",),
        assignments={"assignment_expression": "left", "update_expression": "argument"},
    )

    def extra_visitors(self) -> Mapping[str, Visitor]:
        return {
            **dict.fromkeys(_KINDS, self._specifier),
            "enumerator": self._enumerator,
            "function_definition": self._function,
            "declaration": self._declaration,
            "field_declaration": self._declaration,
            "type_definition": self._typedef,
            "alias_declaration": self._alias,
            "concept_definition": self._alias,
            "namespace_definition": self._namespace,
            "namespace_alias_definition": ignore,
            "template_declaration": self._template,
            "using_declaration": _using,
            "access_specifier": _access,
            "parameter_declaration": self._parameter,
            "optional_parameter_declaration": self._parameter,
            "for_range_loop": self._parameter,
            "condition_declaration": self._parameter,
            "catch_clause": self._catch,
            "qualified_identifier": self._qualified,
            "call_expression": self._call,
            "field_initializer": _initializer,
            "field_designator": ignore,
            "lambda_capture_specifier": ignore,
            "labeled_statement": _after_label,
            "goto_statement": ignore,
            "preproc_include": _include,
            "preproc_def": _macro,
            "preproc_function_def": _macro,
            "preproc_ifdef": _conditional,
            "preproc_if": _conditional,
            "preproc_elif": _conditional,
            "attribute_specifier": ignore,
            "attribute_declaration": ignore,
        }

    # Types

    def _specifier(self, found: Findings, node: "Node") -> None:
        self._type(found, node, None, None)

    def _type(self, found: Findings, node: "Node", start: int | None, called: "Node | None") -> None:
        """Read a class, struct, union or enum: a definition if it has a body, otherwise a use."""
        name = node.child_by_field_name("name") or called
        body = node.child_by_field_name("body")
        if body is None:
            if name is not None:
                self.read_type(found, name)
        elif name is None:
            found.visit(body.children)
        else:
            text = dotted_name(found, name)[0].rpartition(".")[2]
            kind = _KINDS[node.type]
            self.declare(found, node, text, name.start_byte, kind, body, name, start)
            if node.type == "class_specifier":
                inside: LocalScope = found.stack[-1].scope  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
                inside.hidden = True

    def _enumerator(self, found: Findings, node: "Node") -> None:
        name = node.child_by_field_name("name")
        if name is not None and not name.is_missing:
            begin, doc = found.take_above(node.start_byte)
            head = format_signature(found, node.start_byte, node.end_byte)
            found.add(
                found.text_of(name), SymbolKind.MEMBER, node, name.start_byte, start=begin, signature=head, doc=doc
            )
        found.visit(node.children_by_field_name("value"))

    def _typedef(self, found: Findings, node: "Node") -> None:
        names = [
            name
            for each in node.children_by_field_name("declarator")
            if (name := _name_in(each)) is not None and not name.is_missing
        ]
        type_ = node.child_by_field_name("type")
        if type_ is not None and type_.type in _KINDS and type_.child_by_field_name("body") is not None:
            own = type_.child_by_field_name("name")
            place = len(found.symbols)
            self._type(found, type_, node.start_byte, names[0] if names else None)
            if place < len(found.symbols):  # it ends with the statement, after its name
                symbol = found.symbols[place]
                found.symbols[place] = symbol._replace(span=found.span(symbol.span.start, node.end_byte))
            if own is None or (names and found.text_of(own) == found.text_of(names[0])):
                names = names[1:]
        elif type_ is not None:
            found.visit([type_])
        if names:
            begin, doc = found.take_above(node.start_byte)
            head = format_signature(found, node.start_byte, node.end_byte)
            for name in names:
                text = found.text_of(name)
                found.add(text, SymbolKind.TYPE, node, name.start_byte, start=begin, signature=head, doc=doc)

    def _alias(self, found: Findings, node: "Node") -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.declare(found, node, found.text_of(name), name.start_byte, SymbolKind.TYPE, None, name)

    def _namespace(self, found: Findings, node: "Node") -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            found.visit([body] if body is not None else [])
        else:
            text, at = dotted_name(found, name)
            self.declare(found, node, text, at, SymbolKind.MODULE, body, inside=[body])

    def _template(self, found: Findings, node: "Node") -> None:
        """Read a template. It starts before the definition it parameterizes, and its parameters are local there."""
        scope: LocalScope = found.scope
        outer = set(scope.names)
        start, inner = node.start_byte, node
        while inner.type == "template_declaration" and inner.named_children:
            parameters = inner.child_by_field_name("parameters")
            for parameter in parameters.named_children if parameters else ():
                bound = _name_in(parameter) or next(reversed(parameter.named_children), None)
                if bound is not None:
                    scope.names.add(found.text_of(bound))
            inner = inner.named_children[-1]
        if inner.type in _KINDS:
            self._type(found, inner, start, None)
        elif inner.type == "function_definition":
            self._define_function(found, inner, start)
        else:
            found.visit([inner])
            return
        scope.names = outer

    # Functions and variables

    def _function(self, found: Findings, node: "Node") -> None:
        self._define_function(found, node, None)

    def _define_function(self, found: Findings, node: "Node", start: int | None) -> None:
        declarator = node.child_by_field_name("declarator")
        function = _function_in(declarator)
        name = _name_in(declarator)
        if name is None:
            found.visit(node.children)
            return
        text, at = _bare_name(found, name)
        owner = dotted_name(found, name)[0].rpartition(".")[0] if name.type == "qualified_identifier" else ""
        body = node.child_by_field_name("body")
        inside: list[Node] = []
        for child in node.children:
            if declarator is None or child.id != declarator.id:
                inside.append(child)
            elif function is not None:
                inside += function.children[1:]
        kind = SymbolKind.METHOD if owner or self.in_type(found) else SymbolKind.FUNCTION
        made = owner.rpartition(".")[2] or (found.symbols[found.container].name if self.in_type(found) else "")
        if text == made:
            kind = SymbolKind.CONSTRUCTOR
        self.declare(found, node, text, at, kind, body, start=start, inside=inside, owner=owner)

    def _declaration(self, found: Findings, node: "Node") -> None:
        declarators = node.children_by_field_name("declarator")
        taken = {each.id for each in declarators}
        rest = [child for child in node.children if child.id not in taken]
        if found.scope.local:
            self._bind(found, declarators)
            found.visit([*rest, *(part for each in declarators for part in _values(each))])
            return
        head = self.head(found, node)
        begin, doc = found.take_above(node.start_byte)
        values: list[Node] = []
        for number, declarator in enumerate(declarators):
            name = _name_in(declarator)
            values += _values(declarator)
            if name is None:
                continue
            text, at = _bare_name(found, name)
            if not text:
                continue
            found.add(
                text,
                self._kind_of_declared(found, declarator, head.words),
                node if len(declarators) == 1 else declarator,
                at,
                start=begin if not number else declarator.start_byte,
                signature=format_signature(found, head.start, _head_end(node, declarator)),
                doc=doc,
                exported=self.is_exported(found, text, head.words),
            )
        found.visit([*rest, *values])

    def _kind_of_declared(self, found: Findings, declarator: "Node", words: frozenset[str]) -> SymbolKind:
        function = _function_in(declarator)
        if function is not None and not _is_pointer(function):
            return SymbolKind.SIGNATURE
        if words & {"const", "constexpr"} and (not self.in_type(found) or "static" in words):
            return SymbolKind.CONSTANT
        return SymbolKind.FIELD if self.in_type(found) else SymbolKind.VARIABLE

    def _parameter(self, found: Findings, node: "Node") -> None:
        declarators = node.children_by_field_name("declarator")
        self._bind(found, declarators)
        taken = {each.id for each in declarators}
        values = [part for each in declarators for part in _values(each)]
        found.visit([*(child for child in node.children if child.id not in taken), *values])

    def _bind(self, found: Findings, declarators: Sequence["Node"]) -> None:
        for declarator in declarators:
            if (name := _name_in(declarator)) is not None:
                found.scope.names.add(found.text_of(name))

    def is_exported(self, found: Findings, name: str, words: frozenset[str]) -> bool:
        return not found.scope.hidden and (self.in_type(found) or "static" not in words)

    # Uses

    def _catch(self, found: Findings, node: "Node") -> None:
        parameters = node.child_by_field_name("parameters")
        for parameter in parameters.named_children if parameters else ():
            for type_ in parameter.children_by_field_name("type"):
                self.types(found, type_, UseKind.CATCH)
            self._bind(found, parameter.children_by_field_name("declarator"))
        found.visit(node.children_by_field_name("body"))

    def _qualified(self, found: Findings, node: "Node") -> None:
        """Read a qualified name as a type if its last part is one."""
        if _last_name(node).type in ("type_identifier", "template_type"):
            self.read_type(found, node)
        else:
            self.read_name(found, node)

    def arguments_of(self, node: "Node") -> list["Node"]:
        return super().arguments_of(_last_name(node))

    def _call(self, found: Findings, node: "Node") -> None:
        function = node.child_by_field_name("function")
        if function is not None and function.type == "template_function":
            name = function.child_by_field_name("name")
            if name is not None and found.text_of(name) in _CASTS:
                arguments = function.children_by_field_name("arguments")
                found.visit([*arguments, *node.children_by_field_name("arguments")])
                return
        self.call(found, node)


class _OnlyC(_C):
    language = Language.C


class _Cpp(_C):
    language = Language.CPP


def _name_in(node: "Node | None") -> "Node | None":
    """Return the name that a declarator declares."""
    for _ in range(MAX_CHAIN_LENGTH):
        if node is None or node.type in _NAMES:
            return node
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("parenthesized_declarator", "reference_declarator", "attributed_declarator"):
            inner = next(
                (child for child in node.named_children if child.type.endswith(("declarator", "identifier"))), None
            )
        node = inner
    return None


def _function_in(node: "Node | None") -> "Node | None":
    for _ in range(MAX_CHAIN_LENGTH):
        if node is None or node.type == "function_declarator":
            return node
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("parenthesized_declarator", "reference_declarator"):
            inner = next((child for child in node.named_children if child.type.endswith("declarator")), None)
        node = inner
    return None


def _is_pointer(function: "Node") -> bool:
    inner = function.child_by_field_name("declarator")
    return inner is not None and inner.type == "parenthesized_declarator"


def _last_name(node: "Node") -> "Node":
    for _ in range(MAX_CHAIN_LENGTH):
        inner = node.child_by_field_name("name") if node.type == "qualified_identifier" else None
        if inner is None:
            break
        node = inner
    return node


def _bare_name(found: Findings, name: "Node") -> tuple[str, int]:
    path, at = dotted_name(found, name)
    if name.type in ("operator_name", "operator_cast", "destructor_name"):
        return " ".join(found.text_of(name).split())[:80], name.start_byte
    if name.type == "qualified_identifier" and (last := _last_name(name)).type != "qualified_identifier":
        return _bare_name(found, last)
    return path.rpartition(".")[2], at


def _values(declarator: "Node") -> list["Node"]:
    """Return the parts of a declarator to read besides its name: its value and the parameter types."""
    value = declarator.child_by_field_name("value")
    function = _function_in(declarator)
    parameters = function.child_by_field_name("parameters") if function is not None else None
    return [part for part in (parameters, value) if part is not None]


def _head_end(node: "Node", declarator: "Node") -> int:
    value = declarator.child_by_field_name("value") or node.child_by_field_name("default_value")
    return value.start_byte if value is not None else node.end_byte


def _using(found: Findings, node: "Node") -> None:
    named = node.named_children
    if not named:
        return
    path, _ = dotted_name(found, named[-1])
    line = found.line_at(node.start_byte)
    if any(child.type == "namespace" for child in node.children):
        found.imports.append(Import(path, "*", line=line, container=found.container))
    else:
        module, _, name = path.rpartition(".")
        found.imports.append(Import(module, name, line=line, container=found.container))


def _access(found: Findings, node: "Node") -> None:
    found.scope.hidden = found.text_of(node) == "private"


def _initializer(found: Findings, node: "Node") -> None:
    found.visit(node.named_children[1:])


def _after_label(found: Findings, node: "Node") -> None:
    found.visit(node.children[1:])


def _include(found: Findings, node: "Node") -> None:
    path = node.child_by_field_name("path")
    if path is not None:
        found.imports.append(Import(found.text_of(path).strip('<>" '), line=found.line_at(node.start_byte)))


def _macro(found: Findings, node: "Node") -> None:
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    if name is None or name.is_missing or (value is None and found.text_of(name).endswith(_GUARDS)):
        return
    begin, doc = found.take_above(node.start_byte)
    end = value.start_byte if value is not None and value.end_byte - value.start_byte > 80 else node.end_byte
    head = format_signature(found, node.start_byte, end)
    found.add(found.text_of(name), SymbolKind.MACRO, node, name.start_byte, start=begin, signature=head, doc=doc)


def _conditional(found: Findings, node: "Node") -> None:
    read_already = {child.id for field in ("name", "condition") for child in node.children_by_field_name(field)}
    found.visit(child for child in node.children if child.id not in read_already)


@cache
def _dialect(language: Language) -> _C:
    return _OnlyC() if language is Language.C else _Cpp()


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    _dialect(found.language).read(tree, found)
