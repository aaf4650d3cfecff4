"""Reads and writes properties of JavaScript values."""

from scrubjay.code_index.graph.javascript_builtins import CALLING_METHODS, ONE_ELEMENT, SAME_ELEMENTS
from scrubjay.code_index.graph.javascript_file import WalkPart
from scrubjay.code_index.graph.javascript_values import (
    ANY_KEY,
    NOTHING,
    ClassValue,
    FunctionValue,
    LibraryValue,
    ModuleExports,
    ObjectValue,
    Value,
    Values,
    joined,
)

_ARRAY_MEMBERS = {
    *CALLING_METHODS, *SAME_ELEMENTS, *ONE_ELEMENT, "push", "unshift", "add", "set", "get", "has", "delete", "slice",
    "splice", "includes", "indexOf", "join", "keys", "entries", "clear", "length", "size", "fill", "lastIndexOf",
}  # fmt: skip
"""Members of arrays, maps and sets that are not elements: `list.push` does not read an element with an unknown key."""


class ObjectModel(WalkPart):
    """Properties of objects, classes, functions and modules, with prototypes and getters."""

    def property_of(self, owners: Values, name: str) -> Values:
        if len(owners) == 1:
            return self._property(owners[0], name)
        result = NOTHING
        for owner in owners:
            result = joined(result, self._property(owner, name))
        return result

    def _property(self, owner: Value, name: str) -> Values:
        if isinstance(owner, ObjectValue):
            return self.object_property(owner, owner, name)
        if isinstance(owner, ModuleExports):
            return self._walk.modules.exported(owner.file, name)
        if isinstance(owner, ClassValue):
            if name == "prototype":
                return [owner.proto]
            seen = 0
            now: Value | None = owner
            while isinstance(now, ClassValue) and seen < 20:
                found = now.statics.props.get(name)
                if found is not None:
                    if now.statics.getters and name in now.statics.getters:
                        return self.call_getters(found, [owner])
                    return found
                now, seen = now.base, seen + 1
            return self._property(now, name) if now is not None and seen < 20 else NOTHING
        if isinstance(owner, FunctionValue):
            if name == "prototype":
                return [self.prototype_of(owner)]
            return owner.props.props.get(name, NOTHING) if owner.props is not None else NOTHING
        if isinstance(owner, LibraryValue):
            return [LibraryValue(f"{owner.name}.{name}")] if owner.name.count(".") < 6 else [owner]
        return NOTHING

    def object_property(self, obj: ObjectValue, this: ObjectValue, name: str) -> Values:
        now: ObjectValue | None = obj
        for _ in range(20):
            if now is None:
                break
            found = now.props.get(name)
            if found is not None:
                unsure = now.props.get(ANY_KEY)
                if now.getters and name in now.getters:
                    return self.call_getters(found, [this])
                return joined(found, unsure) if unsure else found
            if (unsure := now.props.get(ANY_KEY)) is not None and not (now.is_array and name in _ARRAY_MEMBERS):
                return unsure
            if name == "constructor" and now.maker is not None:
                return [now.maker]
            now = now.proto
        return NOTHING

    def call_getters(self, functions: Values, this: Values) -> Values:
        result = NOTHING
        for func in functions:
            if isinstance(func, FunctionValue):
                result = joined(result, self._walk.calls.apply(func, [], this))
        return result

    def prototype_of(self, func: FunctionValue) -> ObjectValue:
        if func.props is None:
            func.props = ObjectValue(func.scope.session, func.scope.depth)
        kept = func.props.props.get("prototype")
        if kept and isinstance(kept[0], ObjectValue):
            return kept[0]
        proto = ObjectValue(func.scope.session, func.scope.depth)
        proto.maker = func
        func.props.props["prototype"] = [proto]
        return proto

    def elements(self, owners: Values) -> Values:
        result = NOTHING
        for owner in owners:
            if isinstance(owner, ObjectValue):
                for values in owner.props.values():
                    result = joined(result, values)
        return result

    def set_property(self, owner: Value, name: str, values: Values) -> None:
        if isinstance(owner, ClassValue):
            if name == "prototype":
                return
            obj = owner.statics
        elif isinstance(owner, FunctionValue):
            if owner.props is None:
                owner.props = ObjectValue(owner.scope.session, owner.scope.depth)
            obj = owner.props
            if name == "prototype":
                for value in values:
                    if isinstance(value, ObjectValue) and value.maker is None:
                        value.maker = owner
        elif isinstance(owner, ObjectValue):
            obj = owner
        else:
            return
        if obj.session != self._context.path:
            return
        for value in values:
            if isinstance(value, FunctionValue) and value.home is None and not value.record.is_arrow:
                value.home = owner if isinstance(owner, (ObjectValue, ClassValue)) else None
        if name == ANY_KEY or self._context.depth > obj.depth:
            values = joined(obj.props.get(name, NOTHING), values)
        obj.props[name] = values

    def copy_properties(self, sources: Values, obj: ObjectValue, *, only_new: bool = False) -> None:
        for source in sources:
            if isinstance(source, ObjectValue):
                for name, values in source.props.items():
                    if not (name in obj.props and (only_new or isinstance(source.maker, ClassValue))):
                        obj.props[name] = values

    def new_array(self, elements: Values) -> Values:
        obj = ObjectValue(self._context.path, self._context.depth, is_array=True)
        if elements:
            obj.props[ANY_KEY] = elements
        return [obj]

    def slice_array(self, this: Values, arguments: list[Values]) -> Values:
        first = arguments[0][0] if arguments and arguments[0] else "0"
        result: Values = []
        for owner in this:
            if isinstance(owner, ObjectValue) and isinstance(first, str) and first.isdigit():
                obj = ObjectValue(self._context.path, self._context.depth, is_array=True)
                for key, values in owner.props.items():
                    if not key.isdigit():
                        obj.props[key] = values
                    elif int(key) >= int(first):
                        obj.props[str(int(key) - int(first))] = values
                result.append(obj)
            elif isinstance(owner, ObjectValue):
                result += self.new_array(self.elements([owner]))
        return result
