"""Reads HTML: elements with an id, headings, and referenced scripts and style sheets."""

import re
from functools import cache
from html import unescape
from typing import TYPE_CHECKING

from scrubjay.code_index.models import Import, Language, SymbolKind
from scrubjay.code_index.parsing.nodes import MAX_SIGNATURE_LENGTH, Findings, Visitor, visitor_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node, Tree

_HEADING = re.compile(r"h[1-6]$", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")


def _element(found: Findings, node: "Node") -> None:
    tag = next((child for child in node.children if child.type in ("start_tag", "self_closing_tag")), None)
    if tag is None:
        found.visit(node.children)
        return
    name = next((found.text_of(child).lower() for child in tag.named_children if child.type == "tag_name"), "")
    attributes = _attributes(found, tag)
    source = attributes.get("src") if name == "script" else attributes.get("href") if name == "link" else None
    if source:
        found.imports.append(Import(source[0], line=found.line_at(node.start_byte)))
    if name == "title" and not found.doc:
        found.doc = _text(found, node)
    called = attributes.get("id")
    if called is None and _HEADING.match(name):
        called = (_text(found, node), tag.end_byte)
    inside = [child for child in node.named_children if child.id != tag.id]
    if called is None or not called[0]:
        found.visit(inside)
        return
    head = found.text_of(tag) if not _HEADING.match(name) else f"<{name}> {_text(found, node)}"
    begin, _ = found.take_above(node.start_byte)
    place = found.add(
        called[0],
        SymbolKind.SECTION,
        node,
        called[1],
        start=begin,
        signature=" ".join(head.split())[:MAX_SIGNATURE_LENGTH],
    )
    found.enter(place, inside)


def _attributes(found: Findings, tag: "Node") -> dict[str, tuple[str, int]]:
    """Return the values of the attributes and the first byte of each, by name."""
    found_attributes: dict[str, tuple[str, int]] = {}
    for attribute in tag.named_children:
        if attribute.type == "attribute" and attribute.named_child_count == 2:
            name, value = attribute.named_children
            quoted = value.named_children[0] if value.named_children else value
            found_attributes[found.text_of(name).lower()] = (found.text_of(quoted).strip("\"'"), quoted.start_byte)
    return found_attributes


def _text(found: Findings, node: "Node") -> str:
    """Return the visible text of an element."""
    text = found.text(node.start_byte, min(node.end_byte, node.start_byte + 4 * MAX_SIGNATURE_LENGTH))
    return " ".join(unescape(_TAG.sub(" ", text)).split())[:MAX_SIGNATURE_LENGTH]


_VISITORS: "Mapping[str, Visitor]" = {
    "comment": Findings.note_above,
    "element": _element,
    "script_element": _element,
    "style_element": _element,
}


@cache
def _kinds() -> "Mapping[int, object]":
    return visitor_table(Language.HTML, _VISITORS, ("start_tag", "end_tag", "raw_text", "text", "doctype"))


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    found.walk(tree.root_node, _kinds())
