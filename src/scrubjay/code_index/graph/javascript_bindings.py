"""Looks up and assigns names in JavaScript scopes, including destructuring patterns."""

from scrubjay.code_index.graph import javascript_flow_format as flow
from scrubjay.code_index.graph.javascript_file import CallFrame, FileState, WalkPart
from scrubjay.code_index.graph.javascript_values import ANY_KEY, NOTHING, ObjectValue, ScriptScope, Values, joined


class Bindings(WalkPart):
    """Looks up and assigns variables."""

    def lookup(self, name: str, scope: ScriptScope | None, file: FileState) -> Values:
        while scope is not None:
            values = scope.variables.get(name)
            if values is not None:
                return values
            scope = scope.parent
        taken = file.imports.get(name)
        return self._walk.modules.imported(file.path, *taken) if taken is not None else NOTHING

    def bind(self, place: int, values: Values, frame: CallFrame, kind: str = "") -> None:
        """Assign values to a pattern. `kind` is the keyword that declares its names; empty for an assignment."""
        if not place:
            return
        node = frame.nodes[place]
        match node[flow.KIND]:
            case flow.NAME:
                if kind:
                    self._declare_name(node[flow.NAME_TEXT], values, frame.scope, kind)
                else:
                    self._assign_name(node[flow.NAME_TEXT], values, frame)
            case flow.MEMBER:
                _, owner_place, name, _ = node
                for owner in self._walk.value(owner_place, frame):
                    self._walk.objects.set_property(owner, name, values)
            case flow.ENTRY:
                _, owner_place, key_place = node
                owners, keys = self._walk.value(owner_place, frame), self._walk.value(key_place, frame)
                names = [key for key in keys if isinstance(key, str)] or [ANY_KEY]
                for owner in owners:
                    for name in names:
                        self._walk.objects.set_property(owner, name, values)
            case flow.DEFAULT_PATTERN:
                _, target, default = node
                self.bind(target, values or self._walk.value(default, frame), frame, kind)
            case flow.REST_PATTERN:
                self.bind(node[flow.PATTERN_TARGET], values, frame, kind)
            case flow.ARRAY_PATTERN:
                self._bind_array(node[flow.PATTERN_PARTS], values, frame, kind)
            case flow.OBJECT_PATTERN:
                for key, target in node[flow.PATTERN_PARTS]:
                    if key is None:
                        self.bind(target, values, frame, kind)
                    elif isinstance(key, str):
                        self.bind(target, self._walk.objects.property_of(values, key), frame, kind)
                    else:
                        self.bind(target, self._walk.objects.elements(values), frame, kind)
            case flow.CAST:
                self.bind(node[flow.PATTERN_TARGET], values, frame, kind)
            case _:
                self._walk.value(place, frame)

    def _bind_array(self, targets: list[int], values: Values, frame: CallFrame, kind: str) -> None:
        for index, target in enumerate(targets):
            if target and frame.nodes[target][flow.KIND] == flow.REST_PATTERN:
                rest = ObjectValue(self._context.path, self._context.depth, is_array=True)
                for value in values:
                    if isinstance(value, ObjectValue):
                        for key, kept in value.props.items():
                            if not key.isdigit():
                                rest.props[key] = joined(rest.props.get(key, NOTHING), kept)
                            elif int(key) >= index:
                                moved = str(int(key) - index)
                                rest.props[moved] = joined(rest.props.get(moved, NOTHING), kept)
                self.bind(target, [rest], frame, kind)
            else:
                self.bind(target, self._walk.objects.property_of(values, str(index)), frame, kind)

    def _declare_name(self, name: str, values: Values, scope: ScriptScope, kind: str) -> None:
        if kind == "var":
            while not scope.function and scope.parent is not None:
                scope = scope.parent
        if kind == "var" and self._context.depth > scope.depth:
            values = joined(scope.variables.get(name, NOTHING), values)
        if scope.session == self._context.path:
            scope.variables[name] = values

    def _assign_name(self, name: str, values: Values, frame: CallFrame) -> None:
        scope: ScriptScope | None = frame.scope
        while scope is not None:
            if name in scope.variables:
                if scope.session == self._context.path:
                    sure = self._context.depth <= scope.depth
                    scope.variables[name] = values if sure else joined(scope.variables[name], values)
                return
            scope = scope.parent
        if frame.file.path == self._context.path:
            frame.file.scope.variables[name] = values
