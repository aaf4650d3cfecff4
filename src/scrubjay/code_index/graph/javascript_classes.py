"""Creates the functions and classes of JavaScript, and constructs instances."""

from scrubjay.code_index.graph.javascript_file import MAX_CALL_DEPTH, MAX_MODULE_DEPTH, CallFrame, ClassMember, WalkPart
from scrubjay.code_index.graph.javascript_values import (
    NOTHING,
    ClassValue,
    FunctionValue,
    LibraryValue,
    ObjectValue,
    ScriptScope,
    Value,
    Values,
)

_MAX_ANCESTORS = 60
"""Length of a chain of base classes. Only generated code has longer ones."""


class ClassBuilder(WalkPart):
    """Creates functions, classes and instances."""

    def make_function(self, number: int, frame: CallFrame) -> FunctionValue:
        func = FunctionValue(frame.file.path, number, frame.file.functions[number], frame.scope)
        if func.record.is_arrow:
            func.this = frame.this
            func.home = frame.func.home if frame.func is not None else None
        if frame.file.path == self._context.path:
            frame.file.created[number] = func
        return func

    def make_class(self, number: int, frame: CallFrame) -> ClassValue:
        record = frame.file.classes[number]
        scope = ScriptScope(frame.scope, self._context.path, self._context.depth)
        made = ClassValue(frame.file.path, number, record, scope, self._context.path, self._context.depth)
        if record.name:
            scope.variables[record.name] = [made]
        bases = self._walk.value(record.base, frame) if record.base else NOTHING
        if record.kind == "interface":
            bases = [value for text in record.bases for value in self._walk.types.find(text, frame.scope, frame.file)]
        for base in bases:
            if isinstance(base, ClassValue):
                made.base, made.proto.proto = base, base.proto
            elif isinstance(base, FunctionValue):
                made.base, made.proto.proto = base, self._walk.objects.prototype_of(base)
            elif isinstance(base, LibraryValue) and made.base is None:
                made.base = base
            else:
                continue
            break
        inner = CallFrame(frame.file, scope, [made], None)
        # Methods exist before the first static field is initialized.
        for member in sorted(record.members, key=_runs_last):
            self._add_member(made, member, inner)
        if frame.file.path == self._context.path and record.kind == "class":
            frame.file.uninstantiated.append(made)
        return made

    def _add_member(self, made: ClassValue, member: ClassMember, frame: CallFrame) -> None:
        key, static, kind, place, _ = member
        names = (
            [key] if isinstance(key, str) else [text for text in self._walk.value(key, frame) if isinstance(text, str)]
        )
        if kind == "block":
            self._walk.value(place, frame)
        elif kind == "field" and static:
            values = self._walk.value(place, frame)
            for name in names:
                made.statics.props[name] = values
        elif kind == "field":
            made.fields.append((names, member))
        else:
            func = self.make_function(place, frame)
            func.this = None
            func.home = made if static else made.proto
            obj = made.statics if static else made.proto
            if "constructor" in names and not static:
                made.constructor = func
                return
            for name in names:
                if kind == "set":
                    obj.props.setdefault(f"set {name}", [func])
                    continue
                obj.props[name] = [func]
                if kind == "get":
                    obj.getters = (obj.getters or set()) | {name}

    def typical_instance(self, made: ClassValue) -> ObjectValue | None:
        """Return the instance that represents all instances whose construction is not seen."""
        if made.instance is None:
            made.instance = ObjectValue(made.statics.session, self._context.depth, made.proto)
            state = self._walk.modules.load(made.file)
            if state is not None:
                previous = self._context.enter(state)
                self._context.module_depth += 1
                try:
                    if self._context.module_depth < MAX_MODULE_DEPTH:
                        self._context.depth += 1
                        made.instance.depth = self._context.depth
                        self.construct(made, made.instance, [], unknown=True)
                finally:
                    self._context.module_depth -= 1
                    self._context.leave(previous)
        return made.instance

    def construct(
        self, made: ClassValue, obj: ObjectValue, arguments: list[Values], *, unknown: bool = False, height: int = 0
    ) -> None:
        """Initialize an instance: run the field initializers, then the constructor or that of the base."""
        can_go_on = len(self._context.calls) < MAX_CALL_DEPTH and height < _MAX_ANCESTORS
        if made.constructor is None and isinstance(made.base, ClassValue) and can_go_on:
            self.construct(made.base, obj, arguments, unknown=unknown, height=height + 1)
        elif made.constructor is None and isinstance(made.base, FunctionValue):
            self._walk.calls.apply(made.base, arguments, [obj])
        if made.fields:
            file = self._walk.modules.load(made.file)
            if file is not None:
                frame = CallFrame(file, made.scope, [obj], None)
                for names, member in made.fields:
                    values = self._walk.value(member.place, frame)
                    if not values and member.types:
                        values = self._walk.types.instances_of(member.types, made.scope, file)
                    for name in names:
                        if values:
                            self._walk.objects.set_property(obj, name, values)
        if made.constructor is not None:
            self._walk.calls.apply(made.constructor, arguments, [obj], unknown=unknown)

    def constructor_of(self, made: ClassValue) -> FunctionValue | None:
        now: Value | None = made
        for _ in range(20):
            if not isinstance(now, ClassValue):
                break
            if now.constructor is not None:
                return now.constructor
            now = now.base
        return now if isinstance(now, FunctionValue) else None

    def receiver_of(self, func: FunctionValue) -> Values:
        if func.this is not None:
            return func.this
        home = func.home
        if isinstance(home, ClassValue):
            return [home]
        if isinstance(home, ObjectValue):
            if isinstance(home.maker, ClassValue):
                instance = self.typical_instance(home.maker)
                return [instance] if instance is not None else NOTHING
            if isinstance(home.maker, FunctionValue):
                return [ObjectValue(self._context.path, self._context.depth, home)]
            return [home]
        return NOTHING


def _runs_last(member: ClassMember) -> bool:
    return member.is_static and member.kind in ("field", "block")
