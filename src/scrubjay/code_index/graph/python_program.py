"""The Python files of a repository as one program: calls, names and imports resolved to definitions."""

from collections.abc import Sequence
from typing import NamedTuple

from scrubjay.code_index.graph import python_flow_format as flow
from scrubjay.code_index.graph.python_calls import Callers, CallResolver, CallTarget
from scrubjay.code_index.graph.python_evaluator import Evaluator
from scrubjay.code_index.graph.python_file import PythonFile
from scrubjay.code_index.graph.python_modules import PythonModules
from scrubjay.code_index.graph.python_values import INSTANCE, SCOPE, Value, Values
from scrubjay.code_index.models import Facts


class ResolvedCallSite(NamedTuple):
    """A call site and its targets."""

    scope: int
    line: int
    start: int
    how: int
    targets: Sequence[CallTarget]
    """Functions and classes of the repository."""
    external: Sequence[str]
    """Dotted names of targets outside of the repository."""


class PythonProgram:
    """The linked Python files of a repository. A file is loaded on first use."""

    def __init__(self, facts: Facts) -> None:
        self._modules = PythonModules(facts)
        self._evaluator = Evaluator(self._modules)
        self._calls = CallResolver(self._evaluator)
        self.file = self._modules.file
        self.imports = self._modules.imports
        self.resolve_calls = self._calls.resolve

    def resolve_call_sites(
        self, paths: Sequence[str], callers: Callers | None = None
    ) -> dict[str, list[ResolvedCallSite]]:
        """Like `resolve_calls`, with the location of each call."""
        return {
            path: [
                ResolvedCallSite(scope, line, start, how, resolved.targets, resolved.external)
                for line, start, scope, how, resolved in zip(*self.file(path).call_columns(), found, strict=True)
            ]
            for path, found in self.resolve_calls(paths, callers).items()
        }

    def lookup_name(self, path: str, dotted: str, class_line: int) -> Values:
        """Return the values of a dotted name at the top level of a file.

        `self` and `cls` refer to the class whose name is on `class_line`; 0 if there is none.
        """
        file = self.file(path)
        first, *rest = dotted.split(".")
        values: Values = ()
        if first in ("self", "cls") and class_line:
            scope = file.class_at_line.get(class_line)
            values = ((INSTANCE, file.index, scope),) if scope is not None else ()
        elif first.isidentifier():
            values = self._evaluator.global_name(file, first)
        lookup = self._evaluator.attributes.lookup
        for name in rest:
            if not name.isidentifier():
                return ()
            values = tuple(found for value in values for found in lookup(value, name))
        return values

    def path_of(self, value: Value) -> str:
        """Return the path of the file in which a value is defined."""
        return self._modules.file_of(value).path

    def qualified_name_of_value(self, value: Value) -> str:
        """Return the dotted name of a function or class."""
        return self.qualified_name(self.path_of(value), value[SCOPE])

    def qualified_name(self, path: str, scope: int) -> str:
        """Return the dotted name of a scope; lambdas are numbered within the enclosing scope."""
        file = self.file(path)
        names: list[str] = []
        while scope > 0:
            content = file.scopes[scope]
            names.append(f"<lambda{_lambda_number(file, scope)}>" if _is_lambda(file, scope) else content.name)
            scope = content.parent
        return ".".join([*file.parts, *reversed(names)])


def _is_lambda(file: PythonFile, scope: int) -> bool:
    content = file.scopes[scope]
    if content.kind != flow.FUNCTION_SCOPE:
        return False
    # The node of a lambda has one item more than that of another function.
    return not content.name or any(
        node[flow.KIND] == flow.FUNCTION and node[flow.SCOPE_INDEX] == scope and len(node) > 2 for node in file.nodes
    )


def _lambda_number(file: PythonFile, scope: int) -> int:
    outer = file.scopes[scope].parent
    return sum(file.scopes[other].parent == outer and _is_lambda(file, other) for other in range(1, scope + 1))
