"""Walks through JavaScript as if it were run, each way of a choice once, and notes what each call reaches."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, cast

from pydantic_core import from_json

from scrubjay.code_index.graph.javascript_values import (
    Class,
    Func,
    Library,
    Namespace,
    Scope,
    Thing,
    Value,
    Values,
    joined,
)
from scrubjay.code_index.models import Evidence

DEEPEST_CALL = 6
"""Calls within calls within calls that are walked into; each takes a part of Python's own stack."""
MOST_ANCESTORS = 60
"""Of a class; a chain of more was made by nobody who works with it."""
DEEPEST_MODULE = 8
STEPS_FOR_A_NODE = 6
"""A file is walked through a few times at most, whatever calls whatever."""
FEWEST_STEPS = 4_000
MOST_WALKS = 8
"""A function that a file's walk entered so often gives what it gave before."""
MOST_WALKS_ABROAD = 3
"""The same of another file's function."""
_NOTHING: Values = []
_ALL = "*"
"""The key under which is kept what was put in under a key that is not known."""

_CALLS_BACK = {
    "map": 0, "forEach": 0, "filter": 0, "find": 0, "findIndex": 0, "some": 0, "every": 0, "flatMap": 0, "sort": 0,
    "findLast": 0, "reduce": 1, "reduceRight": 1, "then": 0, "catch": 0, "finally": 0,
}  # fmt: skip
"""Methods of arrays and promises that call what they are given, and which parameter gets an element."""
_TIMERS = {"setTimeout", "setInterval", "setImmediate", "queueMicrotask", "requestAnimationFrame", "process.nextTick"}
_SAME_ELEMENTS = {"filter", "reverse", "sort", "concat", "values", "flat", "toSorted", "toReversed", "with"}
_ONE_ELEMENT = {"find", "pop", "shift", "at", "findLast"}
_OF_CONTAINERS = {
    *_CALLS_BACK, *_SAME_ELEMENTS, *_ONE_ELEMENT, "push", "unshift", "add", "set", "get", "has", "delete", "slice",
    "splice", "includes", "indexOf", "join", "keys", "entries", "clear", "length", "size", "fill", "lastIndexOf",
}  # fmt: skip
"""What arrays, maps and sets have beside their elements: `list.push` is no element of which the key is not known."""


class Target(NamedTuple):
    """What a call reaches: a function, or a class without a constructor of its own."""

    file: str
    is_class: bool
    number: int


class Reached(NamedTuple):
    """A call that reaches something."""

    line: int
    is_new: bool
    targets: dict[Target, Evidence]


class FileState:
    """One file's flow and what walking through it has made so far."""

    __slots__ = (
        "calls",
        "created",
        "exports",
        "flow",
        "given",
        "imports",
        "libraries",
        "module",
        "nodes",
        "path",
        "returned",
        "scope",
        "started",
        "steps",
        "waiting_classes",
        "walked",
        "walks",
    )

    def __init__(self, path: str, flow: Mapping[str, Any]) -> None:
        self.path = path
        self.flow = flow
        self.nodes: list[list[Any]] = flow["nodes"]
        self.imports = {entry[0]: (entry[1], entry[2]) for entry in flow["imports"]}
        self.exports = {entry[0]: (entry[1], entry[2]) for entry in flow["exports"]}
        self.scope = Scope(None, path, 0, function=True)
        self.module = Thing(path, 0)
        self.started = False
        self.steps = max(FEWEST_STEPS, STEPS_FOR_A_NODE * len(self.nodes))
        self.calls: dict[int, Reached] = {}
        """By the first byte of what is called."""
        self.given: dict[int, Reached] = {}
        """The same, as it was reached by walks of other files through functions of this one."""
        self.libraries: dict[int, str] = {}
        self.created: dict[int, Func] = {}
        self.walked: set[int] = set()
        self.walks: dict[tuple[str, int], int] = {}
        self.returned: dict[tuple[str, int], Values] = {}
        self.waiting_classes: list[Class] = []


class _Frame:
    __slots__ = ("file", "func", "nodes", "returns", "scope", "this", "yields")

    def __init__(self, file: FileState, scope: Scope, this: Values, func: Func | None) -> None:
        self.file = file
        self.nodes = file.nodes
        self.scope = scope
        self.this = this
        self.func = func
        self.returns: Values = _NOTHING
        self.yields: Values = _NOTHING


class Walk:
    """Walks through files and keeps what it made of each, so that importing one costs nothing twice.

    What a file's walk finds depends on the file and on what it imports, never on who imports it: a walk that enters
    another file's function changes nothing of that file's.
    """

    def __init__(self, flows: Callable[[str], bytes], find: Callable[[str, str], str | None]) -> None:
        self._flows = flows
        self._find = find
        self._files: dict[str, FileState | None] = {}
        self._session = ""
        self._state: FileState | None = None
        self._depth = 0
        """How many choices enclose what is walked through: what is done in one may not be done."""
        self._stack: list[tuple[str, int]] = []
        self._modules = 0
        self._evaluators: dict[str, Callable[[list[Any], _Frame], Values]] = {
            "u": self._all, "n": self._name, "s": self._literal, "m": self._member, "x": self._entry, "c": self._call,
            "w": self._new, "f": self._function, "df": self._declared_function, "k": self._class,
            "dk": self._declared_class, "o": self._object, "a": self._array, "t": self._this, "p": self._super,
            "=": self._assign, "j": self._either, "y": self._yield, "cast": self._cast, "seq": self._sequence,
            "q": self._require, "v": self._declare,
            "b": self._block, "if": self._if, "for": self._for, "ret": self._return, "alias": self._alias,
            "ns": self._namespace, "expd": self._export_default, "expm": self._export_all,
        }  # fmt: skip

    def file(self, path: str) -> FileState | None:
        """Walk through a whole file, also through the functions that nothing in it calls."""
        state = self._started(path)
        if state is None:
            return None
        previous = self._enter(state)
        try:
            self._walk_rest(state)
        finally:
            self._leave(previous)
        return state

    def origin(self, path: str, name: str, *, exported: bool = False) -> tuple[str, str] | None:
        """The file and the name there under which something is defined that a file knows by a name."""
        for _ in range(DEEPEST_MODULE):
            state = self.loaded(path)
            if state is None:
                return None
            if exported:
                kept = state.exports.get(name)
                if kept is None:
                    found = self._starred(state, name)
                    if found is None:
                        return (path, name)
                    path = found
                    continue
                name, module = kept
                if not module:
                    exported = False
                    continue
            else:
                taken = state.imports.get(name)
                if taken is None:
                    return (path, name)
                module, name = taken
            target = self._find(path, module)
            if target is None or name in ("*", "="):
                return (target, "") if target is not None else None
            path, exported = target, True
        return None

    def _starred(self, state: FileState, name: str) -> str | None:
        for module in state.flow["stars"]:
            target = self._find(state.path, module)
            other = self.loaded(target) if target is not None else None
            if other is not None and (name in other.exports or other.flow["stars"]):
                return target
        return None

    def meaning(self, state: FileState, names: Sequence[str]) -> Sequence[Target]:
        """The functions and classes that a path of names means at the top of a file."""
        previous = self._enter(state)
        try:
            values = self._lookup(names[0], state.scope, state)
            for name in names[1:]:
                values = self._property_of(values, name)
        finally:
            self._leave(previous)
        return [
            Target(value.file, isinstance(value, Class), value.number)
            for value in values
            if isinstance(value, Func | Class)
        ]

    # Sessions: whose walk it is

    def _enter(self, state: FileState) -> tuple[str, FileState | None, int, list[tuple[str, int]]]:
        previous = (self._session, self._state, self._depth, self._stack)
        self._session, self._state, self._depth, self._stack = state.path, state, 0, []
        return previous

    def _leave(self, previous: tuple[str, FileState | None, int, list[tuple[str, int]]]) -> None:
        self._session, self._state, self._depth, self._stack = previous

    def loaded(self, path: str) -> FileState | None:
        """A file's flow, whether it was walked through or not."""
        if path not in self._files:
            flow = self._flows(path)
            self._files[path] = FileState(path, from_json(flow)) if flow else None
        return self._files[path]

    def _started(self, path: str) -> FileState | None:
        """A file whose own statements have been walked through, or are being walked through just now."""
        state = self.loaded(path)
        if state is None or state.started or self._modules >= DEEPEST_MODULE:
            return state
        state.started = True
        previous = self._enter(state)
        self._modules += 1
        try:
            exports = Thing(path, 0)
            state.module.props["exports"] = [exports]
            state.scope.variables.update({"module": [state.module], "exports": [exports]})
            frame = _Frame(state, state.scope, [exports], None)
            self._run(state.flow["body"], frame)
        except RecursionError:  # whoever called us was deep already: what was found until here is kept
            pass
        finally:
            self._modules -= 1
            self._leave(previous)
        return state

    def _walk_rest(self, state: FileState) -> None:
        """Functions that were made and never called: by whom and with what is not known."""
        classes_done = 0
        functions_done = 0
        state.steps += STEPS_FOR_A_NODE // 2 * len(state.nodes)
        while True:
            while classes_done < len(state.waiting_classes):
                self._instance(state.waiting_classes[classes_done])
                classes_done += 1
            # The newest are last, and the others were looked at before.
            waiting = [*islice(reversed(state.created), len(state.created) - functions_done)]
            functions_done = len(state.created)
            if not waiting:
                return
            for number in reversed(waiting):
                if number in state.walked:
                    continue
                func = state.created[number]
                self._depth += 1
                self._apply(func, [], self._own_this(func), unknown=True)
                self._depth -= 1

    def _own_this(self, func: Func) -> Values:
        if func.this is not None:
            return func.this
        home = func.home
        if isinstance(home, Class):
            return [home]
        if isinstance(home, Thing):
            if isinstance(home.maker, Class):
                instance = self._instance(home.maker)
                return [instance] if instance is not None else _NOTHING
            if isinstance(home.maker, Func):
                return [Thing(self._session, self._depth, home)]
            return [home]
        return _NOTHING

    def _instance(self, made: Class) -> Thing | None:
        """One instance of a class that stands for those whose making is not seen."""
        if made.instance is None:
            made.instance = Thing(made.statics.session, self._depth, made.proto)
            state = self.loaded(made.file)
            if state is not None:
                previous = self._enter(state)
                self._modules += 1
                try:
                    if self._modules < DEEPEST_MODULE:
                        self._depth += 1
                        made.instance.depth = self._depth
                        self._construct_into(made, made.instance, [], unknown=True)
                finally:
                    self._modules -= 1
                    self._leave(previous)
        return made.instance

    # Running

    def _run(self, places: Sequence[int], frame: _Frame) -> None:
        nodes, evaluators, state = frame.nodes, self._evaluators, self._state
        for place in places:
            node = nodes[place]
            if state is not None:
                state.steps -= 1
            evaluators[node[0]](node, frame)

    def _value(self, place: int, frame: _Frame) -> Values:
        if not place:
            return _NOTHING
        node = frame.nodes[place]
        state = self._state
        if state is not None:
            state.steps -= 1
        return self._evaluators[node[0]](node, frame)

    def _all(self, node: list[Any], frame: _Frame) -> Values:
        for place in node[1]:
            self._value(place, frame)
        return _NOTHING

    def _sequence(self, node: list[Any], frame: _Frame) -> Values:
        result = _NOTHING
        for place in node[1]:
            result = self._value(place, frame)
        return result

    def _literal(self, node: list[Any], frame: _Frame) -> Values:
        return [node[1]]

    def _this(self, node: list[Any], frame: _Frame) -> Values:
        return frame.this

    def _super(self, node: list[Any], frame: _Frame) -> Values:
        """Where `super.x` looks: above what the method belongs to."""
        home = frame.func.home if frame.func is not None else None
        if isinstance(home, Class):
            return [home.base] if home.base is not None else _NOTHING
        return [home.proto] if isinstance(home, Thing) and home.proto is not None else _NOTHING

    def _either(self, node: list[Any], frame: _Frame) -> Values:
        for place in node[1]:
            self._value(place, frame)
        result = _NOTHING
        for place in node[2]:
            result = joined(result, self._value(place, frame))
        return result

    def _cast(self, node: list[Any], frame: _Frame) -> Values:
        known = self._value(node[1], frame)
        return (
            known
            if any(not isinstance(value, Library) for value in known)
            else self._of_types(node[2], frame.scope, frame.file) or known
        )

    def _yield(self, node: list[Any], frame: _Frame) -> Values:
        values = self._value(node[1], frame)
        frame.yields = joined(frame.yields, self._elements(values) if node[2] else values)
        return _NOTHING

    def _return(self, node: list[Any], frame: _Frame) -> Values:
        frame.returns = joined(frame.returns, self._value(node[1], frame))
        return _NOTHING

    # Names

    def _name(self, node: list[Any], frame: _Frame) -> Values:
        return self._lookup(node[1], frame.scope, frame.file)

    def _lookup(self, name: str, scope: Scope | None, file: FileState) -> Values:
        while scope is not None:
            values = scope.variables.get(name)
            if values is not None:
                return values
            scope = scope.parent
        taken = file.imports.get(name)
        return self._imported(file.path, *taken) if taken is not None else _NOTHING

    def _imported(self, path: str, module: str, name: str) -> Values:
        target = self._find(path, module)
        if target is None:
            return [Library(module)]
        return (
            [Namespace(target)]
            if name == "*"
            else self._required(target)
            if name == "="
            else self._exported(target, name)
        )

    def _exported(self, path: str, name: str, seen: tuple[str, ...] = ()) -> Values:
        """What a file exports by a name, also what it only passes on."""
        state = self._started(path)
        if state is None or path in seen:
            return _NOTHING
        kept = state.exports.get(name)
        if kept is not None:
            local, module = kept
            if not module:
                return self._lookup(local, state.scope, state)
            target = self._find(path, module)
            if target is None:
                return [Library(module)]
            return [Namespace(target)] if local == "*" else self._exported(target, local, (*seen, path))
        if name == "default":
            if "*default*" in state.scope.variables:
                return state.scope.variables["*default*"]
            return self._common(state) if not state.flow["exports"] else _NOTHING
        for module in state.flow["stars"]:
            target = self._find(path, module)
            found = self._exported(target, name, (*seen, path)) if target is not None else _NOTHING
            if found:
                return found
        return self._property_of(self._common(state), name)

    def _common(self, state: FileState) -> Values:
        return state.module.props.get("exports", _NOTHING)

    def _required(self, path: str) -> Values:
        state = self._started(path)
        if state is None:
            return _NOTHING
        if state.exports or state.flow["stars"] or "*default*" in state.scope.variables:
            return [Namespace(path)]
        return self._common(state)

    def _require(self, node: list[Any], frame: _Frame) -> Values:
        target = self._find(frame.file.path, node[1])
        return (
            [Library(node[1])]
            if target is None
            else [Namespace(target)]
            if node[2] and target
            else self._required(target)
        )

    def _export_default(self, node: list[Any], frame: _Frame) -> Values:
        values = self._value(node[1], frame)
        if values or "*default*" not in frame.file.scope.variables:
            frame.file.scope.variables["*default*"] = values
        return values

    def _export_all(self, node: list[Any], frame: _Frame) -> Values:
        frame.file.module.props["exports"] = self._value(node[1], frame)
        return _NOTHING

    # Entries of things

    def _member(self, node: list[Any], frame: _Frame) -> Values:
        return self._property_of(self._value(node[1], frame), node[2])

    def _entry(self, node: list[Any], frame: _Frame) -> Values:
        owners = self._value(node[1], frame)
        keys = self._value(node[2], frame)
        known = [key for key in keys if isinstance(key, str)]
        if not known or len(known) < len(keys):
            return self._elements(owners)
        result = _NOTHING
        for key in known:
            result = joined(result, self._property_of(owners, key))
        return result

    def _property_of(self, owners: Values, name: str) -> Values:
        if len(owners) == 1:
            return self._property(owners[0], name)
        result = _NOTHING
        for owner in owners:
            result = joined(result, self._property(owner, name))
        return result

    def _property(self, owner: Value, name: str) -> Values:
        if isinstance(owner, Thing):
            return self._of_thing(owner, owner, name)
        if isinstance(owner, Namespace):
            return self._exported(owner.file, name)
        if isinstance(owner, Class):
            if name == "prototype":
                return [owner.proto]
            seen = 0
            now: Value | None = owner
            while isinstance(now, Class) and seen < 20:
                found = now.statics.props.get(name)
                if found is not None:
                    if now.statics.getters and name in now.statics.getters:
                        return self._results(found, [owner])
                    return found
                now, seen = now.base, seen + 1
            return self._property(now, name) if now is not None and seen < 20 else _NOTHING
        if isinstance(owner, Func):
            if name == "prototype":
                return [self._prototype(owner)]
            return owner.props.props.get(name, _NOTHING) if owner.props is not None else _NOTHING
        if isinstance(owner, Library):
            return [Library(f"{owner.name}.{name}")] if owner.name.count(".") < 6 else [owner]
        return _NOTHING

    def _of_thing(self, thing: Thing, this: Thing, name: str) -> Values:
        now: Thing | None = thing
        for _ in range(20):
            if now is None:
                break
            found = now.props.get(name)
            if found is not None:
                unsure = now.props.get(_ALL)
                if now.getters and name in now.getters:
                    return self._results(found, [this])
                return joined(found, unsure) if unsure else found
            if (unsure := now.props.get(_ALL)) is not None and not (now.is_array and name in _OF_CONTAINERS):
                return unsure
            if name == "constructor" and now.maker is not None:
                return [now.maker]
            now = now.proto
        return _NOTHING

    def _results(self, functions: Values, this: Values) -> Values:
        result = _NOTHING
        for func in functions:
            if isinstance(func, Func):
                result = joined(result, self._apply(func, [], this))
        return result

    def _prototype(self, func: Func) -> Thing:
        if func.props is None:
            func.props = Thing(func.scope.session, func.scope.depth)
        kept = func.props.props.get("prototype")
        if kept and isinstance(kept[0], Thing):
            return kept[0]
        proto = Thing(func.scope.session, func.scope.depth)
        proto.maker = func
        func.props.props["prototype"] = [proto]
        return proto

    def _elements(self, owners: Values) -> Values:
        result = _NOTHING
        for owner in owners:
            if isinstance(owner, Thing):
                for values in owner.props.values():
                    result = joined(result, values)
        return result

    # Writing

    def _set_property(self, owner: Value, name: str, values: Values) -> None:
        if isinstance(owner, Class):
            if name == "prototype":
                return
            thing = owner.statics
        elif isinstance(owner, Func):
            if owner.props is None:
                owner.props = Thing(owner.scope.session, owner.scope.depth)
            thing = owner.props
            if name == "prototype":
                for value in values:
                    if isinstance(value, Thing) and value.maker is None:
                        value.maker = owner
        elif isinstance(owner, Thing):
            thing = owner
        else:
            return
        if thing.session != self._session:
            return
        for value in values:
            if isinstance(value, Func) and value.home is None and not value.record[3]:
                value.home = owner if isinstance(owner, (Thing, Class)) else None
        if name == _ALL or self._depth > thing.depth:
            values = joined(thing.props.get(name, _NOTHING), values)
        thing.props[name] = values

    def _assign(self, node: list[Any], frame: _Frame) -> Values:
        values = self._value(node[2], frame)
        self._bind(node[1], values, frame)
        return values

    def _bind(self, place: int, values: Values, frame: _Frame, kind: str = "") -> None:
        """Give values to a pattern; `kind` is how it declares its names, empty when it only assigns."""
        if not place:
            return
        node = frame.nodes[place]
        match node[0]:
            case "n":
                if kind:
                    self._declare_name(node[1], values, frame.scope, kind)
                else:
                    self._assign_name(node[1], values, frame)
            case "m":
                for owner in self._value(node[1], frame):
                    self._set_property(owner, node[2], values)
            case "x":
                owners, keys = self._value(node[1], frame), self._value(node[2], frame)
                names = [key for key in keys if isinstance(key, str)] or [_ALL]
                for owner in owners:
                    for name in names:
                        self._set_property(owner, name, values)
            case "pd":
                if not values:
                    values = self._value(node[2], frame)
                self._bind(node[1], values, frame, kind)
            case "pr":
                self._bind(node[1], values, frame, kind)
            case "pa":
                self._bind_array(node[1], values, frame, kind)
            case "po":
                for entry in node[1]:
                    key, target = entry[0], entry[1]
                    if key is None:
                        self._bind(target, values, frame, kind)
                    elif isinstance(key, str):
                        self._bind(target, self._property_of(values, key), frame, kind)
                    else:
                        self._bind(target, self._elements(values), frame, kind)
            case "cast":
                self._bind(node[1], values, frame, kind)
            case _:
                self._value(place, frame)

    def _bind_array(self, targets: list[int], values: Values, frame: _Frame, kind: str) -> None:
        for index, target in enumerate(targets):
            if target and frame.nodes[target][0] == "pr":
                rest = Thing(self._session, self._depth, is_array=True)
                for value in values:
                    if isinstance(value, Thing):
                        for key, kept in value.props.items():
                            if not key.isdigit():
                                rest.props[key] = joined(rest.props.get(key, _NOTHING), kept)
                            elif int(key) >= index:
                                moved = str(int(key) - index)
                                rest.props[moved] = joined(rest.props.get(moved, _NOTHING), kept)
                self._bind(target, [rest], frame, kind)
            else:
                self._bind(target, self._property_of(values, str(index)), frame, kind)

    def _declare_name(self, name: str, values: Values, scope: Scope, kind: str) -> None:
        if kind == "var":
            while not scope.function and scope.parent is not None:
                scope = scope.parent
        if kind == "var" and self._depth > scope.depth:
            values = joined(scope.variables.get(name, _NOTHING), values)
        if scope.session == self._session:
            scope.variables[name] = values

    def _assign_name(self, name: str, values: Values, frame: _Frame) -> None:
        scope: Scope | None = frame.scope
        while scope is not None:
            if name in scope.variables:
                if scope.session == self._session:
                    sure = self._depth <= scope.depth
                    scope.variables[name] = values if sure else joined(scope.variables[name], values)
                return
            scope = scope.parent
        if frame.file.path == self._session:
            frame.file.scope.variables[name] = values

    def _declare(self, node: list[Any], frame: _Frame) -> Values:
        for place, value, types in node[2]:
            values = self._value(value, frame)
            if types and not any(not isinstance(known, Library) for known in values):
                values = self._of_types(types, frame.scope, frame.file) or values
            self._bind(place, values, frame, node[1])
        return _NOTHING

    # Statements

    def _block(self, node: list[Any], frame: _Frame) -> Values:
        outer = frame.scope
        frame.scope = Scope(outer, self._session, self._depth)
        self._run(node[1], frame)
        frame.scope = outer
        return _NOTHING

    def _if(self, node: list[Any], frame: _Frame) -> Values:
        for place in node[1]:
            self._value(place, frame)
        self._depth += 1
        for place in node[2]:
            self._value(place, frame)
        self._depth -= 1
        return _NOTHING

    def _for(self, node: list[Any], frame: _Frame) -> Values:
        _, kind, pattern, right, body, over_values, start, line = node
        owners = self._value(right, frame)
        values = self._iterated(owners, frame, start, line) if over_values else _NOTHING
        outer = frame.scope
        self._depth += 1
        frame.scope = Scope(outer, self._session, self._depth)
        self._bind(pattern, values, frame, kind)
        self._value(body, frame)
        frame.scope = outer
        self._depth -= 1
        return _NOTHING

    def _iterated(self, owners: Values, frame: _Frame, start: int, line: int) -> Values:
        """What a loop gets: elements, or what the thing's own iterator gives."""
        result = _NOTHING
        for owner in owners:
            if not isinstance(owner, Thing):
                continue
            makers = self._of_thing(owner, owner, "[Symbol.iterator]") if not owner.is_array else _NOTHING
            if not makers:
                result = joined(result, self._elements([owner]))
            for maker in makers:
                if not isinstance(maker, Func):
                    continue
                self._note(frame, start, line, maker, Evidence.RECEIVER)
                iterators = self._apply(maker, [], [owner])
                nexts = self._property_of(iterators, "next")
                if not nexts:
                    result = joined(result, self._elements(iterators))
                for following in nexts:
                    if isinstance(following, Func):
                        self._note(frame, start, line, following, Evidence.FLOW)
                        steps = self._apply(following, [], iterators)
                        result = joined(result, self._property_of(steps, "value"))
        return result

    # Making

    def _made(self, number: int, frame: _Frame) -> Func:
        func = Func(frame.file.path, number, frame.file.flow["functions"][number], frame.scope)
        if func.record[3]:
            func.this = frame.this
            func.home = frame.func.home if frame.func is not None else None
        if frame.file.path == self._session:
            frame.file.created[number] = func
        return func

    def _function(self, node: list[Any], frame: _Frame) -> Values:
        func = self._made(node[1], frame)
        name = func.record[0]
        if name and not func.record[3]:
            # A named function expression knows itself.
            inner = Scope(frame.scope, self._session, self._depth)
            inner.variables[name] = [func]
            if name not in frame.scope.variables:
                func.scope = inner
        return [func]

    def _declared_function(self, node: list[Any], frame: _Frame) -> Values:
        func = self._made(node[1], frame)
        if frame.scope.session == self._session:
            frame.scope.variables[func.record[0]] = [func]
        return [func]

    def _class(self, node: list[Any], frame: _Frame) -> Values:
        return [self._made_class(node[1], frame)]

    def _declared_class(self, node: list[Any], frame: _Frame) -> Values:
        made = self._made_class(node[1], frame)
        name = made.record[0]
        kept = frame.scope.variables.get(name)
        if made.record[5] == "interface" and kept:
            return kept  # a class or variable and an interface of one name: the first has the code
        if frame.scope.session == self._session:
            frame.scope.variables[name] = [made]
        return [made]

    def _made_class(self, number: int, frame: _Frame) -> Class:
        record = frame.file.flow["classes"][number]
        scope = Scope(frame.scope, self._session, self._depth)
        made = Class(frame.file.path, number, record, scope, self._session, self._depth)
        if record[0]:
            scope.variables[record[0]] = [made]
        bases = self._value(record[3], frame) if record[3] else _NOTHING
        if record[5] == "interface":
            bases = [value for text in record[6] for value in self._type_named(text, frame.scope, frame.file)]
        for base in bases:
            if isinstance(base, Class):
                made.base, made.proto.proto = base, base.proto
            elif isinstance(base, Func):
                made.base, made.proto.proto = base, self._prototype(base)
            elif isinstance(base, Library) and made.base is None:
                made.base = base
            else:
                continue
            break
        inner = _Frame(frame.file, scope, [made], None)
        # Methods are there before the first static field is given its value.
        for member in sorted(record[4], key=lambda each: each[1] and each[2] in ("field", "block")):
            self._member_of_class(made, member, inner)
        if frame.file.path == self._session and record[5] == "class":
            frame.file.waiting_classes.append(made)
        return made

    def _member_of_class(self, made: Class, member: list[Any], frame: _Frame) -> None:
        key, static, kind, place, _ = member
        names = [key] if isinstance(key, str) else [text for text in self._value(key, frame) if isinstance(text, str)]
        if kind == "block":
            self._value(place, frame)
        elif kind == "field" and static:
            values = self._value(place, frame)
            for name in names:
                made.statics.props[name] = values
        elif kind == "field":
            made.fields.append([names, member])
        else:
            func = self._made(place, frame)
            func.this = None
            func.home = made if static else made.proto
            thing = made.statics if static else made.proto
            if "constructor" in names and not static:
                made.constructor = func
                return
            for name in names:
                if kind == "set":
                    thing.props.setdefault(f"set {name}", [func])
                    continue
                thing.props[name] = [func]
                if kind == "get":
                    thing.getters = (thing.getters or set()) | {name}

    def _object(self, node: list[Any], frame: _Frame) -> Values:
        thing = Thing(self._session, self._depth)
        for entry in node[1]:
            key, values = entry[0], self._value(entry[1], frame)
            if key is None:
                self._copy(values, thing)
                continue
            names = (
                [key] if isinstance(key, str) else [text for text in self._value(key, frame) if isinstance(text, str)]
            )
            for value in values:
                if isinstance(value, Func) and value.home is None and not value.record[3]:
                    value.home = thing
            for name in names or [_ALL]:
                thing.props[name] = values
                if len(entry) > 2 and entry[2] == "get":
                    thing.getters = (thing.getters or set()) | {name}
        return [thing]

    def _copy(self, sources: Values, thing: Thing, *, only_new: bool = False) -> None:
        for source in sources:
            if isinstance(source, Thing):
                for name, values in source.props.items():
                    if not (name in thing.props and (only_new or isinstance(source.maker, Class))):
                        thing.props[name] = values

    def _array(self, node: list[Any], frame: _Frame) -> Values:
        thing = Thing(self._session, self._depth, is_array=True)
        sure = True
        for index, place in enumerate(node[1]):
            if isinstance(place, list):
                sure = False
                values = self._elements(self._value(cast("int", place[0]), frame))
            else:
                values = self._value(place, frame)
            if values:
                key = str(index) if sure else _ALL
                thing.props[key] = joined(thing.props.get(key, _NOTHING), values)
        return [thing]

    def _alias(self, node: list[Any], frame: _Frame) -> Values:
        if node[1] not in frame.scope.variables and frame.scope.session == self._session:
            alias = Thing(self._session, self._depth)
            alias.props["[type]"] = list(node[2])
            frame.scope.variables[node[1]] = [alias]
        return _NOTHING

    def _namespace(self, node: list[Any], frame: _Frame) -> Values:
        outer = frame.scope
        kept = outer.variables.get(node[1])
        thing = kept[0] if kept and isinstance(kept[0], Thing) else Thing(self._session, self._depth)
        frame.scope = Scope(outer, self._session, self._depth)
        frame.scope.variables = thing.props
        self._run(node[2], frame)
        frame.scope = outer
        if not kept and outer.session == self._session:
            outer.variables[node[1]] = [thing]
        return _NOTHING

    # Types that are written

    def _of_types(self, types: Sequence[str], scope: Scope, file: FileState) -> Values:
        """Values of which only the type is known."""
        result = _NOTHING
        for text in types:
            name = text.rstrip("[]")
            values = [
                instance
                for made in self._type_named(name, scope, file)
                if (instance := self._instance(made) if isinstance(made, Class) else made) is not None
            ]
            for _ in range(text.count("[]")):
                thing = Thing(self._session, self._depth, is_array=True)
                thing.props[_ALL] = list[Value](values)
                values = [thing]
            result = joined(result, list[Value](values))
        return result

    def _type_named(self, name: str, scope: Scope | None, file: FileState, tries: int = 4) -> Values:
        first, *others = name.split(".")
        values = self._lookup(first, scope, file)
        for other in others:
            values = self._property_of(values, other)
        result = _NOTHING
        for value in values:
            if isinstance(value, Class | Library):
                result = joined(result, [value])
            elif isinstance(value, Thing) and "[type]" in value.props and tries:
                for text in value.props["[type]"]:
                    if isinstance(text, str) and not text.endswith("[]"):
                        result = joined(result, self._type_named(text, scope, file, tries - 1))
        return result

    # Calling

    def _given(self, places: list[Any], frame: _Frame) -> list[Values]:
        arguments: list[Values] = []
        for place in places:
            if isinstance(place, list):
                spread = self._value(cast("int", place[0]), frame)
                only = spread[0] if len(spread) == 1 else None
                if isinstance(only, Thing) and only.is_array and _ALL not in only.props:
                    arguments.extend(only.props.get(str(index), _NOTHING) for index in range(min(len(only.props), 12)))
                else:
                    arguments.extend([self._elements(spread)] * 4)
            else:
                arguments.append(self._value(place, frame))
        return arguments

    def _call(self, node: list[Any], frame: _Frame) -> Values:
        _, place, given, start, line = node
        callee = frame.nodes[place] if place else None
        this: Values = _NOTHING
        name = ""
        if callee is None:
            functions: Values = _NOTHING
        elif callee[0] == "m":
            this, name = self._value(callee[1], frame), callee[2]
            functions = self._property_of(this, name)
            if callee[1] and frame.nodes[callee[1]][0] == "p":
                this = frame.this
        elif callee[0] == "x":
            functions = self._value(place, frame)
            this = self._value(callee[1], frame)
        else:
            functions = self._value(place, frame)
            name = callee[1] if callee[0] == "n" else ""
        if callee is not None and callee[0] == "p":
            return self._super_call(given, frame, start, line)
        arguments = self._given(given, frame)
        result = _NOTHING
        found = False
        for func in functions:
            if isinstance(func, Func):
                found = True
                self._note(frame, start, line, func, self._evidence(func, callee, this, frame))
                result = joined(result, self._apply(func, arguments, this))
            elif isinstance(func, Class):
                found = True
                self._note_class(frame, start, line, func, self._evidence(func, callee, this, frame), is_new=False)
            elif isinstance(func, Library) and frame.file.path == self._session:
                frame.file.libraries[start] = func.name
        if not found:
            result = joined(result, self._outside(callee, name, this, functions, arguments, frame, start, line))
        return result

    def _evidence(self, func: Func | Class, callee: list[Any] | None, this: Values, frame: _Frame) -> Evidence:
        """Why a callee is believed to be what was found."""
        if callee is None:
            return Evidence.FLOW
        if callee[0] == "n":
            if callee[1] != func.record[0]:
                taken = frame.file.imports.get(callee[1])
                return Evidence.IMPORTED if taken is not None and func.file != frame.file.path else Evidence.FLOW
            return Evidence.LOCAL if func.file == frame.file.path else Evidence.IMPORTED
        if callee[0] != "m" or callee[2] != func.record[0]:
            return Evidence.FLOW
        if any(isinstance(owner, Namespace) for owner in this):
            return Evidence.IMPORTED
        home = func.home if isinstance(func, Func) else None
        for owner in this:
            if isinstance(owner, Class):
                return Evidence.RECEIVER if home is owner else Evidence.INHERITED
            if isinstance(owner, Thing) and home is not None:
                return Evidence.RECEIVER if home is owner or home is owner.proto else Evidence.INHERITED
        return Evidence.FLOW

    def _super_call(self, given: list[Any], frame: _Frame, start: int, line: int) -> Values:
        arguments = self._given(given, frame)
        home = frame.func.home if frame.func is not None else None
        made = home.maker if isinstance(home, Thing) else None
        if not isinstance(made, Class):
            return _NOTHING
        base = made.base
        if isinstance(base, Class):
            constructor = self._constructor(base)
            if constructor is not None:
                self._note(frame, start, line, constructor, Evidence.INHERITED)
            for thing in frame.this:
                if isinstance(thing, Thing):
                    self._construct_into(base, thing, arguments)
        elif isinstance(base, Func):
            self._note(frame, start, line, base, Evidence.INHERITED)
            self._apply(base, arguments, frame.this)
        return frame.this

    def _constructor(self, made: Class) -> Func | None:
        now: Value | None = made
        for _ in range(20):
            if not isinstance(now, Class):
                break
            if now.constructor is not None:
                return now.constructor
            now = now.base
        return now if isinstance(now, Func) else None

    def _new(self, node: list[Any], frame: _Frame) -> Values:
        _, place, given, start, line = node
        makers = self._value(place, frame)
        callee = frame.nodes[place] if place else None
        arguments = self._given(given, frame)
        result: Values = []
        for maker in makers:
            if isinstance(maker, Class):
                self._note_class(frame, start, line, maker, self._evidence(maker, callee, _NOTHING, frame), is_new=True)
                thing = Thing(self._session, self._depth, maker.proto)
                self._construct_into(maker, thing, arguments)
                result.append(thing)
            elif isinstance(maker, Func):
                self._note(frame, start, line, maker, self._evidence(maker, callee, _NOTHING, frame), is_new=True)
                thing = Thing(self._session, self._depth, self._prototype(maker))
                self._apply(maker, arguments, [thing])
                result.append(thing)
            elif isinstance(maker, Library):
                if frame.file.path == self._session:
                    frame.file.libraries[start] = maker.name
                result.append(maker)
        if not makers:
            self._call_back(arguments, _NOTHING)
            if callee is not None and callee[0] == "n" and callee[1] in ("Map", "Set", "Array", "WeakMap"):
                thing = Thing(self._session, self._depth, is_array=True)
                for values in arguments[:1]:
                    thing.props[_ALL] = self._elements(values)
                result.append(thing)
        return result

    def _construct_into(
        self, made: Class, thing: Thing, arguments: list[Values], *, unknown: bool = False, height: int = 0
    ) -> None:
        """What making an instance does to it: its fields, then its constructor, or its base's."""
        can_go_on = len(self._stack) < DEEPEST_CALL and height < MOST_ANCESTORS
        if made.constructor is None and isinstance(made.base, Class) and can_go_on:
            self._construct_into(made.base, thing, arguments, unknown=unknown, height=height + 1)
        elif made.constructor is None and isinstance(made.base, Func):
            self._apply(made.base, arguments, [thing])
        if made.fields:
            file = self.loaded(made.file)
            if file is not None:
                frame = _Frame(file, made.scope, [thing], None)
                for names, member in made.fields:
                    values = self._value(member[3], frame)
                    if not values and member[4]:
                        values = self._of_types(member[4], made.scope, file)
                    for name in names:
                        if values:
                            self._set_property(thing, name, values)
        if made.constructor is not None:
            self._apply(made.constructor, arguments, [thing], unknown=unknown)

    def _apply(self, func: Func, arguments: list[Values], this: Values, *, unknown: bool = False) -> Values:
        """Walk through a function's body with what it is given, and say what it returns."""
        file = self.loaded(func.file)
        state = self._state
        key = (func.file, func.number)
        if file is None or state is None or len(self._stack) >= DEEPEST_CALL or self._stack.count(key) > 1:
            return self._returned_by_type(func, file)
        if state.steps < 0 and not (
            unknown and func.number not in state.walked and state.steps > -20 * len(state.nodes)
        ):
            return self._returned_by_type(func, file)
        abroad = func.file != self._session
        walks = state.walks.get(key, 0)
        if walks >= (MOST_WALKS_ABROAD if abroad else MOST_WALKS) and not unknown:
            return state.returned[key] or self._returned_by_type(func, file)
        state.walks[key] = walks + 1
        record = func.record
        scope = Scope(func.scope, self._session, self._depth, function=True)
        frame = _Frame(file, scope, func.this if func.this is not None else this, func)
        if func.file == self._session:
            state.walked.add(func.number)
        arguments = func.bound + arguments if func.bound else arguments
        self._stack.append(key)
        for index, (place, types) in enumerate(record[5]):
            node = frame.nodes[place]
            if node[0] == "pr":
                rest = Thing(self._session, self._depth, is_array=True)
                for number, values in enumerate(arguments[index:]):
                    rest.props[str(number)] = values
                if not rest.props and types:
                    self._bind(node[1], self._of_types(types, func.scope, file), frame, "let")
                else:
                    self._bind(node[1], [rest], frame, "let")
                continue
            values = arguments[index] if index < len(arguments) else _NOTHING
            if types and not any(not isinstance(value, Library) for value in values):
                values = self._of_types(types, func.scope, file) or values
            self._bind(place, values, frame, "let")
        if not record[3]:
            given = Thing(self._session, self._depth, is_array=True)
            for number, values in enumerate(arguments[:12]):
                given.props[str(number)] = values
            scope.variables.setdefault("arguments", [given])
        for name, place in record[8]:
            node = frame.nodes[place]
            inner = frame.nodes[node[1]] if node[0] == "pd" else node
            if inner[0] == "n":
                for thing in frame.this:
                    self._set_property(thing, name, scope.variables.get(inner[1], _NOTHING))
        state.returned.setdefault(key, _NOTHING)
        depth, calls = self._depth, len(self._stack)
        try:
            self._run(record[6], frame)
        except RecursionError:  # whoever called us was deep already: what was found until here is kept
            self._depth = depth
        del self._stack[calls - 1 :]
        state.returned[key] = joined(state.returned[key], frame.returns)
        if record[4]:
            made = Thing(self._session, self._depth, is_array=True)
            if frame.yields:
                made.props[_ALL] = frame.yields
            return [made]
        if record[7] and not any(not isinstance(value, Library) for value in frame.returns):
            return self._of_types(record[7], func.scope, file) or frame.returns
        return frame.returns

    def _returned_by_type(self, func: Func, file: FileState | None) -> Values:
        return self._of_types(func.record[7], func.scope, file) if file is not None and func.record[7] else _NOTHING

    def _call_back(self, arguments: list[Values], given: Values) -> Values:
        """Functions given to code that is not seen are called by it, sooner or later."""
        result = _NOTHING
        self._depth += 1
        for values in arguments:
            for value in values:
                if isinstance(value, Func) and self._state is not None:
                    if value.file == self._session and value.number in self._state.walked and not given:
                        continue
                    result = joined(result, self._apply(value, [given] * 2 if given else [], self._own_this(value)))
        self._depth -= 1
        return result

    def _outside(
        self,
        callee: list[Any] | None,
        name: str,
        this: Values,
        functions: Values,
        arguments: list[Values],
        frame: _Frame,
        start: int,
        line: int,
    ) -> Values:
        """A call of something that is no function of the repository: the language's own, a library's, or unknown."""
        if callee is not None and callee[0] == "m":
            owner = frame.nodes[callee[1]] if callee[1] else None
            direct = [func for func in this if isinstance(func, Func)]
            if direct and name in ("call", "apply", "bind"):
                return self._indirect(name, direct, arguments, frame, start, line)
            if owner is not None and owner[0] == "n" and owner[1] in ("Object", "Reflect") and not this:
                return self._of_object(name, arguments)
            if owner is not None and owner[0] == "n" and owner[1] == "Array" and name in ("from", "of") and not this:
                if len(arguments) > 1:
                    return self._array_of(self._call_back(arguments[1:2], self._elements(arguments[0])))
                return self._array_of(self._elements(arguments[0]) if arguments else _NOTHING)
            if owner is not None and owner[0] == "n" and owner[1] == "Promise" and not this and arguments:
                return arguments[0] if name == "resolve" else self._array_of(self._elements(arguments[0]))
            if owner is not None and owner[0] == "n" and owner[1] == "util" and name == "inherits":
                return self._of_object(
                    "setPrototypeOf", [self._property_of(values, "prototype") for values in arguments]
                )
            return self._method(name, this, arguments, frame, start, line)
        if name in _TIMERS or name == "eval":
            for value in arguments[0] if arguments else _NOTHING:
                if isinstance(value, Func):
                    self._note(frame, start, line, value, Evidence.FLOW)
                elif isinstance(value, str) and name == "eval":
                    for func in self._lookup(value.partition("(")[0].strip(), frame.scope, frame.file):
                        if isinstance(func, Func):
                            self._note(frame, start, line, func, Evidence.FLOW)
        self._call_back(arguments, _NOTHING)
        return [value for value in functions if isinstance(value, Library)]

    def _method(self, name: str, this: Values, arguments: list[Values], frame: _Frame, start: int, line: int) -> Values:
        """A method of arrays, maps and promises, as far as it moves values."""
        libraries: Values = [value for value in this if isinstance(value, Library)]
        if name in ("push", "unshift", "add", "set"):
            for owner in this:
                if isinstance(owner, Thing) and owner.is_array:
                    keys = [key for key in arguments[0] if isinstance(key, str)] if name == "set" and arguments else []
                    for values in arguments[1:] if name == "set" else arguments:
                        self._set_property(owner, keys[0] if keys else _ALL, values)
            return this
        if name == "get" and arguments:
            keys = [key for key in arguments[0] if isinstance(key, str)]
            return self._property_of(this, keys[0]) if keys and not libraries else self._elements(this) or libraries
        if name == "slice":
            return self._sliced(this, arguments)
        elements = self._elements([owner for owner in this if isinstance(owner, Thing) and owner.is_array])
        if name in _CALLS_BACK:
            given = elements if name not in ("then", "catch", "finally") else this if name == "then" else _NOTHING
            for value in (each for values in arguments for each in values):
                if isinstance(value, Func) and value.record[0]:
                    self._note(frame, start, line, value, Evidence.FLOW)
            result = self._call_back(arguments, [value for value in given if not isinstance(value, Library)])
            if name in ("map", "flatMap"):
                return self._array_of(result)
            if name == "then":
                return result
            if name in ("reduce", "reduceRight"):
                return joined(result, arguments[1]) if len(arguments) > 1 else result
        else:
            self._call_back(arguments, _NOTHING)
        if name in _SAME_ELEMENTS:
            for values in arguments if name == "concat" else ():
                elements = joined(elements, self._elements(values) or values)
            return self._array_of(elements) if elements else libraries
        if name in _ONE_ELEMENT:
            return elements or libraries
        return libraries

    def _array_of(self, elements: Values) -> Values:
        thing = Thing(self._session, self._depth, is_array=True)
        if elements:
            thing.props[_ALL] = elements
        return [thing]

    def _sliced(self, this: Values, arguments: list[Values]) -> Values:
        first = arguments[0][0] if arguments and arguments[0] else "0"
        result: Values = []
        for owner in this:
            if isinstance(owner, Thing) and isinstance(first, str) and first.isdigit():
                thing = Thing(self._session, self._depth, is_array=True)
                for key, values in owner.props.items():
                    if not key.isdigit():
                        thing.props[key] = values
                    elif int(key) >= int(first):
                        thing.props[str(int(key) - int(first))] = values
                result.append(thing)
            elif isinstance(owner, Thing):
                result += self._array_of(self._elements([owner]))
        return result

    def _of_object(self, name: str, arguments: list[Values]) -> Values:
        """`Object.assign` and its kin."""
        first = arguments[0] if arguments else _NOTHING
        if name == "assign":
            for owner in first:
                thing = owner.statics if isinstance(owner, Class) else owner
                if isinstance(owner, Func):
                    if owner.props is None:
                        owner.props = Thing(owner.scope.session, owner.scope.depth)
                    thing = owner.props
                if isinstance(thing, Thing) and thing.session == self._session:
                    for source in arguments[1:]:
                        self._copy(source, thing)
            return first
        if name == "create":
            return [Thing(self._session, self._depth, proto) for proto in first if isinstance(proto, Thing)]
        if name == "setPrototypeOf" and len(arguments) > 1:
            for owner in first:
                for proto in arguments[1]:
                    if (
                        isinstance(owner, Thing)
                        and isinstance(proto, Thing)
                        and owner is not proto
                        and owner.session == self._session
                    ):
                        owner.proto = proto
            return first
        if name in ("values", "entries"):
            elements = self._elements(first)
            return self._array_of(elements if name == "values" else self._array_of(elements))
        if name == "defineProperty" and len(arguments) > 2:
            values = joined(
                self._property_of(arguments[2], "value"), self._results(self._property_of(arguments[2], "get"), first)
            )
            for owner in first:
                for key in arguments[1]:
                    if isinstance(key, str) and values:
                        self._set_property(owner, key, values)
            return first
        if name in ("freeze", "seal", "preventExtensions"):
            return first
        self._call_back(arguments, _NOTHING)
        return _NOTHING

    def _indirect(
        self, name: str, functions: list[Func], arguments: list[Values], frame: _Frame, start: int, line: int
    ) -> Values:
        """`call`, `apply` and `bind`."""
        this = arguments[0] if arguments else _NOTHING
        result: Values = []
        for func in functions:
            if name == "bind":
                bound = Func(func.file, func.number, func.record, func.scope)
                bound.this, bound.home = (this or func.this), func.home
                bound.bound = func.bound + arguments[1:]
                result.append(bound)
                continue
            self._note(frame, start, line, func, Evidence.FLOW)
            given = arguments[1:]
            if name == "apply":
                spread = self._elements(given[0]) if given else _NOTHING
                given = [self._property_of(given[0], str(index)) or spread for index in range(4)] if given else []
            result = joined(result, self._apply(func, given, this))
        return result

    # What is found

    def _note(
        self, frame: _Frame, start: int, line: int, func: Func, evidence: Evidence, *, is_new: bool = False
    ) -> None:
        self._note_target(frame, start, line, Target(func.file, False, func.number), evidence, is_new=is_new)

    def _note_class(
        self, frame: _Frame, start: int, line: int, made: Class, evidence: Evidence, *, is_new: bool
    ) -> None:
        constructor = self._constructor(made)
        if constructor is not None:
            own = constructor is made.constructor
            self._note(frame, start, line, constructor, evidence if own else Evidence.INHERITED, is_new=is_new)
            return
        self._note_target(frame, start, line, Target(made.file, True, made.number), evidence, is_new=is_new)

    def _note_target(
        self, frame: _Frame, start: int, line: int, target: Target, evidence: Evidence, *, is_new: bool
    ) -> None:
        """What is called in the file whose walk it is; in another file, what it was given by this one."""
        own = frame.file.path == self._session
        calls = frame.file.calls if own else frame.file.given
        reached = calls.get(start)
        if reached is None:
            reached = calls[start] = Reached(line, is_new, {})
        reached.targets.setdefault(target, evidence if own else Evidence.FLOW)
