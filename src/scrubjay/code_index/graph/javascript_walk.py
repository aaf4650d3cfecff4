"""Executes JavaScript abstractly, each branch once, and records the targets of each call."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import cast

from scrubjay.code_index.graph import javascript_flow_format as flow
from scrubjay.code_index.graph.javascript_bindings import Bindings
from scrubjay.code_index.graph.javascript_builtins import Builtins
from scrubjay.code_index.graph.javascript_calls import CallEvaluator
from scrubjay.code_index.graph.javascript_classes import ClassBuilder
from scrubjay.code_index.graph.javascript_file import CallFrame, FileState, Node, ScriptTarget, WalkContext
from scrubjay.code_index.graph.javascript_modules import ModuleLoader
from scrubjay.code_index.graph.javascript_objects import ObjectModel
from scrubjay.code_index.graph.javascript_types import TypeResolver
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


class ScriptWalk:
    """Walks files and keeps the result of each, so that a file runs only once however often it is imported.

    The result depends on the file and on what it imports, never on its importers: a walk that enters a function of
    another file changes nothing of that file.
    """

    def __init__(self, flow_of: Callable[[str], bytes], find_path: Callable[[str, str], str | None]) -> None:
        self.context = WalkContext()
        self.modules = ModuleLoader(self, flow_of, find_path)
        self.objects = ObjectModel(self)
        self.bindings = Bindings(self)
        self.types = TypeResolver(self)
        self.classes = ClassBuilder(self)
        self.calls = CallEvaluator(self)
        self.builtins = Builtins(self)
        self._evaluators: Mapping[str, Callable[[Node, CallFrame], Values]] = {
            flow.UNKNOWN: self._all,
            flow.NAME: self._name,
            flow.LITERAL: self._literal,
            flow.MEMBER: self._member,
            flow.ENTRY: self._entry,
            flow.CALL: self.calls.call,
            flow.NEW: self.calls.new,
            flow.FUNCTION: self._function,
            flow.FUNCTION_DECLARATION: self._declared_function,
            flow.CLASS: self._class,
            flow.CLASS_DECLARATION: self._declared_class,
            flow.OBJECT: self._object,
            flow.ARRAY: self._array,
            flow.THIS: self._this,
            flow.SUPER: self._super,
            flow.ASSIGNMENT: self._assign,
            flow.EITHER: self._either,
            flow.YIELD: self._yield,
            flow.CAST: self._cast,
            flow.SEQUENCE: self._sequence,
            flow.REQUIRE: self._require,
            flow.DECLARATION: self._declare,
            flow.BLOCK: self._block,
            flow.BRANCHES: self._if,
            flow.FOR: self._for,
            flow.RETURN: self._return,
            flow.ALIAS: self._alias,
            flow.NAMESPACE: self._namespace,
            flow.EXPORT_DEFAULT: self._export_default,
            flow.EXPORT_ALL: self._export_all,
        }

    def file(self, path: str) -> FileState | None:
        """Walk a whole file, including functions without a known caller; None if the repository has no such script."""
        state = self.modules.start(path)
        if state is None:
            return None
        previous = self.context.enter(state)
        try:
            self._walk_uncalled(state)
        finally:
            self.context.leave(previous)
        return state

    def find_targets(self, state: FileState, names: Sequence[str]) -> Sequence[ScriptTarget]:
        """Return the functions and classes that a path of names refers to at the top level of a file."""
        previous = self.context.enter(state)
        try:
            values = self.bindings.lookup(names[0], state.scope, state)
            for name in names[1:]:
                values = self.objects.property_of(values, name)
        finally:
            self.context.leave(previous)
        return [
            ScriptTarget(value.file, isinstance(value, ClassValue), value.number)
            for value in values
            if isinstance(value, FunctionValue | ClassValue)
        ]

    def _walk_uncalled(self, state: FileState) -> None:
        """Run the functions that nothing has called, with unknown arguments."""
        classes_done = 0
        functions_done = 0
        state.allow_more_steps()
        while True:
            while classes_done < len(state.uninstantiated):
                self.classes.typical_instance(state.uninstantiated[classes_done])
                classes_done += 1
            # The newest are last; the others were examined before.
            waiting = [*islice(reversed(state.created), len(state.created) - functions_done)]
            functions_done = len(state.created)
            if not waiting:
                return
            for number in reversed(waiting):
                if number in state.walked:
                    continue
                func = state.created[number]
                self.context.depth += 1
                self.calls.apply(func, [], self.classes.receiver_of(func), unknown=True)
                self.context.depth -= 1

    def run(self, places: Sequence[int], frame: CallFrame) -> None:
        nodes, evaluators, state = frame.nodes, self._evaluators, self.context.file
        for place in places:
            node = nodes[place]
            if state is not None:
                state.steps -= 1
            evaluators[node[0]](node, frame)

    def value(self, place: int, frame: CallFrame) -> Values:
        if not place:
            return NOTHING
        node = frame.nodes[place]
        state = self.context.file
        if state is not None:
            state.steps -= 1
        return self._evaluators[node[0]](node, frame)

    def _all(self, node: Node, frame: CallFrame) -> Values:
        _, places = node
        for place in places:
            self.value(place, frame)
        return NOTHING

    def _sequence(self, node: Node, frame: CallFrame) -> Values:
        _, places = node
        result = NOTHING
        for place in places:
            result = self.value(place, frame)
        return result

    def _literal(self, node: Node, frame: CallFrame) -> Values:
        _, text = node
        return [text]

    def _this(self, node: Node, frame: CallFrame) -> Values:
        return frame.this

    def _super(self, node: Node, frame: CallFrame) -> Values:
        """Return the object in which `super.x` is looked up."""
        home = frame.func.home if frame.func is not None else None
        if isinstance(home, ClassValue):
            return [home.base] if home.base is not None else NOTHING
        return [home.proto] if isinstance(home, ObjectValue) and home.proto is not None else NOTHING

    def _either(self, node: Node, frame: CallFrame) -> Values:
        _, tests, options = node
        for place in tests:
            self.value(place, frame)
        result = NOTHING
        for place in options:
            result = joined(result, self.value(place, frame))
        return result

    def _cast(self, node: Node, frame: CallFrame) -> Values:
        _, place, types = node
        known = self.value(place, frame)
        return (
            known
            if any(not isinstance(value, LibraryValue) for value in known)
            else self.types.instances_of(types, frame.scope, frame.file) or known
        )

    def _yield(self, node: Node, frame: CallFrame) -> Values:
        _, place, delegates = node
        values = self.value(place, frame)
        frame.yields = joined(frame.yields, self.objects.elements(values) if delegates else values)
        return NOTHING

    def _return(self, node: Node, frame: CallFrame) -> Values:
        _, place = node
        frame.returns = joined(frame.returns, self.value(place, frame))
        return NOTHING

    def _name(self, node: Node, frame: CallFrame) -> Values:
        return self.bindings.lookup(node[flow.NAME_TEXT], frame.scope, frame.file)

    def _require(self, node: Node, frame: CallFrame) -> Values:
        _, module, is_import = node
        target = self.modules.find_path(frame.file.path, module)
        return (
            [LibraryValue(module)]
            if target is None
            else [ModuleExports(target)]
            if is_import and target
            else self.modules.required(target)
        )

    def _export_default(self, node: Node, frame: CallFrame) -> Values:
        _, place = node
        values = self.value(place, frame)
        if values or "*default*" not in frame.file.scope.variables:
            frame.file.scope.variables["*default*"] = values
        return values

    def _export_all(self, node: Node, frame: CallFrame) -> Values:
        _, place = node
        frame.file.module.props["exports"] = self.value(place, frame)
        return NOTHING

    def _member(self, node: Node, frame: CallFrame) -> Values:
        return self.objects.property_of(self.value(node[flow.MEMBER_OBJECT], frame), node[flow.MEMBER_NAME])

    def _entry(self, node: Node, frame: CallFrame) -> Values:
        _, owner_place, key_place = node
        owners = self.value(owner_place, frame)
        keys = self.value(key_place, frame)
        known = [key for key in keys if isinstance(key, str)]
        if not known or len(known) < len(keys):
            return self.objects.elements(owners)
        result = NOTHING
        for key in known:
            result = joined(result, self.objects.property_of(owners, key))
        return result

    def _assign(self, node: Node, frame: CallFrame) -> Values:
        _, target, place = node
        values = self.value(place, frame)
        self.bindings.bind(target, values, frame)
        return values

    def _declare(self, node: Node, frame: CallFrame) -> Values:
        _, kind, declarators = node
        for place, value, types in declarators:
            values = self.value(value, frame)
            if types and not any(not isinstance(known, LibraryValue) for known in values):
                values = self.types.instances_of(types, frame.scope, frame.file) or values
            self.bindings.bind(place, values, frame, kind)
        return NOTHING

    def _block(self, node: Node, frame: CallFrame) -> Values:
        _, places = node
        outer = frame.scope
        frame.scope = ScriptScope(outer, self.context.path, self.context.depth)
        self.run(places, frame)
        frame.scope = outer
        return NOTHING

    def _if(self, node: Node, frame: CallFrame) -> Values:
        _, tests, branches = node
        for place in tests:
            self.value(place, frame)
        self.context.depth += 1
        for place in branches:
            self.value(place, frame)
        self.context.depth -= 1
        return NOTHING

    def _for(self, node: Node, frame: CallFrame) -> Values:
        _, kind, pattern, right, body, over_values, start, line = node
        owners = self.value(right, frame)
        values = self._iterate(owners, frame, start, line) if over_values else NOTHING
        outer = frame.scope
        self.context.depth += 1
        frame.scope = ScriptScope(outer, self.context.path, self.context.depth)
        self.bindings.bind(pattern, values, frame, kind)
        self.value(body, frame)
        frame.scope = outer
        self.context.depth -= 1
        return NOTHING

    def _iterate(self, owners: Values, frame: CallFrame, start: int, line: int) -> Values:
        """Return what a loop iterates over: elements, or the values of the object's own iterator."""
        result = NOTHING
        for owner in owners:
            if not isinstance(owner, ObjectValue):
                continue
            makers = self.objects.object_property(owner, owner, "[Symbol.iterator]") if not owner.is_array else NOTHING
            if not makers:
                result = joined(result, self.objects.elements([owner]))
            for maker in makers:
                if not isinstance(maker, FunctionValue):
                    continue
                self.calls.add_target(frame, start, line, maker, Evidence.RECEIVER)
                iterators = self.calls.apply(maker, [], [owner])
                nexts = self.objects.property_of(iterators, "next")
                if not nexts:
                    result = joined(result, self.objects.elements(iterators))
                for following in nexts:
                    if isinstance(following, FunctionValue):
                        self.calls.add_target(frame, start, line, following, Evidence.FLOW)
                        steps = self.calls.apply(following, [], iterators)
                        result = joined(result, self.objects.property_of(steps, "value"))
        return result

    def _function(self, node: Node, frame: CallFrame) -> Values:
        _, number = node
        func = self.classes.make_function(number, frame)
        name = func.record.name
        if name and not func.record.is_arrow:
            # A named function expression can refer to itself.
            inner = ScriptScope(frame.scope, self.context.path, self.context.depth)
            inner.variables[name] = [func]
            if name not in frame.scope.variables:
                func.scope = inner
        return [func]

    def _declared_function(self, node: Node, frame: CallFrame) -> Values:
        _, number = node
        func = self.classes.make_function(number, frame)
        if frame.scope.session == self.context.path:
            frame.scope.variables[func.record.name] = [func]
        return [func]

    def _class(self, node: Node, frame: CallFrame) -> Values:
        _, number = node
        return [self.classes.make_class(number, frame)]

    def _declared_class(self, node: Node, frame: CallFrame) -> Values:
        _, number = node
        made = self.classes.make_class(number, frame)
        name = made.record.name
        kept = frame.scope.variables.get(name)
        if made.record.kind == "interface" and kept:
            return kept  # a class or variable and an interface with the same name: the first one has the code
        if frame.scope.session == self.context.path:
            frame.scope.variables[name] = [made]
        return [made]

    def _object(self, node: Node, frame: CallFrame) -> Values:
        obj = ObjectValue(self.context.path, self.context.depth)
        _, entries = node
        for key, place, *accessor in entries:
            values = self.value(place, frame)
            if key is None:
                self.objects.copy_properties(values, obj)
                continue
            names = (
                [key] if isinstance(key, str) else [text for text in self.value(key, frame) if isinstance(text, str)]
            )
            for value in values:
                if isinstance(value, FunctionValue) and value.home is None and not value.record.is_arrow:
                    value.home = obj
            for name in names or [ANY_KEY]:
                obj.props[name] = values
                if accessor == ["get"]:
                    obj.getters = (obj.getters or set()) | {name}
        return [obj]

    def _array(self, node: Node, frame: CallFrame) -> Values:
        obj = ObjectValue(self.context.path, self.context.depth, is_array=True)
        sure = True
        for index, place in enumerate(node[flow.ARRAY_ITEMS]):
            if isinstance(place, list):
                sure = False
                values = self.objects.elements(self.value(cast("int", place[0]), frame))
            else:
                values = self.value(place, frame)
            if values:
                key = str(index) if sure else ANY_KEY
                obj.props[key] = joined(obj.props.get(key, NOTHING), values)
        return [obj]

    def _alias(self, node: Node, frame: CallFrame) -> Values:
        _, name, types = node
        if name not in frame.scope.variables and frame.scope.session == self.context.path:
            alias = ObjectValue(self.context.path, self.context.depth)
            alias.props["[type]"] = list(types)
            frame.scope.variables[name] = [alias]
        return NOTHING

    def _namespace(self, node: Node, frame: CallFrame) -> Values:
        _, name, places = node
        outer = frame.scope
        kept = outer.variables.get(name)
        obj = (
            kept[0] if kept and isinstance(kept[0], ObjectValue) else ObjectValue(self.context.path, self.context.depth)
        )
        frame.scope = ScriptScope(outer, self.context.path, self.context.depth)
        frame.scope.variables = obj.props
        self.run(places, frame)
        frame.scope = outer
        if not kept and outer.session == self.context.path:
            outer.variables[name] = [obj]
        return NOTHING
