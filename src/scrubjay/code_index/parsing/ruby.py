"""Reads Ruby."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from scrubjay.code_index.models import Import, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.dialect import TYPES, Dialect, LocalScope, format_signature
from scrubjay.code_index.parsing.grammar_tables import DefinitionRule, GrammarTables, PathRole, PathRule
from scrubjay.code_index.parsing.nodes import Findings, Visitor

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_MAKERS = frozenset({"Struct.new", "Class.new", "Module.new", "Data.define"})


class _Ruby(Dialect):
    language = Language.RUBY
    tables = GrammarTables(
        names=("identifier", "constant", "self", "instance_variable", "class_variable", "global_variable"),
        type_names=("constant", "scope_resolution"),
        links={
            "scope_resolution": PathRule(PathRole.MEMBER, "scope", "name"),
            "call": PathRule(PathRole.MEMBER_CALL, "receiver", "method"),
            "element_reference": PathRule(PathRole.ENTRY, "object"),
            "parenthesized_statements": PathRule(PathRole.INNER),
        },
        definitions={
            "class": DefinitionRule(SymbolKind.CLASS),
            "module": DefinitionRule(SymbolKind.MODULE),
            "method": DefinitionRule(SymbolKind.FUNCTION),
            "singleton_method": DefinitionRule(SymbolKind.FUNCTION),
        },
        heritage=("superclass",),
        arguments=("call", "argument_list"),
        binders={
            "method_parameters": (),
            "block_parameters": (),
            "lambda_parameters": (),
            "optional_parameter": ("name",),
            "keyword_parameter": ("name",),
            "splat_parameter": ("name",),
            "hash_splat_parameter": ("name",),
            "block_parameter": ("name",),
            "exception_variable": (),
            "destructured_parameter": (),
            "left_assignment_list": (),
        },
        assignments={"operator_assignment": "left"},
    )

    def extra_visitors(self) -> Mapping[str, Visitor]:
        self._special: Mapping[str, Callable[[Findings, Node, list[Node]], bool]] = {
            "require": _require,
            "require_relative": _require,
            "load": _require,
            "autoload": _require,
            "include": self._mix_in,
            "extend": self._mix_in,
            "prepend": self._mix_in,
            "attr_accessor": self._attributes,
            "attr_reader": self._attributes,
            "attr_writer": self._attributes,
            "define_method": self._define_method,
            "alias_method": self._alias_method,
            "raise": self._raise,
            "fail": self._raise,
            "private": _hide,
            "protected": _hide,
            "public": _hide,
        }
        return {
            "call": self._call,
            "identifier": self._identifier,
            "super": self._super,
            "assignment": self._assign,
            "rescue": self._rescue,
            "alias": self._alias,
            "singleton_class": self._singleton,
            "for": self._for,
        }

    def in_type(self, found: Findings) -> bool:
        container = found.symbols[found.container].kind if found.container >= 0 else None
        return container in TYPES or container is SymbolKind.MODULE

    def kind_of(self, found: Findings, node: "Node", kind: SymbolKind, body: "Node | None") -> SymbolKind:
        if kind is not SymbolKind.FUNCTION or not self.in_type(found):
            return kind
        name = node.child_by_field_name("name")
        made = name is not None and found.text_of(name) == "initialize"
        return SymbolKind.CONSTRUCTOR if made else SymbolKind.METHOD

    def is_exported(self, found: Findings, name: str, words: frozenset[str]) -> bool:
        return not found.scope.hidden

    # Calls, including those that declare something

    def _call(self, found: Findings, node: "Node") -> None:
        method = node.child_by_field_name("method")
        receiver = node.child_by_field_name("receiver")
        arguments = node.child_by_field_name("arguments")
        if method is None:
            self.call(found, node)
            return
        name = found.text_of(method)
        if receiver is None and (special := self._special.get(name)) is not None:
            if special(found, node, arguments.named_children if arguments is not None else []):
                return
        elif receiver is not None and name == "new":
            path, start, pending = self.path(found, receiver)
            if path:
                found.use(UseKind.NEW, path, max(start, receiver.start_byte))
                taken = {receiver.id, method.id}
                found.visit([*pending, *(child for child in node.children if child.id not in taken)])
                return
        self.call(found, node)

    def _identifier(self, found: Findings, node: "Node") -> None:
        """Read a bare name; if it is not a variable, it is a call."""
        name = found.text_of(node)
        if name in ("private", "protected", "public") and not found.scope.local:
            found.scope.hidden = name == "private"
        elif name and name not in found.scope.names:
            found.use(UseKind.CALL, name, node.start_byte)

    def _super(self, found: Findings, node: "Node") -> None:
        found.use(UseKind.CALL, "super", node.start_byte)

    def _mix_in(self, found: Findings, node: "Node", arguments: list["Node"]) -> bool:
        if found.container < 0 or found.scope.local:
            return False
        taken = [
            name
            for argument in arguments
            if argument.kind_id in self.type_names
            for name in self.types(found, argument, UseKind.INHERIT)[0]
        ]
        symbol = found.symbols[found.container]
        found.symbols[found.container] = symbol._replace(bases=(*symbol.bases, *taken))
        return bool(taken)

    def _attributes(self, found: Findings, node: "Node", arguments: list["Node"]) -> bool:
        begin, doc = found.take_above(node.start_byte)
        head = format_signature(found, node.start_byte, node.end_byte)
        for number, argument in enumerate(arguments):
            name = found.text_of(argument).strip(":'\"")
            if name and argument.type in ("simple_symbol", "string"):
                found.add(
                    name,
                    SymbolKind.FIELD,
                    node if len(arguments) == 1 else argument,
                    argument.start_byte,
                    start=begin if not number else argument.start_byte,
                    signature=head,
                    doc=doc,
                    exported=not found.scope.hidden,
                )
        return True

    def _define_method(self, found: Findings, node: "Node", arguments: list["Node"]) -> bool:
        block = node.child_by_field_name("block")
        if not arguments or arguments[0].type not in ("simple_symbol", "string"):
            return False
        name = found.text_of(arguments[0]).strip(":'\"")
        inside = [*arguments[1:], *([block] if block is not None else [])]
        self.declare(found, node, name, arguments[0].start_byte, SymbolKind.METHOD, block, inside=inside)
        return True

    def _alias_method(self, found: Findings, node: "Node", arguments: list["Node"]) -> bool:
        names = [found.text_of(each).strip(":'\"") for each in arguments if each.type in ("simple_symbol", "string")]
        if len(names) != 2:
            return False
        self._add_alias(found, node, names[0], names[1], arguments[1].start_byte)
        return True

    def _alias(self, found: Findings, node: "Node") -> None:
        name, old = node.child_by_field_name("name"), node.child_by_field_name("alias")
        if name is not None and old is not None:
            self._add_alias(
                found, node, found.text_of(name).lstrip(":"), found.text_of(old).lstrip(":"), old.start_byte
            )

    def _add_alias(self, found: Findings, node: "Node", name: str, old: str, old_at: int) -> None:
        if name and old:
            head = format_signature(found, node.start_byte, node.end_byte)
            found.add(name, SymbolKind.METHOD, node, node.start_byte, signature=head)
            found.use(UseKind.READ, old, old_at)

    def _raise(self, found: Findings, node: "Node", arguments: list["Node"]) -> bool:
        if arguments:
            thrown: Node | None = arguments[0]
            if thrown.type == "call":
                thrown = thrown.child_by_field_name("receiver")
            path, start, _ = self.path(found, thrown)
            if path and path[:1].isupper():
                found.use(UseKind.RAISE, path, max(start, node.start_byte))
        # The raised type is already a use: only the arguments are left.
        rest = [each for each in arguments if each.kind_id not in self.type_names]
        found.visit(rest)
        return True

    # Statements

    def _assign(self, found: Findings, node: "Node") -> None:
        target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if target is None or value is None:
            found.visit(node.children)
        elif target.type == "constant" and not found.scope.local:
            self._constant(found, node, target, value)
        elif target.type in ("identifier", "left_assignment_list", "rest_assignment"):
            self.bind_names(found, [target])
            found.visit([value])
        else:
            path, start, pending = self.path(found, target)
            if path:
                found.use(UseKind.WRITE, path, max(start, target.start_byte))
            if target.type in ("instance_variable", "class_variable"):
                self._field(found, node, path, target)
            found.visit([*pending, value])

    def _constant(self, found: Findings, node: "Node", target: "Node", value: "Node") -> None:
        name = found.text_of(target)
        path = self.path(found, value)[0].removesuffix("()") if value.type == "call" else ""
        if path in _MAKERS:
            kind = SymbolKind.MODULE if path == "Module.new" else SymbolKind.CLASS
            block = value.child_by_field_name("block")
            self.declare(found, node, name, target.start_byte, kind, block, inside=[value])
            return
        kind = SymbolKind.FUNCTION if value.type == "lambda" else SymbolKind.CONSTANT
        if kind is SymbolKind.FUNCTION:
            body = value.child_by_field_name("body")
            self.declare(found, node, name, target.start_byte, kind, body, inside=[value])
            return
        begin, doc = found.take_above(node.start_byte)
        head = format_signature(found, node.start_byte, min(node.end_byte, node.start_byte + 120))
        exported = not found.scope.hidden
        found.add(name, kind, node, target.start_byte, start=begin, signature=head, doc=doc, exported=exported)
        found.visit([value])

    def _field(self, found: Findings, node: "Node", name: str, target: "Node") -> None:
        """Add an instance variable where it is first assigned."""
        owner = found.container
        while owner >= 0 and found.symbols[owner].kind not in TYPES:
            owner = found.symbols[owner].container
        key = f"{owner}{name}"
        if owner < 0 or key in self._fields:
            return
        self._fields.add(key)
        head = format_signature(found, node.start_byte, min(node.end_byte, node.start_byte + 120))
        at = target.start_byte
        found.add(name, SymbolKind.FIELD, node, at, signature=head, exported=False, container=owner)

    def read(self, tree: "Tree", found: Findings) -> None:
        self._fields: set[str] = set()
        super().read(tree, found)

    def _rescue(self, found: Findings, node: "Node") -> None:
        caught = node.child_by_field_name("exceptions")
        if caught is not None:
            self.types(found, caught, UseKind.CATCH)
        found.visit(child for child in node.children if caught is None or child.id != caught.id)

    def _singleton(self, found: Findings, node: "Node") -> None:
        """Visit `class << self`, whose definitions belong to the enclosing class."""
        scope: LocalScope = found.scope.within(local=False)
        found.enter(found.container, node.children_by_field_name("body"), scope)

    def _for(self, found: Findings, node: "Node") -> None:
        pattern = node.child_by_field_name("pattern")
        if pattern is not None:
            self.bind_names(found, [pattern])
        found.visit(child for child in node.children if pattern is None or child.id != pattern.id)

    def defined_name(self, found: Findings, name: "Node") -> tuple[str, int]:
        inner = name.child_by_field_name("name") if name.type == "scope_resolution" else None
        last = inner or name
        return found.text_of(last), last.start_byte


def _require(found: Findings, node: "Node", arguments: list["Node"]) -> bool:
    method = node.child_by_field_name("method")
    for argument in arguments[-1:]:
        if argument.type == "string" and argument.named_child_count == 1:
            path = found.text_of(argument.named_children[0])
            if method is not None and found.text_of(method) == "require_relative" and not path.startswith("."):
                path = "./" + path
            found.imports.append(Import(path, "*", line=found.line_at(node.start_byte), container=found.container))
            return True
    return False


def _hide(found: Findings, node: "Node", arguments: list["Node"]) -> bool:
    """Hide the method of `private def x`, or those named by `private :x`."""
    method = node.child_by_field_name("method")
    hidden = method is not None and found.text_of(method) == "private"
    names = {found.text_of(argument).strip(":'\"") for argument in arguments if argument.type == "simple_symbol"}
    if names and hidden:
        for place in range(len(found.symbols) - 1, max(found.container, len(found.symbols) - 200, -1), -1):
            if found.symbols[place].name in names and found.symbols[place].container == found.container:
                found.symbols[place] = found.symbols[place]._replace(exported=False)
    scope: LocalScope = found.scope.within(local=found.scope.local)
    scope.hidden = hidden
    found.enter(found.container, [each for each in arguments if each.type != "simple_symbol"], scope)
    return True


@cache
def _dialect() -> _Ruby:
    return _Ruby()


def read(tree: "Tree", found: Findings) -> None:
    """Add the contents of the tree to the findings."""
    _dialect().read(tree, found)
