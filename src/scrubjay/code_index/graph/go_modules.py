"""Maps Go packages to folders of a repository by its `go.mod` files, or else by the prefix that its imports share."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from posixpath import dirname
from typing import NamedTuple

from scrubjay.code_index.graph.manifests import Manifests, joined, with_parents
from scrubjay.code_index.models import Facts, Language


class _Module(NamedTuple):
    folder: str
    path: str
    """Prefix under which its packages are imported; empty for a workspace."""
    replaced: Sequence[tuple[str, str]]
    """Pairs of the path of a module and the folder that replaces it."""


class GoModules:
    """The Go modules and packages of a repository."""

    def __init__(self, facts: Facts, manifests: Manifests) -> None:
        self._facts = facts
        self._manifests = manifests

    @cached_property
    def folders(self) -> Mapping[str, Sequence[str]]:
        """The files of each package, by folder."""
        folders: dict[str, list[str]] = {}
        for path, facts in self._facts.items():
            if facts.language is Language.GO:
                folders.setdefault(dirname(path), []).append(path)
        return folders

    def package(self, module: str, importer: str) -> str | None:
        """Return the folder of a package that a file imports; None if it is not in the repository."""
        if not self._modules:
            return self._guess_package(module)
        for path, folder in self._prefixes(importer):
            rest = module[len(path) :]
            if module.startswith(path) and rest[:1] in ("", "/"):
                found = joined(folder, rest.lstrip("/"))
                if found in self.folders:
                    return found
        return None

    @cached_property
    def _modules(self) -> Sequence[_Module]:
        return [
            _Module(
                folder,
                content["go"]["module"],
                [(old, joined(folder, new)) for old, new in content["go"]["replace"]],
            )
            for folder, content in self._manifests.named("go.mod", "go.work")
            if "go" in content
        ]

    def _prefixes(self, importer: str) -> Iterator[tuple[str, str]]:
        """Yield import prefixes and their folders: first those that apply to the importer, then the longest."""
        around = [*with_parents(dirname(importer))]
        own = sorted((each for each in self._modules if each.folder in around), key=lambda each: -len(each.folder))
        for each in own:
            yield from sorted(each.replaced, key=lambda pair: -len(pair[0]))
        if (nearest := next((each for each in own if each.path), None)) is not None:
            inner = [each for each in self._modules if each.path.startswith(nearest.path + "/")]
            for each in [*sorted(inner, key=lambda each: -len(each.path)), nearest]:
                yield each.path, each.folder
        for each in sorted(self._modules, key=lambda each: -len(each.path)):
            if each.path:
                yield each.path, each.folder
        for each in own:
            yield "", joined(each.folder, "vendor")

    # Without a manifest

    @cached_property
    def _shared_prefixes(self) -> Sequence[str]:
        """The most likely paths of the repository's modules, derived from the imports of its own packages."""
        support: Counter[str] = Counter()
        modules = {each.module for path, facts in self._facts.items() if path.endswith(".go") for each in facts.imports}
        for module in modules:
            if "." not in module.partition("/")[0]:
                continue
            parts = module.split("/")
            for cut in range(1, len(parts)):
                if "/".join(parts[cut:]) in self.folders:
                    support["/".join(parts[:cut])] += 1
            if "" in self.folders:
                support[module] += 0
        highest = max(support.values(), default=0)
        return [prefix for prefix, count in support.items() if count == highest and count] if highest else []

    def _guess_package(self, module: str) -> str | None:
        for prefix in self._shared_prefixes:
            if module == prefix and "" in self.folders:
                return ""
            if module.startswith(prefix + "/") and module[len(prefix) + 1 :] in self.folders:
                return module[len(prefix) + 1 :]
        if not self._shared_prefixes and "" in self.folders and "." in module.partition("/")[0]:
            name = module.rpartition("/")[2]
            return "" if any(own == name for own in self._names) else None
        return None

    @cached_property
    def _names(self) -> Sequence[str]:
        return [
            symbol.name
            for path in self.folders.get("", ())
            for symbol in self._facts[path].symbols
            if symbol.kind == "module"
        ]
