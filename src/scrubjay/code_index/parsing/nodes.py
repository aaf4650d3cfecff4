"""Collects the facts of one file during a walk over its tree.

All positions are bytes. Do not read `Point.row` and `Point.column` of tree-sitter 0.26.0: they release a reference that
they do not own, and the process crashes later, elsewhere.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

from scrubjay.code_index.facts.line_starts import line_starts
from scrubjay.code_index.models import Import, Language, Problem, Span, Symbol, SymbolKind, Use, UseKind
from scrubjay.code_index.parsing.languages import load_grammar

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

MAX_DOC_LENGTH = 2_000
MAX_SIGNATURE_LENGTH = 300
MAX_CHAIN_LENGTH = 16
"""Links of `a.b().c()…` that are written into a path: longer chains would take quadratic time and space."""
MAX_PROBLEMS = 20
"""Syntax errors reported per file. A file with more of them is probably in another language."""

LICENSE_PATTERN = re.compile(r"copyright|licen[cs]e|SPDX-", re.IGNORECASE)
"""Matches comments at the top of a file that do not describe the file."""
_COMMENT_MARK = re.compile(r"(?:/\*[*!]*|//[/!]*|\*(?!/)|#+[!:]?|--+)?[ \t]?")
_DIRECTIVE = re.compile(
    r"go:|\+build|eslint|@ts-|prettier-|noqa|type: ?ignore|pylint|pyright:|mypy:|istanbul|biome-|clang-"
)


_OPENINGS = ("=>", ":", "{", "=", ";")
_START = itemgetter(2)


class PathShape(Enum):
    """The role of a node in the path of a name."""

    NAME = 1
    """The name itself."""
    MEMBER = 2
    """Member access: the last child is a member of the first."""
    CALL = 3
    """Call of the first named child."""
    ENTRY = 4
    """Subscript: an item of the first named child."""
    INNER = 5
    """Transparent, such as parentheses and `await`: only the first named child counts."""


class ScopeMark:
    """Stack entry that sets the container and scope of the nodes after it."""

    __slots__ = ("container", "kind_id", "scope")

    def __init__(self, container: int, scope: Any = None) -> None:
        self.kind_id = SCOPE_MARK_ID
        self.container = container
        self.scope = scope


SCOPE_MARK_ID = -1
DESCEND = object()
"""Table entry of nodes without a visitor, whose children are visited."""


class Findings:
    """Collects the facts of one file, and holds the position of the walk.

    A language's reader visits nodes in text order. It calls `add` for a definition and `use` for a use, appends to
    `imports` and `exports`, sets `doc`, and pushes the nodes to visit next with `visit` and `enter`.
    """

    def __init__(self, content: bytes, language: Language) -> None:
        self.content = content
        self.language = language
        self.latin = content.decode("latin-1")
        """The content with one character per byte, so that positions are the same."""
        self.is_ascii = content.isascii()
        self.doc = ""
        self.symbols: list[Symbol] = []
        self.imports: list[Import] = []
        self.uses: list[tuple[UseKind, str, int, int]] = []
        """Kind, path, first byte of the last name, container."""
        self.exports: list[tuple[str, str]] = []
        self.problems: list[Problem] = []
        self.container = -1
        self.scope: Any = None
        """State of the language's reader for the current scope; changed by `enter`."""
        self.stack: list[Node | ScopeMark] = []
        self._above: list[tuple[int, int, bool]] = []

    # Text

    def text(self, start: int, end: int) -> str:
        """Return the text between two positions; invalid UTF-8 becomes U+FFFD."""
        return self.latin[start:end] if self.is_ascii else self.content[start:end].decode("utf-8", "replace")

    def text_of(self, node: "Node") -> str:
        """Return the text of a node."""
        return self.text(node.start_byte, node.end_byte)

    @cached_property
    def line_starts(self) -> Sequence[int]:
        """The first byte of each line."""
        if b"\r" in self.content:
            return [0, *accumulate(len(line) + 1 for line in self.content.split(b"\n"))][:-1]
        return line_starts(self.content)

    def line_at(self, byte: int) -> int:
        """Return the line of a byte, counted from 1."""
        return bisect_right(self.line_starts, byte)

    def span(self, start: int, end: int) -> Span:
        """Return the span between two positions."""
        return Span(start, end, self.line_at(start), self.line_at(max(start, end - 1)))

    def signature(self, start: int, end: int) -> str:
        """Return a signature: the text between two positions on one line, without the token that opens a body."""
        whole = " ".join(self.text(start, min(end, start + 4 * MAX_SIGNATURE_LENGTH)).split())
        while whole.endswith(_OPENINGS):
            whole = whole[: -2 if whole[-1] == ">" else -1].removesuffix(" ")
        return whole if len(whole) <= MAX_SIGNATURE_LENGTH else whole[: MAX_SIGNATURE_LENGTH - 1] + "…"

    # Comments above a definition

    def note_above(self, node: "Node", *, is_comment: bool = True) -> None:
        """Record a comment or attribute that may belong to the definition after it."""
        start, end = node.start_byte, node.end_byte
        while end > start and self.content[end - 1] in b"\r\n":
            end -= 1
        if self._above and not self.is_adjacent(self._above[-1][1], start):
            self._above.clear()
        if not self._above:
            first = self.content.rfind(b"\n", 0, start) + 1
            if start - first > MAX_SIGNATURE_LENGTH or self.content[first:start].strip(b" \t\xef\xbb\xbf"):
                return
        self._above.append((start, end, is_comment))

    def take_above(self, start: int) -> tuple[int, str]:
        """Return where a definition starts, including adjacent comments and attributes above it, and their text."""
        above, self._above = self._above, []
        if not above or not self.is_adjacent(above[-1][1], start):
            return start, ""
        return above[0][0], strip_comment_marks("\n".join(self.text(a, b) for a, b, is_comment in above if is_comment))

    def is_adjacent(self, end: int, start: int) -> bool:
        """Return whether at most one line break and blanks are between two positions."""
        if start - end > MAX_SIGNATURE_LENGTH:
            return False
        between = self.content[end:start]
        return not between.strip() and between.count(b"\n") <= 1

    # Results

    def add(
        self,
        name: str,
        kind: SymbolKind,
        node: "Node",
        name_at: int,
        *,
        start: int | None = None,
        signature: str = "",
        doc: str = "",
        exported: bool = True,
        bases: tuple[str, ...] = (),
        decorators: tuple[str, ...] = (),
        container: int | None = None,
        owner: str = "",
    ) -> int:
        """Add a definition that ends where `node` ends, and return its index among the symbols."""
        self.symbols.append(
            Symbol(
                name=name,
                kind=kind,
                span=self.span(node.start_byte if start is None else start, node.end_byte),
                line=self.line_at(name_at),
                container=self.container if container is None else container,
                signature=signature,
                doc=doc,
                exported=exported,
                bases=bases,
                decorators=decorators,
                owner=owner,
            )
        )
        return len(self.symbols) - 1

    def use(self, kind: UseKind, path: str, start: int) -> None:
        """Add a use by the symbol that is being read."""
        self.uses.append((kind, path, start, self.container))

    # Walk

    def visit(self, nodes: Iterable["Node"]) -> None:
        """Push nodes to be visited next, in order, before those already waiting."""
        self.stack.extend(reversed(list(nodes)))

    def enter(self, symbol: int, nodes: Iterable["Node"], scope: Any = None) -> None:
        """Push nodes to be visited next as the inside of a symbol.

        Nodes pushed afterwards are visited first, outside of it.
        """
        self.stack.append(ScopeMark(self.container, self.scope))
        self.stack.extend(reversed(list(nodes)))
        self.stack.append(ScopeMark(symbol, self.scope if scope is None else scope))

    def walk(self, root: "Node", kinds: Mapping[int, Any]) -> None:
        """Visit a tree from its root, each node by its visitor in `kinds`, which pushes the nodes to visit next."""
        stack = self.stack
        stack.append(root)
        pop, visitor_of = stack.pop, kinds.get
        while stack:
            node = pop()
            visitor = visitor_of(node.kind_id, DESCEND)
            if visitor is None:
                continue
            if visitor is DESCEND:
                stack.extend(node.named_children[::-1])  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
            else:
                visitor(self, node)

    # Paths of names

    def read_path(self, node: "Node", shapes: Mapping[int, PathShape]) -> tuple[str, int, "Node | None"]:
        """Return a path as in `Use.path`, the first byte of its last name, and the node in it to visit separately.

        That node is the first in the chain that is more than names, such as the call in `make(1).run`.
        """
        parts: list[str] = []
        start = -1
        inner: Node | None = None
        for _ in range(MAX_CHAIN_LENGTH):
            shape = shapes.get(node.kind_id)
            if shape is PathShape.NAME:
                start = node.start_byte if start < 0 else start
                parts.append(self.text_of(node))
                return "".join(reversed(parts)), start, inner
            if shape is None:
                break
            children = node.children
            if shape is PathShape.MEMBER:
                name = children[-1]
                start = name.start_byte if start < 0 else start
                parts.append("." + self.text_of(name))
                node = children[0]
                continue
            inner = inner or node
            if shape is PathShape.INNER:
                node = node.named_children[0] if node.named_child_count else children[0]
                continue
            parts.append("()" if shape is PathShape.CALL else "[]")
            node = node.named_children[0] if node.named_child_count else children[0]
        return "".join(reversed(parts)), node.start_byte if start < 0 else start, inner or node

    # End

    def sorted_facts(self) -> tuple[Sequence[Symbol], Sequence[Import], Sequence[Use]]:
        """Return symbols sorted by start, imports and uses, with the indexes of their containers adjusted."""
        symbols: Sequence[Symbol] = self.symbols
        self.uses.sort(key=_START)
        order = sorted(range(len(symbols)), key=lambda place: (symbols[place].span.start, -symbols[place].span.end))
        starts, make = self.line_starts, tuple[Any, ...].__new__
        if order == list(range(len(symbols))):
            return (
                symbols,
                self.imports,
                [
                    make(Use, (kind, path, bisect_right(starts, start), start, container))
                    for kind, path, start, container in self.uses
                ],
            )
        moved = {old: new for new, old in enumerate(order)} | {-1: -1}
        return (
            [symbols[old]._replace(container=moved[symbols[old].container]) for old in order],
            [each._replace(container=moved[each.container]) for each in self.imports],
            [
                make(Use, (kind, path, bisect_right(starts, start), start, moved[container]))
                for kind, path, start, container in self.uses
            ],
        )


class Visitor(Protocol):
    """Reads one node and pushes the nodes within it that are to be visited."""

    def __call__(self, found: Findings, node: "Node", /) -> None: ...


def _change_scope(found: Findings, mark: ScopeMark) -> None:
    found.container = mark.container
    found.scope = mark.scope


def visitor_table(
    language: Language, visitors: Mapping[str, Visitor], ignored: Sequence[str] = ()
) -> Mapping[int, Any]:
    """Return the table for `Findings.walk` from visitors by node name. Unnamed tokens are ignored."""
    grammar = load_grammar(language)
    table: dict[int, Any] = {SCOPE_MARK_ID: _change_scope}
    for kind in range(grammar.node_kind_count):
        name = grammar.node_kind_for_id(kind)
        if name is None:
            continue
        if not grammar.node_kind_is_named(kind) or name in ignored:
            table[kind] = None
        elif name in visitors:
            table[kind] = visitors[name]
    if "ERROR" in visitors:
        table[65535] = visitors["ERROR"]
    return table


def shape_table(language: Language, names: Mapping[str, PathShape]) -> Mapping[int, PathShape]:
    """Return the table for `Findings.path_of` from shapes by node name."""
    grammar = load_grammar(language)
    return {
        kind: names[name]
        for kind in range(grammar.node_kind_count)
        if (name := grammar.node_kind_for_id(kind)) is not None and grammar.node_kind_is_named(kind) and name in names
    }


def kind_ids(language: Language, *names: str) -> frozenset[int]:
    """Return the ids of the named nodes with these names; one name may have several ids."""
    grammar = load_grammar(language)
    return frozenset(
        kind
        for kind in range(grammar.node_kind_count)
        if grammar.node_kind_is_named(kind) and grammar.node_kind_for_id(kind) in names
    )


def field_finder(language: Language, name: str) -> Callable[["Node"], "Node | None"]:
    """Return a function that returns a node's child in a field, faster than lookup by the field's name."""
    number = load_grammar(language).field_id_for_name(name)
    if number is None:
        raise LookupError(f"the grammar of {language} has no field {name!r}")
    return lambda node: node.child_by_field_id(number)


def strip_comment_marks(text: str) -> str:
    """Return the text of a comment without its comment marks."""
    lines: list[str] = []
    for line in text[: 2 * MAX_DOC_LENGTH].split("\n"):
        bare = line.strip()
        if bare.endswith("*/"):
            bare = bare.rstrip("*/").rstrip() or "/*"
        mark = _COMMENT_MARK.match(bare)
        bare = bare[mark.end() :] if mark else bare
        if not _DIRECTIVE.match(bare):
            lines.append(bare)
    return "\n".join(lines).strip()[:MAX_DOC_LENGTH]


def strip_docstring(text: str) -> str:
    """Return the text of a docstring without its indentation."""
    lines = text.expandtabs().split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    cut = min(indents, default=0)
    return "\n".join([lines[0].strip(), *(line[cut:].rstrip() for line in lines[1:])]).strip()[:MAX_DOC_LENGTH]


def find_syntax_errors(tree: "Tree", found: Findings) -> Sequence[Problem]:
    """Return the syntax errors of a tree, at most one per line, in the order of lines."""
    problems: dict[int, Problem] = {}
    stack = [tree.root_node] if tree.root_node.has_error else []
    while stack and len(problems) < MAX_PROBLEMS:
        node = stack.pop()
        if node.is_missing:
            line = found.line_at(node.start_byte)
            problems.setdefault(line, Problem(line, f"{node.type} is missing"))
        elif node.is_error:
            line = found.line_at(node.start_byte)
            problems.setdefault(line, Problem(line, "this cannot be read"))
        else:
            stack.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)
    return [problems[line] for line in sorted(problems)]
