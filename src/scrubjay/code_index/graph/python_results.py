"""Evaluates the results of Python calls, and the arguments that callers pass for a parameter."""

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from scrubjay.code_index.graph import python_flow_format as flow
from scrubjay.code_index.graph.python_file import FlowCall, Node, PythonFile
from scrubjay.code_index.graph.python_values import (
    BOUND,
    CALLABLES,
    CLASS,
    CLASS_METHOD,
    CONSTANT,
    CONSTANT_VALUE,
    CONTAINER,
    DEPENDENT_VALUE,
    EXTERNAL,
    FILE,
    FUNCTION,
    GENERATOR,
    INSTANCE,
    ITERABLES,
    KIND,
    MAX_VALUES,
    NAME,
    PARAMETER,
    PARAMETER_INDEX,
    PLACE,
    PROPERTY,
    PROPERTY_DECORATOR,
    RECEIVER,
    SCOPE,
    STATIC_METHOD,
    UNKNOWN_BEFORE_CALLS,
    Value,
    Values,
)

if TYPE_CHECKING:
    from scrubjay.code_index.graph.python_evaluator import Evaluator

CallersOf = dict[tuple[int, int], Value | None]
"""The callers of a function: file and index of the call, and the object whose method is called."""

_MAX_CALLERS = 40
"""Callers whose arguments are followed to a parameter."""
_WITHOUT_ARGUMENTS = {flow.RAISED, flow.ITERATED, flow.ENTERING}
_DECORATED_KINDS = {"staticmethod": STATIC_METHOD, "classmethod": CLASS_METHOD}
_CALLING_BUILTINS = {"map", "filter"}
_COPYING_BUILTINS = {"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "dict"}
_CHOOSING_BUILTINS = {"next", "max", "min"}
_KEYED_METHODS = {"get", "pop", "setdefault"}
_COPYING_METHODS = {"copy", "values"}
_CONTAINER_METHODS = _KEYED_METHODS | _COPYING_METHODS | {"popleft"}


def is_calling_builtin(node: Node) -> bool:
    """Return whether a node is `map` or `filter`, which call their argument."""
    return node[flow.KIND] == flow.GLOBAL and node[flow.GLOBAL_NAME] in _CALLING_BUILTINS


class CallResults:
    """Evaluates the results of calls."""

    def __init__(self, evaluator: "Evaluator") -> None:
        self._evaluator = evaluator
        self._values = evaluator.values
        self._file_of = evaluator.modules.file_of
        self._by_index = evaluator.modules.by_index
        self.callers: dict[tuple[int, int], CallersOf] = defaultdict(dict)
        """Known callers, by file and scope of the called function."""
        self._arguments: dict[Value, Values] = {}

    def forget_arguments(self) -> None:
        """Discard the memoized arguments, for example because further callers were found."""
        self._arguments = {}

    def read_result(self, file: PythonFile, node: Node, index: int) -> Values:
        """Evaluate a node that is the result of a call."""
        _, call_index = node
        call = file.calls[call_index]
        decorating = call.how == flow.DECORATING
        found: list[Value] = []
        for value in self._values(file, call.function):
            kind = value[KIND]
            if kind in CALLABLES:
                if decorating and self._is_property_maker(value):
                    found += self._properties(file, call)
                else:
                    found += self.returned(value, file, call)
            elif kind == CLASS:
                if decorating and self._is_property_maker(value):
                    found += self._properties(file, call)
                else:
                    found.append((INSTANCE, value[FILE], value[SCOPE]))
            elif kind == INSTANCE:
                for method in self._evaluator.attributes.lookup(value, "__call__"):
                    found += self.returned(method, file, call)
            elif kind == EXTERNAL:
                name: str = value[NAME]
                found += self._decorated(file, call, name) if decorating else self._made_outside(file, call, name)
            elif kind == PROPERTY_DECORATOR:
                found.append((PROPERTY, value[FILE], value[SCOPE]))
            elif kind in UNKNOWN_BEFORE_CALLS:
                found.append(DEPENDENT_VALUE)
        if not found and decorating:
            return self._values(file, call.args[0])
        return tuple(found)

    def _is_property_maker(self, value: Value) -> bool:
        return self._file_of(value).scopes[value[SCOPE]].name.endswith("property")

    def _properties(self, file: PythonFile, call: FlowCall) -> list[Value]:
        return [(PROPERTY, *made[PLACE]) for made in self._values(file, call.args[0]) if made[KIND] == FUNCTION]

    # Libraries and Python's own functions

    def _decorated(self, file: PythonFile, call: FlowCall, decorator: str) -> Values:
        """Return the result of applying a library's decorator to a function."""
        last = _last(decorator)
        kind = _DECORATED_KINDS.get(last) or (PROPERTY if last.endswith("property") else None)
        values = self._values(file, call.args[0])
        if kind is None:
            return values
        return tuple((kind, *value[PLACE]) if value[KIND] == FUNCTION else value for value in values)

    def _made_outside(self, file: PythonFile, call: FlowCall, name: str) -> Values:
        """Return the result of a library's function, as far as it is known without reading the library."""
        last, args = _last(name), call.args
        if name.startswith("<builtin>."):
            return self._made_by_builtin(file, call, last)
        if name.startswith("<"):
            return self._made_by_container(file, call, last)
        if last == "partial" and args:
            return self._values(file, args[0])
        if last == "cast" and len(args) > 1:
            return tuple((INSTANCE, *value[1:]) for value in self._values(file, args[0]) if value[KIND] == CLASS)
        return ((EXTERNAL, name),)

    def _made_by_builtin(self, file: PythonFile, call: FlowCall, name: str) -> Values:
        args = call.args
        if name in _CALLING_BUILTINS:
            return ((CONTAINER, file.index, self._mapped(file, call)),) if self._called_back(file, call) else ()
        if name in _COPYING_BUILTINS and args:
            return self._values(file, args[0])
        if name in _CHOOSING_BUILTINS and args:
            return tuple(
                item
                for value in self._values(file, args[0])
                if value[KIND] in ITERABLES
                for item in self._evaluator.containers.items(value, None)
            )
        if name == "getattr" and len(args) > 1:
            names = [value[CONSTANT_VALUE] for value in self._values(file, args[1]) if value[KIND] == CONSTANT]
            return tuple(
                found
                for value in self._values(file, args[0])
                for attribute in names
                for found in self._evaluator.attributes.lookup(value, str(attribute))
            )
        if name == "type" and len(args) == 1:
            return tuple((CLASS, *value[PLACE]) for value in self._values(file, args[0]) if value[KIND] == INSTANCE)
        return ()

    def _made_by_container(self, file: PythonFile, call: FlowCall, method: str) -> Values:
        function = file.nodes[call.function]
        if function[flow.KIND] != flow.ATTRIBUTE or method not in _CONTAINER_METHODS:
            return ()
        containers = self._evaluator.containers
        keys = containers.constants(file, call.args[0]) if call.args and method in _KEYED_METHODS else None
        owners = [value for value in self._values(file, function[flow.BASE]) if value[KIND] == CONTAINER]
        if method in _COPYING_METHODS:
            return tuple(owners)
        found = [item for owner in owners for item in containers.items(owner, keys)]
        for default in call.args[1:2]:
            found += self._values(file, default)
        return tuple(found)

    def _called_back(self, file: PythonFile, call: FlowCall) -> list[Value]:
        """Return what the functions among the arguments of a call return."""
        return [
            made
            for arg in call.args
            for value in self._values(file, arg)
            if value[KIND] in CALLABLES
            for made in self.returned(value, None, None)
        ]

    def _mapped(self, file: PythonFile, call: FlowCall) -> int:
        """Add a container of the results of the functions among the arguments, and return its node."""
        items: list[int] = []
        for value in self._called_back(file, call):
            file.nodes.append([flow.UNKNOWN])
            file.node_values.append((value,))
            file.argument_values.append((value,))
            items.append(len(file.nodes) - 1)
        file.nodes.append([flow.SEQUENCE, "set", *items])
        file.node_values.append(((CONTAINER, file.index, len(file.nodes) - 1),))
        file.argument_values.append(None)
        return len(file.nodes) - 1

    # Functions of the repository

    def returned(self, function: Value, file: PythonFile | None, call: FlowCall | None) -> Values:
        """Return the results of a function; its parameters are replaced by the arguments of the call, if given."""
        kind = function[KIND]
        if kind == EXTERNAL:
            return (function,)
        if kind not in CALLABLES:
            return ()
        home = self._file_of(function)
        scope: int = function[SCOPE]
        known = home.return_values.get(scope)
        if known is None:
            home.return_values[scope] = ()
            known = home.return_values[scope] = self._results(home, scope)
        if PARAMETER not in [made[KIND] for made in known]:
            return known
        found: list[Value] = []
        receiver: Value | None = function[RECEIVER] if kind == BOUND else None
        for made in known:
            if made[KIND] != PARAMETER or made[FILE] != function[FILE] or made[SCOPE] != scope:
                own_instance = (INSTANCE, home.index, home.scopes[scope].parent)
                if receiver is not None and made == own_instance and receiver[KIND] == INSTANCE:
                    continue  # the receiver, possibly of a subclass, is more precise
                found.append(made)
            elif made[PARAMETER_INDEX] == 0 and receiver is not None:
                found.append(receiver)
            elif file is not None and call is not None:
                for node in _passed(home, scope, made[PARAMETER_INDEX], call, receiver is not None):
                    found += self._values(file, node)
        return tuple(found)

    def _results(self, home: PythonFile, scope: int) -> Values:
        content = home.scopes[scope]
        if content.yields:
            return ((GENERATOR, home.index, scope),)
        results = self._evaluator.without_arguments(home, [*content.returns, content.result])
        distinct = dict.fromkeys([value for values in results for value in values])
        return tuple(value for value in distinct if value is not DEPENDENT_VALUE)[:MAX_VALUES]

    def arguments(self, parameter: Value) -> Values:
        """Return what the known callers pass for a parameter."""
        known = self._arguments.get(parameter)
        if known is not None:
            return known
        self._arguments[parameter] = ()
        _, file_index, scope, place = parameter
        home = self._file_of(parameter)
        found: dict[Value, None] = {}
        # A copy, because evaluation may add callers.
        callers = [*islice(self.callers.get((file_index, scope), {}).items(), _MAX_CALLERS)]
        for (caller, call), receiver in callers:
            if place == 0 and receiver is not None:
                found[receiver] = None
                continue
            file = self._by_index[caller]
            for node in _passed(home, scope, place, file.calls[call], receiver is not None):
                for value in self._values(file, node):
                    if value[KIND] not in UNKNOWN_BEFORE_CALLS:
                        found[value] = None
            if len(found) > MAX_VALUES:
                break
        values = self._arguments[parameter] = tuple(found)[:MAX_VALUES]
        return values


def _passed(home: PythonFile, scope: int, index: int, call: FlowCall, is_bound: bool) -> list[int]:
    """Return the nodes that a call passes for a parameter of a function."""
    parameters = home.scopes[scope].parameters
    name, how, _, _ = parameters[index]
    if call.how in _WITHOUT_ARGUMENTS:
        return []
    if how == flow.ANY_KEYWORD:
        known = {other for other, *_ in parameters}
        return [node for keyword, node in call.keywords if keyword and keyword not in known]
    found = [node for keyword, node in call.keywords if keyword == name]
    place = index - 1 if is_bound else index
    if how == flow.POSITIONAL and 0 <= place < len(call.args):
        found.append(call.args[place])
    elif how == flow.ANY_POSITIONAL and place >= 0:
        found += call.args[place:]
    return found


def _last(name: str) -> str:
    return name.rpartition(".")[2]
