"""Which definitions the calls and names of Python files mean: values are followed through what files do with them."""

import builtins
import sys
from array import array
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar, NamedTuple

from pydantic_core import from_json

from scrubjay.code_index.graph import python_flow as flow
from scrubjay.code_index.models import (
    Evidence,
    Facts,
    FileFacts,
    UseKind,
)

MOST_VALUES = 16
"""A variable that may be more than this is known by the first of them only."""
_DEEPEST = 90
_MOST_CALLERS = 40
_MOST_VERSIONS = 60
# A class that inherits from more was made by nobody who works with it.
_MOST_ANCESTORS = 60
_MOST_ROUNDS = 4
_FEW_WAITING = 2000
"""More places than this are looked at once, for time."""

# A value is a tuple; its first item tells what it is.
FUNCTION, CLASS, _INSTANCE, _MODULE, BOUND, EXTERNAL, _CONSTANT = "f", "c", "o", "m", "b", "x", "k"
_CONTAINER, _PARAMETER, _SUPER, PROPERTY, _SETTER, _OF_CLASS, _STATIC, _GENERATOR = (
    "n",
    "P",
    "s",
    "g",
    "gs",
    "cm",
    "sm",
    "Y",
)
_OF_PARAMETER: tuple[Any, ...] = ("Q",)
"""Something taken of a parameter, of which nothing is known before it is known what is passed."""

# Several times as fast as calling a named tuple's class, which is done for each use of a repository.
new_tuple: Any = tuple[Any, ...].__new__

Value = tuple[Any, ...]
Values = tuple[Value, ...]
Callers = Mapping[str, Container[int]]
"""Files that call into others, and the lines on which they do."""

_OF_IMPORTS = {flow.MODULE, flow.IMPORTED}
_LASTING = {BOUND, FUNCTION, EXTERNAL}
_CALLING_BUILTINS = {"map", "filter"}
# These are asked for hundreds of thousands of times: a set is made once, and a name of this file is found at once.
_CALLED, _ATTRIBUTE, _GLOBAL, _IMPORTED = flow.CALLED, flow.ATTRIBUTE, flow.GLOBAL, flow.IMPORTED
_DEFINITIONS = {flow.FUNCTION, flow.CLASS, flow.DECORATED}
_INWARD = {flow.ITERATED, flow.ENTERING}
_CALLABLE = {FUNCTION, BOUND}
_DIRECT = {FUNCTION, BOUND, CLASS}
_ONLY_MODULE = {_MODULE}
_WITH_MEMBERS = {_INSTANCE, CLASS}
_CLASS_METHODS = {"__new__", "__init_subclass__", "__class_getitem__"}


class Target(NamedTuple):
    """What a call may call: a function, or a class of which it makes an instance."""

    value: Value
    kind: UseKind
    evidence: Evidence
    confidence: float

    @property
    def is_function(self) -> bool:
        return self.value[0] == FUNCTION


class Call(NamedTuple):
    """A place that calls something, with all that it may call."""

    scope: int
    line: int
    start: int
    how: int
    targets: Sequence[Target]
    """Functions and classes of the repository."""
    external: Sequence[str]
    """Dotted names of what is called that is not in the repository."""


class Reached(NamedTuple):
    """What is called somewhere; the same is called wherever the same node is."""

    targets: Sequence[Target]
    external: Sequence[str]
    callees: Sequence[tuple[dict[tuple[int, int], Value | None], Value | None]] = ()
    """The callers of each function that is called, and the object whose method it is."""
    waits: bool = False
    """Whether it may mean more once it is known what is passed."""


_NOTHING, _WAITING = Reached((), ()), Reached((), (), waits=True)
# Apart from each other, so that each can be known by its identity: the hash of an enum's member is slow.
_WRITTEN_HERE, _IMPORTED_ITSELF = (Evidence.LOCAL, 1.0), (Evidence.IMPORTED, 1.0)
_NAMED_HERE, _NAMED_ELSEWHERE = (Evidence.LOCAL, 0.95), (Evidence.IMPORTED, 0.95)
_OF_RECEIVER, _OF_ANCESTOR, _FOLLOWED = (Evidence.RECEIVER, 0.9), (Evidence.INHERITED, 0.85), (Evidence.FLOW, 0.75)


class _File:
    """A file's flow, and what was found out about its nodes."""

    __slots__ = (
        "calls", "classes", "exports", "facts", "found", "importing", "index", "late", "live", "modules", "nodes",
        "package", "parts", "path", "returned", "scopes", "sites", "stars", "stored", "stores", "storing",
    )  # fmt: skip

    def __init__(self, index: int, path: str, parts: tuple[str, ...], facts: FileFacts) -> None:
        self.index, self.path, self.parts, self.facts = index, path, parts, facts
        self.package = parts if path.endswith("__init__.py") else parts[:-1]
        self.modules: dict[str, str | None] = {}
        """What imports mean in its package, where that is known."""
        content: list[Any] = from_json(facts.flow) if facts.flow else []
        if not content or content[0] != flow.VERSION:
            content = [flow.VERSION, [["?"]], [["m", "", -1, 0, {}, [], [], {}, [], [], 0]], [], [], [], {}, None]
        self.nodes: list[list[Any]] = content[1]
        self.scopes: list[list[Any]] = content[2]
        self.calls: list[list[Any]] = content[3]
        self.stores: list[tuple[int, str, int]] = content[4]
        self.stars: list[tuple[str, int]] = content[5]
        late: dict[str, list[tuple[int, int]]] = content[6]
        self.exports: list[str] | None = content[7]
        self.late: dict[int, list[tuple[int, int]]] = {int(node): items for node, items in late.items()}
        # By node: None of one that was not asked for. The first stands for what is not there.
        self.found: list[Values | None] = [None] * len(self.nodes)
        self.found[0] = ()
        self.live: list[Values | None] = [*self.found]
        self.returned: dict[int, Values] = {}
        self.storing: dict[tuple[Value, str], list[int]] | None = None
        self.stored: set[str] = {name for _, name, _ in self.stores}
        """The names of attributes that are set on objects."""
        classes = [(scope[3], place) for place, scope in enumerate(self.scopes) if scope[0] == "c"]
        self.classes: dict[int, int] = dict(reversed(classes))
        """The first class on each line."""
        self.sites: Sequence[array[int]] | None = None
        self.importing: Sequence[list[Any]] | None = None

    def call_sites(self) -> "Sequence[array[int]]":
        """Lines, first bytes, scopes and ways of the calls; unlike a list, this is not written to by who reads it."""
        if self.sites is None:
            self.sites = [array("q", column) for column in (*zip(*self.calls, strict=True),)[3:]] or [array("q")] * 4
        return self.sites

    def import_nodes(self) -> Sequence[list[Any]]:
        """The nodes of imports."""
        if self.importing is None:
            self.importing = [node for node in self.nodes if node[0] in _OF_IMPORTS]
        return self.importing


class _ModuleNames(NamedTuple):
    """How the modules of a repository are called, by its files."""

    parts: Mapping[str, tuple[str, ...]]
    """The name of each."""
    by_last: Mapping[str, Sequence[tuple[tuple[str, ...], str]]]
    """By the last part of their names."""
    packages: Set[tuple[str, ...]]
    exact: Mapping[tuple[str, ...], str]


@lru_cache(maxsize=4)  # from one change to the next there are the same files
def _module_names(paths: tuple[str, ...]) -> _ModuleNames:
    names: dict[str, tuple[str, ...]] = {}
    by_last: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    packages: set[tuple[str, ...]] = set()
    for path in paths:
        parts = tuple(path.rpartition(".")[0].split("/"))
        if parts[-1] == "__init__":
            parts = parts[:-1]
            packages.add(parts)
        names[path] = parts
        by_last[parts[-1] if parts else ""].append((parts, path))
    exact = {parts: path for path, parts in names.items() if not path.endswith(".pyi")}
    return _ModuleNames(names, dict(by_last), packages, exact)


class Program:
    """The Python files of a repository, linked: each is read when something first leads to it."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._files: dict[str, _File] = {}
        self._by_index: list[_File] = []
        names = _module_names(tuple(sorted([path for path in facts if path.endswith((".py", ".pyi", ".pyw"))])))
        self._parts, self._by_last, self._packages, self._exact = names
        self._modules: dict[tuple[str, ...], dict[str, str | None]] = defaultdict(dict)
        self._lines: dict[tuple[int, int], tuple[Value, ...]] = {}
        self._height = 0
        self._inheriting: dict[Value, list[Value]] = defaultdict(list)
        self._callers: dict[tuple[int, int], dict[tuple[int, int], Value | None]] = defaultdict(dict)
        self._members: dict[tuple[Value, str], Values] = {}
        self._arriving: dict[Value, Values] = {}
        self._constructors: dict[tuple[Value, str], Values] = {}
        self._calling: dict[tuple[Value, int], Reached] = {}
        self._outside: dict[str, Reached] = {}
        self._callees: list[tuple[dict[tuple[int, int], Value | None], Value | None]] = []
        self._evaluating_live = False
        self._depth = 0

    # Files and modules

    def file(self, path: str) -> _File:
        known = self._files.get(path)
        if known is None:
            parts = self._parts.get(
                path, tuple(path.split("/"))
            )  # a script may have no suffix, and then no module name
            known = self._files[path] = _File(len(self._by_index), path, parts, self._facts[path])
            known.modules = self._modules[known.package]
            self._by_index.append(known)
        return known

    def _home(self, value: Value) -> _File:
        index: int = value[1]
        return self._by_index[index]

    def module(self, name: str, importer: _File) -> str | None:
        """The file that an absolute import means where it is written; None when it is not in the repository."""
        known = importer.modules.get(name, "")
        if known != "":
            return known
        wanted = tuple(name.split("."))
        best: tuple[tuple[int, int], str] | None = None
        for parts, path in self._by_last.get(wanted[-1], ()):
            if parts[len(parts) - len(wanted) :] != wanted:
                continue
            root = parts[: len(parts) - len(wanted)]
            if root and root in self._packages:
                continue
            above = importer.parts[: len(root)] == root
            if not above and wanted[0] in sys.stdlib_module_names:
                continue
            rank = (len(root) if above else -1 - len(root), 0 if path.endswith(".pyi") else 1)
            if best is None or rank > best[0]:
                best = (rank, path)
        found = importer.modules[name] = best[1] if best is not None else None
        return found

    def _named_module(self, file: _File, name: str, level: int) -> tuple[str | None, str]:
        """The path of a module and its dotted name, which is the library's when there is no path."""
        if not level:
            return self.module(name, file), name
        base = file.package[: len(file.package) - (level - 1)] if level > 1 else file.package
        parts = (*base, *name.split(".")) if name else base
        return self._exact.get(parts), ".".join(parts)

    def _in_module(self, file: _File, name: str, seen: frozenset[int] = frozenset()) -> Values | None:
        """What a module's name stands for; None when the module has no such name."""
        node = file.scopes[0][4].get(name)
        if node is not None:
            return self.values(file, node)
        for module, level in file.stars:
            path, _ = self._named_module(file, module, level)
            if path is None:
                continue
            other = self.file(path)
            if other.index in seen or other is file:
                continue
            if other.exports is not None:
                if name not in other.exports:
                    continue
            elif name.startswith("_"):
                continue
            found = self._in_module(other, name, seen | {file.index})
            if found is not None:
                return found
        inner = self._exact.get((*file.parts, name)) if file.path.endswith("__init__.py") else None
        return ((_MODULE, self.file(inner).index),) if inner is not None else None

    # Evaluating nodes

    def values(self, file: _File, node: int) -> Values:
        """What a node may stand for."""
        known = file.live if self._evaluating_live else file.found
        found = known[node]
        if found is not None:
            return found
        if self._depth > _DEEPEST:
            return ()
        known[node] = ()
        self._depth += 1
        content = file.nodes[node]
        found = self._READERS[content[0]](self, file, content, node)
        if len(found) > 1:
            found = tuple(dict.fromkeys(found))[:MOST_VALUES]
        self._depth -= 1
        known[node] = found
        return found

    def _unknown(self, file: _File, node: list[Any], place: int) -> Values:
        return ()

    def _constant(self, file: _File, node: list[Any], place: int) -> Values:
        return ((_CONSTANT, node[1]),)

    def _container(self, file: _File, node: list[Any], place: int) -> Values:
        return ((_CONTAINER, file.index, place),)

    def _super(self, file: _File, node: list[Any], place: int) -> Values:
        return ((_SUPER, file.index, node[1]),)

    def _function(self, file: _File, node: list[Any], place: int) -> Values:
        return ((FUNCTION, file.index, node[1]),)

    def _class(self, file: _File, node: list[Any], place: int) -> Values:
        return ((CLASS, file.index, node[1]),)

    def _module(self, file: _File, node: list[Any], place: int) -> Values:
        path, dotted = self._named_module(file, node[1], node[2])
        return ((_MODULE, self.file(path).index),) if path is not None else ((EXTERNAL, dotted),)

    def _imported(self, file: _File, node: list[Any], place: int) -> Values:
        _, module, level, name = node
        path, dotted = self._named_module(file, module, level)
        if path is not None:
            found = self._in_module(self.file(path), name)
            if found is not None:
                return found
        inner, _ = self._named_module(file, f"{module}.{name}" if module else name, level)
        if inner is not None:
            return ((_MODULE, self.file(inner).index),)
        return ((EXTERNAL, f"{dotted}.{name}"),) if path is None else ()

    def _global(self, file: _File, node: list[Any], place: int) -> Values:
        found = self._in_module(file, node[1])
        if found is not None:
            return found
        return ((EXTERNAL, f"<builtin>.{node[1]}"),) if hasattr(builtins, node[1]) else ()

    def _either(self, file: _File, node: list[Any], place: int) -> Values:
        return tuple(value for option in node[1:] for value in self.values(file, option))

    def _decorated(self, file: _File, node: list[Any], place: int) -> Values:
        made = self.values(file, node[1])
        if any(value[0] in (PROPERTY, _OF_CLASS, _STATIC) for value in made):
            return made
        return (*made, *self.values(file, node[2]))

    def _instance(self, file: _File, node: list[Any], place: int) -> Values:
        return tuple(
            (_INSTANCE, *value[1:]) if value[0] == CLASS else value
            for value in self.values(file, node[1])
            if value[0] == CLASS or (value[0] == EXTERNAL and not value[1].startswith("<builtin>"))
        )

    def _parameter(self, file: _File, node: list[Any], place: int) -> Values:
        _, scope, index = node
        _, how, default, annotation = file.scopes[scope][5][index]
        marker: Value = (_PARAMETER, file.index, scope, index)
        values: list[Value] = []
        owner = self._receiver(file, scope, index)
        if owner is not None:
            values.append(owner)
        if annotation:
            values += self.values(file, annotation)
        if default:
            values += self.values(file, default)
        if self._evaluating_live:
            values += self._arrived(marker)
        if how in (flow.ANY_POSITIONAL, flow.ANY_KEYWORD):
            return (*values, (_CONTAINER, file.index, place))
        return (marker, *values)

    def _receiver(self, file: _File, scope: int, index: int) -> Value | None:
        """The object or class that the first parameter of a method is."""
        if index:
            return None
        outer = file.scopes[scope][2]
        if outer < 0 or file.scopes[outer][0] != "c":
            return None
        name = file.scopes[scope][1]
        if name in _CLASS_METHODS:
            return (CLASS, file.index, outer)
        node = file.scopes[outer][4].get(name, 0)
        if file.nodes[node][0] == flow.DECORATED:
            tags = {value[0] for value in self.values(file, node)}
            if _STATIC in tags:
                return None
            if _OF_CLASS in tags:
                return (CLASS, file.index, outer)
        return (_INSTANCE, file.index, outer)

    def _attribute_node(self, file: _File, node: list[Any], place: int) -> Values:
        base: int = node[1]
        name: str = node[2]
        values = (file.live if self._evaluating_live else file.found)[base]
        if values is None:
            values = self.values(file, base)
        if len(values) == 1:
            found = self.attribute(values[0], name)
        elif len(values) == 2 and values[0][0] == _PARAMETER:  # `self`, mostly
            found = self.attribute(values[1], name)
            if _OF_PARAMETER not in found:
                return found or (_OF_PARAMETER,)
            found = (_OF_PARAMETER, *found)
        else:
            found = tuple([member for value in values for member in self.attribute(value, name)])
        if len(found) > 1 and _OF_PARAMETER in found:
            return tuple([value for value in found if value is not _OF_PARAMETER]) or (_OF_PARAMETER,)
        return found

    def attribute(self, value: Value, name: str) -> Values:
        """What the attribute of a value may be."""
        kind = value[0]
        if kind in _WITH_MEMBERS:
            key = (value, name)
            known = self._members.get(key)
            if known is None:
                line = self._lines.get((value[1], value[2]))
                known = self._member(value, name, line or self.lineage((CLASS, value[1], value[2])))
                # What came out while something was still being found out, or may be a parameter, is not the last word.
                if known and all(member[0] in _LASTING for member in known):
                    self._members[key] = known
            return known
        if kind == _MODULE:
            file = self._home(value)
            found = self._in_module(file, name)
            stored = self._stored(file, value, name)
            return (*(found or ()), *stored)
        if kind == EXTERNAL:
            return ((EXTERNAL, f"{value[1]}.{name}"),)
        if kind == _PARAMETER or kind == "Q":
            return (_OF_PARAMETER,)
        if kind == _SUPER:
            lineage = self.lineage((CLASS, value[1], value[2]))[1:]
            return self._member((_INSTANCE, value[1], value[2]), name, lineage)
        if kind == _CONSTANT:
            return ((EXTERNAL, f"<{type(value[1]).__name__}>.{name}"),)
        if kind == _CONTAINER:
            return ((EXTERNAL, f"<{self._sort_of(value)}>.{name}"),)
        if kind == PROPERTY:
            return ((_SETTER, *value[1:]),) if name in ("setter", "getter", "deleter") else ()
        return ()

    def _sort_of(self, value: Value) -> str:
        file = self._home(value)
        node = file.nodes[value[2]]
        while node[0] in (flow.REPLACED, flow.GROWN, flow.MERGED, flow.SLICE):
            below = [inner for inner in self.values(file, node[1]) if inner[0] == _CONTAINER and inner != value]
            if not below or below[0][1] != file.index or below[0][2] >= value[2]:
                break
            value = below[0]
            node = file.nodes[value[2]]
        if node[0] == flow.SEQUENCE:
            return node[1]
        return "dict" if node[0] in (flow.MAPPING, flow.REPLACED) else "list"

    def _member(self, receiver: Value, name: str, lineage: tuple[Value, ...]) -> Values:
        of_instance = receiver[0] == _INSTANCE
        outside: list[Value] = []
        for owner in lineage:
            if owner[0] == EXTERNAL:
                outside.append(owner)
                continue
            file = self._home(owner)
            scope = file.scopes[owner[2]]
            node = scope[4].get(name)
            found = self.values(file, node) if node is not None else ()
            for node in scope[7].get(name, ()):
                found = (*found, *self.values(file, node))
            if file.stores and (file.storing is None or name in file.stored):
                found = (*found, *self._stored(file, owner, name))
                found = (*found, *self._stored(file, (_INSTANCE, *owner[1:]), name))
            if found:
                return self._accessed(found, receiver, of_instance)
        if outside and not name.startswith("__"):
            return tuple((EXTERNAL, f"{base[1]}.{name}") for base in outside[:1])
        return ()

    def _accessed(self, found: Iterable[Value], receiver: Value, of_instance: bool) -> Values:
        accessed: list[Value] = []
        for value in found:
            kind = value[0]
            if kind == FUNCTION:
                scopes = self._home(value).scopes
                outer = scopes[value[2]][2]
                is_method = outer >= 0 and scopes[outer][0] == "c"
                accessed.append((BOUND, value[1], value[2], receiver) if of_instance and is_method else value)
            elif kind == PROPERTY:
                if of_instance:
                    accessed += self._returned((BOUND, value[1], value[2], receiver), None, None)
                else:
                    accessed.append(value)
            elif kind == _OF_CLASS:
                accessed.append((BOUND, value[1], value[2], (CLASS, *receiver[1:3])))
            elif kind == _STATIC:
                accessed.append((FUNCTION, value[1], value[2]))
            else:
                accessed.append(value)
        return tuple(accessed)

    def _stored(self, file: _File, owner: Value, name: str) -> Values:
        """What assignments to attributes elsewhere in a file gave to an object."""
        if not file.stores:
            return ()
        if file.storing is None:
            file.storing = {}
            storing: dict[tuple[Value, str], list[int]] = defaultdict(list)
            for base, attribute, node in file.stores:
                for value in self.values(file, base):
                    if value[0] in (_INSTANCE, CLASS, _MODULE):
                        storing[value, attribute].append(node)
            file.storing = storing
        return tuple(value for node in file.storing.get((owner, name), ()) for value in self.values(file, node))

    # Classes

    def lineage(self, owner: Value) -> tuple[Value, ...]:
        """A class and those that it inherits from, in the order in which they are asked for a name."""
        key = (owner[1], owner[2])
        known = self._lines.get(key)
        if known is not None:
            return known
        self._lines[key] = (owner,)
        file = self._home(owner)
        live, self._evaluating_live = self._evaluating_live, False
        bases: list[Value] = []
        for node in file.scopes[owner[2]][6]:
            options = [value for value in self.values(file, node) if value[0] in (CLASS, EXTERNAL)]
            bases += [value for value in options[:2] if value != owner]
        self._evaluating_live = live
        for base in bases:
            self._inheriting[base].append(owner)
        self._height += 1
        is_low = self._height < _MOST_ANCESTORS
        lines = [list(self.lineage(base)) if base[0] == CLASS and is_low else [base] for base in bases]
        self._height -= 1
        found = self._lines[key] = (owner, *_merged([*lines, bases]))[:_MOST_ANCESTORS]
        return found

    # Containers

    def _versioned(self, file: _File, node: list[Any], place: int) -> Values:
        if node[0] in (flow.MERGED, flow.GROWN, flow.REPLACED):
            kept = tuple(
                value for value in self.values(file, node[1]) if value[0] not in (_CONTAINER, _PARAMETER, EXTERNAL)
            )
            return (*kept, (_CONTAINER, file.index, place))
        return ((_CONTAINER, file.index, place),)

    def _item_node(self, file: _File, node: list[Any], place: int) -> Values:
        keys = [value[1] for value in self.values(file, node[2]) if value[0] == _CONSTANT]
        if not (keys or self._evaluating_live) and any(value[0] == _PARAMETER for value in self.values(file, node[2])):
            return (_OF_PARAMETER,)
        found: list[Value] = []
        for value in self.values(file, node[1]):
            if value[0] in (_CONTAINER, _GENERATOR):
                found += self._items(value, keys or None)
            elif value[0] == _PARAMETER or value[0] == "Q":
                found.append(_OF_PARAMETER)
            elif value[0] == _INSTANCE:
                for method in self.attribute(value, "__getitem__"):
                    found += self._returned(method, None, None)
        return tuple(found)

    def _items(self, container: Value, keys: list[Any] | None, seen: set[Any] | None = None) -> list[Value]:
        """What a container holds under one of the keys, or anywhere."""
        seen = set() if seen is None else seen
        step = (container, None if keys is None else tuple(keys))
        if step in seen or len(seen) > _MOST_VERSIONS:
            return []
        seen.add(step)
        file = self._home(container)
        if container[0] == _GENERATOR:
            return [value for node in file.scopes[container[2]][9] for value in self.values(file, node)]
        place: int = container[2]
        node = file.nodes[place]
        kind = node[0]
        found: list[Value] = []
        for key_node, value_node in file.late.get(place, ()):
            if self._may_be(file, key_node, keys):
                found += self.values(file, value_node)
        if kind == flow.SEQUENCE:
            items = node[2:]
            at: int | None = 0
            for item in items:
                if file.nodes[item][0] == flow.SPREAD:
                    found += self._elements_of(file, file.nodes[item][1], seen)
                    at = None
                else:
                    if keys is None or node[1] == "set" or at is None or at in keys or at - len(items) in keys:
                        found += self.values(file, item)
                    at = at + 1 if at is not None else None
        elif kind == flow.MAPPING:
            for key_node, item in zip(node[1], node[2], strict=True):
                if key_node == -1:
                    for inner in self.values(file, item):
                        if inner[0] == _CONTAINER and inner != container:
                            found += self._items(inner, keys, seen)
                elif self._may_be(file, key_node, keys):
                    found += self.values(file, item)
        elif kind == flow.REPLACED:
            _, base, key_node, item = node
            replaced = self._constants(file, key_node)
            if keys is None or replaced is None or set(replaced) & set(keys):
                found += self.values(file, item)
            if keys is None or replaced is None or len(replaced) > 1 or set(keys) - set(replaced):
                left = [key for key in keys if key not in (replaced or ())] if keys is not None else None
                found += self._items_of(file, base, left if left else keys, seen)
        elif kind == flow.GROWN:
            found += self.values(file, node[2])
            found += self._items_of(file, node[1], keys, seen)
        elif kind == flow.MERGED:
            newer = self._items_of(file, node[2], keys, seen)
            found += newer
            if not newer or keys is None:
                found += self._items_of(file, node[1], keys, seen)
        elif kind == flow.SLICE:
            _, base, low, _ = node
            moved = (
                [key + (low or 0) if type(key) is int and key >= 0 else key for key in keys]
                if keys is not None
                else None
            )
            found += self._items_of(file, base, moved, seen)
        elif kind == flow.REST:
            _, base, before, after = node
            for inner in self.values(file, base):
                if inner[0] == _CONTAINER:
                    count = self._length(inner)
                    if count is None:
                        found += self._items(inner, None, seen)
                    else:
                        taken = range(before, count - after)
                        wanted = (
                            [taken[key] for key in keys if type(key) is int and -len(taken) <= key < len(taken)]
                            if keys
                            else list(taken)
                        )
                        found += self._items(inner, wanted, seen) if wanted else []
        elif kind == flow.PARAMETER and self._evaluating_live:
            found += self._arrived((_PARAMETER, file.index, node[1], node[2]))
        elif kind == flow.PARAMETER:
            found.append(_OF_PARAMETER)
        return found

    def _length(self, container: Value) -> int | None:
        file = self._home(container)
        node = file.nodes[container[2]]
        if node[0] != flow.SEQUENCE or node[1] == "set" or any(file.nodes[item][0] == flow.SPREAD for item in node[2:]):
            return None
        return len(node) - 2

    def _items_of(self, file: _File, node: int, keys: list[Any] | None, seen: set[Any]) -> list[Value]:
        found: list[Value] = []
        for value in self.values(file, node):
            if value[0] in (_CONTAINER, _GENERATOR):
                found += self._items(value, keys, seen)
            elif value[0] == _PARAMETER or value[0] == "Q":
                found.append(_OF_PARAMETER)
        return found

    def _elements_of(self, file: _File, node: int, seen: set[Any]) -> list[Value]:
        return self._items_of(file, node, None, seen)

    def _constants(self, file: _File, node: int) -> list[Any] | None:
        """The keys that a node may be; None when it may be any."""
        constants = [value[1] for value in self.values(file, node) if value[0] == _CONSTANT]
        return constants or None

    def _may_be(self, file: _File, node: int, keys: list[Any] | None) -> bool:
        if keys is None or not node:
            return True
        constants = self._constants(file, node)
        return constants is None or any(type(one) is type(key) and one == key for one in constants for key in keys)

    def _unpacked(self, file: _File, node: list[Any], place: int) -> Values:
        found: list[Value] = []
        for value in self.values(file, node[1]):
            if value[0] == _CONTAINER:
                found += self._items(value, [node[2]])
            elif value[0] == _PARAMETER or value[0] == "Q":
                found.append(_OF_PARAMETER)
        return tuple(found)

    def _element_node(self, file: _File, node: list[Any], place: int) -> Values:
        found: list[Value] = []
        for value in self.values(file, node[1]):
            if value[0] == _CONTAINER:
                if self._sort_of(value) != "dict":
                    found += self._items(value, None)
            elif value[0] == _GENERATOR:
                found += self._items(value, None)
            elif value[0] == _INSTANCE:
                for made in self._iterator(value):
                    found += [made] if made[0] != _GENERATOR else self._items(made, None)
            elif value[0] == _PARAMETER or value[0] == "Q":
                found.append(_OF_PARAMETER)
        return tuple(found)

    def _iterator(self, value: Value) -> Values:
        """What iterating over an instance gives."""
        found: list[Value] = []
        for method in self.attribute(value, "__iter__"):
            for iterator in self._returned(method, None, None):
                if iterator[0] == _INSTANCE:
                    for step in self.attribute(iterator, "__next__"):
                        found += self._returned(step, None, None)
                elif iterator[0] in (_GENERATOR, _CONTAINER):
                    found += self._items(iterator, None)
        return tuple(found)

    def _entered(self, file: _File, node: list[Any], place: int) -> Values:
        found: list[Value] = []
        for value in self.values(file, node[1]):
            if value[0] == _INSTANCE:
                for method in self.attribute(value, "__enter__") or self.attribute(value, "__aenter__"):
                    found += self._returned(method, None, None)
            elif value[0] == _GENERATOR:
                found += self._items(value, None)
            elif value[0] == EXTERNAL:
                found.append(value)
        return tuple(found)

    # Calls

    def _result(self, file: _File, node: list[Any], place: int) -> Values:
        call = file.calls[node[1]]
        decorating = call[6] == flow.DECORATING
        found: list[Value] = []
        for value in self.values(file, call[0]):
            kind = value[0]
            if kind in _CALLABLE:
                if decorating and _last(self._name(value)).endswith("property"):
                    found += [(PROPERTY, *made[1:3]) for made in self.values(file, call[1][0]) if made[0] == FUNCTION]
                else:
                    found += self._returned(value, file, call)
            elif kind == CLASS:
                if decorating and self._home(value).scopes[value[2]][1].endswith("property"):
                    found += [(PROPERTY, *made[1:3]) for made in self.values(file, call[1][0]) if made[0] == FUNCTION]
                else:
                    found.append((_INSTANCE, value[1], value[2]))
            elif kind == _INSTANCE:
                for method in self.attribute(value, "__call__"):
                    found += self._returned(method, file, call)
            elif kind == EXTERNAL:
                found += self._made_outside(file, call, value[1], decorating)
            elif kind == _SETTER:
                found.append((PROPERTY, value[1], value[2]))
            elif kind == _PARAMETER or kind == "Q":
                found.append(_OF_PARAMETER)
        if not found and decorating:
            return self.values(file, call[1][0])
        return tuple(found)

    def _made_outside(self, file: _File, call: list[Any], name: str, decorating: bool) -> Values:
        """What a library's function gives back, as far as it is known without reading it."""
        last = _last(name)
        if decorating:
            tags = {"staticmethod": _STATIC, "classmethod": _OF_CLASS}
            tag = tags.get(last) or (PROPERTY if last.endswith("property") else None)
            values = self.values(file, call[1][0])
            if tag is None:
                return values
            return tuple((tag, *value[1:3]) if value[0] == FUNCTION else value for value in values)
        args: list[int] = call[1]
        if name.startswith("<builtin>."):
            if last in _CALLING_BUILTINS:
                return tuple(
                    made
                    for arg in args
                    for value in self.values(file, arg)
                    if value[0] in (FUNCTION, BOUND)
                    for made in self._returned(value, None, None)
                ) and ((_CONTAINER, file.index, self._mapped(file, call)),)
            if last in ("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "dict") and args:
                return self.values(file, args[0])
            if last in ("next", "max", "min") and args:
                return tuple(
                    item
                    for value in self.values(file, args[0])
                    if value[0] in (_CONTAINER, _GENERATOR)
                    for item in self._items(value, None)
                )
            if last == "getattr" and len(args) > 1:
                names = [value[1] for value in self.values(file, args[1]) if value[0] == _CONSTANT]
                return tuple(
                    found
                    for value in self.values(file, args[0])
                    for attribute in names
                    for found in self.attribute(value, str(attribute))
                )
            if last == "type" and len(args) == 1:
                return tuple((CLASS, *value[1:3]) for value in self.values(file, args[0]) if value[0] == _INSTANCE)
            return ()
        if name.startswith("<"):
            return self._made_by_container(file, call, last)
        if last == "partial" and args:
            return self.values(file, args[0])
        if last == "cast" and len(args) > 1:
            return tuple((_INSTANCE, *value[1:]) for value in self.values(file, args[0]) if value[0] == CLASS)
        return ((EXTERNAL, name),)

    def _made_by_container(self, file: _File, call: list[Any], method: str) -> Values:
        function = file.nodes[call[0]]
        if function[0] != flow.ATTRIBUTE or method not in ("get", "pop", "copy", "values", "setdefault", "popleft"):
            return ()
        keys = self._constants(file, call[1][0]) if call[1] and method in ("get", "pop", "setdefault") else None
        containers = [value for value in self.values(file, function[1]) if value[0] == _CONTAINER]
        if method in ("copy", "values"):
            return tuple(containers)
        found = [item for container in containers for item in self._items(container, keys)]
        for default in call[1][1:2]:
            found += self.values(file, default)
        return tuple(found)

    def _mapped(self, file: _File, call: list[Any]) -> int:
        """A container of what the functions among a call's arguments return."""
        returned = [
            made
            for arg in call[1]
            for value in self.values(file, arg)
            if value[0] in (FUNCTION, BOUND)
            for made in self._returned(value, None, None)
        ]
        items: list[int] = []
        for value in returned:
            file.nodes.append(["?"])
            file.found.append((value,))
            file.live.append((value,))
            items.append(len(file.nodes) - 1)
        file.nodes.append([flow.SEQUENCE, "set", *items])
        file.found.append(((_CONTAINER, file.index, len(file.nodes) - 1),))
        file.live.append(None)
        return len(file.nodes) - 1

    def _returned(self, value: Value, file: _File | None, call: list[Any] | None) -> Values:
        """What a function gives back, with its parameters replaced by what the call passes."""
        if value[0] == EXTERNAL:
            return (value,)
        if value[0] not in _CALLABLE:
            return ()
        home = self._home(value)
        scope = value[2]
        known = home.returned.get(scope)
        if known is None:
            home.returned[scope] = ()
            known = home.returned[scope] = self._results(home, scope)
        if _PARAMETER not in [made[0] for made in known]:
            return known
        found: list[Value] = []
        receiver: Value | None = value[3] if value[0] == BOUND else None
        for made in known:
            if made[0] != _PARAMETER or made[1] != value[1] or made[2] != scope:
                if (
                    receiver is not None
                    and made == (_INSTANCE, home.index, home.scopes[scope][2])
                    and receiver[0] == _INSTANCE
                ):
                    continue
                found.append(made)
            elif made[3] == 0 and receiver is not None:
                found.append(receiver)
            elif file is not None and call is not None:
                for node in self._passed(home, scope, made[3], call, receiver is not None):
                    found += self.values(file, node)
        return tuple(found)

    def _results(self, home: _File, scope: int) -> Values:
        content = home.scopes[scope]
        if content[9]:
            return ((_GENERATOR, home.index, scope),)
        live, self._evaluating_live = self._evaluating_live, False
        found: list[Value] = []
        for node in content[8]:
            found += self.values(home, node)
        found += self.values(home, content[10])
        self._evaluating_live = live
        return tuple(value for value in dict.fromkeys(found) if value is not _OF_PARAMETER)[:MOST_VALUES]

    def _passed(self, home: _File, scope: int, index: int, call: list[Any], bound: bool) -> list[int]:
        """The nodes that a call passes for a parameter."""
        params = home.scopes[scope][5]
        name, how = params[index][0], params[index][1]
        _, args, named = call[0], call[1], call[2]
        if call[6] in (flow.RAISED, flow.ITERATED, flow.ENTERING):
            return []
        if how == flow.ANY_KEYWORD:
            known = {param[0] for param in params}
            return [node for keyword, node in named if keyword and keyword not in known]
        found = [node for keyword, node in named if keyword == name]
        place = index - 1 if bound else index
        if how == flow.POSITIONAL and 0 <= place < len(args):
            found.append(args[place])
        elif how == flow.ANY_POSITIONAL and place >= 0:
            found += args[place:]
        return found

    def _arrived(self, parameter: Value) -> Values:
        """What callers pass for a parameter."""
        known = self._arriving.get(parameter)
        if known is not None:
            return known
        self._arriving[parameter] = ()
        _, index, scope, place = parameter
        home = self._home(parameter)
        found: dict[Value, None] = {}
        for (file_index, call_index), receiver in [
            *islice(self._callers.get((index, scope), {}).items(), _MOST_CALLERS)
        ]:
            if place == 0 and receiver is not None:
                found[receiver] = None
                continue
            file = self._by_index[file_index]
            call = file.calls[call_index]
            for node in self._passed(home, scope, place, call, receiver is not None):
                for value in self.values(file, node):
                    if value[0] not in (_PARAMETER, "Q"):
                        found[value] = None
            if len(found) > MOST_VALUES:
                break
        values = self._arriving[parameter] = tuple(found)[:MOST_VALUES]
        return values

    # Call sites

    def calls(self, paths: Sequence[str], callers: Callers | None = None) -> dict[str, list[Call]]:
        """What the calls in some files mean; parameters are followed to what these files and the callers pass."""
        return {
            path: [
                Call(scope, line, start, how, reached.targets, reached.external)
                for line, start, scope, how, reached in zip(*self.file(path).call_sites(), found, strict=True)
            ]
            for path, found in self.reached(paths, callers).items()
        }

    def reached(self, paths: Sequence[str], callers: Callers | None = None) -> dict[str, list[Reached]]:
        """The same, of each of a file's calls as they are in its flow. What is the same is one object."""
        done: dict[str, list[Reached]] = {}
        waiting: list[tuple[_File, int, list[Reached]]] = []
        for path, lines in sorted((callers or {}).items()):
            file = self.file(path)
            for place, call in enumerate(file.calls):
                if call[3] in lines:
                    self._reached(file, place)
        for path in paths:
            file = self.file(path)
            index, nodes, found, known = file.index, file.nodes, list[Reached](), dict[int, Reached]()
            done[path] = found
            # Before a process may be forked, which then need not copy what is looked at.
            file.call_sites()
            file.import_nodes()
            for place, call in enumerate(file.calls):
                function: int = call[0]
                reached = known.get(function) if call[6] == _CALLED else None
                if reached is None:
                    reached = self._called(file, place)
                    if call[6] == _CALLED and (nodes[function][0] != _GLOBAL or not _is_mapping(nodes[function])):
                        known[function] = reached
                else:
                    for callers_of, receiver in reached.callees:
                        callers_of[index, place] = receiver
                found.append(reached)
                if reached.waits:
                    waiting.append((file, place, found))
        self._evaluating_live = True
        for _ in range(_MOST_ROUNDS if len(waiting) <= _FEW_WAITING else 1):
            for file in self._by_index:
                file.live = [(), *[None] * (len(file.nodes) - 1)]
            self._arriving = {}
            self._constructors = {}
            before = sum(map(len, self._callers.values()))
            for file, place, found in waiting:
                found[place] = self._reached(file, place)
            if sum(map(len, self._callers.values())) == before:
                break
        self._evaluating_live = False
        return done

    def _called(self, file: _File, place: int) -> Reached:
        """What a call means before it is known what is passed; what one class or function means is found once."""
        call = file.calls[place]
        function: int = call[0]
        values = file.found[function]
        if values is None:
            values = self.values(file, function)
        node = file.nodes[function]
        if not values and node[0] != _GLOBAL:
            return _NOTHING
        if len(values) == 1 and call[6] == _CALLED:
            value = values[0]
            kind = value[0]
            if kind == "Q":
                return _WAITING
            if kind in _DIRECT:
                key = (value, id(self._evidence(file, node, value)))
                known = self._calling.get(key)
                if known is None:
                    known = self._calling[key] = self._reached(file, place)
                else:
                    for callers_of, receiver in known.callees:
                        callers_of[file.index, place] = receiver
                return known
            if kind == EXTERNAL and not _is_mapping(node):
                outside = self._outside.get(value[1])
                if outside is None:
                    outside = self._outside[value[1]] = new_tuple(Reached, ((), (value[1],), (), False))
                return outside
        reached = self._reached(file, place)
        for value in values:
            if value[0] == _PARAMETER or value[0] == "Q":
                return new_tuple(Reached, (*reached[:3], True))
        return reached

    def _reached(self, file: _File, place: int) -> Reached:
        function, args, _, _, _, _, how = file.calls[place]
        values = self.values(file, function)
        node = file.nodes[function]
        mapped = how == _CALLED and _is_mapping(node)
        if not values and not mapped:
            return _NOTHING
        self._callees = []
        targets: dict[Value, Target] = {}
        external: dict[str, None] = {}
        for value in values:
            if how == _CALLED and value[0] == EXTERNAL:
                external[value[1]] = None
            else:
                self._target(file, place, value, node, how, targets, external)
        if mapped:
            for arg in args:
                for value in self.values(file, arg):
                    if value[0] in (FUNCTION, BOUND):
                        self._target(file, place, value, node, how, targets, external)
        return new_tuple(Reached, (tuple(targets.values()), tuple(external), self._callees, False))

    def _note_caller(self, file: _File, place: int, called: Value, receiver: Value | None) -> None:
        callers_of = self._callers[called[1], called[2]]
        callers_of[file.index, place] = receiver
        self._callees.append((callers_of, receiver))

    def _target(
        self,
        file: _File,
        place: int,
        value: Value,
        node: list[Any],
        how: int,
        targets: dict[Value, Target],
        external: dict[str, None],
    ) -> None:
        kind = value[0]
        if how in _INWARD:
            if kind == _INSTANCE:
                names = (
                    ("__iter__", "__next__")
                    if how == flow.ITERATED
                    else ("__enter__", "__exit__", "__aenter__", "__aexit__")
                )
                for name in names:
                    owner = value
                    if name == "__next__":
                        made = [
                            it
                            for method in self.attribute(value, "__iter__")
                            for it in self._returned(method, None, None)
                        ]
                        owner = next((it for it in made if it[0] == _INSTANCE), None)
                        if owner is None:
                            continue
                    for method in self.attribute(owner, name):
                        self._target(file, place, method, node, flow.CALLED, targets, external)
            return
        if how == flow.RAISED and kind != CLASS:
            return
        if kind in _CALLABLE:
            key = (FUNCTION, value[1], value[2])
            receiver: Value | None = value[3] if kind == BOUND else None
            self._note_caller(file, place, value, receiver)
            if key not in targets:
                targets[key] = new_tuple(Target, (key, UseKind.CALL, *self._evidence(file, node, value)))
        elif kind == CLASS:
            key = (CLASS, value[1], value[2])
            if key in targets:
                return
            evidence = self._evidence(file, node, value)
            targets[key] = new_tuple(Target, (key, UseKind.NEW, *evidence))
            if how == flow.DECORATING and self._home(value).scopes[value[2]][1].endswith("property"):
                return
            instance: Value = (_INSTANCE, value[1], value[2])
            for name in ("__init__", "__new__"):
                for method in self._constructor(instance, name):
                    made = (FUNCTION, method[1], method[2])
                    self._note_caller(file, place, method, instance)
                    targets.setdefault(made, new_tuple(Target, (made, UseKind.CALL, *evidence)))
            if len(targets) == 1:
                for base in self.lineage(key):
                    if base[0] == EXTERNAL and not base[1].startswith("<builtin>"):
                        external[f"{base[1]}.__init__"] = None
                        break
        elif kind == _INSTANCE:
            for method in self.attribute(value, "__call__"):
                if method[0] != EXTERNAL:
                    self._target(file, place, method, node, how, targets, external)
        elif kind == EXTERNAL and not (how == flow.DECORATING and value[1].startswith("<builtin>")):
            external[value[1]] = None

    def _constructor(self, instance: Value, name: str) -> Values:
        """What makes an instance; called when nothing is just being found out, so that the answer is the last word."""
        known = self._constructors.get((instance, name))
        if known is None:
            methods = self.attribute(instance, name)
            known = tuple([value for value in methods if value[0] in (BOUND, FUNCTION)])
            self._constructors[instance, name] = known
        return known

    def _evidence(self, file: _File, node: list[Any], value: Value) -> tuple[Evidence, float]:
        op = node[0]
        if op == _ATTRIBUTE:
            kinds = {base[0] for base in self.values(file, node[1])}
            if kinds == _ONLY_MODULE:
                return _IMPORTED_ITSELF
            if value[0] == BOUND:
                outer, receiver = self._home(value).scopes[value[2]][2], value[3]
                return _OF_RECEIVER if value[1] == receiver[1] and outer == receiver[2] else _OF_ANCESTOR
            return _OF_RECEIVER if CLASS in kinds else _FOLLOWED
        if op == _IMPORTED:
            return _IMPORTED_ITSELF
        if op == _GLOBAL:
            return _NAMED_HERE if value[1] == file.index else _NAMED_ELSEWHERE
        return _WRITTEN_HERE if op in _DEFINITIONS and value[1] == file.index else _FOLLOWED

    # Names as they are written

    def named(self, path: str, written: str, class_line: int) -> Values:
        """What a dotted name at the top of a file, or of the class on a line, stands for."""
        file = self.file(path)
        first, *rest = written.split(".")
        values: Values
        if first in ("self", "cls") and class_line:
            scope = file.classes.get(class_line)
            values = ((_INSTANCE, file.index, scope),) if scope is not None else ()
        elif not first.isidentifier():
            values = ()
        else:
            found = self._in_module(file, first)
            values = found if found is not None else self._global(file, [flow.GLOBAL, first], 0)
        for name in rest:
            if not name.isidentifier():
                return ()
            values = tuple(found for value in values for found in self.attribute(value, name))
        return values

    def imports(self, path: str) -> Sequence[str]:
        """The files of the repository that a file imports, ascending."""
        file = self.file(path)
        found: set[str] = set()
        for node in file.import_nodes():
            if node[0] == flow.MODULE:
                target, _ = self._named_module(file, node[1], node[2])
                found.add(target or "")
            else:
                _, module, level, name = node
                inner, _ = self._named_module(file, f"{module}.{name}" if module else name, level)
                target, _ = self._named_module(file, module, level)
                found.add(inner or target or "")
        for module, level in file.stars:
            found.add(self._named_module(file, module, level)[0] or "")
        return sorted(found - {"", path})

    # Names of scopes

    def _name(self, value: Value) -> str:
        return self._home(value).scopes[value[2]][1]

    def qualified(self, path: str, scope: int) -> str:
        """The dotted name of a scope; a lambda is counted among those of the scope that it is in."""
        file = self.file(path)
        names: list[str] = []
        while scope > 0:
            content = file.scopes[scope]
            is_lambda = content[0] == "f" and (not content[1] or self._is_lambda(file, scope))
            names.append(f"<lambda{self._count(file, scope)}>" if is_lambda else content[1])
            scope = content[2]
        return ".".join([*file.parts, *reversed(names)])

    def qualified_value(self, value: Value) -> str:
        """The dotted name of a function or class."""
        return self.qualified(self.path_of(value), value[2])

    def _is_lambda(self, file: _File, scope: int) -> bool:
        return any(node[0] == flow.FUNCTION and node[1] == scope and len(node) > 2 for node in file.nodes)

    def _count(self, file: _File, scope: int) -> int:
        outer = file.scopes[scope][2]
        return sum(
            1
            for other in range(1, scope + 1)
            if file.scopes[other][2] == outer
            and file.scopes[other][0] == "f"
            and (not file.scopes[other][1] or self._is_lambda(file, other))
        )

    def path_of(self, value: Value) -> str:
        return self._home(value).path

    # Apart from the program: what refers to itself is only let go of when garbage is searched for.
    _READERS: ClassVar[Mapping[str, Callable[..., Values]]] = {
        "?": _unknown,
        flow.FUNCTION: _function,
        flow.CLASS: _class,
        flow.MODULE: _module,
        flow.IMPORTED: _imported,
        flow.ATTRIBUTE: _attribute_node,
        flow.RESULT: _result,
        flow.PARAMETER: _parameter,
        flow.CONSTANT: _constant,
        flow.SEQUENCE: _container,
        flow.MAPPING: _container,
        flow.REPLACED: _versioned,
        flow.GROWN: _versioned,
        flow.MERGED: _versioned,
        flow.REST: _versioned,
        flow.SLICE: _versioned,
        flow.ITEM: _item_node,
        flow.UNPACKED: _unpacked,
        flow.ELEMENT: _element_node,
        flow.ENTERED: _entered,
        flow.EITHER: _either,
        flow.GLOBAL: _global,
        flow.INSTANCE: _instance,
        flow.SUPER: _super,
        flow.SPREAD: _unknown,
        flow.DECORATED: _decorated,
    }


def _merged(lines: list[list[Value]]) -> Iterator[Value]:
    """The order of Python's own method resolution; of classes that cannot be ordered, in the order of writing."""
    lines = [line for line in lines if line]
    while lines:
        for line in lines:
            candidate = line[0]
            if not any(candidate in other[1:] for other in lines):
                break
        else:
            candidate = lines[0][0]
        yield candidate
        lines = [rest for line in lines if (rest := [value for value in line if value != candidate])]


def _is_mapping(node: list[Any]) -> bool:
    """Whether it is a builtin that calls what it is given."""
    return node[0] == _GLOBAL and node[1] in _CALLING_BUILTINS


def _last(name: str) -> str:
    return name.rpartition(".")[2]
