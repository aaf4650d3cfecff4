"""Loads JavaScript files and resolves their imports and exports."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic_core import from_json

from scrubjay.code_index.graph.javascript_file import MAX_MODULE_DEPTH, CallFrame, FileState
from scrubjay.code_index.graph.javascript_values import NOTHING, LibraryValue, ModuleExports, ObjectValue, Values

if TYPE_CHECKING:
    from scrubjay.code_index.graph.javascript_walk import ScriptWalk


class ModuleLoader:
    """Loads files, runs their top-level statements once, and resolves their imports and exports."""

    def __init__(
        self, walk: "ScriptWalk", flow_of: Callable[[str], bytes], find_path: Callable[[str, str], str | None]
    ) -> None:
        self._walk = walk
        self._context = walk.context
        self._flow_of = flow_of
        self.find_path = find_path
        """Returns the path that an import refers to, given the importing path and the module; None for a library."""
        self._files: dict[str, FileState | None] = {}

    def load(self, path: str) -> FileState | None:
        """Return a file, which may not have run yet; None if the repository has no such script."""
        if path not in self._files:
            flow = self._flow_of(path)
            self._files[path] = FileState(path, from_json(flow)) if flow else None
        return self._files[path]

    def start(self, path: str) -> FileState | None:
        """Return a file whose top-level statements have run or are running; None if there is no such script."""
        state = self.load(path)
        if state is None or state.is_started or self._context.module_depth >= MAX_MODULE_DEPTH:
            return state
        state.is_started = True
        previous = self._context.enter(state)
        self._context.module_depth += 1
        try:
            exports = ObjectValue(path, 0)
            state.module.props["exports"] = [exports]
            state.scope.variables.update({"module": [state.module], "exports": [exports]})
            frame = CallFrame(state, state.scope, [exports], None)
            self._walk.run(state.body, frame)
        except RecursionError:  # the stack was already deep: keep what was found
            pass
        finally:
            self._context.module_depth -= 1
            self._context.leave(previous)
        return state

    def origin(self, path: str, name: str, *, exported: bool = False) -> tuple[str, str] | None:
        """Return the path and name of the definition that a name of a file refers to; None for a library's."""
        for _ in range(MAX_MODULE_DEPTH):
            state = self.load(path)
            if state is None:
                return None
            if exported:
                kept = state.exports.get(name)
                if kept is None:
                    found = self._star_export(state, name)
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
            target = self.find_path(path, module)
            if target is None or name in ("*", "="):
                return (target, "") if target is not None else None
            path, exported = target, True
        return None

    def _star_export(self, state: FileState, name: str) -> str | None:
        for module in state.stars:
            target = self.find_path(state.path, module)
            other = self.load(target) if target is not None else None
            if other is not None and (name in other.exports or other.stars):
                return target
        return None

    def imported(self, path: str, module: str, name: str) -> Values:
        target = self.find_path(path, module)
        if target is None:
            return [LibraryValue(module)]
        return (
            [ModuleExports(target)]
            if name == "*"
            else self.required(target)
            if name == "="
            else self.exported(target, name)
        )

    def exported(self, path: str, name: str, seen: tuple[str, ...] = ()) -> Values:
        """Return the values that a file exports under a name, including re-exports."""
        state = self.start(path)
        if state is None or path in seen:
            return NOTHING
        kept = state.exports.get(name)
        if kept is not None:
            local, module = kept
            if not module:
                return self._walk.bindings.lookup(local, state.scope, state)
            target = self.find_path(path, module)
            if target is None:
                return [LibraryValue(module)]
            return [ModuleExports(target)] if local == "*" else self.exported(target, local, (*seen, path))
        if name == "default":
            if "*default*" in state.scope.variables:
                return state.scope.variables["*default*"]
            return self._common_exports(state) if not state.exports else NOTHING
        for module in state.stars:
            target = self.find_path(path, module)
            found = self.exported(target, name, (*seen, path)) if target is not None else NOTHING
            if found:
                return found
        return self._walk.objects.property_of(self._common_exports(state), name)

    def _common_exports(self, state: FileState) -> Values:
        return state.module.props.get("exports", NOTHING)

    def required(self, path: str) -> Values:
        state = self.start(path)
        if state is None:
            return NOTHING
        if state.exports or state.stars or "*default*" in state.scope.variables:
            return [ModuleExports(path)]
        return self._common_exports(state)
