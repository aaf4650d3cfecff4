"""Resolves written types of TypeScript to classes and their instances."""

from collections.abc import Sequence

from scrubjay.code_index.graph.javascript_file import FileState, WalkPart
from scrubjay.code_index.graph.javascript_values import (
    ANY_KEY,
    NOTHING,
    ClassValue,
    LibraryValue,
    ObjectValue,
    ScriptScope,
    Value,
    Values,
    joined,
)


class TypeResolver(WalkPart):
    """Resolves types by name."""

    def instances_of(self, types: Sequence[str], scope: ScriptScope, file: FileState) -> Values:
        """Return values that represent instances of the types."""
        result = NOTHING
        for text in types:
            name = text.rstrip("[]")
            values = [
                instance
                for made in self.find(name, scope, file)
                if (instance := self._walk.classes.typical_instance(made) if isinstance(made, ClassValue) else made)
                is not None
            ]
            for _ in range(text.count("[]")):
                obj = ObjectValue(self._context.path, self._context.depth, is_array=True)
                obj.props[ANY_KEY] = list[Value](values)
                values = [obj]
            result = joined(result, list[Value](values))
        return result

    def find(self, name: str, scope: ScriptScope | None, file: FileState, tries: int = 4) -> Values:
        first, *others = name.split(".")
        values = self._walk.bindings.lookup(first, scope, file)
        for other in others:
            values = self._walk.objects.property_of(values, other)
        result = NOTHING
        for value in values:
            if isinstance(value, ClassValue | LibraryValue):
                result = joined(result, [value])
            elif isinstance(value, ObjectValue) and "[type]" in value.props and tries:
                for text in value.props["[type]"]:
                    if isinstance(text, str) and not text.endswith("[]"):
                        result = joined(result, self.find(text, scope, file, tries - 1))
        return result
