"""Resolves the call sites of Python files to functions and classes, with the evidence for each target."""

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from scrubjay.code_index.graph import python_flow_format as flow
from scrubjay.code_index.graph.python_evaluator import Evaluator
from scrubjay.code_index.graph.python_file import Node, PythonFile
from scrubjay.code_index.graph.python_results import CallersOf, is_calling_builtin
from scrubjay.code_index.graph.python_values import (
    BOUND,
    CALLABLES,
    CLASS,
    DEPENDENT,
    EXTERNAL,
    FILE,
    FUNCTION,
    INSTANCE,
    KIND,
    MODULE,
    NAME,
    RECEIVER,
    SCOPE,
    UNKNOWN_BEFORE_CALLS,
    Value,
    Values,
    new_tuple,
)
from scrubjay.code_index.models import Evidence, UseKind

Callers = Mapping[str, Container[int]]
"""Paths of files that call into others, and the lines of these calls."""

_MAX_ROUNDS = 4
"""Times that calls are resolved again with the arguments found in the previous round."""
_FEW_CALLS = 2000
"""With more calls than this that depend on arguments, there is only one such round, which bounds the time."""

# Local names for what is read for each call: reading an attribute of a module takes longer.
_CALLED, _ATTRIBUTE, _GLOBAL, _IMPORTED = flow.CALLED, flow.ATTRIBUTE, flow.GLOBAL, flow.IMPORTED
_DEFINITIONS = {flow.FUNCTION, flow.CLASS, flow.DECORATED}
_MEMOIZED = {FUNCTION, BOUND, CLASS}
_ONLY_MODULE = {MODULE}
_PROTOCOLS = {
    flow.ITERATED: ("__iter__", "__next__"),
    flow.ENTERING: ("__enter__", "__exit__", "__aenter__", "__aexit__"),
}
"""Methods that loops and `with` statements call."""


class CallTarget(NamedTuple):
    """A function that a call may call, or a class that it may instantiate."""

    value: Value
    kind: UseKind
    evidence: Evidence
    confidence: float

    @property
    def is_function(self) -> bool:
        return self.value[KIND] == FUNCTION


class ResolvedCall(NamedTuple):
    """The targets of a call. Calls with the same targets share one object."""

    targets: Sequence[CallTarget]
    """Functions and classes of the repository."""
    external: Sequence[str]
    """Dotted names of targets outside of the repository."""
    callees: Sequence[tuple[CallersOf, Value | None]] = ()
    """For each target, its table of callers and the object whose method is called."""
    needs_arguments: bool = False
    """True if the targets depend on the arguments that callers pass."""


_NO_TARGETS, _DEPENDENT = ResolvedCall((), ()), ResolvedCall((), (), needs_arguments=True)
# Compared by identity, because the hash of an enumeration member is slow. So each must be a separate object.
_DEFINED_HERE, _IMPORTED_DIRECTLY = (Evidence.LOCAL, 1.0), (Evidence.IMPORTED, 1.0)
_NAMED_HERE, _NAMED_ELSEWHERE = (Evidence.LOCAL, 0.95), (Evidence.IMPORTED, 0.95)
_OF_RECEIVER, _OF_ANCESTOR, _BY_FLOW = (Evidence.RECEIVER, 0.9), (Evidence.INHERITED, 0.85), (Evidence.FLOW, 0.75)


class _Targets:
    """Collects the targets of one call."""

    __slots__ = ("callees", "external", "file", "found", "index", "node")

    def __init__(self, file: PythonFile, index: int, node: Node) -> None:
        self.file, self.index, self.node = file, index, node
        """The file, the index of the call and the node of the called function."""
        self.found: dict[Value, CallTarget] = {}
        self.external: dict[str, None] = {}
        self.callees: list[tuple[CallersOf, Value | None]] = []

    def resolved(self) -> ResolvedCall:
        return new_tuple(ResolvedCall, (tuple(self.found.values()), tuple(self.external), self.callees, False))


class CallResolver:
    """Resolves call sites, first without and then with the arguments that callers pass."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._values = evaluator.values
        self._attribute = evaluator.attributes.lookup
        self._modules = evaluator.modules
        self._callers = evaluator.results.callers
        self._constructors: dict[tuple[Value, str], Values] = {}
        self._by_value: dict[tuple[Value, int], ResolvedCall] = {}
        """By called value and identity of the evidence."""
        self._by_external: dict[str, ResolvedCall] = {}

    def resolve(self, paths: Sequence[str], callers: Callers | None = None) -> dict[str, list[ResolvedCall]]:
        """Resolve all calls of some files, in the order of the flow.

        Parameters are followed to the arguments that these files and the calls in `callers` pass.
        """
        for path, lines in sorted((callers or {}).items()):
            file = self._modules.file(path)
            for index, call in enumerate(file.calls):
                if call.line in lines:
                    self._resolve(file, index)
        found: dict[str, list[ResolvedCall]] = {}
        dependent: list[tuple[PythonFile, int, list[ResolvedCall]]] = []
        for path in paths:
            file = self._modules.file(path)
            found[path] = self._resolve_file(file)
            dependent += [(file, index, found[path]) for index, call in enumerate(found[path]) if call.needs_arguments]
        self._resolve_with_arguments(dependent)
        return found

    def _resolve_file(self, file: PythonFile) -> list[ResolvedCall]:
        """Resolve the calls of a file without the arguments of callers."""
        # Computed before a possible fork, so that no child process repeats it.
        file.call_columns()
        file.import_nodes()
        file_index, nodes, found = file.index, file.nodes, list[ResolvedCall]()
        by_node: dict[int, ResolvedCall] = {}
        for index, call in enumerate(file.calls):
            function = call.function
            is_plain = call.how == _CALLED
            resolved = by_node.get(function) if is_plain else None
            if resolved is None:
                resolved = self._resolve_memoized(file, index)
                if is_plain and not is_calling_builtin(nodes[function]):
                    by_node[function] = resolved
            else:
                for callers_of, receiver in resolved.callees:
                    callers_of[file_index, index] = receiver
            found.append(resolved)
        return found

    def _resolve_with_arguments(self, dependent: Sequence[tuple[PythonFile, int, list[ResolvedCall]]]) -> None:
        """Resolve calls again with known arguments, until no further callers are found."""
        self._evaluator.follows_arguments = True
        for _ in range(_MAX_ROUNDS if len(dependent) <= _FEW_CALLS else 1):
            for file in self._modules.by_index:
                file.forget_argument_values()
            self._evaluator.results.forget_arguments()
            self._constructors = {}
            before = sum(map(len, self._callers.values()))
            for file, index, found in dependent:
                found[index] = self._resolve(file, index)
            if sum(map(len, self._callers.values())) == before:
                break
        self._evaluator.follows_arguments = False

    def _resolve_memoized(self, file: PythonFile, index: int) -> ResolvedCall:
        """Resolve a call without arguments. Calls of one function with the same evidence share the result."""
        call = file.calls[index]
        function = call.function
        values = file.node_values[function]
        if values is None:
            values = self._values(file, function)
        node = file.nodes[function]
        if not values and node[0] != _GLOBAL:
            return _NO_TARGETS
        if len(values) == 1 and call.how == _CALLED:
            value = values[0]
            kind = value[KIND]
            if kind == DEPENDENT:
                return _DEPENDENT
            if kind in _MEMOIZED:
                key = (value, id(self._evidence(file, node, value)))
                known = self._by_value.get(key)
                if known is None:
                    known = self._by_value[key] = self._resolve(file, index)
                else:
                    for callers_of, receiver in known.callees:
                        callers_of[file.index, index] = receiver
                return known
            if kind == EXTERNAL and not is_calling_builtin(node):
                name = value[NAME]
                outside = self._by_external.get(name)
                if outside is None:
                    outside = self._by_external[name] = new_tuple(ResolvedCall, ((), (name,), (), False))
                return outside
        resolved = self._resolve(file, index)
        for value in values:
            if value[KIND] in UNKNOWN_BEFORE_CALLS:
                return new_tuple(ResolvedCall, (*resolved[:3], True))
        return resolved

    def _resolve(self, file: PythonFile, index: int) -> ResolvedCall:
        call = file.calls[index]
        how = call.how
        values = self._values(file, call.function)
        node = file.nodes[call.function]
        calls_back = how == _CALLED and is_calling_builtin(node)
        if not values and not calls_back:
            return _NO_TARGETS
        targets = _Targets(file, index, node)
        for value in values:
            if how == _CALLED and value[KIND] == EXTERNAL:
                targets.external[value[NAME]] = None
            else:
                self._add(targets, value, how)
        if calls_back:
            for arg in call.args:
                for value in self._values(file, arg):
                    if value[KIND] in CALLABLES:
                        self._add(targets, value, how)
        return targets.resolved()

    # Targets

    def _add(self, targets: _Targets, value: Value, how: int) -> None:
        """Add the targets of calling, raising, iterating or entering a value, or of using it as a decorator."""
        kind = value[KIND]
        if how in _PROTOCOLS:
            if kind == INSTANCE:
                self._add_protocol(targets, value, how)
        elif how == flow.RAISED and kind != CLASS:
            return
        elif kind in CALLABLES:
            key = (FUNCTION, value[FILE], value[SCOPE])
            self._add_caller(targets, value, value[RECEIVER] if kind == BOUND else None)
            if key not in targets.found:
                evidence = self._evidence(targets.file, targets.node, value)
                targets.found[key] = new_tuple(CallTarget, (key, UseKind.CALL, *evidence))
        elif kind == CLASS:
            self._add_class(targets, value, how)
        elif kind == INSTANCE:
            for method in self._attribute(value, "__call__"):
                if method[KIND] != EXTERNAL:
                    self._add(targets, method, how)
        elif kind == EXTERNAL and not (how == flow.DECORATING and value[NAME].startswith("<builtin>")):
            targets.external[value[NAME]] = None

    def _add_protocol(self, targets: _Targets, instance: Value, how: int) -> None:
        for name in _PROTOCOLS[how]:
            owner: Value | None = instance
            if name == "__next__":
                iterators = [
                    iterator
                    for method in self._attribute(instance, "__iter__")
                    for iterator in self._evaluator.results.returned(method, None, None)
                ]
                owner = next((iterator for iterator in iterators if iterator[KIND] == INSTANCE), None)
            if owner is not None:
                for method in self._attribute(owner, name):
                    self._add(targets, method, _CALLED)

    def _add_class(self, targets: _Targets, value: Value, how: int) -> None:
        """Add a class and the methods that construct its instances."""
        key = (CLASS, value[FILE], value[SCOPE])
        found = targets.found
        if key in found:
            return
        evidence = self._evidence(targets.file, targets.node, value)
        found[key] = new_tuple(CallTarget, (key, UseKind.NEW, *evidence))
        name = self._modules.file_of(value).scopes[value[SCOPE]].name
        if how == flow.DECORATING and name.endswith("property"):
            return
        instance: Value = (INSTANCE, value[FILE], value[SCOPE])
        for constructor in ("__init__", "__new__"):
            for method in self._constructor(instance, constructor):
                function = (FUNCTION, method[FILE], method[SCOPE])
                self._add_caller(targets, method, instance)
                found.setdefault(function, new_tuple(CallTarget, (function, UseKind.CALL, *evidence)))
        if len(found) == 1:
            for base in self._evaluator.attributes.ancestors(key):
                if base[KIND] == EXTERNAL and not base[NAME].startswith("<builtin>"):
                    targets.external[f"{base[NAME]}.__init__"] = None
                    break

    def _add_caller(self, targets: _Targets, called: Value, receiver: Value | None) -> None:
        callers_of = self._callers[called[FILE], called[SCOPE]]
        callers_of[targets.file.index, targets.index] = receiver
        targets.callees.append((callers_of, receiver))

    def _constructor(self, instance: Value, name: str) -> Values:
        """Return a method that constructs an instance; memoized, because no node is being evaluated here."""
        known = self._constructors.get((instance, name))
        if known is None:
            methods = self._attribute(instance, name)
            known = tuple([value for value in methods if value[KIND] in CALLABLES])
            self._constructors[instance, name] = known
        return known

    def _evidence(self, file: PythonFile, node: Node, value: Value) -> tuple[Evidence, float]:
        """Return the evidence that a node refers to a value, and its confidence, 0 to 1."""
        kind = node[0]
        if kind == _ATTRIBUTE:
            kinds = {base[KIND] for base in self._values(file, node[flow.BASE])}
            if kinds == _ONLY_MODULE:
                return _IMPORTED_DIRECTLY
            if value[KIND] == BOUND:
                outer, receiver = self._modules.file_of(value).scopes[value[SCOPE]].parent, value[RECEIVER]
                is_own = value[FILE] == receiver[FILE] and outer == receiver[SCOPE]
                return _OF_RECEIVER if is_own else _OF_ANCESTOR
            return _OF_RECEIVER if CLASS in kinds else _BY_FLOW
        if kind == _IMPORTED:
            return _IMPORTED_DIRECTLY
        if kind == _GLOBAL:
            return _NAMED_HERE if value[FILE] == file.index else _NAMED_ELSEWHERE
        return _DEFINED_HERE if kind in _DEFINITIONS and value[FILE] == file.index else _BY_FLOW
