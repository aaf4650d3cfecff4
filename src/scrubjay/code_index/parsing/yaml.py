"""Reads YAML: the keys of the two outermost levels."""

from typing import TYPE_CHECKING

from scrubjay.code_index.models import Language, SymbolKind
from scrubjay.code_index.parsing.dialect import read_file_doc
from scrubjay.code_index.parsing.json import LEVELS, MAX_KEYS
from scrubjay.code_index.parsing.nodes import Findings, kind_ids

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_PAIRS = frozenset({"block_mapping_pair", "flow_pair"})
_WITHIN = frozenset({"document", "block_node", "flow_node", "block_mapping", "flow_mapping"})


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    root = tree.root_node
    found.doc = read_file_doc(found, root, kind_ids(Language.YAML, "comment"), frozenset())
    stack: list[tuple[Node, int, int]] = [(root, 0, -1)]
    while stack and len(found.symbols) < MAX_KEYS:
        node, level, container = stack.pop()
        if node.type == "comment":
            found.note_above(node)
        elif node.type in _WITHIN or level == 0:
            stack.extend((child, max(level, 1), container) for child in reversed(node.named_children))
        elif node.type in _PAIRS:
            key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
            name = found.text_of(key).strip("\"'") if key is not None else ""
            if key is None or not name:
                continue
            begin, doc = found.take_above(node.start_byte)
            place = found.add(
                name,
                SymbolKind.SECTION,
                node,
                key.start_byte,
                start=begin,
                signature=found.signature(node.start_byte, min(node.end_byte, key.end_byte + 80)),
                doc=doc,
                container=container,
            )
            if level < LEVELS and value is not None:
                stack.append((value, level + 1, place))
