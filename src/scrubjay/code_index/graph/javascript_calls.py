"""Evaluates JavaScript calls and records their targets."""

from typing import cast

from scrubjay.code_index.graph import javascript_flow_format as flow
from scrubjay.code_index.graph.javascript_file import (
    MAX_CALL_DEPTH,
    CallFrame,
    CallTargets,
    FileState,
    Node,
    ScriptTarget,
    WalkPart,
)
from scrubjay.code_index.graph.javascript_values import (
    ANY_KEY,
    NOTHING,
    ClassValue,
    FunctionValue,
    LibraryValue,
    ModuleExports,
    ObjectValue,
    ScriptScope,
    Values,
    joined,
)
from scrubjay.code_index.models import Evidence

_MAX_RUNS = 8
"""Runs of one function during the walk of a file; further calls get the combined results of these runs."""
_MAX_RUNS_ELSEWHERE = 3
"""Like `_MAX_RUNS`, for a function of another file."""


class CallEvaluator(WalkPart):
    """Runs called functions with their arguments, and records the targets of each call."""

    def _arguments(self, places: Node, frame: CallFrame) -> list[Values]:
        arguments: list[Values] = []
        for place in places:
            if isinstance(place, list):
                spread = self._walk.value(cast("int", place[0]), frame)
                only = spread[0] if len(spread) == 1 else None
                if isinstance(only, ObjectValue) and only.is_array and ANY_KEY not in only.props:
                    arguments.extend(only.props.get(str(index), NOTHING) for index in range(min(len(only.props), 12)))
                else:
                    arguments.extend([self._walk.objects.elements(spread)] * 4)
            else:
                arguments.append(self._walk.value(place, frame))
        return arguments

    def call(self, node: Node, frame: CallFrame) -> Values:
        _, place, given, start, line = node
        callee = frame.nodes[place] if place else None
        this: Values = NOTHING
        name = ""
        if callee is None:
            functions: Values = NOTHING
        elif callee[flow.KIND] == flow.MEMBER:
            this, name = self._walk.value(callee[flow.MEMBER_OBJECT], frame), callee[flow.MEMBER_NAME]
            functions = self._walk.objects.property_of(this, name)
            if callee[flow.MEMBER_OBJECT] and frame.nodes[callee[flow.MEMBER_OBJECT]][flow.KIND] == flow.SUPER:
                this = frame.this
        elif callee[flow.KIND] == flow.ENTRY:
            functions = self._walk.value(place, frame)
            this = self._walk.value(callee[flow.MEMBER_OBJECT], frame)
        else:
            functions = self._walk.value(place, frame)
            name = callee[flow.NAME_TEXT] if callee[flow.KIND] == flow.NAME else ""
        if callee is not None and callee[flow.KIND] == flow.SUPER:
            return self._call_super(given, frame, start, line)
        arguments = self._arguments(given, frame)
        result = NOTHING
        found = False
        for func in functions:
            if isinstance(func, FunctionValue):
                found = True
                self.add_target(frame, start, line, func, self._evidence(func, callee, this, frame))
                result = joined(result, self.apply(func, arguments, this))
            elif isinstance(func, ClassValue):
                found = True
                self._add_class_target(
                    frame, start, line, func, self._evidence(func, callee, this, frame), is_new=False
                )
            elif isinstance(func, LibraryValue) and frame.file.path == self._context.path:
                frame.file.libraries[start] = func.name
        if not found:
            result = joined(
                result, self._walk.builtins.call(callee, name, this, functions, arguments, frame, start, line)
            )
        return result

    def _evidence(
        self, func: FunctionValue | ClassValue, callee: Node | None, this: Values, frame: CallFrame
    ) -> Evidence:
        """Return the evidence that a callee refers to a function or class."""
        if callee is None:
            return Evidence.FLOW
        if callee[flow.KIND] == flow.NAME:
            if callee[flow.NAME_TEXT] != func.record.name:
                taken = frame.file.imports.get(callee[flow.NAME_TEXT])
                return Evidence.IMPORTED if taken is not None and func.file != frame.file.path else Evidence.FLOW
            return Evidence.LOCAL if func.file == frame.file.path else Evidence.IMPORTED
        if callee[flow.KIND] != flow.MEMBER or callee[flow.MEMBER_NAME] != func.record.name:
            return Evidence.FLOW
        if any(isinstance(owner, ModuleExports) for owner in this):
            return Evidence.IMPORTED
        home = func.home if isinstance(func, FunctionValue) else None
        for owner in this:
            if isinstance(owner, ClassValue):
                return Evidence.RECEIVER if home is owner else Evidence.INHERITED
            if isinstance(owner, ObjectValue) and home is not None:
                return Evidence.RECEIVER if home is owner or home is owner.proto else Evidence.INHERITED
        return Evidence.FLOW

    def _call_super(self, given: Node, frame: CallFrame, start: int, line: int) -> Values:
        arguments = self._arguments(given, frame)
        home = frame.func.home if frame.func is not None else None
        made = home.maker if isinstance(home, ObjectValue) else None
        if not isinstance(made, ClassValue):
            return NOTHING
        base = made.base
        if isinstance(base, ClassValue):
            constructor = self._walk.classes.constructor_of(base)
            if constructor is not None:
                self.add_target(frame, start, line, constructor, Evidence.INHERITED)
            for obj in frame.this:
                if isinstance(obj, ObjectValue):
                    self._walk.classes.construct(base, obj, arguments)
        elif isinstance(base, FunctionValue):
            self.add_target(frame, start, line, base, Evidence.INHERITED)
            self.apply(base, arguments, frame.this)
        return frame.this

    def new(self, node: Node, frame: CallFrame) -> Values:
        _, place, given, start, line = node
        makers = self._walk.value(place, frame)
        callee = frame.nodes[place] if place else None
        arguments = self._arguments(given, frame)
        result: Values = []
        for maker in makers:
            if isinstance(maker, ClassValue):
                self._add_class_target(
                    frame, start, line, maker, self._evidence(maker, callee, NOTHING, frame), is_new=True
                )
                obj = ObjectValue(self._context.path, self._context.depth, maker.proto)
                self._walk.classes.construct(maker, obj, arguments)
                result.append(obj)
            elif isinstance(maker, FunctionValue):
                self.add_target(frame, start, line, maker, self._evidence(maker, callee, NOTHING, frame), is_new=True)
                obj = ObjectValue(self._context.path, self._context.depth, self._walk.objects.prototype_of(maker))
                self.apply(maker, arguments, [obj])
                result.append(obj)
            elif isinstance(maker, LibraryValue):
                if frame.file.path == self._context.path:
                    frame.file.libraries[start] = maker.name
                result.append(maker)
        if not makers:
            self.call_back(arguments, NOTHING)
            if (
                callee is not None
                and callee[flow.KIND] == flow.NAME
                and callee[flow.NAME_TEXT] in ("Map", "Set", "Array", "WeakMap")
            ):
                obj = ObjectValue(self._context.path, self._context.depth, is_array=True)
                for values in arguments[:1]:
                    obj.props[ANY_KEY] = self._walk.objects.elements(values)
                result.append(obj)
        return result

    def apply(self, func: FunctionValue, arguments: list[Values], this: Values, *, unknown: bool = False) -> Values:
        """Run a function and return its results.

        `unknown` is for functions without a known caller: they run once even if the file's step budget is exhausted.
        """
        file = self._walk.modules.load(func.file)
        state = self._context.file
        key = (func.file, func.number)
        if (
            file is None
            or state is None
            or len(self._context.calls) >= MAX_CALL_DEPTH
            or self._context.calls.count(key) > 1
        ):
            return self._returned_by_type(func, file)
        if state.steps < 0 and not (
            unknown and func.number not in state.walked and state.steps > -20 * len(state.nodes)
        ):
            return self._returned_by_type(func, file)
        abroad = func.file != self._context.path
        walks = state.runs.get(key, 0)
        if walks >= (_MAX_RUNS_ELSEWHERE if abroad else _MAX_RUNS) and not unknown:
            return state.returned[key] or self._returned_by_type(func, file)
        state.runs[key] = walks + 1
        record = func.record
        scope = ScriptScope(func.scope, self._context.path, self._context.depth, function=True)
        frame = CallFrame(file, scope, func.this if func.this is not None else this, func)
        if func.file == self._context.path:
            state.walked.add(func.number)
        arguments = func.bound + arguments if func.bound else arguments
        self._context.calls.append(key)
        for index, (place, types) in enumerate(record.parameters):
            node = frame.nodes[place]
            if node[flow.KIND] == flow.REST_PATTERN:
                rest = ObjectValue(self._context.path, self._context.depth, is_array=True)
                for number, values in enumerate(arguments[index:]):
                    rest.props[str(number)] = values
                if not rest.props and types:
                    self._walk.bindings.bind(
                        node[flow.PATTERN_TARGET], self._walk.types.instances_of(types, func.scope, file), frame, "let"
                    )
                else:
                    self._walk.bindings.bind(node[flow.PATTERN_TARGET], [rest], frame, "let")
                continue
            values = arguments[index] if index < len(arguments) else NOTHING
            if types and not any(not isinstance(value, LibraryValue) for value in values):
                values = self._walk.types.instances_of(types, func.scope, file) or values
            self._walk.bindings.bind(place, values, frame, "let")
        if not record.is_arrow:
            given = ObjectValue(self._context.path, self._context.depth, is_array=True)
            for number, values in enumerate(arguments[:12]):
                given.props[str(number)] = values
            scope.variables.setdefault("arguments", [given])
        for name, place in record.parameter_fields:
            node = frame.nodes[place]
            inner = frame.nodes[node[flow.PATTERN_TARGET]] if node[flow.KIND] == flow.DEFAULT_PATTERN else node
            if inner[flow.KIND] == flow.NAME:
                for obj in frame.this:
                    self._walk.objects.set_property(obj, name, scope.variables.get(inner[flow.NAME_TEXT], NOTHING))
        state.returned.setdefault(key, NOTHING)
        depth, calls = self._context.depth, len(self._context.calls)
        try:
            self._walk.run(record.body, frame)
        except RecursionError:  # the stack was already deep: keep what was found
            self._context.depth = depth
        del self._context.calls[calls - 1 :]
        state.returned[key] = joined(state.returned[key], frame.returns)
        if record.is_generator:
            made = ObjectValue(self._context.path, self._context.depth, is_array=True)
            if frame.yields:
                made.props[ANY_KEY] = frame.yields
            return [made]
        if record.return_types and not any(not isinstance(value, LibraryValue) for value in frame.returns):
            return self._walk.types.instances_of(record.return_types, func.scope, file) or frame.returns
        return frame.returns

    def _returned_by_type(self, func: FunctionValue, file: FileState | None) -> Values:
        return (
            self._walk.types.instances_of(func.record.return_types, func.scope, file)
            if file is not None and func.record.return_types
            else NOTHING
        )

    def call_back(self, arguments: list[Values], given: Values) -> Values:
        """Run the functions among the arguments of unknown code, which may call them."""
        result = NOTHING
        self._context.depth += 1
        for values in arguments:
            for value in values:
                if isinstance(value, FunctionValue) and self._context.file is not None:
                    if value.file == self._context.path and value.number in self._context.file.walked and not given:
                        continue
                    result = joined(
                        result, self.apply(value, [given] * 2 if given else [], self._walk.classes.receiver_of(value))
                    )
        self._context.depth -= 1
        return result

    def add_target(
        self, frame: CallFrame, start: int, line: int, func: FunctionValue, evidence: Evidence, *, is_new: bool = False
    ) -> None:
        self._add_target(frame, start, line, ScriptTarget(func.file, False, func.number), evidence, is_new=is_new)

    def _add_class_target(
        self, frame: CallFrame, start: int, line: int, made: ClassValue, evidence: Evidence, *, is_new: bool
    ) -> None:
        constructor = self._walk.classes.constructor_of(made)
        if constructor is not None:
            own = constructor is made.constructor
            self.add_target(frame, start, line, constructor, evidence if own else Evidence.INHERITED, is_new=is_new)
            return
        self._add_target(frame, start, line, ScriptTarget(made.file, True, made.number), evidence, is_new=is_new)

    def _add_target(
        self, frame: CallFrame, start: int, line: int, target: ScriptTarget, evidence: Evidence, *, is_new: bool
    ) -> None:
        """Add a target of a call; one in another file than the one that is walked depends on what that one passes."""
        own = frame.file.path == self._context.path
        calls = frame.file.calls if own else frame.file.calls_from_elsewhere
        reached = calls.get(start)
        if reached is None:
            reached = calls[start] = CallTargets(line, is_new, {})
        reached.targets.setdefault(target, evidence if own else Evidence.FLOW)
