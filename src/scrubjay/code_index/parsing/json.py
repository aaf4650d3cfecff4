"""Reads JSON: the keys of the two outermost levels."""

from typing import TYPE_CHECKING

from scrubjay.code_index.models import SymbolKind
from scrubjay.code_index.parsing.nodes import Findings

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

LEVELS = 2
# A file with more keys holds data rather than configuration; the first keys describe it well enough.
MAX_KEYS = 2_000


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    stack: list[tuple[Node, int, int]] = [(node, 1, -1) for node in reversed(tree.root_node.named_children)]
    while stack and len(found.symbols) < MAX_KEYS:
        node, level, container = stack.pop()
        if node.type == "object":
            stack.extend((child, level, container) for child in reversed(node.named_children))
        elif node.type == "pair":
            key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
            name = found.text_of(key).strip('"') if key is not None else ""
            if key is None or not name:
                continue
            place = found.add(
                name,
                SymbolKind.SECTION,
                node,
                key.start_byte,
                signature=found.signature(node.start_byte, min(node.end_byte, key.end_byte + 80)),
                container=container,
            )
            if level < LEVELS and value is not None and value.type == "object":
                stack.append((value, level + 1, place))
