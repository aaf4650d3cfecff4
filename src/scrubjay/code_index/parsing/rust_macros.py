"""Parses Rust definitions in the braces of macros, such as `cfg_net! { pub mod tcp; }`, as if there were no macro."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

Parse = Callable[[bytes], "Tree"]

_MAY_HAVE = re.compile(rb"^[ \t]*[A-Za-z_][\w:]*![ \t]*\{", re.MULTILINE)
# Macros within macros that are removed from around a definition.
MAX_MACRO_DEPTH = 5
_ITEM_CONTAINERS = frozenset({"mod_item", "impl_item", "trait_item"})
_ITEMS = frozenset(
    {
        "associated_type", "attribute_item", "block_comment", "const_item", "empty_statement", "enum_item",
        "extern_crate_declaration", "foreign_mod_item", "function_item", "function_signature_item", "impl_item",
        "inner_attribute_item", "line_comment", "macro_definition", "macro_invocation", "mod_item", "static_item",
        "struct_item", "trait_item", "type_item", "union_item", "use_declaration",
    }
)  # fmt: skip
# Items that do not show on their own that the content consists of items.
_AMBIGUOUS_ITEMS = frozenset({"block_comment", "empty_statement", "line_comment", "macro_invocation"})


class Macro(NamedTuple):
    """A macro that was removed from around definitions."""

    name: str
    start: int
    end: int
    """The byte after its braces."""


class ExpandedFile(NamedTuple):
    """A parsed file with the definitions within its macros; no byte has moved."""

    tree: "Tree"
    macros: list[Macro]
    """The macros that were removed from the tree."""


def parse_with_macro_items(content: bytes, parse: Parse) -> ExpandedFile:
    """Parse a file, including the content of macros that consists only of whole definitions."""
    tree, macros = parse(content), list[Macro]()
    if not _MAY_HAVE.search(content):
        return ExpandedFile(tree, macros)
    code = bytearray(content)
    for _ in range(MAX_MACRO_DEPTH):
        found = [
            (macro, tokens)
            for macro, tokens, in_type in _macros_among_items(tree.root_node)
            if _holds_items(bytes(code[tokens.start_byte + 1 : tokens.end_byte - 1]), parse, in_type=in_type)
        ]
        if not found:
            break
        for macro, tokens in found:
            name = macro.named_children[0]
            written = content[name.start_byte : name.end_byte].decode("utf-8", "replace")
            macros.append(Macro(written, name.start_byte, tokens.end_byte))
            for start, end in ((macro.start_byte, tokens.start_byte + 1), (tokens.end_byte - 1, tokens.end_byte)):
                code[start:end] = re.sub(rb"\S", b" ", code[start:end])
        tree = parse(bytes(code))
    return ExpandedFile(tree, macros)


def _macros_among_items(root: "Node") -> "Iterator[tuple[Node, Node, bool]]":
    """Yield macros with braces where definitions may stand, their content, and whether a type encloses them."""
    stack = [(root, False)]
    while stack:
        outer, in_type = stack.pop()
        for child in outer.named_children:
            if child.type == "macro_invocation":
                tokens = child.named_children[-1]
                if tokens.type == "token_tree" and tokens.children and tokens.children[0].type == "{":
                    yield child, tokens, in_type
            elif child.type in _ITEM_CONTAINERS and (body := child.child_by_field_name("body")) is not None:
                stack.append((body, child.type != "mod_item"))


def _holds_items(code: bytes, parse: Parse, *, in_type: bool) -> bool:
    root = parse(b"impl T {" + code + b"}" if in_type else code).root_node
    if root.has_error:
        return False
    items = root.named_children[0].named_children[-1].named_children if in_type else root.named_children
    kinds = {item.type for item in items}
    return kinds <= _ITEMS and not kinds <= _AMBIGUOUS_ITEMS
