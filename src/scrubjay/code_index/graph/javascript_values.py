"""The values that walking through JavaScript finds in variables: functions, classes, objects, modules, libraries."""

from typing import Any, Union

Value = Union["Func", "Class", "Thing", "Namespace", "Library", str]
"""A text is a literal; numbers are kept as texts, as they are as keys."""
Values = list[Value]

MOST_VALUES = 12
"""A variable with more values than this tells nothing: further ones are not kept."""


class Scope:
    """Variables, those of whoever encloses it, and whether it is sure that its code is run."""

    __slots__ = ("depth", "function", "parent", "session", "types", "variables")

    def __init__(self, parent: "Scope | None", session: str, depth: int, *, function: bool = False) -> None:
        self.parent = parent
        self.variables: dict[str, Values] = {}
        self.session = session
        self.depth = depth
        self.function = function


class Thing:
    """An object: what its entries may be, and where else they are looked for."""

    __slots__ = ("depth", "getters", "is_array", "maker", "props", "proto", "session")

    def __init__(self, session: str, depth: int, proto: "Thing | None" = None, *, is_array: bool = False) -> None:
        self.props: dict[str, Values] = {}
        self.getters: set[str] | None = None
        self.proto = proto
        self.session = session
        self.depth = depth
        self.is_array = is_array
        self.maker: Class | Func | None = None
        """For a prototype: the class or function whose instances have it."""


class Func:
    """A function with the variables around it."""

    __slots__ = ("bound", "file", "home", "number", "props", "record", "scope", "this")

    def __init__(self, file: str, number: int, record: list[Any], scope: Scope) -> None:
        self.file = file
        self.number = number
        self.record = record
        self.scope = scope
        self.this: Values | None = None
        self.bound: list[Values] = []
        self.home: Thing | Class | None = None
        """What it is a method of."""
        self.props: Thing | None = None


class Class:
    """A class or an interface."""

    __slots__ = ("base", "constructor", "fields", "file", "instance", "number", "proto", "record", "scope", "statics")

    def __init__(self, file: str, number: int, record: list[Any], scope: Scope, session: str, depth: int) -> None:
        self.file = file
        self.number = number
        self.record = record
        self.scope = scope
        self.base: Value | None = None
        self.statics = Thing(session, depth)
        self.proto = Thing(session, depth)
        self.proto.maker = self
        self.constructor: Func | None = None
        self.fields: list[list[Any]] = []
        self.instance: Thing | None = None
        """One that stands for all whose making was not seen."""


class Namespace:
    """All that a module of the repository exports."""

    __slots__ = ("file",)

    def __init__(self, file: str) -> None:
        self.file = file


class Library:
    """Something of a module that is not in the repository."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def joined(left: Values, right: Values) -> Values:
    """Both, each once, in their order; few of them."""
    if not right:
        return left
    if not left:
        return right[:MOST_VALUES]
    result = left
    for value in right:
        if len(result) >= MOST_VALUES:
            break
        if not _is_among(value, result):
            if result is left:
                result = list(left)
            result.append(value)
    return result


def _is_among(value: Value, values: Values) -> bool:
    for kept in values:
        if value is kept:
            return True
    return isinstance(value, str) and value in values
