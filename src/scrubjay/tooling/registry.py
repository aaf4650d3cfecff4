"""The registry of tools by name, and the selection that clients see."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from scrubjay.core.callers import EVERYTHING, Caller
from scrubjay.core.errors import InvalidRequest, Unavailable, UnknownTool
from scrubjay.core.suggestions import nearest_names
from scrubjay.tooling.catalog import ToolCatalog, ToolLocation
from scrubjay.tooling.declaration import Tool


class Registry:
    """Tools by name, in declaration order. Tools of a catalog are loaded on first use."""

    def __init__(self, tools: Iterable[Tool], switched_off: Mapping[str, str] | None = None) -> None:
        """`switched_off` maps disabled families to the setting that enables them; their tools are hidden."""
        self._tools: dict[str, Tool | ToolLocation] = {}
        self._upstream: list[str] = []
        self.revision = 0
        """Changes whenever the set of tools changes."""
        self._off: dict[str, str] = {}
        self._names_by_family: Mapping[str, Sequence[str]] | None = None
        for tool in tools.places if isinstance(tools, ToolCatalog) else tools:
            if tool.name in self._tools or tool.name in self._off:
                raise ValueError(f"two tools have the name {tool.name}")
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

    def is_known(self, name: str) -> bool:
        """Return True for the name of a tool, also of one that is switched off."""
        return name in self._tools or name in self._off

    def get(self, name: str) -> Tool:
        """Return the tool; raise `UnknownTool` with the nearest names, or `Unavailable` when it is disabled."""
        if name in self._tools:
            return self._loaded(name)
        if name in self._off:
            raise Unavailable(
                f"{name} is switched off on this server", hint=f"the operator can enable it with {self._off[name]}"
            )
        near = nearest_names(name, self._tools)
        hint = f"did you mean {' or '.join(near)}?" if near else "search_tools finds tools by what they do"
        raise UnknownTool(f"there is no tool named {name[:100]!r}", hint=hint, details={"nearest": near})

    def replace_upstream(self, tools: Iterable[Tool]) -> Sequence[Tool]:
        """Replace the tools of upstream servers; return those rejected because their name is already used."""
        for name in self._upstream:
            del self._tools[name]
        self._upstream = []
        rejected: list[Tool] = []
        for tool in tools:
            if tool.name in self._tools:
                rejected.append(tool)
            else:
                self._tools[tool.name] = tool
                self._upstream.append(tool.name)
        self.revision += 1
        self._names_by_family = None
        return rejected

    @property
    def names(self) -> Sequence[str]:
        return list(self._tools)

    @property
    def loaded(self) -> Sequence[Tool]:
        """Return the tools that are already loaded."""
        return [tool for tool in self._tools.values() if isinstance(tool, Tool)]

    @property
    def names_by_family(self) -> Mapping[str, Sequence[str]]:
        """Return the names of the tools of each family, in declaration order."""
        if self._names_by_family is None:
            names: dict[str, list[str]] = {}
            for name, tool in self._tools.items():
                names.setdefault(tool.family, []).append(name)
            self._names_by_family = names
        return self._names_by_family

    @property
    def families(self) -> Sequence[str]:
        return list(self.names_by_family)

    def family_of(self, name: str) -> str | None:
        """Return the family of a tool without loading it; None for an unknown name."""
        return self._tools[name].family if name in self._tools else None

    def may_read_results(self, caller: Caller, name: str) -> bool:
        """Return True when the caller may read results of this tool. A name without a tool needs the scope `*`."""
        family = self.family_of(name)
        if family is None:
            return caller.may_read(EVERYTHING)
        # The family is checked first, because it is known without importing the tool.
        return caller.may_read(family) and self.get(name).may_read_results(caller)

    def _loaded(self, name: str) -> Tool:
        found = self._tools[name]
        if isinstance(found, ToolLocation):
            found = self._tools[name] = found.load()
        return found


@dataclass(frozen=True, slots=True)
class Toolset:
    """The listed tools: `core`, `all`, or families and tool names separated by commas.

    When a tool and a family share a name, `=terminal` selects the tool alone.
    """

    spec: str = "core"

    def select(self, registry: Registry, uses: Mapping[str, int]) -> Sequence[Tool]:
        """Return the listed tools, most used first; ties keep declaration order."""
        return self.chosen(self.checked(registry), registry, uses)

    @staticmethod
    def chosen(wanted: AbstractSet[str], registry: Registry, uses: Mapping[str, int]) -> Sequence[Tool]:
        """Like `select`, for parts that `checked` validated; parts that no longer exist are ignored."""
        chosen = [
            tool
            for tool in registry
            if "all" in wanted
            or ("core" in wanted and tool.core)
            or not wanted.isdisjoint((tool.family, tool.name, f"={tool.name}"))
        ]
        return sorted(chosen, key=lambda tool: -uses.get(tool.name, 0))

    def checked(self, registry: Registry) -> AbstractSet[str]:
        """Return the parts of the spec; raise `InvalidRequest` for an unknown one. Loads no tool."""
        wanted = {part.strip() for part in self.spec.split(",") if part.strip()}
        known = {"core", "all", *registry.families, *registry.names}
        if unknown := sorted(part for part in wanted - known if part.removeprefix("=") not in registry):
            near = nearest_names(unknown[0], known)
            raise InvalidRequest(
                f"no toolset, family or tool is named {unknown[0]!r}",
                hint=f"did you mean {' or '.join(near)}?"
                if near
                else f"known: core, all, {', '.join(registry.families)}",
            )
        return wanted
