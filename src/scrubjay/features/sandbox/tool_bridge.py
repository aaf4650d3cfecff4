"""The way from a program to tools, as whoever runs it has them; what a tool is, is not known here."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Door(Protocol):
    """Calls by name, with the rights of one caller."""

    @property
    def families(self) -> Mapping[str, Sequence[str]]:
        """The names that can be called, as they are grouped."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        """What came of it, as JSON, within so many seconds; a `ScrubjayError` when nothing did."""
        ...


class Reader(Protocol):
    """Reads files that the owner opened to programs."""

    async def read(self, path: str, within: Sequence[str] | None) -> str:
        """The text of a file in one of these folders; a `ScrubjayError` when it may not be read, or cannot."""
        ...
