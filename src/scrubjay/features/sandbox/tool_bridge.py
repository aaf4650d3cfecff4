"""Interfaces through which a program calls tools and reads files, with the rights of its caller."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class ToolBridge(Protocol):
    """Calls tools by name, with the rights of one caller."""

    @property
    def families(self) -> Mapping[str, Sequence[str]]:
        """The names of the callable tools, by family."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        """Return the result of a call as JSON, within this time; raise `ScrubjayError` if it fails."""
        ...


class FileReader(Protocol):
    """Reads files in the folders that the owner opened to programs."""

    async def read(self, path: str, within: Sequence[str] | None) -> str:
        """Return the text of a file in one of these folders; raise `ScrubjayError` if that is not allowed or fails."""
        ...
