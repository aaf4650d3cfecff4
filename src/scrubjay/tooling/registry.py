"""All tools by name, and which of them a client is shown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from scrubjay.core.errors import InvalidRequest, Unavailable, UnknownTool
from scrubjay.core.suggestions import nearest_names
from scrubjay.tooling.catalog import Catalogue, Place
from scrubjay.tooling.declaration import Tool


class Registry:
    """Every tool there is, in the order declared. Those of a catalogue are loaded when they are asked for."""

    def __init__(self, tools: Iterable[Tool], switched_off: Mapping[str, str] | None = None) -> None:
        """Families that are `switched_off`, each by a setting, are as if they were not there; `get` says why."""
        self._tools: dict[str, Tool | Place] = {}
        self._guests: list[str] = []
        self.revision = 0
        """Another number whenever the tools are others."""
        self._off: dict[str, str] = {}
        for tool in tools.places if isinstance(tools, Catalogue) else tools:
            if tool.name in self._tools or tool.name in self._off:
                raise ValueError(f"two tools are called {tool.name}")
            if switched_off and tool.family in switched_off:
                self._off[tool.name] = switched_off[tool.family]
            else:
                self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return map(self._loaded, self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def get(self, name: str) -> Tool:
        """The tool of this name, or an error that names the nearest ones."""
        if name in self._tools:
            return self._loaded(name)
        if name in self._off:
            raise Unavailable(f"{name} is switched off on this server", hint=f"the operator can set {self._off[name]}")
        near = nearest_names(name, self._tools)
        hint = f"did you mean {' or '.join(near)}?" if near else "search_tools finds tools by what they do"
        raise UnknownTool(f"there is no tool called {name[:100]!r}", hint=hint, details={"nearest": near})

    def welcome(self, guests: Iterable[Tool]) -> Sequence[Tool]:
        """Have these tools beside our own, instead of those welcomed before; those whose names were taken already."""
        for name in self._guests:
            del self._tools[name]
        self._guests = []
        taken: list[Tool] = []
        for guest in guests:
            if guest.name in self._tools:
                taken.append(guest)
            else:
                self._tools[guest.name] = guest
                self._guests.append(guest.name)
        self.revision += 1
        return taken

    @property
    def names(self) -> Sequence[str]:
        return list(self._tools)

    @property
    def loaded(self) -> Sequence[Tool]:
        """Those that can be looked at without loading any."""
        return [tool for tool in self._tools.values() if isinstance(tool, Tool)]

    @property
    def families(self) -> Sequence[str]:
        return list(dict.fromkeys(tool.family for tool in self._tools.values()))

    def family_of(self, name: str) -> str | None:
        """The family of the tool of this name, if there is one. Loads none."""
        return self._tools[name].family if name in self._tools else None

    def names_of(self, family: str) -> Sequence[str]:
        return [name for name, tool in self._tools.items() if tool.family == family]

    def _loaded(self, name: str) -> Tool:
        found = self._tools[name]
        if isinstance(found, Place):
            found = self._tools[name] = found.load()
        return found


@dataclass(frozen=True, slots=True)
class Toolset:
    """Which tools are listed: `core`, `all`, or families and tool names joined by commas.

    A tool may be called as its family is: `=terminal` is the tool alone.
    """

    spec: str = "core"

    def select(self, registry: Registry, uses: Mapping[str, int]) -> Sequence[Tool]:
        """The listed tools, most used first; ties keep the order declared, so the list is stable."""
        return self.chosen(self.checked(registry), registry, uses)

    @staticmethod
    def chosen(wanted: AbstractSet[str], registry: Registry, uses: Mapping[str, int]) -> Sequence[Tool]:
        """The same of what was found to be right before, whatever there is of it now."""
        chosen = [
            tool
            for tool in registry
            if "all" in wanted
            or ("core" in wanted and tool.core)
            or not wanted.isdisjoint((tool.family, tool.name, f"={tool.name}"))
        ]
        return sorted(chosen, key=lambda tool: -uses.get(tool.name, 0))

    def checked(self, registry: Registry) -> AbstractSet[str]:
        """What is wanted; `InvalidRequest` when there is no such thing. Loads no tool."""
        wanted = {part.strip() for part in self.spec.split(",") if part.strip()}
        known = {"core", "all", *registry.families, *registry.names}
        if unknown := sorted(part for part in wanted - known if part.removeprefix("=") not in registry):
            near = nearest_names(unknown[0], known)
            raise InvalidRequest(
                f"no toolset, family or tool is called {unknown[0]!r}",
                hint=f"did you mean {' or '.join(near)}?"
                if near
                else f"known: core, all, {', '.join(registry.families)}",
            )
        return wanted
