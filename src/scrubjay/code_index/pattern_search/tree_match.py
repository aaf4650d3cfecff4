"""Match code with holes against syntax trees, so that formatting does not matter."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.code_index.parsing.languages import load_grammar
from scrubjay.code_index.parsing.reader import parse_tree
from scrubjay.code_index.pattern_search.code_pattern import (
    Hole,
    NodePattern,
    ParsedPattern,
    parse_pattern,
    pattern_identifiers,
    remove_whitespace,
)
from scrubjay.code_index.pattern_search.excerpt import FileExcerpts
from scrubjay.code_index.pattern_search.messages import MAX_CAPTURE, PatternMatch, Structure
from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    import tree_sitter
    from tree_sitter import Node
else:
    tree_sitter = lazy_module("tree_sitter")

Bindings = Mapping[str, Sequence["Node"]]
"""The nodes that each hole matched."""
# Maximum number of captured nodes of a hole that matches several.
MAX_CAPTURED_NODES = 50


class StructureFinder:
    """Searches for one pattern."""

    def __init__(self, wanted: Structure) -> None:
        self._language = wanted.language
        self._parsed = parse_pattern(wanted.pattern, wanted.language)
        self.words = [words] if (words := pattern_identifiers(wanted.pattern)) else []
        self._needed = [word.encode() for words in self.words for word in words]
        kinds = dict.fromkeys(parsed.first.kind for parsed in self._parsed)
        grammar = load_grammar(wanted.language)
        self._queries = {kind: tree_sitter.Query(grammar, f"({kind}) @found") for kind in kinds}

    def find(self, content: bytes, context_lines: int, most: int) -> tuple[int, list[PatternMatch]]:
        """Return the number of matches, and the first `most` of them."""
        if not all(word in content for word in self._needed):
            return 0, []
        root = parse_tree(content, self._language).root_node
        matcher = _NodeMatcher(content)
        places: dict[tuple[int, int], Bindings] = {}
        for parsed in self._parsed:
            for start, end, bound in self._find_matches(root, parsed, matcher):
                places.setdefault((start, end), bound)
        ordered = sorted(places)
        page = FileExcerpts(content, context_lines)
        shown = [page.match(*place, matcher.captures(places[place])) for place in ordered[:most]]
        return len(ordered), shown

    def _find_matches(
        self, root: "Node", parsed: ParsedPattern, matcher: "_NodeMatcher"
    ) -> Iterator[tuple[int, int, Bindings]]:
        cursor = tree_sitter.QueryCursor(self._queries[parsed.first.kind])
        needed = _required_texts(parsed.first)
        content = matcher.content
        for node in cursor.captures(root).get("found", ()):
            start, end = node.start_byte, node.end_byte
            if any(content.find(word, start, end) < 0 for word in needed):
                continue  # much faster than comparing trees
            bound = matcher.match_node(parsed.first, node, {})
            if bound is None:
                continue
            if not parsed.others:
                yield start, end, bound
                continue
            following = list(_next_siblings(node))
            rest = matcher.match_siblings(parsed.others, following, bound, whole=False)
            if rest is not None:
                bound, taken = rest
                last = following[taken - 1] if taken else node
                yield start, last.end_byte, bound


class _NodeMatcher:
    """Matches patterns against the nodes of one file. Recursion is as deep as the pattern, not as the file."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def match_node(self, pattern: NodePattern, node: "Node", bound: Bindings) -> Bindings | None:
        """Match a node and return the extended bindings; None when it does not match."""
        if node.type != pattern.kind:
            return None
        if pattern.text is not None:
            return bound if remove_whitespace(self._text(node)) == pattern.text else None
        found = self.match_siblings(
            pattern.parts, [child for child in node.children if not child.is_extra], bound, whole=True
        )
        return None if found is None else found[0]

    def match_siblings(
        self,
        patterns: Sequence[NodePattern | Hole],
        nodes: Sequence["Node"],
        bound: Bindings,
        *,
        whole: bool,
        start: int = 0,
    ) -> tuple[Bindings, int] | None:
        """Match siblings; return the bindings and the index after the last. With `whole`, no named node may be left."""
        index = start
        for number, part in enumerate(patterns):
            if isinstance(part, Hole) and part.many:
                return self._match_many(part, patterns[number + 1 :], nodes, bound, whole=whole, start=index)
            # Unnamed nodes that the pattern lacks are skipped: a trailing comma, `async`.
            token = None if isinstance(part, Hole) or part.named else part.kind
            while index < len(nodes) and not nodes[index].is_named and nodes[index].type != token:
                index += 1
            if index == len(nodes):
                return None
            node = nodes[index]
            following = (
                self._bind(part, [node], bound) if isinstance(part, Hole) else self.match_node(part, node, bound)
            )
            if following is None:
                return None
            bound, index = following, index + 1
        if whole and any(node.is_named for node in nodes[index:]):
            return None
        return bound, index

    def _match_many(
        self,
        hole: Hole,
        others: Sequence[NodePattern | Hole],
        nodes: Sequence["Node"],
        bound: Bindings,
        *,
        whole: bool,
        start: int,
    ) -> tuple[Bindings, int] | None:
        ends = range(start, len(nodes) + 1) if others else (len(nodes),)
        for end in ends:
            held = self._bind(hole, [node for node in nodes[start:end] if node.is_named], bound)
            if (
                held is not None
                and (found := self.match_siblings(others, nodes, held, whole=whole, start=end)) is not None
            ):
                return found
        return None

    def _bind(self, hole: Hole, nodes: Sequence["Node"], bound: Bindings) -> Bindings | None:
        if hole.name.startswith("_"):
            return bound
        before = bound.get(hole.name)
        if before is None:
            return {**bound, hole.name: nodes}
        same = [remove_whitespace(self._text(node)) for node in before] == [
            remove_whitespace(self._text(node)) for node in nodes
        ]
        return bound if same else None

    def captures(self, bound: Bindings) -> dict[str, Any]:
        """Return the captured text of each hole."""
        return {
            name: [self._capture_text(node) for node in nodes[:MAX_CAPTURED_NODES]] for name, nodes in bound.items()
        }

    def _capture_text(self, node: "Node") -> str:
        return self.content[node.start_byte : min(node.end_byte, node.start_byte + MAX_CAPTURE)].decode(
            "utf-8", "replace"
        )

    def _text(self, node: "Node") -> bytes:
        return self.content[node.start_byte : node.end_byte]


def _required_texts(form: NodePattern) -> list[bytes]:
    """Return texts that a node must contain to match."""
    if form.text is not None:
        return [form.text] if form.text.replace(b"_", b"").isalnum() else []
    return [word for part in form.parts if isinstance(part, NodePattern) for word in _required_texts(part)]


def _next_siblings(node: "Node") -> Iterator["Node"]:
    """Yield the siblings after a node."""
    following = node.next_sibling
    while following is not None:
        if not following.is_extra:
            yield following
        following = following.next_sibling
