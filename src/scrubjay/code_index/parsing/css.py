"""Reads CSS: selectors, at-rules and variables."""

from functools import cache
from typing import TYPE_CHECKING

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.dialect import read_file_doc
from scrubjay.code_index.parsing.nodes import Findings, Visitor, kind_ids, visitor_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node, Tree

_BLOCKS = frozenset({"block", "keyframe_block_list"})
_MAX_SELECTOR_LENGTH = 120


def _rule(found: Findings, node: "Node") -> None:
    """Add a rule, named by the text before its block."""
    block = next((child for child in node.named_children if child.type in _BLOCKS), None)
    if block is None:
        found.visit(node.children)
        return
    head = found.signature(node.start_byte, block.start_byte)
    if not head:
        found.visit(block.children)
        return
    begin, doc = found.take_above(node.start_byte)
    name = head if len(head) <= _MAX_SELECTOR_LENGTH else head[: _MAX_SELECTOR_LENGTH - 1] + "…"
    at = node.start_byte
    place = found.add(name, SymbolKind.SECTION, node, at, start=begin, signature=head, doc=doc)
    found.enter(place, block.children)


def _declaration(found: Findings, node: "Node") -> None:
    name = next((child for child in node.named_children if child.type == "property_name"), None)
    if name is not None and found.text_of(name).startswith("--"):
        head = found.signature(node.start_byte, node.end_byte)
        found.add(found.text_of(name), SymbolKind.VARIABLE, node, name.start_byte, signature=head)
    found.visit(child for child in node.named_children if name is None or child.id != name.id)


def _value(found: Findings, node: "Node") -> None:
    text = found.text_of(node)
    if text.startswith("--"):
        found.use(UseKind.READ, text, node.start_byte)


def _import(found: Findings, node: "Node") -> None:
    stack = list(reversed(node.named_children))
    while stack:
        child = stack.pop()
        if child.type == "string_value" or (child.type == "plain_value" and node.type == "import_statement"):
            found.imports.append(Import(found.text_of(child).strip("\"'"), "*", line=found.line_at(node.start_byte)))
            return
        stack.extend(reversed(child.named_children))


_VISITORS: "Mapping[str, Visitor]" = {
    "comment": Findings.note_above,
    "rule_set": _rule,
    "media_statement": _rule,
    "supports_statement": _rule,
    "keyframes_statement": _rule,
    "scope_statement": _rule,
    "at_rule": _rule,
    "declaration": _declaration,
    "plain_value": _value,
    "import_statement": _import,
}


@cache
def _kinds() -> "Mapping[int, object]":
    return visitor_table(Language.CSS, _VISITORS)


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    comments, rules = kind_ids(Language.CSS, "comment"), kind_ids(Language.CSS, "rule_set")
    found.doc = read_file_doc(found, tree.root_node, comments, rules)
    found.walk(tree.root_node, _kinds())
