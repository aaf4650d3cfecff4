"""A file while it is read: its text by bytes, a walk over its tree, and what is found on the way.

Positions are bytes throughout. `Point.row` and `Point.column` of tree-sitter 0.26.0 must not be read: they give away a
reference that is not theirs, and the process dies later, elsewhere.
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
from scrubjay.code_index.parsing.languages import grammar_of

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

LONGEST_DOC = 2_000
LONGEST_SIGNATURE = 300
LONGEST_CHAIN = 16
"""Of `a.b().c()…` no more links are written into a path: long chains would take quadratic time and space."""
MOST_PROBLEMS = 20
"""More places than this say nothing new: the file is not what its name promises."""

LICENSE = re.compile(r"copyright|licen[cs]e|SPDX-", re.IGNORECASE)
"""A comment at the top that has it says nothing of what the file is about."""
_MARK = re.compile(r"(?:/\*[*!]*|//[/!]*|\*(?!/)|#+[!:]?|--+)?[ \t]?")
_DIRECTIVE = re.compile(
    r"go:|\+build|eslint|@ts-|prettier-|noqa|type: ?ignore|pylint|pyright:|mypy:|istanbul|biome-|clang-"
)


_OPENINGS = ("=>", ":", "{", "=", ";")
_START = itemgetter(2)


class Shape(Enum):
    """How a node takes part in the path of a name."""

    NAME = 1
    """The name itself."""
    MEMBER = 2
    """Its last child taken of its first."""
    CALL = 3
    """The result of calling its first named child."""
    ENTRY = 4
    """An entry of its first named child."""
    INNER = 5
    """Nothing but its first named child: brackets, `await`."""


class Mark:
    """On the walk's stack: from here on `container` is the symbol that is read."""

    __slots__ = ("container", "kind_id", "scope")

    def __init__(self, container: int, scope: Any = None) -> None:
        self.kind_id = MARK
        self.container = container
        self.scope = scope


MARK = -1
DESCEND = object()
"""What `kinds` has for nodes that are only gone through."""


class Findings:
    """One file while it is read: what was found so far, and where the reader is.

    A language's reader visits nodes in the order of the text. It calls `add` for a definition, `use` for a use, appends
    to `imports` and `exports`, sets `doc`, and pushes what is still to be visited with `visit` and `enter`.
    """

    def __init__(self, content: bytes, language: Language) -> None:
        self.content = content
        self.language = language
        self.latin = content.decode("latin-1")
        """One character for each byte, so that positions are the same."""
        self.is_ascii = content.isascii()
        self.doc = ""
        self.symbols: list[Symbol] = []
        self.imports: list[Import] = []
        self.uses: list[tuple[UseKind, str, int, int]] = []
        """Kind, path, first byte of the last name, container."""
        self.exports: list[tuple[str, str]] = []
        self.container = -1
        self.scope: Any = None
        """Whatever a language's reader keeps of the scope that is read; it follows `enter`."""
        self.stack: list[Node | Mark] = []
        self._above: list[tuple[int, int, bool]] = []

    # The text.

    def text(self, start: int, end: int) -> str:
        """The text between two places; what is no UTF-8 becomes U+FFFD."""
        return self.latin[start:end] if self.is_ascii else self.content[start:end].decode("utf-8", "replace")

    def text_of(self, node: "Node") -> str:
        """A node's text."""
        return self.text(node.start_byte, node.end_byte)

    @cached_property
    def line_starts(self) -> Sequence[int]:
        """The first byte of each line."""
        if b"\r" in self.content:
            return [0, *accumulate(len(line) + 1 for line in self.content.split(b"\n"))][:-1]
        return line_starts(self.content)

    def line_at(self, byte: int) -> int:
        """The line, counted from 1, that a byte is on."""
        return bisect_right(self.line_starts, byte)

    def span(self, start: int, end: int) -> Span:
        """The part of the file between two places."""
        return Span(start, end, self.line_at(start), self.line_at(max(start, end - 1)))

    def head(self, start: int, end: int) -> str:
        """A signature: the text between two places in one line, without the mark that opens a body."""
        whole = " ".join(self.text(start, min(end, start + 4 * LONGEST_SIGNATURE)).split())
        while whole.endswith(_OPENINGS):
            whole = whole[: -2 if whole[-1] == ">" else -1].removesuffix(" ")
        return whole if len(whole) <= LONGEST_SIGNATURE else whole[: LONGEST_SIGNATURE - 1] + "…"

    # What stands above a definition.

    def note_above(self, node: "Node", *, is_comment: bool = True) -> None:
        """Remember a comment, or an attribute, that may belong to the definition after it."""
        start, end = node.start_byte, node.end_byte
        while end > start and self.content[end - 1] in b"\r\n":
            end -= 1
        if self._above and not self.is_next(self._above[-1][1], start):
            self._above.clear()
        if not self._above:
            first = self.content.rfind(b"\n", 0, start) + 1
            if start - first > LONGEST_SIGNATURE or self.content[first:start].strip(b" \t\xef\xbb\xbf"):
                return
        self._above.append((start, end, is_comment))

    def take_above(self, start: int) -> tuple[int, str]:
        """Where a definition begins together with what stands right above it, and what the comments there say."""
        above, self._above = self._above, []
        if not above or not self.is_next(above[-1][1], start):
            return start, ""
        return above[0][0], uncommented("\n".join(self.text(a, b) for a, b, is_comment in above if is_comment))

    def is_next(self, end: int, start: int) -> bool:
        """Whether nothing but one line end and blanks is between."""
        if start - end > LONGEST_SIGNATURE:
            return False
        between = self.content[end:start]
        return not between.strip() and between.count(b"\n") <= 1

    # What is found.

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
        """Add a definition that ends where `node` ends; its place among the symbols is returned."""
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

    # The walk.

    def visit(self, nodes: Iterable["Node"]) -> None:
        """Read these nodes next, in their order, before what is already waiting."""
        self.stack.extend(reversed(list(nodes)))

    def enter(self, symbol: int, nodes: Iterable["Node"], scope: Any = None) -> None:
        """Read these nodes next as the inside of a symbol. What `visit` is given afterwards is read before, outside."""
        self.stack.append(Mark(self.container, self.scope))
        self.stack.extend(reversed(list(nodes)))
        self.stack.append(Mark(symbol, self.scope if scope is None else scope))

    def walk(self, root: "Node", kinds: Mapping[int, Any]) -> None:
        """Visit a tree from its root: each node by the function that `kinds` has for it, which then pushes on."""
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

    # Names with what they are taken of.

    def path_of(self, node: "Node", shapes: Mapping[int, Shape]) -> tuple[str, int, "Node | None"]:
        """A path as in `Use.path`, where its last name begins, and the node in it that is to be visited on its own.

        That node is the first in the chain that is more than names, such as the call in `make(1).run`.
        """
        parts: list[str] = []
        start = -1
        inner: Node | None = None
        for _ in range(LONGEST_CHAIN):
            shape = shapes.get(node.kind_id)
            if shape is Shape.NAME:
                start = node.start_byte if start < 0 else start
                parts.append(self.text_of(node))
                return "".join(reversed(parts)), start, inner
            if shape is None:
                break
            children = node.children
            if shape is Shape.MEMBER:
                name = children[-1]
                start = name.start_byte if start < 0 else start
                parts.append("." + self.text_of(name))
                node = children[0]
                continue
            inner = inner or node
            if shape is Shape.INNER:
                node = node.named_children[0] if node.named_child_count else children[0]
                continue
            parts.append("()" if shape is Shape.CALL else "[]")
            node = node.named_children[0] if node.named_child_count else children[0]
        return "".join(reversed(parts)), node.start_byte if start < 0 else start, inner or node

    # The end.

    def in_order(self) -> tuple[Sequence[Symbol], Sequence[Import], Sequence[Use]]:
        """Symbols by their beginnings, imports and uses that tell of them."""
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
    """Reads one node and pushes what is to be read of its inside."""

    def __call__(self, found: Findings, node: "Node", /) -> None: ...


def _moved(found: Findings, mark: Mark) -> None:
    found.container = mark.container
    found.scope = mark.scope


def kinds(language: Language, visitors: Mapping[str, Visitor], ignored: Sequence[str] = ()) -> Mapping[int, Any]:
    """What `Findings.walk` needs: visitors by the names of nodes. Tokens without a name are ignored."""
    grammar = grammar_of(language)
    table: dict[int, Any] = {MARK: _moved}
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


def shapes(language: Language, names: Mapping[str, Shape]) -> Mapping[int, Shape]:
    """What `Findings.path_of` needs: shapes by the names of nodes."""
    grammar = grammar_of(language)
    return {
        kind: names[name]
        for kind in range(grammar.node_kind_count)
        if (name := grammar.node_kind_for_id(kind)) is not None and grammar.node_kind_is_named(kind) and name in names
    }


def kind_ids(language: Language, *names: str) -> frozenset[int]:
    """The ids of the named nodes that are called so; a name may have several."""
    grammar = grammar_of(language)
    return frozenset(
        kind
        for kind in range(grammar.node_kind_count)
        if grammar.node_kind_is_named(kind) and grammar.node_kind_for_id(kind) in names
    )


def field_finder(language: Language, name: str) -> Callable[["Node"], "Node | None"]:
    """A function that gives a node's child in a field, faster than by the field's name."""
    number = grammar_of(language).field_id_for_name(name)
    if number is None:
        raise LookupError(f"the grammar of {language} has no field {name!r}")
    return lambda node: node.child_by_field_id(number)


def uncommented(text: str) -> str:
    """What a comment says, without its marks."""
    said: list[str] = []
    for line in text[: 2 * LONGEST_DOC].split("\n"):
        bare = line.strip()
        if bare.endswith("*/"):
            bare = bare.rstrip("*/").rstrip() or "/*"
        mark = _MARK.match(bare)
        bare = bare[mark.end() :] if mark else bare
        if not _DIRECTIVE.match(bare):
            said.append(bare)
    return "\n".join(said).strip()[:LONGEST_DOC]


def undocstringed(text: str) -> str:
    """What a text within the code says, without the indentation that its place gave it."""
    lines = text.expandtabs().split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    cut = min(indents, default=0)
    return "\n".join([lines[0].strip(), *(line[cut:].rstrip() for line in lines[1:])]).strip()[:LONGEST_DOC]


def problems_of(tree: "Tree", found: Findings) -> Sequence[Problem]:
    """Where the syntax is broken, one for each line, in the order of lines."""
    problems: dict[int, Problem] = {}
    stack = [tree.root_node] if tree.root_node.has_error else []
    while stack and len(problems) < MOST_PROBLEMS:
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
