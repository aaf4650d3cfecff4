"""Locations of tool declarations, so that each tool module is loaded on first use."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import import_module

from scrubjay.tooling.declaration import Tool


@dataclass(frozen=True, slots=True)
class ToolLocation:
    """The module that declares a tool."""

    name: str
    family: str
    module: str

    def load(self) -> Tool:
        """Import the module and return the tool."""
        tool: Tool = getattr(import_module(self.module), self.name)
        if tool.family != self.family:
            raise ValueError(f"{self.name} belongs to the family {tool.family}, not to {self.family}")
        return tool


class ToolCatalog(Collection[Tool]):
    """Tools in listing order. Iterating loads all of them, which takes a quarter of a second."""

    def __init__(self, package: str, *lines: str) -> None:
        """Each line is a family, a module of the package, and the names of the tools that it declares."""
        self.places = [
            ToolLocation(name, family, f"{package}.{module}")
            for family, module, *names in map(str.split, lines)
            for name in names
        ]

    def __iter__(self) -> Iterator[Tool]:
        return (place.load() for place in self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, tool: object) -> bool:
        return isinstance(tool, Tool) and any(place.name == tool.name for place in self.places)
