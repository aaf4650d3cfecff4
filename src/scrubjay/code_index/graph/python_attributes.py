"""Looks up attributes of Python values: class members in method resolution order, names of modules."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from scrubjay.code_index.graph import python_flow_format as flow
from scrubjay.code_index.graph.python_file import PythonFile
from scrubjay.code_index.graph.python_values import (
    BOUND,
    CLASS,
    CLASS_METHOD,
    CONSTANT,
    CONSTANT_VALUE,
    CONTAINER,
    DEPENDENT_VALUE,
    EXTERNAL,
    FILE,
    FUNCTION,
    INSTANCE,
    KIND,
    MODULE,
    NAME,
    PLACE,
    PROPERTY,
    PROPERTY_DECORATOR,
    SCOPE,
    STATIC_METHOD,
    SUPER,
    UNKNOWN_BEFORE_CALLS,
    Value,
    Values,
)

if TYPE_CHECKING:
    from scrubjay.code_index.graph.python_evaluator import Evaluator

_MAX_ANCESTORS = 60
"""Length of a method resolution order. Only generated code has longer ones."""
_FINAL = {BOUND, FUNCTION, EXTERNAL}
"""Kinds of values that do not depend on nodes still being evaluated or on arguments."""
_WITH_MEMBERS = {INSTANCE, CLASS}
_STORABLE = {INSTANCE, CLASS, MODULE}


class AttributeLookup:
    """Looks up attributes and memoizes members of classes."""

    def __init__(self, evaluator: "Evaluator") -> None:
        self._evaluator = evaluator
        self._file_of = evaluator.modules.file_of
        self._members: dict[tuple[Value, str], Values] = {}
        self._hierarchy = _ClassHierarchy(evaluator)
        self.ancestors = self._hierarchy.ancestors

    def lookup(self, value: Value, name: str) -> Values:
        """Return the values that an attribute of a value may have."""
        kind = value[KIND]
        if kind in _WITH_MEMBERS:
            key = (value, name)
            known = self._members.get(key)
            if known is None:
                ancestors = self._hierarchy.known.get((value[FILE], value[SCOPE]))
                known = self._member(
                    value, name, ancestors or self._hierarchy.ancestors((CLASS, value[FILE], value[SCOPE]))
                )
                if known and all(member[KIND] in _FINAL for member in known):
                    self._members[key] = known
            return known
        if kind == MODULE:
            file = self._file_of(value)
            found = self._evaluator.module_member(file, name)
            stored = self._stored(file, value, name)
            return (*(found or ()), *stored)
        if kind == EXTERNAL:
            return ((EXTERNAL, f"{value[NAME]}.{name}"),)
        if kind in UNKNOWN_BEFORE_CALLS:
            return (DEPENDENT_VALUE,)
        if kind == SUPER:
            above = self._hierarchy.ancestors((CLASS, value[FILE], value[SCOPE]))[1:]
            return self._member((INSTANCE, value[FILE], value[SCOPE]), name, above)
        if kind == CONSTANT:
            return ((EXTERNAL, f"<{type(value[CONSTANT_VALUE]).__name__}>.{name}"),)
        if kind == CONTAINER:
            return ((EXTERNAL, f"<{self._evaluator.containers.type_name(value)}>.{name}"),)
        if kind == PROPERTY:
            return ((PROPERTY_DECORATOR, *value[1:]),) if name in ("setter", "getter", "deleter") else ()
        return ()

    def _member(self, receiver: Value, name: str, ancestors: tuple[Value, ...]) -> Values:
        values = self._evaluator.values
        of_instance = receiver[KIND] == INSTANCE
        external: Value | None = None
        for owner in ancestors:
            if owner[KIND] == EXTERNAL:
                external = external or owner
                continue
            file = self._file_of(owner)
            scope = file.scopes[owner[SCOPE]]
            node = scope.names.get(name)
            found = values(file, node) if node is not None else ()
            for node in scope.attributes.get(name, ()):
                found = (*found, *values(file, node))
            if file.stores and (file.attribute_nodes is None or name in file.stored_names):
                found = (*found, *self._stored(file, owner, name))
                found = (*found, *self._stored(file, (INSTANCE, *owner[1:]), name))
            if found:
                return self._bind(found, receiver, of_instance)
        if external is not None and not name.startswith("__"):
            return ((EXTERNAL, f"{external[NAME]}.{name}"),)
        return ()

    def _bind(self, members: Iterable[Value], receiver: Value, of_instance: bool) -> Values:
        """Apply the descriptor protocol: bind methods to the receiver and call the getters of properties."""
        bound: list[Value] = []
        for value in members:
            kind = value[KIND]
            if kind == FUNCTION:
                scopes = self._file_of(value).scopes
                outer = scopes[value[SCOPE]].parent
                is_method = outer >= 0 and scopes[outer].kind == flow.CLASS_SCOPE
                bound.append((BOUND, value[FILE], value[SCOPE], receiver) if of_instance and is_method else value)
            elif kind == PROPERTY:
                if of_instance:
                    getter = (BOUND, value[FILE], value[SCOPE], receiver)
                    bound += self._evaluator.results.returned(getter, None, None)
                else:
                    bound.append(value)
            elif kind == CLASS_METHOD:
                bound.append((BOUND, value[FILE], value[SCOPE], (CLASS, *receiver[PLACE])))
            elif kind == STATIC_METHOD:
                bound.append((FUNCTION, value[FILE], value[SCOPE]))
            else:
                bound.append(value)
        return tuple(bound)

    def _stored(self, file: PythonFile, owner: Value, name: str) -> Values:
        """Return what assignments in a file store in an attribute of an object (`thing.name = value`)."""
        if not file.stores:
            return ()
        values = self._evaluator.values
        if file.attribute_nodes is None:
            file.attribute_nodes = {}  # guards against recursion while the table is built
            nodes: dict[tuple[Value, str], list[int]] = defaultdict(list)
            for base, attribute, node in file.stores:
                for value in values(file, base):
                    if value[KIND] in _STORABLE:
                        nodes[value, attribute].append(node)
            file.attribute_nodes = nodes
        return tuple(value for node in file.attribute_nodes.get((owner, name), ()) for value in values(file, node))


class _ClassHierarchy:
    """Computes the method resolution order of classes."""

    def __init__(self, evaluator: "Evaluator") -> None:
        self._evaluator = evaluator
        self._depth = 0
        self.known: dict[tuple[int, int], tuple[Value, ...]] = {}
        """Orders by file and scope of the class."""

    def ancestors(self, owner: Value) -> tuple[Value, ...]:
        """Return a class and its ancestors in method resolution order, at most `_MAX_ANCESTORS`."""
        key = (owner[FILE], owner[SCOPE])
        known = self.known.get(key)
        if known is not None:
            return known
        self.known[key] = (owner,)
        file = self._evaluator.modules.file_of(owner)
        bases: list[Value] = []
        for values in self._evaluator.without_arguments(file, file.scopes[owner[SCOPE]].bases):
            options = [value for value in values if value[KIND] in (CLASS, EXTERNAL)]
            bases += [value for value in options[:2] if value != owner]
        self._depth += 1
        is_shallow = self._depth < _MAX_ANCESTORS
        orders = [list(self.ancestors(base)) if base[KIND] == CLASS and is_shallow else [base] for base in bases]
        self._depth -= 1
        found = self.known[key] = (owner, *_merge([*orders, bases]))[:_MAX_ANCESTORS]
        return found


def _merge(orders: list[list[Value]]) -> Iterator[Value]:
    """Yield the C3 linearization. Classes that it cannot order come in the order in which they are written."""
    orders = [order for order in orders if order]
    while orders:
        for order in orders:
            candidate = order[0]
            if not any(candidate in other[1:] for other in orders):
                break
        else:
            candidate = orders[0][0]
        yield candidate
        orders = [rest for order in orders if (rest := [value for value in order if value != candidate])]
