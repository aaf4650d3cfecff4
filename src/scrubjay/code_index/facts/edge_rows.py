"""Edges in columnar form: one column per field, as they are stored."""

from collections.abc import Sequence
from typing import Any, TypeVar

from scrubjay.code_index.facts.lazy_list import LazyList
from scrubjay.code_index.models import Edge, Evidence, Unresolved, UseKind

_Row = TypeVar("_Row", Edge, Unresolved)
_ENUMS = {
    "kind": {kind.value: kind for kind in UseKind},
    "evidence": {evidence.value: evidence for evidence in Evidence},
}


class LazyRows(LazyList[_Row]):
    """Edges or unresolved uses; the objects are created on first access."""

    def __init__(self, kind: type[_Row], columns: Sequence[Sequence[Any]]) -> None:
        """`columns` holds one sequence per field; enumeration members are given by value."""
        super().__init__()
        self.columns = columns
        self._kind = kind

    def _make_rows(self) -> list[_Row]:
        columns = [
            map(_ENUMS[name].__getitem__, column) if name in _ENUMS else column
            for name, column in zip(self._kind._fields, self.columns, strict=True)
        ]
        return [*map(self._kind, *columns)]

    def __len__(self) -> int:
        return len(self.columns[0])
