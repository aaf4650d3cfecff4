"""Evaluates the nodes of Python files: the values that an expression may have."""

import builtins
from collections.abc import Callable, Mapping

from scrubjay.code_index.graph import python_flow_format as flow
from scrubjay.code_index.graph.python_attributes import AttributeLookup
from scrubjay.code_index.graph.python_containers import ContainerReader
from scrubjay.code_index.graph.python_file import Node, PythonFile
from scrubjay.code_index.graph.python_modules import PythonModules
from scrubjay.code_index.graph.python_results import CallResults
from scrubjay.code_index.graph.python_values import (
    CLASS,
    CLASS_METHOD,
    CONSTANT,
    CONTAINER,
    DEPENDENT_VALUE,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    KIND,
    MAX_VALUES,
    MODULE,
    NAME,
    PARAMETER,
    PROPERTY,
    STATIC_METHOD,
    SUPER,
    Value,
    Values,
)

_MAX_DEPTH = 90
"""Nesting of evaluated nodes; each level takes several frames of Python's stack of 1,000."""
_DESCRIPTORS = {PROPERTY, CLASS_METHOD, STATIC_METHOD}
_CLASS_METHOD_NAMES = {"__new__", "__init_subclass__", "__class_getitem__"}
_VARIADIC = {flow.ANY_POSITIONAL, flow.ANY_KEYWORD}

NodeReader = Callable[[PythonFile, Node, int], Values]
"""Evaluates a node of one kind: the file, the node and its index."""


class Evaluator:
    """Evaluates nodes and memoizes the results.

    Nodes are evaluated first without and then, while `follows_arguments` is true, with the arguments of known callers.
    """

    def __init__(self, modules: PythonModules) -> None:
        self.modules = modules
        self.follows_arguments = False
        self._depth = 0
        self.attributes = AttributeLookup(self)
        self.containers = ContainerReader(self)
        self.results = CallResults(self)
        self._readers: Mapping[str, NodeReader] = {
            flow.UNKNOWN: self._read_unknown,
            flow.SPREAD: self._read_unknown,
            flow.FUNCTION: self._read_function,
            flow.CLASS: self._read_class,
            flow.MODULE: self._read_module,
            flow.IMPORTED: self._read_imported,
            flow.GLOBAL: self._read_global,
            flow.CONSTANT: self._read_constant,
            flow.PARAMETER: self._read_parameter,
            flow.ATTRIBUTE: self._read_attribute,
            flow.INSTANCE: self._read_instance,
            flow.SUPER: self._read_super,
            flow.EITHER: self._read_either,
            flow.DECORATED: self._read_decorated,
            flow.RESULT: self.results.read_result,
            flow.SEQUENCE: self.containers.read_container,
            flow.MAPPING: self.containers.read_container,
            flow.REST: self.containers.read_container,
            flow.SLICE: self.containers.read_container,
            flow.REPLACED: self.containers.read_changed,
            flow.GROWN: self.containers.read_changed,
            flow.MERGED: self.containers.read_changed,
            flow.ITEM: self.containers.read_item,
            flow.UNPACKED: self.containers.read_unpacked,
            flow.ELEMENT: self.containers.read_element,
            flow.ENTERED: self.containers.read_entered,
        }

    def values(self, file: PythonFile, node: int) -> Values:
        """Return the values that a node may have, at most `MAX_VALUES`; none while it is being evaluated."""
        known = file.argument_values if self.follows_arguments else file.node_values
        found = known[node]
        if found is not None:
            return found
        if self._depth > _MAX_DEPTH:
            return ()
        known[node] = ()
        self._depth += 1
        content = file.nodes[node]
        found = self._readers[content[0]](file, content, node)
        if len(found) > 1:
            found = tuple(dict.fromkeys(found))[:MAX_VALUES]
        self._depth -= 1
        known[node] = found
        return found

    def module_member(self, file: PythonFile, name: str, seen: frozenset[int] = frozenset()) -> Values | None:
        """Return the values of a module's name; None if the module has no such name."""
        node = file.scopes[0].names.get(name)
        if node is not None:
            return self.values(file, node)
        for other in self.modules.star_imports(file):
            if other.index in seen or other is file:
                continue
            if other.exports is not None:
                if name not in other.exports:
                    continue
            elif name.startswith("_"):
                continue
            found = self.module_member(other, name, seen | {file.index})
            if found is not None:
                return found
        inner = self.modules.submodule(file, name)
        return ((MODULE, inner.index),) if inner is not None else None

    def global_name(self, file: PythonFile, name: str) -> Values:
        """Return the values of a name at the top level of a file, which may be a builtin."""
        found = self.module_member(file, name)
        if found is not None:
            return found
        return ((EXTERNAL, f"<builtin>.{name}"),) if hasattr(builtins, name) else ()

    def without_arguments(self, file: PythonFile, nodes: list[int]) -> list[Values]:
        """Evaluate nodes without the arguments of callers."""
        follows, self.follows_arguments = self.follows_arguments, False
        found = [self.values(file, node) for node in nodes]
        self.follows_arguments = follows
        return found

    # Readers of nodes

    def _read_unknown(self, file: PythonFile, node: Node, index: int) -> Values:
        return ()

    def _read_constant(self, file: PythonFile, node: Node, index: int) -> Values:
        _, constant = node
        return ((CONSTANT, constant),)

    def _read_super(self, file: PythonFile, node: Node, index: int) -> Values:
        _, scope = node
        return ((SUPER, file.index, scope),)

    def _read_function(self, file: PythonFile, node: Node, index: int) -> Values:
        return ((FUNCTION, file.index, node[flow.SCOPE_INDEX]),)

    def _read_class(self, file: PythonFile, node: Node, index: int) -> Values:
        _, scope = node
        return ((CLASS, file.index, scope),)

    def _read_module(self, file: PythonFile, node: Node, index: int) -> Values:
        _, name, level = node
        path, dotted = self.modules.find(file, name, level)
        return ((MODULE, self.modules.file(path).index),) if path is not None else ((EXTERNAL, dotted),)

    def _read_imported(self, file: PythonFile, node: Node, index: int) -> Values:
        _, module, level, name = node
        path, dotted = self.modules.find(file, module, level)
        if path is not None:
            found = self.module_member(self.modules.file(path), name)
            if found is not None:
                return found
        inner, _ = self.modules.find(file, f"{module}.{name}" if module else name, level)
        if inner is not None:
            return ((MODULE, self.modules.file(inner).index),)
        return ((EXTERNAL, f"{dotted}.{name}"),) if path is None else ()

    def _read_global(self, file: PythonFile, node: Node, index: int) -> Values:
        _, name = node
        return self.global_name(file, name)

    def _read_either(self, file: PythonFile, node: Node, index: int) -> Values:
        _, *options = node
        return tuple(value for option in options for value in self.values(file, option))

    def _read_decorated(self, file: PythonFile, node: Node, index: int) -> Values:
        _, result, function = node
        made = self.values(file, result)
        if any(value[KIND] in _DESCRIPTORS for value in made):
            return made
        return (*made, *self.values(file, function))

    def _read_instance(self, file: PythonFile, node: Node, index: int) -> Values:
        _, of_class = node
        return tuple(
            (INSTANCE, *value[1:]) if value[KIND] == CLASS else value
            for value in self.values(file, of_class)
            if value[KIND] == CLASS or (value[KIND] == EXTERNAL and not value[NAME].startswith("<builtin>"))
        )

    def _read_parameter(self, file: PythonFile, node: Node, index: int) -> Values:
        _, scope, number = node
        _, how, default, annotation = file.scopes[scope].parameters[number]
        marker: Value = (PARAMETER, file.index, scope, number)
        values: list[Value] = []
        owner = self._receiver(file, scope) if number == 0 else None
        if owner is not None:
            values.append(owner)
        if annotation:
            values += self.values(file, annotation)
        if default:
            values += self.values(file, default)
        if self.follows_arguments:
            values += self.results.arguments(marker)
        if how in _VARIADIC:
            return (*values, (CONTAINER, file.index, index))
        return (marker, *values)

    def _receiver(self, file: PythonFile, scope: int) -> Value | None:
        """Return the object or class that a method receives as first parameter; None for other functions."""
        name, outer = file.scopes[scope].name, file.scopes[scope].parent
        if outer < 0 or file.scopes[outer].kind != flow.CLASS_SCOPE:
            return None
        if name in _CLASS_METHOD_NAMES:
            return (CLASS, file.index, outer)
        node = file.scopes[outer].names.get(name, 0)
        if file.nodes[node][flow.KIND] == flow.DECORATED:
            kinds = {value[KIND] for value in self.values(file, node)}
            if STATIC_METHOD in kinds:
                return None
            if CLASS_METHOD in kinds:
                return (CLASS, file.index, outer)
        return (INSTANCE, file.index, outer)

    def _read_attribute(self, file: PythonFile, node: Node, index: int) -> Values:
        base: int
        name: str
        _, base, name = node
        # Repeats the lookup in `values`: most nodes are attributes, and most of their bases are already evaluated.
        values = (file.argument_values if self.follows_arguments else file.node_values)[base]
        if values is None:
            values = self.values(file, base)
        if len(values) == 1:
            found = self.attributes.lookup(values[0], name)
        elif len(values) == 2 and values[0][KIND] == PARAMETER:  # usually `self`
            found = self.attributes.lookup(values[1], name)
            if DEPENDENT_VALUE not in found:
                return found or (DEPENDENT_VALUE,)
            found = (DEPENDENT_VALUE, *found)
        else:
            lookup = self.attributes.lookup
            found = tuple([member for value in values for member in lookup(value, name)])
        if len(found) > 1 and DEPENDENT_VALUE in found:
            return tuple([value for value in found if value is not DEPENDENT_VALUE]) or (DEPENDENT_VALUE,)
        return found
