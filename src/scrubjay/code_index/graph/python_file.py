"""A Python file during evaluation: its flow with named fields, and the memoized values of its nodes."""

from array import array
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple, Protocol, TypeVar

from pydantic_core import from_json

from scrubjay.code_index.graph import python_flow_format as flow
from scrubjay.code_index.graph.python_values import Value, Values, new_tuple
from scrubjay.code_index.models import FileFacts

Node = list[Any]
"""A node of the flow, see `python_flow_format`."""

_Row = TypeVar("_Row", covariant=True)
_IMPORTS = {flow.MODULE, flow.IMPORTED}


class RowTable(Protocol[_Row]):
    """A list that is indexed only by integers, so that pyright knows the type of a row when the index is `Any`."""

    def __getitem__(self, index: int, /) -> _Row: ...
    def __iter__(self) -> Iterator[_Row]: ...


class FlowScope(NamedTuple):
    """A module, class or function as stored in the flow."""

    kind: str
    name: str
    parent: int
    """Index of the enclosing scope; -1 for the module."""
    line: int
    names: dict[str, int]
    """Node of each name at the end of a module or class body."""
    parameters: list[list[Any]]
    """Name, kind (`python_flow_format.POSITIONAL` ...), node of the default and node of the annotation, per parameter.
    """
    bases: list[int]
    attributes: dict[str, list[int]]
    """Nodes that methods assign to attributes of `self`, by attribute."""
    returns: list[int]
    yields: list[int]
    result: int
    """Node of the annotated result."""


class FlowCall(NamedTuple):
    """A call site as stored in the flow."""

    function: int
    args: list[int]
    keywords: list[tuple[str, int]]
    line: int
    start: int
    scope: int
    how: int
    """`python_flow_format.CALLED`, `DECORATING` and so on."""


class PythonFile:
    """The flow of a file and the memoized values of its nodes."""

    __slots__ = (
        "_call_columns",
        "_import_nodes",
        "argument_values",
        "attribute_nodes",
        "calls",
        "class_at_line",
        "exports",
        "index",
        "is_package",
        "late_items",
        "modules",
        "node_values",
        "nodes",
        "package",
        "parts",
        "path",
        "return_values",
        "scopes",
        "stars",
        "stored_names",
        "stores",
    )  # fmt: skip

    def __init__(self, index: int, path: str, parts: tuple[str, ...], facts: FileFacts) -> None:
        self.index, self.path, self.parts = index, path, parts
        self.is_package = path.endswith("__init__.py")
        self.package = parts if self.is_package else parts[:-1]
        self.modules: dict[str, str | None] = {}
        """Paths of the modules that absolute imports in this package refer to, as far as they were looked up."""
        content: list[Any] = from_json(facts.flow) if facts.flow else []
        if not content or content[0] != flow.VERSION:
            content = flow.empty_flow()
        nodes, scopes, calls, stores, stars, late, exports = content[1:]
        self.nodes: list[Node] = nodes
        self.stores: list[tuple[int, str, int]] = stores
        """Base, name and value of assignments to attributes."""
        self.stars: list[tuple[str, int]] = stars
        """Module name and relative level of star imports."""
        self.exports: list[str] | None = exports
        self.scopes: RowTable[FlowScope] = [*map(new_tuple, repeat(FlowScope), scopes)]
        self.calls: RowTable[FlowCall] = [*map(new_tuple, repeat(FlowCall), calls)]
        self.late_items: dict[int, list[tuple[int, int]]] = {int(node): items for node, items in late.items()}
        """Keys and values added to a container from another scope, by the node of the container."""
        # None marks a node that was not evaluated yet. Node 0 is the unknown value.
        self.node_values: list[Values | None] = [None] * len(self.nodes)
        self.node_values[0] = ()
        self.argument_values: list[Values | None] = [*self.node_values]
        """Like `node_values`, but parameters include the arguments that callers pass."""
        self.return_values: dict[int, Values] = {}
        """By scope of the function."""
        self.attribute_nodes: dict[tuple[Value, str], list[int]] | None = None
        """Nodes assigned to attributes of objects; None until first needed."""
        self.stored_names: set[str] = {name for _, name, _ in self.stores}
        classes = [(scope.line, place) for place, scope in enumerate(self.scopes) if scope.kind == flow.CLASS_SCOPE]
        self.class_at_line: dict[int, int] = dict(reversed(classes))
        """Scope of the first class on each line."""
        self._call_columns: Sequence[array[int]] | None = None
        self._import_nodes: Sequence[Node] | None = None

    def call_columns(self) -> "Sequence[array[int]]":
        """Return the lines, first bytes, scopes and kinds of the calls.

        Arrays, because reading a list changes the reference counts of its items, which copies memory in a forked
        process.
        """
        if self._call_columns is None:
            columns = (*zip(*self.calls, strict=True),)[3:]
            self._call_columns = [array("q", column) for column in columns] or [array("q")] * 4
        return self._call_columns

    def import_nodes(self) -> Sequence[Node]:
        """Return the nodes of imports."""
        if self._import_nodes is None:
            self._import_nodes = [node for node in self.nodes if node[flow.KIND] in _IMPORTS]
        return self._import_nodes

    def forget_argument_values(self) -> None:
        """Discard the values that depend on the arguments of callers."""
        self.argument_values = [(), *[None] * (len(self.nodes) - 1)]
