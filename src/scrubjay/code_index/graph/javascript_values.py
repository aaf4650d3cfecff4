"""The values of JavaScript variables: functions, classes, objects, modules, libraries and literals."""

from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from scrubjay.code_index.graph.javascript_file import ClassMember, ClassRecord, FunctionRecord

Value = Union["FunctionValue", "ClassValue", "ObjectValue", "ModuleExports", "LibraryValue", str]
"""A string is a literal. Numbers are strings too, as they are when used as keys."""
Values = list[Value]

NOTHING: Values = []
"""The value of something unknown. Must not be modified."""
ANY_KEY = "*"
"""Property key of values that were assigned under an unknown key."""

MAX_VALUES = 12
"""Values kept for one variable."""

new_tuple: Any = tuple[Any, ...].__new__
"""Build a named tuple from a row of JSON without its slow constructor."""


class ScriptScope:
    """The variables of a block, function or module.

    `session` is the path of the file whose walk created it; `depth` is the number of branches around it.
    """

    __slots__ = ("depth", "function", "parent", "session", "types", "variables")

    def __init__(self, parent: "ScriptScope | None", session: str, depth: int, *, function: bool = False) -> None:
        self.parent = parent
        self.variables: dict[str, Values] = {}
        self.session = session
        self.depth = depth
        self.function = function


class ObjectValue:
    """An object: the values of its properties, and its prototype."""

    __slots__ = ("depth", "getters", "is_array", "maker", "props", "proto", "session")

    def __init__(self, session: str, depth: int, proto: "ObjectValue | None" = None, *, is_array: bool = False) -> None:
        self.props: dict[str, Values] = {}
        self.getters: set[str] | None = None
        self.proto = proto
        self.session = session
        self.depth = depth
        self.is_array = is_array
        self.maker: ClassValue | FunctionValue | None = None
        """For a prototype: the class or function whose instances have it."""


class FunctionValue:
    """A function with its enclosing scope."""

    __slots__ = ("bound", "file", "home", "number", "props", "record", "scope", "this")

    def __init__(self, file: str, number: int, record: "FunctionRecord", scope: ScriptScope) -> None:
        self.file = file
        self.number = number
        self.record = record
        self.scope = scope
        self.this: Values | None = None
        self.bound: list[Values] = []
        self.home: ObjectValue | ClassValue | None = None
        """The object or class that it is a method of."""
        self.props: ObjectValue | None = None


class ClassValue:
    """A class or interface."""

    __slots__ = ("base", "constructor", "fields", "file", "instance", "number", "proto", "record", "scope", "statics")

    def __init__(
        self, file: str, number: int, record: "ClassRecord", scope: ScriptScope, session: str, depth: int
    ) -> None:
        self.file = file
        self.number = number
        self.record = record
        self.scope = scope
        self.base: Value | None = None
        self.statics = ObjectValue(session, depth)
        self.proto = ObjectValue(session, depth)
        self.proto.maker = self
        self.constructor: FunctionValue | None = None
        self.fields: list[tuple[list[str], ClassMember]] = []
        """Names and initializers of instance fields."""
        self.instance: ObjectValue | None = None
        """The instance that represents all instances whose construction is not seen."""


class ModuleExports:
    """The exports of a module of the repository."""

    __slots__ = ("file",)

    def __init__(self, file: str) -> None:
        self.file = file


class LibraryValue:
    """A value of a module that is not in the repository."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def joined(left: Values, right: Values) -> Values:
    """Return the distinct values of both in order, at most `MAX_VALUES`."""
    if not right:
        return left
    if not left:
        return right[:MAX_VALUES]
    result = left
    for value in right:
        if len(result) >= MAX_VALUES:
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
