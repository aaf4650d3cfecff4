"""Builds the flow of one JavaScript file: nodes, texts, lines and written types."""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from scrubjay.code_index.graph.javascript_flow_format import UNKNOWN, Item

if TYPE_CHECKING:
    from tree_sitter import Node

    from scrubjay.code_index.graph.javascript_flow_reader import ScriptReader

_TRANSPARENT_TYPES = {
    "Promise",
    "Readonly",
    "Partial",
    "Required",
    "NonNullable",
    "Awaited",
    "PromiseLike",
    "Omit",
    "Pick",
}
_CONTAINER_TYPES = {
    "Array",
    "ReadonlyArray",
    "Set",
    "ReadonlySet",
    "Map",
    "ReadonlyMap",
    "Iterable",
    "AsyncIterable",
    "Generator",
    "Record",
    "WeakMap",
}


class FlowNodes:
    """Collects the nodes, functions and classes of a file."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._starts = [0, *accumulate(len(line) + 1 for line in content.split(b"\n"))]
        self.nodes: list[Item] = [[UNKNOWN, []]]
        self.functions: list[Item] = []
        self.classes: list[Item] = []
        self.imports: list[Item] = []
        """Local name, module, name in the module."""
        self.exports: list[Item] = []
        """Exported name, local name, source module."""
        self.stars: list[str] = []
        """Modules whose exports are all re-exported."""
        self.body: list[int] = []
        self.waiting: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        """Bodies of functions and classes that are still to be read, so that nesting needs no recursion."""

    def put(self, *item: Any) -> int:
        self.nodes.append(list(item))
        return len(self.nodes) - 1

    def text(self, node: "Node") -> str:
        return self._content[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def line(self, node: "Node") -> int:
        return bisect_right(self._starts, node.start_byte)

    def types(self, node: "Node") -> list[str]:
        """Return the names of the types that a value may have; `[]` after a name marks the items of a container."""
        found: list[str] = []
        waiting: list[tuple[Node, str]] = [(node, "")]
        while waiting and len(found) < 6:
            now, mark = waiting.pop()
            match now.type:
                case "type_identifier" | "identifier" | "nested_type_identifier":
                    found.append(self.text(now) + mark)
                case "generic_type":
                    name = now.child_by_field_name("name")
                    given = now.child_by_field_name("type_arguments")
                    text = self.text(name) if name is not None else ""
                    if text in _TRANSPARENT_TYPES and given is not None and given.named_children:
                        waiting.append((given.named_children[0], mark))
                    elif text in _CONTAINER_TYPES and given is not None and given.named_children:
                        last = given.named_children[0 if text == "Generator" else -1]
                        waiting.append((last, mark + "[]"))
                    elif text:
                        found.append(text + mark)
                case "array_type":
                    if now.named_children:
                        waiting.append((now.named_children[0], mark + "[]"))
                case (
                    "type_annotation"
                    | "union_type"
                    | "intersection_type"
                    | "parenthesized_type"
                    | "readonly_type"
                    | "asserts"
                ):
                    waiting.extend((child, mark) for child in reversed(now.named_children))
                case _:
                    pass
        return found


def last_name(node: "Node") -> "Node":
    """Return the last name of a callee, at which the use is recorded."""
    now = node
    while True:
        if now.type == "member_expression":
            now = now.child_by_field_name("property") or now
        elif now.type in ("non_null_expression", "parenthesized_expression", "await_expression") and now.named_children:
            now = now.named_children[0]
            continue
        return now


def unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] in "\"'`" and text[-1] == text[0] else text


class ReaderPart:
    """One responsibility of the reader of a file."""

    def __init__(self, reader: "ScriptReader") -> None:
        self._reader = reader
        self._flow = reader.flow
