"""Evaluates calls of JavaScript's own functions: arrays, maps, promises, `Object`, timers."""

from scrubjay.code_index.graph import javascript_flow_format as flow
from scrubjay.code_index.graph.javascript_file import CallFrame, Node, WalkPart
from scrubjay.code_index.graph.javascript_values import (
    ANY_KEY,
    NOTHING,
    ClassValue,
    FunctionValue,
    LibraryValue,
    ObjectValue,
    Values,
    joined,
)
from scrubjay.code_index.models import Evidence

CALLING_METHODS = {
    "map": 0, "forEach": 0, "filter": 0, "find": 0, "findIndex": 0, "some": 0, "every": 0, "flatMap": 0, "sort": 0,
    "findLast": 0, "reduce": 1, "reduceRight": 1, "then": 0, "catch": 0, "finally": 0,
}  # fmt: skip
"""Methods of arrays and promises that call their argument, and the index of the parameter that gets an element."""
_TIMERS = {"setTimeout", "setInterval", "setImmediate", "queueMicrotask", "requestAnimationFrame", "process.nextTick"}
SAME_ELEMENTS = {"filter", "reverse", "sort", "concat", "values", "flat", "toSorted", "toReversed", "with"}
ONE_ELEMENT = {"find", "pop", "shift", "at", "findLast"}


class Builtins(WalkPart):
    """Evaluates calls of builtins by how they move values."""

    def call(
        self,
        callee: Node | None,
        name: str,
        this: Values,
        functions: Values,
        arguments: list[Values],
        frame: CallFrame,
        start: int,
        line: int,
    ) -> Values:
        """Evaluate a call whose callee is not in the repository: a builtin, a library function, or unknown."""
        if callee is not None and callee[flow.KIND] == flow.MEMBER:
            owner = frame.nodes[callee[flow.MEMBER_OBJECT]] if callee[flow.MEMBER_OBJECT] else None
            direct = [func for func in this if isinstance(func, FunctionValue)]
            if direct and name in ("call", "apply", "bind"):
                return self._call_indirectly(name, direct, arguments, frame, start, line)
            if (
                owner is not None
                and owner[flow.KIND] == flow.NAME
                and owner[flow.NAME_TEXT] in ("Object", "Reflect")
                and not this
            ):
                return self._call_object_function(name, arguments)
            if (
                owner is not None
                and owner[flow.KIND] == flow.NAME
                and owner[flow.NAME_TEXT] == "Array"
                and name in ("from", "of")
                and not this
            ):
                if len(arguments) > 1:
                    return self._walk.objects.new_array(
                        self._walk.calls.call_back(arguments[1:2], self._walk.objects.elements(arguments[0]))
                    )
                return self._walk.objects.new_array(self._walk.objects.elements(arguments[0]) if arguments else NOTHING)
            if (
                owner is not None
                and owner[flow.KIND] == flow.NAME
                and owner[flow.NAME_TEXT] == "Promise"
                and not this
                and arguments
            ):
                return (
                    arguments[0]
                    if name == "resolve"
                    else self._walk.objects.new_array(self._walk.objects.elements(arguments[0]))
                )
            if (
                owner is not None
                and owner[flow.KIND] == flow.NAME
                and owner[flow.NAME_TEXT] == "util"
                and name == "inherits"
            ):
                return self._call_object_function(
                    "setPrototypeOf", [self._walk.objects.property_of(values, "prototype") for values in arguments]
                )
            return self._call_method(name, this, arguments, frame, start, line)
        if name in _TIMERS or name == "eval":
            for value in arguments[0] if arguments else NOTHING:
                if isinstance(value, FunctionValue):
                    self._walk.calls.add_target(frame, start, line, value, Evidence.FLOW)
                elif isinstance(value, str) and name == "eval":
                    for func in self._walk.bindings.lookup(value.partition("(")[0].strip(), frame.scope, frame.file):
                        if isinstance(func, FunctionValue):
                            self._walk.calls.add_target(frame, start, line, func, Evidence.FLOW)
        self._walk.calls.call_back(arguments, NOTHING)
        return [value for value in functions if isinstance(value, LibraryValue)]

    def _call_method(
        self, name: str, this: Values, arguments: list[Values], frame: CallFrame, start: int, line: int
    ) -> Values:
        """Call a method of an array, map or promise, as far as it moves values."""
        libraries: Values = [value for value in this if isinstance(value, LibraryValue)]
        if name in ("push", "unshift", "add", "set"):
            for owner in this:
                if isinstance(owner, ObjectValue) and owner.is_array:
                    keys = [key for key in arguments[0] if isinstance(key, str)] if name == "set" and arguments else []
                    for values in arguments[1:] if name == "set" else arguments:
                        self._walk.objects.set_property(owner, keys[0] if keys else ANY_KEY, values)
            return this
        if name == "get" and arguments:
            keys = [key for key in arguments[0] if isinstance(key, str)]
            return (
                self._walk.objects.property_of(this, keys[0])
                if keys and not libraries
                else self._walk.objects.elements(this) or libraries
            )
        if name == "slice":
            return self._walk.objects.slice_array(this, arguments)
        elements = self._walk.objects.elements(
            [owner for owner in this if isinstance(owner, ObjectValue) and owner.is_array]
        )
        if name in CALLING_METHODS:
            given = elements if name not in ("then", "catch", "finally") else this if name == "then" else NOTHING
            for value in (each for values in arguments for each in values):
                if isinstance(value, FunctionValue) and value.record.name:
                    self._walk.calls.add_target(frame, start, line, value, Evidence.FLOW)
            result = self._walk.calls.call_back(
                arguments, [value for value in given if not isinstance(value, LibraryValue)]
            )
            if name in ("map", "flatMap"):
                return self._walk.objects.new_array(result)
            if name == "then":
                return result
            if name in ("reduce", "reduceRight"):
                return joined(result, arguments[1]) if len(arguments) > 1 else result
        else:
            self._walk.calls.call_back(arguments, NOTHING)
        if name in SAME_ELEMENTS:
            for values in arguments if name == "concat" else ():
                elements = joined(elements, self._walk.objects.elements(values) or values)
            return self._walk.objects.new_array(elements) if elements else libraries
        if name in ONE_ELEMENT:
            return elements or libraries
        return libraries

    def _call_object_function(self, name: str, arguments: list[Values]) -> Values:
        """Call a function of `Object` or `Reflect`."""
        first = arguments[0] if arguments else NOTHING
        if name == "assign":
            for owner in first:
                obj = owner.statics if isinstance(owner, ClassValue) else owner
                if isinstance(owner, FunctionValue):
                    if owner.props is None:
                        owner.props = ObjectValue(owner.scope.session, owner.scope.depth)
                    obj = owner.props
                if isinstance(obj, ObjectValue) and obj.session == self._context.path:
                    for source in arguments[1:]:
                        self._walk.objects.copy_properties(source, obj)
            return first
        if name == "create":
            return [
                ObjectValue(self._context.path, self._context.depth, proto)
                for proto in first
                if isinstance(proto, ObjectValue)
            ]
        if name == "setPrototypeOf" and len(arguments) > 1:
            for owner in first:
                for proto in arguments[1]:
                    if (
                        isinstance(owner, ObjectValue)
                        and isinstance(proto, ObjectValue)
                        and owner is not proto
                        and owner.session == self._context.path
                    ):
                        owner.proto = proto
            return first
        if name in ("values", "entries"):
            elements = self._walk.objects.elements(first)
            return self._walk.objects.new_array(
                elements if name == "values" else self._walk.objects.new_array(elements)
            )
        if name == "defineProperty" and len(arguments) > 2:
            values = joined(
                self._walk.objects.property_of(arguments[2], "value"),
                self._walk.objects.call_getters(self._walk.objects.property_of(arguments[2], "get"), first),
            )
            for owner in first:
                for key in arguments[1]:
                    if isinstance(key, str) and values:
                        self._walk.objects.set_property(owner, key, values)
            return first
        if name in ("freeze", "seal", "preventExtensions"):
            return first
        self._walk.calls.call_back(arguments, NOTHING)
        return NOTHING

    def _call_indirectly(
        self,
        name: str,
        functions: list[FunctionValue],
        arguments: list[Values],
        frame: CallFrame,
        start: int,
        line: int,
    ) -> Values:
        """Call `call`, `apply` or `bind` of functions."""
        this = arguments[0] if arguments else NOTHING
        result: Values = []
        for func in functions:
            if name == "bind":
                bound = FunctionValue(func.file, func.number, func.record, func.scope)
                bound.this, bound.home = (this or func.this), func.home
                bound.bound = func.bound + arguments[1:]
                result.append(bound)
                continue
            self._walk.calls.add_target(frame, start, line, func, Evidence.FLOW)
            given = arguments[1:]
            if name == "apply":
                spread = self._walk.objects.elements(given[0]) if given else NOTHING
                given = (
                    [self._walk.objects.property_of(given[0], str(index)) or spread for index in range(4)]
                    if given
                    else []
                )
            result = joined(result, self._walk.calls.apply(func, given, this))
        return result
