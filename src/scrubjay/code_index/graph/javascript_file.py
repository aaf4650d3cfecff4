"""A JavaScript file during its walk: its flow with named fields, and the state of the walk."""

from collections.abc import Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.code_index.graph.javascript_values import (
    NOTHING,
    ClassValue,
    FunctionValue,
    ObjectValue,
    ScriptScope,
    Values,
    new_tuple,
)
from scrubjay.code_index.models import Evidence

if TYPE_CHECKING:
    from scrubjay.code_index.graph.javascript_walk import ScriptWalk

Node = list[Any]
"""A node of the flow, see `javascript_flow_format`."""

MAX_CALL_DEPTH = 6
"""Nested calls that are run; each uses part of Python's own stack."""
MAX_MODULE_DEPTH = 8
"""Nested imports that are run."""
_STEPS_PER_NODE = 6
"""Steps allowed per node, which bounds the time however often the functions of a file call each other."""
_MIN_STEPS = 4_000


class FunctionRecord(NamedTuple):
    """A function as stored in the flow."""

    name: str
    start: int
    line: int
    is_arrow: bool
    is_generator: bool
    parameters: list[tuple[int, list[str]]]
    """Pattern and types of each parameter."""
    body: list[int]
    return_types: list[str]
    parameter_fields: list[tuple[str, int]]
    """Name and pattern of parameters that declare a field (`constructor(private name: string)`)."""


class ClassMember(NamedTuple):
    """A member of a class as stored in the flow."""

    key: str | int
    """A name, or the node that computes it."""
    is_static: bool
    kind: str
    """`method`, `get`, `set`, `field` or `block`."""
    place: int
    """Number of the function, or node of the value."""
    types: list[str]


class ClassRecord(NamedTuple):
    """A class or interface as stored in the flow."""

    name: str
    start: int
    line: int
    base: int
    members: list[ClassMember]
    kind: str
    """`class` or `interface`."""
    bases: list[str]
    """Types that an interface extends or a class implements."""


def _class_record(
    name: str, start: int, line: int, base: int, members: list[list[Any]], kind: str, bases: list[str]
) -> ClassRecord:
    return ClassRecord(name, start, line, base, [*map(new_tuple, repeat(ClassMember), members)], kind, bases)


class ScriptTarget(NamedTuple):
    """A function that a call may call, or a class without a constructor of its own."""

    file: str
    is_class: bool
    number: int


class CallTargets(NamedTuple):
    """A call with its targets."""

    line: int
    is_new: bool
    targets: dict[ScriptTarget, Evidence]


class FileState:
    """The flow of one file and the state of its walk."""

    __slots__ = (
        "body", "calls", "calls_from_elsewhere", "classes", "created", "exports", "functions", "imports", "is_started",
        "libraries", "module", "nodes", "path", "returned", "runs", "scope", "stars", "steps", "uninstantiated",
        "walked",
    )  # fmt: skip

    def __init__(self, path: str, flow: Mapping[str, Any]) -> None:
        self.path = path
        self.nodes: list[Node] = flow["nodes"]
        self.body: list[int] = flow["body"]
        self.functions: list[FunctionRecord] = [*map(new_tuple, repeat(FunctionRecord), flow["functions"])]
        self.classes = [_class_record(*row) for row in flow["classes"]]
        self.imports: dict[str, tuple[str, str]] = {name: (module, there) for name, module, there in flow["imports"]}
        """Module and the name in it, by local name."""
        self.exports: dict[str, tuple[str, str]] = {name: (local, module) for name, local, module in flow["exports"]}
        """Local name and source module, by exported name."""
        self.stars: list[str] = flow["stars"]
        """Modules whose exports are all re-exported."""
        self.scope = ScriptScope(None, path, 0, function=True)
        self.module = ObjectValue(path, 0)
        self.is_started = False
        self.steps = max(_MIN_STEPS, _STEPS_PER_NODE * len(self.nodes))
        """Remaining nodes that may be evaluated."""
        self.calls: dict[int, CallTargets] = {}
        """By first byte of the callee."""
        self.calls_from_elsewhere: dict[int, CallTargets] = {}
        """Targets found when other files' walks run functions of this file, by first byte of the callee."""
        self.libraries: dict[int, str] = {}
        """Names of called libraries, by first byte of the callee."""
        self.created: dict[int, FunctionValue] = {}
        self.walked: set[int] = set()
        """Numbers of the functions that were run."""
        self.runs: dict[tuple[str, int], int] = {}
        self.returned: dict[tuple[str, int], Values] = {}
        """Combined results of functions so far, by path and number."""
        self.uninstantiated: list[ClassValue] = []

    def allow_more_steps(self) -> None:
        """Add the steps needed for functions without a known caller."""
        self.steps += _STEPS_PER_NODE // 2 * len(self.nodes)


class CallFrame:
    """A running function or module."""

    __slots__ = ("file", "func", "nodes", "returns", "scope", "this", "yields")

    def __init__(self, file: FileState, scope: ScriptScope, this: Values, func: FunctionValue | None) -> None:
        self.file = file
        self.nodes = file.nodes
        self.scope = scope
        self.this = this
        self.func = func
        self.returns: Values = NOTHING
        self.yields: Values = NOTHING


_Saved = tuple[str, FileState | None, int, list[tuple[str, int]]]


class WalkContext:
    """The position of the walk: the file being walked, and the branches and calls around the current node."""

    __slots__ = ("calls", "depth", "file", "module_depth", "path")

    def __init__(self) -> None:
        self.path = ""
        self.file: FileState | None = None
        self.depth = 0
        """Number of branches around the current node. An assignment in a branch may not happen."""
        self.calls: list[tuple[str, int]] = []
        """Path and number of the running functions."""
        self.module_depth = 0

    def enter(self, file: FileState) -> _Saved:
        """Start the walk of another file. Pass the result to `leave` at its end."""
        saved = (self.path, self.file, self.depth, self.calls)
        self.path, self.file, self.depth, self.calls = file.path, file, 0, []
        return saved

    def leave(self, saved: _Saved) -> None:
        self.path, self.file, self.depth, self.calls = saved


class WalkPart:
    """One responsibility of a walk over JavaScript files."""

    def __init__(self, walk: "ScriptWalk") -> None:
        self._walk = walk
        self._context = walk.context
