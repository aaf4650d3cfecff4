"""Reads items of Python containers: lists, tuples, sets, dictionaries, generators and instances with `__iter__`.

A container is identified by the node that creates it. A change to it creates a node that refers to the version before.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from scrubjay.code_index.graph import python_flow_format as flow
from scrubjay.code_index.graph.python_file import Node, PythonFile
from scrubjay.code_index.graph.python_values import (
    CONSTANT,
    CONSTANT_VALUE,
    CONTAINER,
    DEPENDENT_VALUE,
    EXTERNAL,
    FILE,
    GENERATOR,
    INSTANCE,
    ITERABLES,
    KIND,
    NODE,
    PARAMETER,
    SCOPE,
    UNKNOWN_BEFORE_CALLS,
    Value,
    Values,
)

if TYPE_CHECKING:
    from scrubjay.code_index.graph.python_evaluator import Evaluator

Keys = list[Any] | None
"""Constant keys to read; None reads all items."""
_Seen = set[tuple[Value, tuple[Any, ...] | None]]

_MAX_VERSIONS = 60
"""Versions of a container that are read for one item."""
_VERSIONS = {flow.REPLACED, flow.GROWN, flow.MERGED, flow.SLICE}
_NOT_CARRIED_OVER = {CONTAINER, PARAMETER, EXTERNAL}

ItemReader = Callable[[PythonFile, Value, Node, Keys, _Seen], list[Value]]
"""Reads items of a container that was created by a node of one kind."""


class ContainerReader:
    """Reads items of containers, and evaluates nodes that create containers or take items."""

    def __init__(self, evaluator: "Evaluator") -> None:
        self._evaluator = evaluator
        self._values = evaluator.values
        self._file_of = evaluator.modules.file_of
        self._item_readers: Mapping[str, ItemReader] = {
            flow.SEQUENCE: self._items_of_sequence,
            flow.MAPPING: self._items_of_mapping,
            flow.REPLACED: self._items_of_replaced,
            flow.GROWN: self._items_of_grown,
            flow.MERGED: self._items_of_merged,
            flow.SLICE: self._items_of_slice,
            flow.REST: self._items_of_rest,
            flow.PARAMETER: self._items_of_parameter,
        }

    # Readers of nodes

    def read_container(self, file: PythonFile, node: Node, index: int) -> Values:
        return ((CONTAINER, file.index, index),)

    def read_changed(self, file: PythonFile, node: Node, index: int) -> Values:
        """Evaluate a changed container. Other values may define the operator themselves and are returned unchanged."""
        kept = tuple(value for value in self._values(file, node[flow.BASE]) if value[KIND] not in _NOT_CARRIED_OVER)
        return (*kept, (CONTAINER, file.index, index))

    def read_item(self, file: PythonFile, node: Node, index: int) -> Values:
        _, base, key_node = node
        key_values = self._values(file, key_node)
        keys = [value[CONSTANT_VALUE] for value in key_values if value[KIND] == CONSTANT]
        if not (keys or self._evaluator.follows_arguments) and any(value[KIND] == PARAMETER for value in key_values):
            return (DEPENDENT_VALUE,)
        found: list[Value] = []
        for value in self._values(file, base):
            kind = value[KIND]
            if kind in ITERABLES:
                found += self.items(value, keys or None)
            elif kind in UNKNOWN_BEFORE_CALLS:
                found.append(DEPENDENT_VALUE)
            elif kind == INSTANCE:
                found += self._call_method(value, "__getitem__")
        return tuple(found)

    def read_unpacked(self, file: PythonFile, node: Node, index: int) -> Values:
        _, base, position = node
        found: list[Value] = []
        for value in self._values(file, base):
            if value[KIND] == CONTAINER:
                found += self.items(value, [position])
            elif value[KIND] in UNKNOWN_BEFORE_CALLS:
                found.append(DEPENDENT_VALUE)
        return tuple(found)

    def read_element(self, file: PythonFile, node: Node, index: int) -> Values:
        """Evaluate the value of a loop variable."""
        found: list[Value] = []
        for value in self._values(file, node[flow.BASE]):
            kind = value[KIND]
            if kind == CONTAINER:
                if self.type_name(value) != "dict":
                    found += self.items(value, None)
            elif kind == GENERATOR:
                found += self.items(value, None)
            elif kind == INSTANCE:
                for made in self._iterate(value):
                    found += [made] if made[KIND] != GENERATOR else self.items(made, None)
            elif kind in UNKNOWN_BEFORE_CALLS:
                found.append(DEPENDENT_VALUE)
        return tuple(found)

    def read_entered(self, file: PythonFile, node: Node, index: int) -> Values:
        """Evaluate the variable of a `with` statement."""
        found: list[Value] = []
        lookup, returned = self._evaluator.attributes.lookup, self._evaluator.results.returned
        for value in self._values(file, node[flow.BASE]):
            kind = value[KIND]
            if kind == INSTANCE:
                for method in lookup(value, "__enter__") or lookup(value, "__aenter__"):
                    found += returned(method, None, None)
            elif kind == GENERATOR:
                found += self.items(value, None)
            elif kind == EXTERNAL:
                found.append(value)
        return tuple(found)

    def _iterate(self, instance: Value) -> Values:
        """Return the values that iterating over an instance yields."""
        found: list[Value] = []
        for iterator in self._call_method(instance, "__iter__"):
            if iterator[KIND] == INSTANCE:
                found += self._call_method(iterator, "__next__")
            elif iterator[KIND] in ITERABLES:
                found += self.items(iterator, None)
        return tuple(found)

    def _call_method(self, instance: Value, name: str) -> list[Value]:
        methods = self._evaluator.attributes.lookup(instance, name)
        returned = self._evaluator.results.returned
        return [value for method in methods for value in returned(method, None, None)]

    # Properties of containers

    def type_name(self, container: Value) -> str:
        """Return the name of a container's type: `list`, `dict` and so on."""
        file = self._file_of(container)
        node = file.nodes[container[NODE]]
        while node[flow.KIND] in _VERSIONS:
            before = [
                value
                for value in self._values(file, node[flow.BASE])
                if value[KIND] == CONTAINER and value != container
            ]
            if not before or before[0][FILE] != file.index or before[0][NODE] >= container[NODE]:
                break
            container = before[0]
            node = file.nodes[container[NODE]]
        if node[flow.KIND] == flow.SEQUENCE:
            return node[flow.SEQUENCE_TYPE]
        return "dict" if node[flow.KIND] in (flow.MAPPING, flow.REPLACED) else "list"

    def _length(self, container: Value) -> int | None:
        """Return the number of items in a list or tuple display; None if it is not known."""
        file = self._file_of(container)
        node = file.nodes[container[NODE]]
        if node[flow.KIND] != flow.SEQUENCE or node[flow.SEQUENCE_TYPE] == "set":
            return None
        items = node[flow.SEQUENCE_ITEMS]
        return len(items) if all(file.nodes[item][flow.KIND] != flow.SPREAD for item in items) else None

    def constants(self, file: PythonFile, node: int) -> Keys:
        """Return the constants that a key may be; None if it may be anything."""
        constants = [value[CONSTANT_VALUE] for value in self._values(file, node) if value[KIND] == CONSTANT]
        return constants or None

    def _may_match(self, file: PythonFile, node: int, keys: Keys) -> bool:
        if keys is None or not node:
            return True
        constants = self.constants(file, node)
        return constants is None or any(type(one) is type(key) and one == key for one in constants for key in keys)

    # Items

    def items(self, container: Value, keys: Keys, seen: _Seen | None = None) -> list[Value]:
        """Return the items of a container or generator under one of the keys, or all items."""
        seen = set() if seen is None else seen
        step = (container, None if keys is None else tuple(keys))
        if step in seen or len(seen) > _MAX_VERSIONS:
            return []
        seen.add(step)
        file = self._file_of(container)
        if container[KIND] == GENERATOR:
            return [value for node in file.scopes[container[SCOPE]].yields for value in self._values(file, node)]
        place: int = container[NODE]
        found: list[Value] = []
        for key_node, value_node in file.late_items.get(place, ()):
            if self._may_match(file, key_node, keys):
                found += self._values(file, value_node)
        node = file.nodes[place]
        reader = self._item_readers.get(node[flow.KIND])
        if reader is not None:
            found += reader(file, container, node, keys, seen)
        return found

    def _items_of_node(self, file: PythonFile, node: int, keys: Keys, seen: _Seen) -> list[Value]:
        found: list[Value] = []
        for value in self._values(file, node):
            if value[KIND] in ITERABLES:
                found += self.items(value, keys, seen)
            elif value[KIND] in UNKNOWN_BEFORE_CALLS:
                found.append(DEPENDENT_VALUE)
        return found

    def _items_of_sequence(
        self, file: PythonFile, container: Value, node: Node, keys: Keys, seen: _Seen
    ) -> list[Value]:
        items = node[flow.SEQUENCE_ITEMS]
        is_unordered = node[flow.SEQUENCE_TYPE] == "set"
        found: list[Value] = []
        position: int | None = 0  # None after a spread, which stands for any number of items
        for item in items:
            content = file.nodes[item]
            if content[flow.KIND] == flow.SPREAD:
                found += self._items_of_node(file, content[flow.BASE], None, seen)
                position = None
                continue
            if keys is None or is_unordered or position is None or position in keys or position - len(items) in keys:
                found += self._values(file, item)
            position = position + 1 if position is not None else None
        return found

    def _items_of_mapping(self, file: PythonFile, container: Value, node: Node, keys: Keys, seen: _Seen) -> list[Value]:
        _, key_nodes, items = node
        found: list[Value] = []
        for key_node, item in zip(key_nodes, items, strict=True):
            if key_node == -1:  # `**other`
                for inner in self._values(file, item):
                    if inner[KIND] == CONTAINER and inner != container:
                        found += self.items(inner, keys, seen)
            elif self._may_match(file, key_node, keys):
                found += self._values(file, item)
        return found

    def _items_of_replaced(
        self, file: PythonFile, container: Value, node: Node, keys: Keys, seen: _Seen
    ) -> list[Value]:
        _, base, key_node, item = node
        replaced = self.constants(file, key_node)
        found: list[Value] = []
        if keys is None or replaced is None or set(replaced) & set(keys):
            found += self._values(file, item)
        if keys is None or replaced is None or len(replaced) > 1 or set(keys) - set(replaced):
            left = [key for key in keys if key not in (replaced or ())] if keys is not None else None
            found += self._items_of_node(file, base, left if left else keys, seen)
        return found

    def _items_of_grown(self, file: PythonFile, container: Value, node: Node, keys: Keys, seen: _Seen) -> list[Value]:
        _, base, item = node
        return [*self._values(file, item), *self._items_of_node(file, base, keys, seen)]

    def _items_of_merged(self, file: PythonFile, container: Value, node: Node, keys: Keys, seen: _Seen) -> list[Value]:
        _, base, other = node
        newer = self._items_of_node(file, other, keys, seen)
        return newer if newer and keys is not None else newer + self._items_of_node(file, base, keys, seen)

    def _items_of_slice(self, file: PythonFile, container: Value, node: Node, keys: Keys, seen: _Seen) -> list[Value]:
        _, base, first, _ = node
        moved = (
            [key + (first or 0) if type(key) is int and key >= 0 else key for key in keys] if keys is not None else None
        )
        return self._items_of_node(file, base, moved, seen)

    def _items_of_rest(self, file: PythonFile, container: Value, node: Node, keys: Keys, seen: _Seen) -> list[Value]:
        """Return items of the starred target in `a, *rest, z = base`."""
        _, base, before, after = node
        found: list[Value] = []
        for inner in self._values(file, base):
            if inner[KIND] != CONTAINER:
                continue
            length = self._length(inner)
            if length is None:
                found += self.items(inner, None, seen)
                continue
            taken = range(before, length - after)
            wanted = (
                [taken[key] for key in keys if type(key) is int and -len(taken) <= key < len(taken)]
                if keys
                else list(taken)
            )
            found += self.items(inner, wanted, seen) if wanted else []
        return found

    def _items_of_parameter(
        self, file: PythonFile, container: Value, node: Node, keys: Keys, seen: _Seen
    ) -> list[Value]:
        """Return items of `*args` or `**kwargs`."""
        if not self._evaluator.follows_arguments:
            return [DEPENDENT_VALUE]
        _, scope, index = node
        return [*self._evaluator.results.arguments((PARAMETER, file.index, scope, index))]
