"""A list that is created on first access."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

_Row = TypeVar("_Row")


class LazyList(Sequence[_Row]):
    """Behaves as a list; a subclass creates the rows when one of them is needed."""

    def __init__(self) -> None:
        self._rows: list[_Row] | None = None

    @abstractmethod
    def _make_rows(self) -> list[_Row]: ...

    def _read(self) -> list[_Row]:
        if self._rows is None:
            self._rows = self._make_rows()
        return self._rows

    @overload
    def __getitem__(self, index: int) -> _Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[_Row]: ...
    def __getitem__(self, index: int | slice) -> _Row | list[_Row]:
        return self._read()[index]

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[_Row]:
        return iter(self._read())

    def __eq__(self, other: object) -> bool:
        return self._read() == ([*other] if isinstance(other, LazyList) else other)

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as a list's

    def __repr__(self) -> str:
        return repr(self._read())
