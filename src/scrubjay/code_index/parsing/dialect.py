"""Languages that are alike, told as tables: what their nodes define, name, call and take types from."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.code_index.models import Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.nodes import (
    LICENSE,
    LONGEST_CHAIN,
    LONGEST_SIGNATURE,
    Findings,
    Visitor,
    kind_ids,
    kinds,
    uncommented,
)

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

TYPES = frozenset(
    {
        SymbolKind.CLASS,
        SymbolKind.STRUCT,
        SymbolKind.INTERFACE,
        SymbolKind.TRAIT,
        SymbolKind.ENUM,
        SymbolKind.IMPL,
    }
)
"""What has methods and fields."""

_SEPARATORS = re.compile(r"\s*(?:::|->|\?\.|!!?\.|\\|\.)\s*")
_INSTANCE = frozenset({"this", "self", "super"})
# More local names than this are not handed on to a function within: it would take quadratic time.
_MOST_HANDED_ON = 500
LONGEST_NAME = 300
"""What is longer is no name; bytes."""


class How(Enum):
    """How a node takes part in the path of a name."""

    NAME = 1
    """The name itself, perhaps with types in brackets behind it."""
    QUALIFIED = 2
    """Nothing but names and separators."""
    MEMBER = 3
    """A name taken of something."""
    CALL = 4
    """The result of a call."""
    MEMBER_CALL = 5
    """The result of calling a name that is taken of something, all in one node."""
    ENTRY = 6
    """An entry of something."""
    INNER = 7
    """Nothing but what is within: brackets, `await`."""


class Link(NamedTuple):
    """How a node takes part in a path, and in which fields it has the parts; without a field, first and last child."""

    how: How
    of: str = ""
    name: str = ""


class Defines(NamedTuple):
    """What a node defines."""

    kind: SymbolKind
    name: str = "name"
    """The field that has its name."""
    called: str = ""
    """Its name, where the language gives it none."""


class Scope:
    """The names that are local where the reader is."""

    __slots__ = ("hidden", "local", "names")

    def __init__(self, names: Iterable[str] = (), *, local: bool = False) -> None:
        self.names = set(names)
        self.local = local
        """Whether this is the inside of a function."""
        self.hidden = False
        """Whether what is defined from here on is for this file only."""

    def within(self, *, local: bool) -> "Scope":
        """The scope of a definition that is in this one."""
        return Scope(self.names if len(self.names) < _MOST_HANDED_ON else (), local=local)


class Head(NamedTuple):
    """What stands before a definition's name."""

    start: int
    """Where it begins without its annotations."""
    words: frozenset[str]
    annotations: Sequence[tuple[str, int]]
    """The name of each, and where it begins."""
    decorators: tuple[str, ...]
    """Each as it is written, without its marks."""
    pending: Sequence["Node"]
    """What is in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What a language's grammar calls its nodes."""

    comments: Sequence[str] = ("comment",)
    ignored: Sequence[str] = ()
    names: Sequence[str] = ("identifier",)
    """Names in expressions."""
    type_names: Sequence[str] = ()
    """Names within types."""
    type_nodes: Sequence[str] = ()
    """Types, wherever they stand."""
    type_arguments: Sequence[str] = ()
    type_parameters: Sequence[str] = ()
    """What binds the name of a type, which is its first name."""
    links: Mapping[str, Link] = field(default_factory=dict[str, Link])
    definitions: Mapping[str, Defines] = field(default_factory=dict[str, Defines])
    bodies: Sequence[str] = ()
    """Where a definition's head is over, if not at the field `body`."""
    heritage: Sequence[str] = ()
    """Within a definition: what it inherits from."""
    arguments: Sequence[str] = ()
    """Values among types."""
    modifiers: Sequence[str] = ()
    """Words before a definition, or nodes that hold such words."""
    annotations: Sequence[str] = ()
    binders: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Nodes that bind local names, with the fields these are in; without a field, names among the children."""
    calls: Sequence[str] = ()
    news: Mapping[str, str] = field(default_factory=dict[str, str])
    """Nodes that make an instance, with the field of its type; without a field, the first named child."""
    throws: Sequence[str] = ()
    catches: Mapping[str, str] = field(default_factory=dict[str, str])
    """Nodes that catch, with the field of the types."""
    assignments: Mapping[str, str] = field(default_factory=dict[str, str])
    """Nodes that write, with the field of what is written to."""
    typed: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Nodes that have types in fields, where types cannot be told from other names."""
    private: frozenset[str] = frozenset({"private"})
    """Words before a definition by which no other file may use it."""


class Dialect:
    """Reads trees by tables; a language says in `more` what its tables do not tell."""

    language: Language
    tables: Tables

    def __init__(self) -> None:
        tables, language = self.tables, self.language

        def ids(names: Iterable[str]) -> frozenset[int]:
            return kind_ids(language, *names)

        self.comments = ids(tables.comments)
        self.names = ids(tables.names)
        self.type_names = ids(tables.type_names)
        self.type_arguments = ids(tables.type_arguments)
        self.type_parameters = ids(tables.type_parameters)
        self.bodies = ids(tables.bodies)
        self.heritage = ids(tables.heritage)
        self.arguments = ids(tables.arguments)
        self.modifiers = ids(tables.modifiers)
        self.annotations = ids(tables.annotations)
        self.definitions = {kind: one for name, one in tables.definitions.items() for kind in ids([name])}
        self.links = {kind: one for name, one in tables.links.items() for kind in ids([name])}
        self.typed = {kind: one for name, one in tables.typed.items() for kind in ids([name])}
        visitors: dict[str, Visitor] = {}
        visitors.update(dict.fromkeys(tables.comments, Findings.note_above))
        visitors.update(dict.fromkeys(tables.links, self.read_name))
        visitors.update(dict.fromkeys(tables.names, self.read_name))
        visitors.update(dict.fromkeys(tables.type_nodes, self.read_type))
        visitors.update(dict.fromkeys(tables.type_parameters, self.bind_type))
        visitors.update(dict.fromkeys(tables.typed, self.read_typed))
        visitors.update({name: self._binding(fields) for name, fields in tables.binders.items()})
        visitors.update(dict.fromkeys(tables.calls, self.call))
        visitors.update(dict.fromkeys(tables.news, self.make))
        visitors.update(dict.fromkeys(tables.throws, self.throw))
        visitors.update({name: self._catching(place) for name, place in tables.catches.items()})
        visitors.update({name: self._writing(place) for name, place in tables.assignments.items()})
        visitors.update(dict.fromkeys(tables.definitions, self.define))
        visitors.update(self.more())
        self.kinds = kinds(language, visitors, tables.ignored)

    def more(self) -> Mapping[str, Visitor]:
        """Visitors of nodes that the tables do not tell of, or not rightly."""
        return {}

    def read(self, tree: "Tree", found: Findings) -> None:
        """Read a whole tree."""
        found.scope = Scope()
        found.doc = opening(found, tree.root_node, self.comments, frozenset(self.definitions))
        found.walk(tree.root_node, self.kinds)

    # Names.

    def path(self, found: Findings, node: "Node | None") -> tuple[str, int, list["Node"]]:
        """A path as in `Use.path`, where its last name begins, and the nodes in it that are to be visited still."""
        parts: list[str] = []
        start = -1
        pending: list[Node] = []
        for _ in range(LONGEST_CHAIN):
            if node is None:
                break
            link = self.links.get(node.kind_id)
            if link is None:
                if node.kind_id in self.names:
                    start = node.start_byte if start < 0 else start
                    parts.append(self.text(found, node))
                elif not node.is_named:  # `this` in C#
                    start = node.start_byte if start < 0 else start
                    parts.append(found.text_of(node))
                else:
                    pending = pending or [node]
                    if node.type in self.tables.news and (made := self._made(node)) is not None:
                        parts.append("()")
                        parts.append(dotted(found, made)[0])
                break
            if link.how is How.QUALIFIED:
                text, last = dotted(found, node)
                parts.append(text)
                start = last if start < 0 else start
                pending += self.arguments_of(node)
                break
            if link.how is How.NAME:
                name, rest = self._bare(node, link.name)
                start = name.start_byte if start < 0 else start
                parts.append(self.text(found, name))
                pending += rest
                break
            of = _child(node, link.of, 0)
            if link.how is How.MEMBER:
                name, rest = self._named(node, link.name)
                start = name.start_byte if start < 0 else start
                pending += rest
                parts.append(("." if of else "") + self.text(found, name))
            elif link.how is How.MEMBER_CALL:
                pending = pending or [node]
                name = _child(node, link.name, -1)
                if name is not None:
                    start = name.start_byte if start < 0 else start
                    parts.append(f"{'.' if of else ''}{self.text(found, name)}()")
            elif link.how is How.INNER:
                pending = pending or [node]
                of = _child(node, link.of, 0) if link.of else (node.named_children or [None])[0]
            else:
                pending = pending or [node]
                parts.append("()" if link.how is How.CALL else "[]")
            node = of
        return "".join(reversed(parts)), start, pending

    def text(self, found: Findings, name: "Node") -> str:
        """A name as it stands in paths."""
        return found.text(name.start_byte, min(name.end_byte, name.start_byte + LONGEST_NAME))

    def _named(self, node: "Node", name: str) -> tuple["Node", list["Node"]]:
        found = _child(node, name, -1) or node
        return self._bare(found, self.links[found.kind_id].name) if found.kind_id in self.links else (found, [])

    def _bare(self, node: "Node", name: str) -> tuple["Node", list["Node"]]:
        """A name without what is in brackets behind it, and these."""
        if not node.named_child_count:
            return node, []
        bare = _child(node, name, 0) or node
        return bare, [child for child in node.named_children if child.id != bare.id]

    def read_name(self, found: Findings, node: "Node") -> None:
        """A name in an expression: read, unless it is local."""
        path, start, pending = self.path(found, node)
        if node in pending:  # more than names: what is within is read by itself
            pending = [child for child in node.children if child.is_named]
        elif path and path not in _INSTANCE and not self.is_local(found, path):
            found.use(UseKind.READ, path, start)
        found.visit(pending)

    def is_local(self, found: Findings, path: str) -> bool:
        """Whether a path begins with a name that is local here."""
        names = found.scope.names
        return bool(names) and re.split(r"[.(\[]", path, maxsplit=1)[0] in names

    # Types.

    def types(
        self, found: Findings, node: "Node", kind: UseKind = UseKind.TYPE, container: int | None = None
    ) -> tuple[list[str], list["Node"]]:
        """Add the uses of types below a node; which are named at its top, and the values among them."""
        named: list[str] = []
        values: list[Node] = []
        container = found.container if container is None else container
        local = found.scope.names
        stack = [(node, kind)]
        while stack:
            node, kind = stack.pop()
            if node.kind_id in self.type_names:
                path, start = dotted(found, node)
                if kind is not UseKind.TYPE:
                    named.append(path)
                if path and (kind is not UseKind.TYPE or path not in local):
                    found.uses.append((kind, path, start, container))
                stack.extend((inner, UseKind.TYPE) for inner in self.arguments_of(node))
            elif node.kind_id in self.arguments:
                values.append(node)
            elif node.kind_id in self.typed:
                fields = self.typed[node.kind_id]
                stack.extend((child, kind) for name in fields for child in node.children_by_field_name(name))
            elif node.kind_id not in self.modifiers:
                below = UseKind.TYPE if node.kind_id in self.type_arguments else kind
                stack.extend((child, below) for child in reversed(node.named_children))
        return named, values

    def arguments_of(self, node: "Node") -> list["Node"]:
        """The types in brackets behind a qualified name."""
        return [child for child in node.named_children if child.kind_id in self.type_arguments]

    def read_type(self, found: Findings, node: "Node") -> None:
        _, values = self.types(found, node)
        found.visit(values)

    def read_typed(self, found: Findings, node: "Node") -> None:
        """A node with types in fields: the rest of it is read as it is."""
        found.visit(self.without_types(found, node, self.typed[node.kind_id]))

    def without_types(self, found: Findings, node: "Node", fields: Sequence[str]) -> list["Node"]:
        """Add the uses of the types in these fields; the other children are left."""
        seen: set[int] = set()
        for name in fields:
            for child in node.children_by_field_name(name):
                seen.add(child.id)
                self.read_type(found, child)
        return [child for child in node.children if child.id not in seen]

    def bind_type(self, found: Findings, node: "Node") -> None:
        first, *rest = node.named_children or [None]
        if first is not None:
            found.scope.names.add(found.text_of(first))
        found.visit(rest)  # pyright: ignore[reportArgumentType]

    # Statements and expressions.

    def call(self, found: Findings, node: "Node") -> None:
        link = self.links[node.kind_id]
        of = _child(node, link.of, 0)
        name = _child(node, link.name, -1) if link.how is How.MEMBER_CALL else None
        path, start, pending = self.path(found, of)
        if name is not None:
            bare, rest = self._named(node, link.name)
            path = f"{path}.{self.text(found, bare)}" if of else self.text(found, bare)
            start = bare.start_byte
            pending += rest
        if path:
            found.use(UseKind.CALL, path, max(start, node.start_byte))
        taken = {child.id for child in (of, name) if child is not None}
        found.visit([*pending, *(child for child in node.children if child.id not in taken)])

    def make(self, found: Findings, node: "Node") -> None:
        made = self._made(node)
        if made is not None:
            _, values = self.types(found, made, UseKind.NEW)
            found.visit([*values, *(child for child in node.children if child.id != made.id)])

    def _made(self, node: "Node") -> "Node | None":
        place = self.tables.news[node.type]
        return node.child_by_field_name(place) if place else next(iter(node.named_children), None)

    def throw(self, found: Findings, node: "Node") -> None:
        """What is thrown is named, and then read as any expression."""
        if (thrown := self.thrown(found, node)) is not None:
            found.use(UseKind.RAISE, *thrown)
        found.visit(node.children)

    def thrown(self, found: Findings, node: "Node") -> tuple[str, int] | None:
        value = next(iter(node.named_children), None)
        if value is None:
            return None
        if value.type in self.tables.news:
            made = self._made(value)
            return (
                dotted(found, made) if made is not None and made.child_count + made.end_byte > made.start_byte else None
            )
        link = self.links.get(value.kind_id)
        if link is not None and link.how is How.CALL:
            value = _child(value, link.of, 0)
        path, start, _ = self.path(found, value)
        return (path, start) if path and start >= 0 and not self.is_local(found, path) else None

    def _catching(self, place: str) -> Visitor:
        def catch(found: Findings, node: "Node") -> None:
            caught = node.children_by_field_name(place) if place else [
                child for child in node.named_children if child.type in self.tables.type_nodes
            ]  # fmt: skip
            for child in caught:
                self.types(found, child, UseKind.CATCH)
            seen = {child.id for child in caught}
            name = node.child_by_field_name("name")
            if name is not None:
                found.scope.names.add(found.text_of(name).lstrip("$"))
                seen.add(name.id)
            found.visit(child for child in node.children if child.id not in seen)

        return catch

    def _writing(self, place: str) -> Visitor:
        def write(found: Findings, node: "Node") -> None:
            target = node.child_by_field_name(place) if place else node.children[0]
            if target is None:
                found.visit(node.children)
                return
            path, start, pending = self.path(found, target)
            self.written(found, path, max(start, target.start_byte))
            found.visit([*pending, *(child for child in node.children if child.id != target.id)])

        return write

    def written(self, found: Findings, path: str, start: int) -> None:
        """Writing to a local variable is no use; writing to what is taken of one is."""
        if path and ("." in path or not self.is_local(found, path)):
            found.use(UseKind.WRITE, path, start)

    def _binding(self, fields: Sequence[str]) -> Visitor:
        def bind(found: Findings, node: "Node") -> None:
            bound = [child for name in fields for child in node.children_by_field_name(name)]
            if not fields:
                bound = [child for child in node.named_children if child.kind_id in self.names]
            seen = {child.id for child in bound}
            self.bind_names(found, bound)
            rest = self.without_types(found, node, self.typed.get(node.kind_id, ()))
            found.visit(child for child in rest if child.id not in seen)

        return bind

    def bind_names(self, found: Findings, nodes: Iterable["Node"]) -> None:
        """Names below these nodes are local from here on."""
        names: set[str] = found.scope.names
        stack = list(nodes)
        while stack:
            node = stack.pop()
            if node.named_child_count:
                stack.extend(node.named_children)
            elif node.end_byte - node.start_byte < LONGEST_NAME:
                names.add(found.text_of(node))

    # Definitions.

    def define(self, found: Findings, node: "Node", start: int | None = None) -> None:
        """A definition with its head, its bases and its body."""
        defines = self.definitions[node.kind_id]
        name = node.child_by_field_name(defines.name) if defines.name else None
        if name is None and not defines.called:
            found.visit(node.children)
            return
        text, name_at = self.defined_name(found, name) if name is not None else (defines.called, node.start_byte)
        body = self.body_of(node)
        self.declare(found, node, text, name_at, self.kind_of(found, node, defines.kind, body), body, name, start)

    def body_of(self, node: "Node") -> "Node | None":
        """Where a definition's head is over."""
        body = node.child_by_field_name("body")
        if body is None and self.bodies:
            return next((child for child in node.children if child.kind_id in self.bodies), None)
        return body

    def defined_name(self, found: Findings, name: "Node") -> tuple[str, int]:
        """What a definition is called, and where."""
        return dotted(found, name)[0], name.start_byte

    def kind_of(self, found: Findings, node: "Node", kind: SymbolKind, body: "Node | None") -> SymbolKind:
        """A function within a type is a method, and one without a body a signature."""
        if kind in (SymbolKind.FUNCTION, SymbolKind.METHOD) and body is None:
            return SymbolKind.SIGNATURE
        return SymbolKind.METHOD if kind is SymbolKind.FUNCTION and self.in_type(found) else kind

    def in_type(self, found: Findings) -> bool:
        """Whether what is read is a member of a type."""
        return found.container >= 0 and found.symbols[found.container].kind in TYPES

    def declare(
        self,
        found: Findings,
        node: "Node",
        name: str,
        name_at: int,
        kind: SymbolKind,
        body: "Node | None",
        name_node: "Node | None" = None,
        start: int | None = None,
        inside: Sequence["Node"] | None = None,
        owner: str = "",
    ) -> None:
        """Add a definition with all that its head tells, and read its inside next: its children, if not given."""
        if not name:  # it is missing, and the grammar went on without it
            found.visit(node.children if inside is None else inside)
            return
        head = self.head(found, node)
        begin, doc = found.take_above(node.start_byte if start is None else start)
        place = found.add(
            name,
            kind,
            node,
            name_at,
            start=begin,
            signature=signature(found, head.start if start is None else start, self._head_end(node, name_at, body)),
            doc=self.said(doc),
            exported=self.is_exported(found, name, head.words),
            decorators=head.decorators,
        )
        found.uses.extend((UseKind.DECORATE, path, at, place) for path, at in head.annotations)
        scope: Scope = found.scope.within(local=kind not in TYPES and kind is not SymbolKind.MODULE)
        outer, found.scope = found.scope, scope
        for child in node.children:
            self.bind_types(found, child)
        rest: list[Node] = [*head.pending]
        bases: list[str] = []
        typed = self.typed.get(node.kind_id, ())
        types = {child.id for name in typed for child in node.children_by_field_name(name)}
        for child in node.children if inside is None else inside:
            if child.kind_id in self.heritage:
                named, values = self.types(found, child, UseKind.INHERIT, place)
                bases += named
                rest += values
            elif child.id in types:
                rest += self.types(found, child, container=place)[1]
            elif child.kind_id in self.annotations or child.kind_id in self.modifiers:
                continue
            elif name_node is None or child.id != name_node.id:
                rest.append(child)
        found.scope = outer
        if bases or owner:
            found.symbols[place] = found.symbols[place]._replace(bases=tuple(bases), owner=owner)
        found.enter(place, rest, scope)

    def _head_end(self, node: "Node", name_at: int, body: "Node | None") -> int:
        end = body.start_byte if body is not None else node.end_byte
        comments = (child.start_byte for child in node.children if child.kind_id in self.comments)
        return min([end, *(start for start in comments if start > name_at)])

    def bind_types(self, found: Findings, node: "Node") -> None:
        """The names of type parameters are local before anything else in a definition is read."""
        for child in [node, *node.named_children] if self.type_parameters and node.child_count < 50 else [node]:
            if child.kind_id in self.type_parameters and child.named_child_count:
                found.scope.names.add(found.text_of(child.named_children[0]))

    def head(self, found: Findings, node: "Node") -> Head:
        """The words and annotations before a definition's name."""
        start = -1
        words: list[str] = []
        annotations: list[tuple[str, int]] = []
        decorators: list[str] = []
        pending: list[Node] = []
        waiting = list(reversed(node.children))
        while waiting:
            child = waiting.pop()
            if child.kind_id in self.annotations:
                path, at, rest = self.annotation(found, child)
                if path:
                    annotations.append((path, at))
                    decorators.append(found.head(child.start_byte, child.end_byte).strip("@#[]"))
                pending += rest
            elif child.kind_id in self.modifiers and child.child_count:
                waiting.extend(reversed(child.children))
            elif child.kind_id in self.modifiers or not child.is_named:
                text = found.text(child.start_byte, min(child.end_byte, child.start_byte + LONGEST_NAME))
                if text.strip("[]#@,"):
                    words.append(text)
                    start = child.start_byte if start < 0 else start
            else:
                start = child.start_byte if start < 0 else start
                break
        return Head(start if start >= 0 else node.start_byte, frozenset(words), annotations, tuple(decorators), pending)

    def annotation(self, found: Findings, node: "Node") -> tuple[str, int, list["Node"]]:
        """The name of an annotation, where it begins, and what is in it."""
        named = node.named_children
        if not named:
            return "", node.start_byte, []
        while named and named[0].named_child_count and named[0].kind_id not in self.type_names | self.names:
            if named[0].kind_id in self.links:
                break
            named = [*named[0].named_children, *named[1:]]
        path, start = dotted(found, named[0])
        return path, start, named[1:]

    def said(self, doc: str) -> str:
        """What a comment says."""
        return doc

    def is_exported(self, found: Findings, name: str, words: frozenset[str]) -> bool:
        """Whether other files may use it."""
        return not words & self.tables.private

    def declare_variables(
        self,
        found: Findings,
        node: "Node",
        variables: Sequence[tuple["Node", "Node", "Node | None"]],
        kind_of: Callable[[str, frozenset[str]], SymbolKind],
    ) -> None:
        """Add variables that one statement declares: each its own node, its name and where its head ends."""
        head = self.head(found, node)
        begin, doc = found.take_above(node.start_byte)
        for number, (variable, name, value) in enumerate(variables):
            text = found.text_of(name)
            if not text:
                continue
            alone = len(variables) == 1
            place = found.add(
                text,
                kind_of(text, head.words),
                node if alone else variable,
                name.start_byte,
                start=begin if not number else variable.start_byte,
                signature=signature(
                    found, head.start, value.start_byte if value is not None and alone else node.end_byte
                ),
                doc=self.said(doc),
                exported=self.is_exported(found, text, head.words),
                decorators=head.decorators,
            )
            found.uses.extend((UseKind.DECORATE, path, at, place) for path, at in head.annotations)
        found.visit(head.pending)


def signature(found: Findings, start: int, end: int) -> str:
    """The text between two places in one line, without the marks that end it or open a body."""
    whole = " ".join(found.text(start, min(end, start + 4 * LONGEST_SIGNATURE)).split())
    whole = whole.rstrip(" {;,").removesuffix("=>").removesuffix("=").rstrip(" :")
    return whole if len(whole) <= LONGEST_SIGNATURE else whole[: LONGEST_SIGNATURE - 1] + "…"


def module_of(found: Findings, node: "Node", name: "Node | None") -> None:
    """A package or namespace that is the whole file's."""
    path, at = dotted(found, name) if name is not None else ("", 0)
    if path:
        begin, doc = found.take_above(node.start_byte)
        head = signature(found, node.start_byte, node.end_byte)
        found.add(path, SymbolKind.MODULE, node, at, start=begin, signature=head, doc=doc)


def nothing(found: Findings, node: "Node") -> None:
    """A node that tells nothing."""


def after_first(found: Findings, node: "Node") -> None:
    """A node whose first child is a label."""
    found.visit(node.children[1:])


def dotted(found: Findings, node: "Node") -> tuple[str, int]:
    """A qualified name with dots and without what is in brackets, and where its last name begins."""
    start, end = node.start_byte, min(node.end_byte, node.start_byte + 4 * LONGEST_NAME)
    text = found.text(start, end)
    if text.isidentifier():
        return text, start
    text = _without_brackets(text)
    last = max(text.rfind(mark) for mark in (":", ".", "\\", ">")) + 1
    at = start + len(text[:last].encode("utf-8", "surrogatepass")) + len(text[last:]) - len(text[last:].lstrip())
    return _SEPARATORS.sub(".", text).strip(" .?!&*$@\n\r\t")[:LONGEST_NAME].replace(" ", ""), at


def _without_brackets(text: str) -> str:
    """Blanks for all that is in brackets, so that places stay; nothing from a round bracket on."""
    if (call := text.find("(")) > 0:
        text = text[:call]
    if "<" not in text and "[" not in text:
        return text
    kept: list[str] = []
    depth = 0
    for letter in text:
        depth += letter in "<["
        kept.append(letter if not depth else " " * len(letter.encode("utf-8", "replace")))
        depth -= bool(depth) and letter in ">]"
    return "".join(kept)


def opening(found: Findings, root: "Node", comments: frozenset[int], definitions: frozenset[int]) -> str:
    """What a file says of itself: its first comment that is neither its license nor about a definition."""
    block: list[Node] = []
    for child in root.children:
        if child.kind_id in comments:
            if block and found.content[block[-1].end_byte : child.start_byte].count(b"\n") > 1:
                if said := _said(found, block):
                    return said
                block = []
            block.append(child)
            continue
        if not child.is_named or not block:
            if child.is_named and child.kind_id in definitions:
                return ""
            continue
        near = found.content[block[-1].end_byte : child.start_byte].count(b"\n") <= 1
        if (not near or child.kind_id not in definitions) and (said := _said(found, block)):
            return said
        return ""
    return _said(found, block) if block else ""


def _said(found: Findings, block: Sequence["Node"]) -> str:
    text = "\n".join(found.text_of(comment) for comment in block if not found.text_of(comment).startswith("#!"))
    return "" if LICENSE.search(text) else uncommented(text)


def _child(node: "Node", name: str, place: int) -> "Node | None":
    if name:
        return node.child_by_field_name(name)
    children = node.children
    return children[place] if children else None
