"""Reads SQL: tables with columns, views, functions, types, and their uses in statements."""

import re
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from scrubjay.code_index.models import Language, Symbol, SymbolKind, UseKind
from scrubjay.code_index.parsing.dialect import dotted_name, format_signature, read_file_doc
from scrubjay.code_index.parsing.nodes import Findings, Visitor, kind_ids, visitor_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node, Tree

_KINDS = {
    "create_table": SymbolKind.STRUCT,
    "create_view": SymbolKind.STRUCT,
    "create_materialized_view": SymbolKind.STRUCT,
    "create_function": SymbolKind.FUNCTION,
    "create_trigger": SymbolKind.FUNCTION,
    "create_type": SymbolKind.TYPE,
    "create_schema": SymbolKind.MODULE,
    "create_sequence": SymbolKind.VARIABLE,
}
_BODIES = frozenset({"column_definitions", "create_query", "function_body", "enum_elements"})
# SQL has many dialects and the grammar supports few of them: other definitions are found by their first words.
_CREATE = re.compile(
    r"^[ \t]*CREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?"
    r"(?:(?:TEMP|TEMPORARY|UNLOGGED|EXTERNAL|VIRTUAL|DEFINER\s*=\s*\S+)\s+)*"
    r"(?P<kind>TABLE|VIEW|FUNCTION|PROCEDURE|PROC|TRIGGER)\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    r"(?P<name>(?:[\w$#]+|\"[^\"\n]*\"|`[^`\n]*`|\[[^\]\n]*\])(?:\.(?:[\w$#]+|\"[^\"\n]*\"|`[^`\n]*`|\[[^\]\n]*\]))*)",
    re.IGNORECASE | re.MULTILINE,
)


def _create(found: Findings, node: "Node") -> None:
    name = next((child for child in node.named_children if child.type in ("object_reference", "identifier")), None)
    if name is None:
        found.visit(node.children)
        return
    text = _bare(found, name)
    if not text:
        found.visit(node.children)
        return
    body = next((child for child in node.named_children if child.type in _BODIES), None)
    begin, doc = found.take_above(node.start_byte)
    head = format_signature(found, node.start_byte, body.start_byte if body else node.end_byte)
    at = name.start_byte
    place = found.add(text, _KINDS[node.type], node, at, start=begin, signature=head, doc=doc)
    found.enter(place, [child for child in node.children if child.id != name.id])


def _column(found: Findings, node: "Node") -> None:
    name = node.child_by_field_name("name")
    if name is not None and _bare(found, name):
        begin, doc = found.take_above(node.start_byte)
        head = format_signature(found, node.start_byte, node.end_byte)
        at = name.start_byte
        found.add(_bare(found, name), SymbolKind.FIELD, node, at, start=begin, signature=head, doc=doc)
    found.visit(child for child in node.children if child.type != "identifier")


def _reference(found: Findings, node: "Node") -> None:
    path, start = dotted_name(found, node)
    if path := path.replace('"', "").replace("`", ""):
        found.use(UseKind.READ, path, start)


def _call(found: Findings, node: "Node") -> None:
    called = next((child for child in node.named_children if child.type == "object_reference"), None)
    if called is not None:
        found.use(UseKind.CALL, *dotted_name(found, called))
    found.visit(child for child in node.children if called is None or child.id != called.id)


def _field(found: Findings, node: "Node") -> None:
    """Ignore a column of something that the statement already names."""


def _bare(found: Findings, name: "Node") -> str:
    return dotted_name(found, name)[0].rpartition(".")[2].strip('"`')


_VISITORS: "Mapping[str, Visitor]" = {
    "comment": Findings.note_above,
    "marginalia": Findings.note_above,
    **dict.fromkeys(_KINDS, _create),
    "column_definition": _column,
    "object_reference": _reference,
    "invocation": _call,
    "field": _field,
}


@cache
def _kinds() -> "Mapping[int, object]":
    return visitor_table(Language.SQL, _VISITORS)


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    comments = kind_ids(Language.SQL, "comment", "marginalia")
    found.doc = read_file_doc(found, tree.root_node, comments, kind_ids(Language.SQL, "statement"))
    found.walk(tree.root_node, _kinds())
    if tree.root_node.has_error:
        _add_unparsed(found)


def _add_unparsed(found: Findings) -> None:
    """Add the definitions that the grammar could not parse; each extends to the next one."""
    known = {(symbol.name.lower(), symbol.line) for symbol in found.symbols}
    matches = list(_CREATE.finditer(found.latin))
    for match, following in zip_longest(matches, matches[1:]):
        name = found.text(match.start("name"), match.end("name")).rpartition(".")[2].strip('"`[]')
        line = found.line_at(match.start("name"))
        if (name.lower(), line) in known:
            continue
        statement = found.latin[match.start() : following.start() if following is not None else len(found.latin)]
        start = match.start() + len(statement) - len(statement.lstrip())
        end = match.start() + len(statement.rstrip())
        first_line = found.latin.find("\n", match.end())
        kind = SymbolKind.STRUCT if match.group("kind").upper() in ("TABLE", "VIEW") else SymbolKind.FUNCTION
        head = format_signature(found, start, min(end, first_line) if first_line >= 0 else end)
        found.symbols.append(Symbol(name, kind, found.span(start, end), line, signature=head))
