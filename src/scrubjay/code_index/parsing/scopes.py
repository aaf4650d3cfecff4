"""Tracks the local variables of functions, since reading them uses nothing that is defined elsewhere."""

import re
from typing import TYPE_CHECKING

from scrubjay.code_index.models import UseKind
from scrubjay.code_index.parsing.nodes import Findings

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_SCOPE_DEPTH = 64
"""With more enclosing scopes than this, a name is taken as global, which keeps deeply nested files linear."""
_ROOT = re.compile(r"[(\[]")
_CALL_OR_ITEM_END = (")", "]")


class BindingScope:
    """A part of a file in which names are bound."""

    __slots__ = (
        "all", "bound", "elsewhere", "fields", "is_class", "is_enum", "is_function", "parent", "pending", "reads",
        "receiver", "symbol",
    )  # fmt: skip

    def __init__(
        self, parent: "BindingScope | None", symbol: int = -1, *, is_class: bool = False, is_function: bool = False
    ) -> None:
        self.parent = parent
        self.symbol = symbol
        """The symbol whose inside this is."""
        self.is_class = is_class
        self.is_function = is_function
        self.is_enum = False
        self.receiver = ""
        """Name of the first parameter of a method, such as `self`."""
        self.bound: set[str] = set()
        """Local variables of a function."""
        self.fields: set[str] = set()
        """Names that are already symbols of a module or class."""
        self.elsewhere: set[str] = set()
        """Names declared to be bound in an outer scope."""
        self.pending: list[Node] = []
        """Decorators that precede what they decorate."""
        self.reads: list[tuple[UseKind, str, int, int]] = []
        self.all: list[BindingScope] = [] if parent is None else parent.all
        self.all.append(self)

    def binder(self, name: str) -> "BindingScope | None":
        """Return the nearest function scope that binds a name; None if there is none."""
        scope: BindingScope | None = self
        for _ in range(_MAX_SCOPE_DEPTH):
            if scope is None or name in scope.bound:
                return scope
            scope = scope.parent
        return None


def read_identifier(found: Findings, node: "Node") -> None:
    """Record the read of a name in the current scope."""
    start = node.start_byte
    found.scope.reads.append((UseKind.READ, found.text(start, node.end_byte), start, found.container))


def keep_global_reads(found: Findings, root: BindingScope) -> None:
    """Record the reads in all scopes that may refer to something defined outside of functions.

    Reads of a method's own object are kept too, since they use a field or method of the class.
    """
    uses = found.uses
    for scope in root.all:
        binders: dict[str, BindingScope | None] = {}
        for read in scope.reads:
            path = read[1]
            name = path.partition(".")[0]
            if name.endswith(_CALL_OR_ITEM_END):
                name = _ROOT.split(name, maxsplit=1)[0]
            if name not in binders:
                binders[name] = scope.binder(name)
            binder = binders[name]
            if binder is None or (binder.receiver == name and path.startswith(".", len(name))):
                uses.append(read)
    # Scopes refer to each other in cycles, which would otherwise wait for the garbage collector.
    root.all.clear()
