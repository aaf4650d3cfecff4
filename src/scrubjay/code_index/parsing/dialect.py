"""Reads languages with similar grammars by tables: which nodes define, name, call and inherit what."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.code_index.models import Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.grammar_tables import GrammarTables, PathRole
from scrubjay.code_index.parsing.nodes import (
    LICENSE_PATTERN,
    MAX_CHAIN_LENGTH,
    MAX_SIGNATURE_LENGTH,
    Findings,
    Visitor,
    kind_ids,
    strip_comment_marks,
    visitor_table,
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
"""Kinds of symbols that have methods and fields."""

_SEPARATORS = re.compile(r"\s*(?:::|->|\?\.|!!?\.|\\|\.)\s*")
_INSTANCE_NAMES = frozenset({"this", "self", "super"})
# With more local names than this, they are not copied into inner scopes, which would take quadratic time.
_MAX_COPIED_NAMES = 500
MAX_NAME_BYTES = 300
"""Bytes; longer text is not a name."""


class LocalScope:
    """The names that are local at the current position."""

    __slots__ = ("hidden", "local", "names")

    def __init__(self, names: Iterable[str] = (), *, local: bool = False) -> None:
        self.names = set(names)
        self.local = local
        """True within a function."""
        self.hidden = False
        """True if definitions from here on are private to the file."""

    def within(self, *, local: bool) -> "LocalScope":
        """Return the scope of a definition within this one."""
        return LocalScope(self.names if len(self.names) < _MAX_COPIED_NAMES else (), local=local)


class DefinitionHead(NamedTuple):
    """The part of a definition before its name."""

    start: int
    """First byte after the annotations."""
    words: frozenset[str]
    annotations: Sequence[tuple[str, int]]
    """Name and first byte of each."""
    decorators: tuple[str, ...]
    """Source text of each, without its marks."""
    pending: Sequence["Node"]
    """Nodes within the annotations."""


class Dialect:
    """Reads trees by tables. A language adds in `more` what its tables cannot express."""

    language: Language
    tables: GrammarTables

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
        visitors.update(dict.fromkeys(tables.news, self.instantiate))
        visitors.update(dict.fromkeys(tables.throws, self.throw))
        visitors.update({name: self._catching(place) for name, place in tables.catches.items()})
        visitors.update({name: self._writing(place) for name, place in tables.assignments.items()})
        visitors.update(dict.fromkeys(tables.definitions, self.define))
        visitors.update(self.extra_visitors())
        self.kinds = visitor_table(language, visitors, tables.ignored)

    def extra_visitors(self) -> Mapping[str, Visitor]:
        """Return visitors of nodes that the tables do not describe, or not correctly."""
        return {}

    def read(self, tree: "Tree", found: Findings) -> None:
        """Read a whole tree."""
        found.scope = LocalScope()
        found.doc = read_file_doc(found, tree.root_node, self.comments, frozenset(self.definitions))
        found.walk(tree.root_node, self.kinds)

    # Names

    def path(self, found: Findings, node: "Node | None") -> tuple[str, int, list["Node"]]:
        """Return a path as in `Use.path`, the first byte of its last name, and the nodes in it to visit next."""
        parts: list[str] = []
        start = -1
        pending: list[Node] = []
        for _ in range(MAX_CHAIN_LENGTH):
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
                    if node.type in self.tables.news and (made := self._instantiated_type(node)) is not None:
                        parts.append("()")
                        parts.append(dotted_name(found, made)[0])
                break
            if link.role is PathRole.QUALIFIED:
                text, last = dotted_name(found, node)
                parts.append(text)
                start = last if start < 0 else start
                pending += self.arguments_of(node)
                break
            if link.role is PathRole.NAME:
                name, rest = self._without_type_arguments(node, link.name)
                start = name.start_byte if start < 0 else start
                parts.append(self.text(found, name))
                pending += rest
                break
            of = _child(node, link.of, 0)
            if link.role is PathRole.MEMBER:
                name, rest = self._member_name(node, link.name)
                start = name.start_byte if start < 0 else start
                pending += rest
                parts.append(("." if of else "") + self.text(found, name))
            elif link.role is PathRole.MEMBER_CALL:
                pending = pending or [node]
                name = _child(node, link.name, -1)
                if name is not None:
                    start = name.start_byte if start < 0 else start
                    parts.append(f"{'.' if of else ''}{self.text(found, name)}()")
            elif link.role is PathRole.INNER:
                pending = pending or [node]
                of = _child(node, link.of, 0) if link.of else (node.named_children or [None])[0]
            else:
                pending = pending or [node]
                parts.append("()" if link.role is PathRole.CALL else "[]")
            node = of
        return "".join(reversed(parts)), start, pending

    def text(self, found: Findings, name: "Node") -> str:
        """Return a name as it is written in paths."""
        return found.text(name.start_byte, min(name.end_byte, name.start_byte + MAX_NAME_BYTES))

    def _member_name(self, node: "Node", name: str) -> tuple["Node", list["Node"]]:
        found = _child(node, name, -1) or node
        return (
            self._without_type_arguments(found, self.links[found.kind_id].name)
            if found.kind_id in self.links
            else (found, [])
        )

    def _without_type_arguments(self, node: "Node", name: str) -> tuple["Node", list["Node"]]:
        """Return a name without its type arguments, and these."""
        if not node.named_child_count:
            return node, []
        bare = _child(node, name, 0) or node
        return bare, [child for child in node.named_children if child.id != bare.id]

    def read_name(self, found: Findings, node: "Node") -> None:
        """Read a name in an expression: a use, unless it is local."""
        path, start, pending = self.path(found, node)
        if node in pending:  # more than names: what is within is read separately
            pending = [child for child in node.children if child.is_named]
        elif path and path not in _INSTANCE_NAMES and not self.is_local(found, path):
            found.use(UseKind.READ, path, start)
        found.visit(pending)

    def is_local(self, found: Findings, path: str) -> bool:
        """Return whether a path starts with a name that is local here."""
        names = found.scope.names
        return bool(names) and re.split(r"[.(\[]", path, maxsplit=1)[0] in names

    # Types

    def types(
        self, found: Findings, node: "Node", kind: UseKind = UseKind.TYPE, container: int | None = None
    ) -> tuple[list[str], list["Node"]]:
        """Add the uses of types below a node; return the names of its outermost types, and the values among them."""
        named: list[str] = []
        values: list[Node] = []
        container = found.container if container is None else container
        local = found.scope.names
        stack = [(node, kind)]
        while stack:
            node, kind = stack.pop()
            if node.kind_id in self.type_names:
                path, start = dotted_name(found, node)
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
        """Return the type arguments of a qualified name."""
        return [child for child in node.named_children if child.kind_id in self.type_arguments]

    def read_type(self, found: Findings, node: "Node") -> None:
        _, values = self.types(found, node)
        found.visit(values)

    def read_typed(self, found: Findings, node: "Node") -> None:
        """Read a node with types in fields; its other children are visited as usual."""
        found.visit(self.without_types(found, node, self.typed[node.kind_id]))

    def without_types(self, found: Findings, node: "Node", fields: Sequence[str]) -> list["Node"]:
        """Add the uses of the types in these fields, and return the other children."""
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

    # Statements and expressions

    def call(self, found: Findings, node: "Node") -> None:
        link = self.links[node.kind_id]
        of = _child(node, link.of, 0)
        name = _child(node, link.name, -1) if link.role is PathRole.MEMBER_CALL else None
        path, start, pending = self.path(found, of)
        if name is not None:
            bare, rest = self._member_name(node, link.name)
            path = f"{path}.{self.text(found, bare)}" if of else self.text(found, bare)
            start = bare.start_byte
            pending += rest
        if path:
            found.use(UseKind.CALL, path, max(start, node.start_byte))
        taken = {child.id for child in (of, name) if child is not None}
        found.visit([*pending, *(child for child in node.children if child.id not in taken)])

    def instantiate(self, found: Findings, node: "Node") -> None:
        made = self._instantiated_type(node)
        if made is not None:
            _, values = self.types(found, made, UseKind.NEW)
            found.visit([*values, *(child for child in node.children if child.id != made.id)])

    def _instantiated_type(self, node: "Node") -> "Node | None":
        place = self.tables.news[node.type]
        return node.child_by_field_name(place) if place else next(iter(node.named_children), None)

    def throw(self, found: Findings, node: "Node") -> None:
        """Record the type that is thrown, then visit the expression as usual."""
        if (thrown := self.thrown(found, node)) is not None:
            found.use(UseKind.RAISE, *thrown)
        found.visit(node.children)

    def thrown(self, found: Findings, node: "Node") -> tuple[str, int] | None:
        value = next(iter(node.named_children), None)
        if value is None:
            return None
        if value.type in self.tables.news:
            made = self._instantiated_type(value)
            return (
                dotted_name(found, made)
                if made is not None and made.child_count + made.end_byte > made.start_byte
                else None
            )
        link = self.links.get(value.kind_id)
        if link is not None and link.role is PathRole.CALL:
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
            self.add_write(found, path, max(start, target.start_byte))
            found.visit([*pending, *(child for child in node.children if child.id != target.id)])

        return write

    def add_write(self, found: Findings, path: str, start: int) -> None:
        """Add a write, unless the target is a local variable. A write to a member of one counts."""
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
        """Make the names below these nodes local from here on."""
        names: set[str] = found.scope.names
        stack = list(nodes)
        while stack:
            node = stack.pop()
            if node.named_child_count:
                stack.extend(node.named_children)
            elif node.end_byte - node.start_byte < MAX_NAME_BYTES:
                names.add(found.text_of(node))

    # Definitions

    def define(self, found: Findings, node: "Node", start: int | None = None) -> None:
        """Read a definition: its head, bases and body."""
        defines = self.definitions[node.kind_id]
        name = node.child_by_field_name(defines.name) if defines.name else None
        if name is None and not defines.fixed_name:
            found.visit(node.children)
            return
        text, name_at = self.defined_name(found, name) if name is not None else (defines.fixed_name, node.start_byte)
        body = self.body_of(node)
        self.declare(found, node, text, name_at, self.kind_of(found, node, defines.kind, body), body, name, start)

    def body_of(self, node: "Node") -> "Node | None":
        """Return the node that ends the head of a definition."""
        body = node.child_by_field_name("body")
        if body is None and self.bodies:
            return next((child for child in node.children if child.kind_id in self.bodies), None)
        return body

    def defined_name(self, found: Findings, name: "Node") -> tuple[str, int]:
        """Return the name of a definition and its first byte."""
        return dotted_name(found, name)[0], name.start_byte

    def kind_of(self, found: Findings, node: "Node", kind: SymbolKind, body: "Node | None") -> SymbolKind:
        """Return METHOD for a function within a type, SIGNATURE for a function without a body."""
        if kind in (SymbolKind.FUNCTION, SymbolKind.METHOD) and body is None:
            return SymbolKind.SIGNATURE
        return SymbolKind.METHOD if kind is SymbolKind.FUNCTION and self.in_type(found) else kind

    def in_type(self, found: Findings) -> bool:
        """Return whether the current node is a member of a type."""
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
        """Add a definition with all facts of its head, and visit `inside` next; by default its children."""
        if not name:  # the grammar inserted a missing name to recover from an error
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
            signature=format_signature(
                found, head.start if start is None else start, self._head_end(node, name_at, body)
            ),
            doc=self.clean_doc(doc),
            exported=self.is_exported(found, name, head.words),
            decorators=head.decorators,
        )
        found.uses.extend((UseKind.DECORATE, path, at, place) for path, at in head.annotations)
        scope: LocalScope = found.scope.within(local=kind not in TYPES and kind is not SymbolKind.MODULE)
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
        """Make the names of type parameters local before anything else in the definition is read."""
        for child in [node, *node.named_children] if self.type_parameters and node.child_count < 50 else [node]:
            if child.kind_id in self.type_parameters and child.named_child_count:
                found.scope.names.add(found.text_of(child.named_children[0]))

    def head(self, found: Findings, node: "Node") -> DefinitionHead:
        """Return the words and annotations before a definition's name."""
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
                    decorators.append(found.signature(child.start_byte, child.end_byte).strip("@#[]"))
                pending += rest
            elif child.kind_id in self.modifiers and child.child_count:
                waiting.extend(reversed(child.children))
            elif child.kind_id in self.modifiers or not child.is_named:
                text = found.text(child.start_byte, min(child.end_byte, child.start_byte + MAX_NAME_BYTES))
                if text.strip("[]#@,"):
                    words.append(text)
                    start = child.start_byte if start < 0 else start
            else:
                start = child.start_byte if start < 0 else start
                break
        return DefinitionHead(
            start if start >= 0 else node.start_byte, frozenset(words), annotations, tuple(decorators), pending
        )

    def annotation(self, found: Findings, node: "Node") -> tuple[str, int, list["Node"]]:
        """Return the name of an annotation, its first byte, and the nodes within it."""
        named = node.named_children
        if not named:
            return "", node.start_byte, []
        while named and named[0].named_child_count and named[0].kind_id not in self.type_names | self.names:
            if named[0].kind_id in self.links:
                break
            named = [*named[0].named_children, *named[1:]]
        path, start = dotted_name(found, named[0])
        return path, start, named[1:]

    def clean_doc(self, doc: str) -> str:
        """Return the documentation in the text of a comment."""
        return doc

    def is_exported(self, found: Findings, name: str, words: frozenset[str]) -> bool:
        """Return whether other files may use a definition."""
        return not words & self.tables.private

    def declare_variables(
        self,
        found: Findings,
        node: "Node",
        variables: Sequence[tuple["Node", "Node", "Node | None"]],
        kind_of: Callable[[str, frozenset[str]], SymbolKind],
    ) -> None:
        """Add the variables that one statement declares, each given as its node, its name, and where its head ends."""
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
                signature=format_signature(
                    found, head.start, value.start_byte if value is not None and alone else node.end_byte
                ),
                doc=self.clean_doc(doc),
                exported=self.is_exported(found, text, head.words),
                decorators=head.decorators,
            )
            found.uses.extend((UseKind.DECORATE, path, at, place) for path, at in head.annotations)
        found.visit(head.pending)


def format_signature(found: Findings, start: int, end: int) -> str:
    """Return the text between two positions on one line, without trailing tokens that end it or open a body."""
    whole = " ".join(found.text(start, min(end, start + 4 * MAX_SIGNATURE_LENGTH)).split())
    whole = whole.rstrip(" {;,").removesuffix("=>").removesuffix("=").rstrip(" :")
    return whole if len(whole) <= MAX_SIGNATURE_LENGTH else whole[: MAX_SIGNATURE_LENGTH - 1] + "…"


def add_module(found: Findings, node: "Node", name: "Node | None") -> None:
    """Add the package or namespace of the whole file."""
    path, at = dotted_name(found, name) if name is not None else ("", 0)
    if path:
        begin, doc = found.take_above(node.start_byte)
        head = format_signature(found, node.start_byte, node.end_byte)
        found.add(path, SymbolKind.MODULE, node, at, start=begin, signature=head, doc=doc)


def read_class_parameter(
    dialect: Dialect, found: Findings, node: "Node", name: "Node | None", *, is_field: bool
) -> None:
    """Add a parameter of a class's constructor: a field of the class, or a local name."""
    if name is not None and is_field and not name.is_missing:
        head = dialect.head(found, node)
        found.add(
            found.text_of(name),
            SymbolKind.FIELD,
            node,
            name.start_byte,
            signature=format_signature(found, head.start, node.end_byte),
            exported="private" not in head.words,
        )
    elif name is not None:
        found.scope.names.add(found.text_of(name))
    found.visit(child for child in node.named_children if name is None or child.id != name.id)


def ignore(found: Findings, node: "Node") -> None:
    """Ignore a node."""


def visit_after_first(found: Findings, node: "Node") -> None:
    """Visit a node whose first child is a label."""
    found.visit(node.children[1:])


def dotted_name(found: Findings, node: "Node") -> tuple[str, int]:
    """Return a qualified name with dots and without brackets, and the first byte of its last part."""
    start, end = node.start_byte, min(node.end_byte, node.start_byte + 4 * MAX_NAME_BYTES)
    text = found.text(start, end)
    if text.isidentifier():
        return text, start
    text = _without_brackets(text)
    last = max(text.rfind(mark) for mark in (":", ".", "\\", ">")) + 1
    at = start + len(text[:last].encode("utf-8", "surrogatepass")) + len(text[last:]) - len(text[last:].lstrip())
    return _SEPARATORS.sub(".", text).strip(" .?!&*$@\n\r\t")[:MAX_NAME_BYTES].replace(" ", ""), at


def _without_brackets(text: str) -> str:
    """Replace everything in brackets by blanks, so that positions stay; a round bracket ends the text."""
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


def read_file_doc(found: Findings, root: "Node", comments: frozenset[int], definitions: frozenset[int]) -> str:
    """Return the documentation of a file: its first comment that is neither a license nor about a definition."""
    block: list[Node] = []
    for child in root.children:
        if child.kind_id in comments:
            if block and found.content[block[-1].end_byte : child.start_byte].count(b"\n") > 1:
                if text := _comment_text(found, block):
                    return text
                block = []
            block.append(child)
            continue
        if not child.is_named or not block:
            if child.is_named and child.kind_id in definitions:
                return ""
            continue
        near = found.content[block[-1].end_byte : child.start_byte].count(b"\n") <= 1
        if (not near or child.kind_id not in definitions) and (text := _comment_text(found, block)):
            return text
        return ""
    return _comment_text(found, block) if block else ""


def _comment_text(found: Findings, block: Sequence["Node"]) -> str:
    text = "\n".join(found.text_of(comment) for comment in block if not found.text_of(comment).startswith("#!"))
    return "" if LICENSE_PATTERN.search(text) else strip_comment_marks(text)


def _child(node: "Node", name: str, place: int) -> "Node | None":
    if name:
        return node.child_by_field_name(name)
    children = node.children
    return children[place] if children else None
