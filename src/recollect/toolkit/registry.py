"""All tools by name, and which of them a client is shown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from recollect.domain.errors import InvalidRequest, UnknownTool
from recollect.domain.nearest import nearest_names
from recollect.toolkit.declaration import Tool


class Registry:
    """Every tool there is, in the order declared."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ValueError(f"two tools are called {tool.name}")
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def get(self, name: str) -> Tool:
        """The tool of this name, or an error that names the nearest ones."""
        if found := self._tools.get(name):
            return found
        near = nearest_names(name, self._tools)
        hint = f"did you mean {' or '.join(near)}?" if near else "search_tools finds tools by what they do"
        raise UnknownTool(f"there is no tool called {name[:100]!r}", hint=hint, details={"nearest": near})

    @property
    def families(self) -> Sequence[str]:
        return list(dict.fromkeys(tool.family for tool in self))


@dataclass(frozen=True, slots=True)
class Toolset:
    """Which tools are listed: `core`, `all`, or families and tool names joined by commas."""

    spec: str = "core"

    def select(self, registry: Registry, uses: Mapping[str, int]) -> Sequence[Tool]:
        """The listed tools, most used first; ties keep the order declared, so the list is stable."""
        wanted = {part.strip() for part in self.spec.split(",") if part.strip()}
        known = {"core", "all", *registry.families, *(tool.name for tool in registry)}
        if unknown := sorted(wanted - known):
            near = nearest_names(unknown[0], known)
            raise InvalidRequest(
                f"no toolset, family or tool is called {unknown[0]!r}",
                hint=f"did you mean {' or '.join(near)}?"
                if near
                else f"known: core, all, {', '.join(registry.families)}",
            )
        chosen = [
            tool
            for tool in registry
            if "all" in wanted or ("core" in wanted and tool.core) or tool.family in wanted or tool.name in wanted
        ]
        return sorted(chosen, key=lambda tool: -uses.get(tool.name, 0))
