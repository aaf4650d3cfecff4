"""What the uses in a file lead to, as it is kept: of all the first parts, then the second parts, and so on."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, overload

from scrubjay.code_index.models import Edge, Evidence, Unresolved, UseKind

_Row = TypeVar("_Row", Edge, Unresolved)
_KINDS = {kind.value: kind for kind in UseKind}
_EVIDENCE = {evidence.value: evidence for evidence in Evidence}


class Rows(Sequence[_Row]):
    """Edges, or what leads nowhere: an object is made of each when somebody looks."""

    def __init__(self, kind: type[_Row], columns: Sequence[Sequence[Any]]) -> None:
        """In the columns, members of enumerations are told by their values."""
        self.columns = columns
        self._kind = kind
        self._rows: list[_Row] | None = None

    def _read(self) -> list[_Row]:
        if self._rows is None:
            columns = [
                map(_READ[name].__getitem__, column) if name in _READ else column
                for name, column in zip(self._kind._fields, self.columns, strict=True)
            ]
            self._rows = [*map(self._kind, *columns)]
        return self._rows

    @overload
    def __getitem__(self, place: int) -> _Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[_Row]: ...
    def __getitem__(self, place: int | slice) -> _Row | list[_Row]:
        return self._read()[place]

    def __len__(self) -> int:
        return len(self.columns[0])

    def __iter__(self) -> Iterator[_Row]:
        return iter(self._read())

    def __eq__(self, other: object) -> bool:
        return self._read() == ([*other] if isinstance(other, Rows) else other)

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as a list's

    def __repr__(self) -> str:
        return repr(self._read())


_READ = {"kind": _KINDS, "evidence": _EVIDENCE}
