"""Reads Markdown: headings as nested sections, and code blocks."""

from typing import TYPE_CHECKING

from scrubjay.code_index.models import SymbolKind
from scrubjay.code_index.parsing.nodes import MAX_SIGNATURE_LENGTH, Findings

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_HEADINGS = frozenset({"atx_heading", "setext_heading"})


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    open_sections: list[tuple[int, int]] = []
    stack: list[Node] = [tree.root_node]
    while stack:
        node = stack.pop()
        if node.type in _HEADINGS:
            level = _level(node)
            _close(found, open_sections, level, node.start_byte)
            text = _text(found, node) or "#" * level
            place = found.add(
                text,
                SymbolKind.SECTION,
                node,
                node.start_byte,
                signature=f"{'#' * level} {text}",
                container=open_sections[-1][1] if open_sections else -1,
            )
            open_sections.append((level, place))
        elif node.type == "fenced_code_block":
            _code(found, node, open_sections[-1][1] if open_sections else -1)
        elif node.type in ("document", "section"):
            stack.extend(reversed(node.named_children))
        elif node.type == "paragraph" and not found.doc:
            found.doc = " ".join(found.text_of(node).split())[:2_000]
    _close(found, open_sections, 0, len(found.content))


def _close(found: Findings, open_sections: list[tuple[int, int]], level: int, end: int) -> None:
    """End the open sections of this level and below; a section extends to the next heading of its level or above."""
    while open_sections and open_sections[-1][0] >= level:
        _, place = open_sections.pop()
        symbol = found.symbols[place]
        text = found.content[symbol.span.end : end].rstrip()
        found.symbols[place] = symbol._replace(span=found.span(symbol.span.start, symbol.span.end + len(text)))


def _level(node: "Node") -> int:
    for child in node.children:
        if child.type.startswith(("atx_h", "setext_h")):
            return int(child.type.removeprefix("atx_h").removeprefix("setext_h")[0])
    return 1


def _text(found: Findings, node: "Node") -> str:
    content = node.child_by_field_name("heading_content")
    text = " ".join(found.text_of(content).split()) if content is not None else ""
    return text.rstrip("# ").replace("`", "").replace("*", "")[:MAX_SIGNATURE_LENGTH]


def _code(found: Findings, node: "Node", container: int) -> None:
    """Add a code block that declares its language. Its name starts like the block, so it cannot clash with others."""
    info = next((child for child in node.named_children if child.type == "info_string"), None)
    if info is not None and info.named_children:
        name = "```" + found.text_of(info.named_children[0])[:40]
        head = found.signature(info.start_byte, info.end_byte)
        at = info.start_byte
        found.add(name, SymbolKind.SECTION, node, at, signature=head, exported=False, container=container)
