"""Where tools are declared, so that none has to be loaded before somebody asks for it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import import_module

from scrubjay.tooling.declaration import Tool


@dataclass(frozen=True, slots=True)
class Place:
    """Where one tool is declared."""

    name: str
    family: str
    module: str

    def load(self) -> Tool:
        """The tool itself; its module is loaded with the first of its tools."""
        tool: Tool = getattr(import_module(self.module), self.name)
        if tool.family != self.family:
            raise ValueError(f"{self.name} is in the family {tool.family}, and not in {self.family}")
        return tool


class Catalogue(Collection[Tool]):
    """Tools in the order in which they are listed. Going through them loads all, which takes a quarter of a second."""

    def __init__(self, package: str, *lines: str) -> None:
        """Each line is a family, the module of the package that declares its tools, and these."""
        self.places = [
            Place(name, family, f"{package}.{module}")
            for family, module, *names in map(str.split, lines)
            for name in names
        ]

    def __iter__(self) -> Iterator[Tool]:
        return (place.load() for place in self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, tool: object) -> bool:
        return isinstance(tool, Tool) and any(place.name == tool.name for place in self.places)
