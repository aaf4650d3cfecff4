"""Finding code with holes in the syntax trees of files: what is written otherwise but means the same form is found."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.code_index.parsing.languages import grammar_of
from scrubjay.code_index.parsing.reader import tree_of
from scrubjay.code_index.pattern_search.code_pattern import (
    Form,
    Hole,
    Reading,
    readings_of,
    without_blanks,
    words_of_pattern,
)
from scrubjay.code_index.pattern_search.excerpt import Page
from scrubjay.code_index.pattern_search.messages import LONGEST_CAPTURE, Match, Structure

if TYPE_CHECKING:
    from tree_sitter import Node

Bound = Mapping[str, Sequence["Node"]]
"""What each hole holds."""
# So many parts of a hole that holds several are told.
MOST_PARTS = 50


class StructureFinder:
    """Finds one pattern."""

    def __init__(self, wanted: Structure) -> None:
        from tree_sitter import Query

        self._language = wanted.language
        self._readings = readings_of(wanted.pattern, wanted.language)
        self.words = [words] if (words := words_of_pattern(wanted.pattern)) else []
        self._needed = [word.encode() for words in self.words for word in words]
        kinds = dict.fromkeys(reading.first.kind for reading in self._readings)
        grammar = grammar_of(wanted.language)
        self._queries = {kind: Query(grammar, f"({kind}) @found") for kind in kinds}

    def found(self, content: bytes, context_lines: int, most: int) -> tuple[int, list[Match]]:
        """How many matches there are, and the first of them."""
        if not all(word in content for word in self._needed):
            return 0, []
        root = tree_of(content, self._language).root_node
        matching = _Matching(content)
        places: dict[tuple[int, int], Bound] = {}
        for reading in self._readings:
            for start, end, bound in self._places(root, reading, matching):
                places.setdefault((start, end), bound)
        ordered = sorted(places)
        page = Page(content, context_lines)
        shown = [page.match(*place, matching.captures(places[place])) for place in ordered[:most]]
        return len(ordered), shown

    def _places(self, root: "Node", reading: Reading, matching: "_Matching") -> Iterator[tuple[int, int, Bound]]:
        from tree_sitter import QueryCursor

        cursor = QueryCursor(self._queries[reading.first.kind])
        needed = _words_in(reading.first)
        content = matching.content
        for node in cursor.captures(root).get("found", ()):
            start, end = node.start_byte, node.end_byte
            if any(content.find(word, start, end) < 0 for word in needed):
                continue  # far sooner told than by comparing
            bound = matching.form(reading.first, node, {})
            if bound is None:
                continue
            if not reading.others:
                yield start, end, bound
                continue
            following = list(_following(node))
            rest = matching.parts(reading.others, following, bound, whole=False)
            if rest is not None:
                bound, taken = rest
                last = following[taken - 1] if taken else node
                yield start, last.end_byte, bound


class _Matching:
    """Compares forms with the nodes of one file. No deeper than forms are, however deep the file is."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def form(self, form: Form, node: "Node", bound: Bound) -> Bound | None:
        """What the holes hold when the node is of this form, beside what is bound; None when it is not."""
        if node.type != form.kind:
            return None
        if form.text is not None:
            return bound if without_blanks(self._text(node)) == form.text else None
        found = self.parts(form.parts, [child for child in node.children if not child.is_extra], bound, whole=True)
        return None if found is None else found[0]

    def parts(
        self, parts: Sequence[Form | Hole], nodes: Sequence["Node"], bound: Bound, *, whole: bool, start: int = 0
    ) -> tuple[Bound, int] | None:
        """The same for neighbours, and behind which node they end; when they are to be the whole, with none left."""
        place = start
        for number, part in enumerate(parts):
            if isinstance(part, Hole) and part.many:
                return self._several(part, parts[number + 1 :], nodes, bound, whole=whole, start=place)
            # Signs that the pattern does not have may stand between: a comma at the end, `async`.
            sign = None if isinstance(part, Hole) or part.named else part.kind
            while place < len(nodes) and not nodes[place].is_named and nodes[place].type != sign:
                place += 1
            if place == len(nodes):
                return None
            node = nodes[place]
            following = self._hold(part, [node], bound) if isinstance(part, Hole) else self.form(part, node, bound)
            if following is None:
                return None
            bound, place = following, place + 1
        if whole and any(node.is_named for node in nodes[place:]):
            return None
        return bound, place

    def _several(
        self,
        hole: Hole,
        others: Sequence[Form | Hole],
        nodes: Sequence["Node"],
        bound: Bound,
        *,
        whole: bool,
        start: int,
    ) -> tuple[Bound, int] | None:
        ends = range(start, len(nodes) + 1) if others else (len(nodes),)
        for end in ends:
            held = self._hold(hole, [node for node in nodes[start:end] if node.is_named], bound)
            if held is not None and (found := self.parts(others, nodes, held, whole=whole, start=end)) is not None:
                return found
        return None

    def _hold(self, hole: Hole, nodes: Sequence["Node"], bound: Bound) -> Bound | None:
        if hole.name.startswith("_"):
            return bound
        before = bound.get(hole.name)
        if before is None:
            return {**bound, hole.name: nodes}
        same = [without_blanks(self._text(node)) for node in before] == [
            without_blanks(self._text(node)) for node in nodes
        ]
        return bound if same else None

    def captures(self, bound: Bound) -> dict[str, Any]:
        """What the holes hold, as text."""
        return {name: [self._shown(node) for node in nodes[:MOST_PARTS]] for name, nodes in bound.items()}

    def _shown(self, node: "Node") -> str:
        return self.content[node.start_byte : min(node.end_byte, node.start_byte + LONGEST_CAPTURE)].decode(
            "utf-8", "replace"
        )

    def _text(self, node: "Node") -> bytes:
        return self.content[node.start_byte : node.end_byte]


def _words_in(form: Form) -> list[bytes]:
    """What the text of a node must have in it to be of this form."""
    if form.text is not None:
        return [form.text] if form.text.replace(b"_", b"").isalnum() else []
    return [word for part in form.parts if isinstance(part, Form) for word in _words_in(part)]


def _following(node: "Node") -> Iterator["Node"]:
    """The neighbours behind a node."""
    following = node.next_sibling
    while following is not None:
        if not following.is_extra:
            yield following
        following = following.next_sibling
