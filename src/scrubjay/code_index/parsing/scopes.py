"""Which names are variables of a function, so that reading them is no use of anything defined elsewhere."""

import re
from typing import TYPE_CHECKING

from scrubjay.code_index.models import UseKind
from scrubjay.code_index.parsing.nodes import Findings

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 64
"""With more scopes around it a name is taken for a global one: a file of brackets must not cost its square."""
_ROOT = re.compile(r"[(\[]")
_TAKEN_OF = (")", "]")


class Scope:
    """A part of a file in which names are bound."""

    __slots__ = (
        "all", "bound", "elsewhere", "fields", "is_class", "is_enum", "is_function", "parent", "pending", "reads",
        "receiver", "symbol",
    )  # fmt: skip

    def __init__(
        self, parent: "Scope | None", symbol: int = -1, *, is_class: bool = False, is_function: bool = False
    ) -> None:
        self.parent = parent
        self.symbol = symbol
        """The symbol whose inside it is."""
        self.is_class = is_class
        self.is_function = is_function
        self.is_enum = False
        self.receiver = ""
        """How a method calls the object that it is called on."""
        self.bound: set[str] = set()
        """The variables of a function."""
        self.fields: set[str] = set()
        """What is already a symbol in a module or a class."""
        self.elsewhere: set[str] = set()
        """Names that are said to be bound further out."""
        self.pending: list[Node] = []
        """Decorators that stand before what they decorate."""
        self.reads: list[tuple[UseKind, str, int, int]] = []
        self.all: list[Scope] = [] if parent is None else parent.all
        self.all.append(self)

    def binder(self, name: str) -> "Scope | None":
        """The function in whose variables a name is found from here."""
        scope: Scope | None = self
        for _ in range(_DEEPEST):
            if scope is None or name in scope.bound:
                return scope
            scope = scope.parent
        return None


def settle(found: Findings, root: Scope) -> None:
    """Keep of the reads in all scopes those that may mean something defined outside of functions.

    What is taken of a method's own object is kept too: it is a use of the class's field or method.
    """
    uses = found.uses
    for scope in root.all:
        binders: dict[str, Scope | None] = {}
        for read in scope.reads:
            path = read[1]
            name = path.partition(".")[0]
            if name.endswith(_TAKEN_OF):
                name = _ROOT.split(name, maxsplit=1)[0]
            if name not in binders:
                binders[name] = scope.binder(name)
            binder = binders[name]
            if binder is None or (binder.receiver == name and path.startswith(".", len(name))):
                uses.append(read)
    # The scopes know each other in a ring, which would wait for the garbage collector.
    root.all.clear()
