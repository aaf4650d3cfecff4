"""Reads Bash: functions, variables, sourced files and commands."""

from functools import cache
from typing import TYPE_CHECKING

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.dialect import MAX_NAME_BYTES, LocalScope, format_signature, read_file_doc
from scrubjay.code_index.parsing.nodes import Findings, Visitor, kind_ids, visitor_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node, Tree

_LOCAL = frozenset({"local", "typeset"})


def _function(found: Findings, node: "Node") -> None:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or name.is_missing:
        found.visit(node.children)
        return
    begin, doc = found.take_above(node.start_byte)
    head = format_signature(found, node.start_byte, body.start_byte if body else node.end_byte)
    text = found.text_of(name)
    place = found.add(text, SymbolKind.FUNCTION, node, name.start_byte, start=begin, signature=head, doc=doc)
    scope: LocalScope = found.scope.within(local=True)
    found.enter(place, [body] if body is not None else [], scope)


def _command(found: Findings, node: "Node") -> None:
    name = node.child_by_field_name("name")
    arguments = node.children_by_field_name("argument")
    if name is None:
        found.visit(node.children)
        return
    text = found.text_of(name)
    if text in ("source", ".") and arguments:
        path = found.text_of(arguments[0]).strip("\"'")
        # A directory known only at run time is left out.
        if path.startswith("$"):
            path = path.partition("/")[2] or path
        found.imports.append(Import(path, "*", line=found.line_at(node.start_byte), container=found.container))
    elif text == "alias" and arguments:
        _alias(found, node, arguments[0])
    elif text == "trap" and len(arguments) > 1 and arguments[0].type == "word":
        found.use(UseKind.READ, found.text_of(arguments[0]), arguments[0].start_byte)
    elif name.named_child_count == 1 and name.named_children[0].type == "word" and len(text) <= MAX_NAME_BYTES:
        found.use(UseKind.CALL, text, name.start_byte)
    found.visit(node.children)


def _alias(found: Findings, node: "Node", argument: "Node") -> None:
    name, equals, _ = found.text_of(argument).partition("=")
    if name and equals:
        begin, doc = found.take_above(node.start_byte)
        head = format_signature(found, node.start_byte, node.end_byte)
        found.add(name, SymbolKind.FUNCTION, node, argument.start_byte, start=begin, signature=head, doc=doc)


def _declaration(found: Findings, node: "Node") -> None:
    """Read `local`, `readonly`, `export` and `declare`."""
    word = node.children[0].type if node.children else ""
    if word in _LOCAL or (word == "declare" and found.scope.local):
        for child in node.named_children:
            bound = child.child_by_field_name("name") if child.type == "variable_assignment" else child
            if bound is not None and bound.type == "variable_name":
                found.scope.names.add(found.text_of(bound))
    is_constant = word == "readonly" or any(found.text_of(child) == "-r" for child in node.named_children[:2])
    for child in node.named_children:
        if child.type == "variable_assignment":
            _assign(found, child, is_constant=is_constant, statement=node)
        elif child.type == "variable_name":
            _add_variable(found, child, node, child, is_constant=is_constant)


def _assignment(found: Findings, node: "Node") -> None:
    _assign(found, node, is_constant=False, statement=node)


def _assign(found: Findings, node: "Node", *, is_constant: bool, statement: "Node") -> None:
    name = node.child_by_field_name("name")
    if name is not None and name.type == "variable_name":
        _add_variable(found, name, statement, node, is_constant=is_constant)
    found.visit(node.children_by_field_name("value"))


def _add_variable(found: Findings, name: "Node", statement: "Node", node: "Node", *, is_constant: bool) -> None:
    text = found.text_of(name)
    scope: LocalScope = found.scope
    if scope.local and text not in scope.names:
        found.use(UseKind.WRITE, text, name.start_byte)
    elif not scope.local and text not in scope.names:
        scope.names.add(text)
        begin, doc = found.take_above(statement.start_byte)
        kind = SymbolKind.CONSTANT if is_constant else SymbolKind.VARIABLE
        head = format_signature(found, statement.start_byte, min(statement.end_byte, statement.start_byte + 120))
        found.add(text, kind, node, name.start_byte, start=begin, signature=head, doc=doc)


def _variable(found: Findings, node: "Node") -> None:
    """Add a read of a variable of the file; variables of the shell itself (`1`, `@`) do not count."""
    text = found.text_of(node)
    if found.scope.local and text.isidentifier() and text not in found.scope.names:
        found.use(UseKind.READ, text, node.start_byte)


_VISITORS: "Mapping[str, Visitor]" = {
    "comment": Findings.note_above,
    "function_definition": _function,
    "command": _command,
    "declaration_command": _declaration,
    "variable_assignment": _assignment,
    "variable_name": _variable,
}


@cache
def _kinds() -> "Mapping[int, object]":
    return visitor_table(Language.BASH, _VISITORS)


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    found.scope = _FileScope()
    comments = kind_ids(Language.BASH, "comment")
    found.doc = read_file_doc(found, tree.root_node, comments, kind_ids(Language.BASH, "function_definition"))
    found.walk(tree.root_node, _kinds())


class _FileScope(LocalScope):
    """The scope of a file, whose variables are not local to its functions."""

    __slots__ = ()

    def within(self, *, local: bool) -> LocalScope:
        return LocalScope(local=local)
